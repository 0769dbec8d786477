"""The one reader and writer of files: nothing is renamed over links and devices, nothing is read without a bound."""

import ast
import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from arcreach import _io
from arcreach.errors import FileError


def test_a_file_is_replaced_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    _io.write_text(path, "old")
    path.chmod(0o640)
    _io.write_text(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def fails(_):
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(FileError, match="cannot be written \\(input/output error\\)"):
        _io.write_text(path, "broken")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_a_new_file_has_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        _io.write_text(tmp_path / "file.txt", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path, there):
    target = tmp_path / "folder" / "target.csv"
    target.parent.mkdir()
    if there:
        target.write_text("old")
    inner, link = tmp_path / "inner.csv", tmp_path / "link.csv"
    inner.symlink_to("folder/target.csv")
    link.symlink_to(inner)
    _io.check_output(link, (".csv",))
    _io.write_text(link, "new")
    assert link.is_symlink()
    assert inner.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["target.csv"]


def test_the_null_device_stays_a_device(tmp_path):
    try:
        null = tmp_path / "null"
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.open("wb").close()
    except OSError:
        null = os.devnull
    _io.check_output(null, (".csv",))
    _io.write_text(null, "text")
    assert stat.S_ISCHR(os.stat(null).st_mode)


def test_a_pipe_is_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert _io.check_output(pipe, (".csv", ".json")) == ".csv"
    _io.write_text(pipe, "through the pipe")
    reader.join()
    assert read == [b"through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_is_no_file_to_print_to_is_refused(tmp_path):
    import socket

    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        with pytest.raises(FileError, match="neither a regular file nor a device or pipe"):
            _io.write_text(path, "text")
    assert stat.S_ISSOCK(path.stat().st_mode)


WRITE = "from arcreach import _io; print('before'); _io.write_text('/dev/stdout', 'text\\n'); print('after')"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_standard_output_is_written_in_its_place(tmp_path):
    piped = subprocess.run([sys.executable, "-c", WRITE], capture_output=True, text=True, check=True)
    assert piped.stdout == "before\ntext\nafter\n"
    # Replaced or opened anew, the file would lose what is printed before or after.
    with (tmp_path / "out.txt").open("w") as stream:
        stream.write("first\n")
        stream.flush()
        subprocess.run([sys.executable, "-c", WRITE], stdout=stream, check=True)
    assert (tmp_path / "out.txt").read_text() == "first\nbefore\ntext\nafter\n"


def test_targets_that_cannot_be_written_are_refused_before(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "astray.csv").symlink_to("missing/target.csv")
    for path, word in {
        tmp_path: "is a directory",
        tmp_path / "missing" / "a.csv": "its folder does not exist; make it first",
        tmp_path / "file" / "a.csv": "its folder is a file",
        tmp_path / "astray.csv": "its folder does not exist",
        tmp_path / "loop": "cannot be written",
        tmp_path / "a.xlsx": "its ending is not known; give .csv",
        tmp_path / f"{'a' * 300}.csv": "cannot be written",
        "a\0.csv": "cannot be written",
        None: "give the path of a file",
    }.items():
        with pytest.raises(FileError, match=word):
            _io.check_output(path, (".csv",))
    assert _io.check_output(tmp_path / "A.CSV", (".csv",)) == ".csv"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_files_and_folders_without_the_right_to_write(tmp_path):
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "a.csv").chmod(0o400)
    with pytest.raises(FileError, match="read-only"):
        _io.check_output(tmp_path / "a.csv")
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="may not be written to"):
        _io.check_output(tmp_path / "b.csv")
    with pytest.raises(FileError, match="may not be written to"):
        _io.check_folder(tmp_path / "new" / "folder")


def test_a_read_only_file_system_is_refused_before():
    if os.access("/proc", os.W_OK) and os.geteuid() != 0:
        pytest.skip("needs a folder that nobody writes to")
    with pytest.raises(FileError, match=r"cannot be written|may not be written"):
        _io.write_text("/proc/arcreach.csv", "text")


def test_folders(tmp_path):
    (tmp_path / "file").write_text("")
    for path, word in {tmp_path / "file": "is not a folder", tmp_path / "file" / "a": "is a file"}.items():
        with pytest.raises(FileError, match=word):
            _io.make_folder(path)
    assert _io.make_folder(tmp_path / "a" / "b").is_dir()


def test_only_regular_files_of_bounded_size_are_read(tmp_path):
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    large.write_bytes(bytes(2_000_001))
    for path, word in {
        pipe: "is not a regular file",
        "/dev/zero": "is not a regular file",
        tmp_path: "is a directory",
        large: "has 2.0 MB; at most 1 MB",
        tmp_path / "missing": "no such file",
        "a" * 5000: "cannot be read",
        "a\0b": "cannot be read",
    }.items():
        for read in (_io.read_text, lambda *given: list(_io.read_rows(*given))):
            with pytest.raises(FileError, match=word):
                read(path, 1_000_000)


def test_rows_are_read_as_they_are_asked_for(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbfX , y\r\n1,2\r\n\r\n 3,'4'\r5,6")
    assert list(_io.read_rows(path)) == [(1, ["X", "y"]), (2, ["1", "2"]), (4, ["3", "'4'"]), (5, ["5", "6"])]
    path.write_bytes(b"a\n" * 100_000 + b"\xff")
    rows = _io.read_rows(path)
    assert next(rows) == (1, ["a"])
    with pytest.raises(FileError, match="is not UTF-8 text"):
        list(rows)
    path.write_bytes(b'a,b\n"' + b"x" * 3_000_000)
    with pytest.raises(FileError, match=r"not a table|is not valid CSV"):
        list(_io.read_rows(path))


def test_columns_are_found_in_any_case():
    assert _io.find_columns(["X", "y", "Z", "y "], ["x", "y", "z"]) == {"x": [0], "y": [1], "z": [2]}
    assert _io.find_columns(["x", "X"], ["x"]) == {"x": [0, 1]}
    # Where names differ in nothing but case, case counts.
    assert _io.find_columns(["A", "a"], ["a", "A"]) == {"a": [1], "A": [0]}


# Calls that write a file, and the modules that may: caches of compiled kernels are no files of users.
WRITERS = ("write_text", "write_bytes", "mkstemp", "NamedTemporaryFile", "savez", "savetxt")
OWN_FILES = {"_io.py", "_jit.py"}


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            own = isinstance(node.func, ast.Attribute)
            yield (node.func.attr if own else getattr(node.func, "id", "")), own, node


def test_no_other_module_writes_files():
    package = Path(_io.__file__).parent
    found = []
    for path in sorted(package.rglob("*.py")):
        name = str(path.relative_to(package))
        if name in OWN_FILES or name.startswith("gpu"):
            continue
        for function, method, node in calls(ast.parse(path.read_text("utf-8"))):
            # As methods these are pathlib's; as functions they are those of `_io`.
            if (method and function in WRITERS) or (not method and function == "open"):
                found.append(f"{name}:{node.lineno}")
            if function == "savefig" and isinstance(node.args[0], ast.Name) and node.args[0].id != "stream":
                found.append(f"{name}:{node.lineno}")
    assert found == []


@pytest.mark.parametrize("path", [None, 0])
def test_what_is_no_path_is_refused(path):
    for use in (lambda: _io.read_text(path, 100), lambda: _io.write_text(path, "text")):
        with pytest.raises(FileError, match="give the path of a file"):
            use()
