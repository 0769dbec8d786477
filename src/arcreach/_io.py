"""Read and write the files that a user names; no other module opens them.

Reads accept regular files up to a size limit. Writes are atomic, see `write_bytes`.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arcreach.errors import FileError

AnyPath = str | os.PathLike[str]

# Characters of a path in messages; longer ones are cut to their end, which identifies the file.
LONGEST_PATH = 200
# Characters of the longest reason quoted from the operating system or a parser.
LONGEST_REASON = 60
# Name prefix of files that are being written.
UNFINISHED = ".arcreach-"
# Bytes; enough for a million rows of ten columns with all digits.
LARGEST_TABLE = 250_000_000
# Characters; a longer line is not a row of coordinates, and would be read into memory at once.
LONGEST_LINE = 1_000_000

CSV_ENDINGS = (".csv",)

_NO_SPACE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


def called(path: AnyPath) -> str:
    """Return a path for a message: one printable line, cut at its beginning if it is very long."""
    text = str(path)
    text = text if len(text) <= LONGEST_PATH else "..." + text[3 - LONGEST_PATH :]
    return text if text.isprintable() else repr(text)


def file_error(path: AnyPath, problem: str) -> FileError:
    """Return the error that names a file and its problem."""
    return FileError(f"{called(path)}: {problem}", (problem,))


def line_error(path: AnyPath, line: int, problem: str) -> FileError:
    """Return the error that names a file, a line and its problem."""
    return FileError(f"{called(path)}, line {line}: {problem}", (f"line {line}: {problem}",))


def may_exist(path: Path) -> bool:
    """Return whether a file may exist at a path; true if its folder cannot be read."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def read_bytes(path: AnyPath, largest: int) -> bytes:
    """Return the content of a regular file of at most `largest` bytes."""
    with _opened(path, largest) as stream:
        content = stream.read(largest + 1)
    if len(content) > largest:
        raise _too_large(path, len(content), largest)
    return content


def read_text(path: AnyPath, largest: int) -> str:
    """Return the text of a regular UTF-8 file of at most `largest` bytes."""
    try:
        return read_bytes(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise file_error(path, f"is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def read_rows(path: AnyPath, largest: int = LARGEST_TABLE) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and stripped cells of each non-empty line of a CSV file."""
    with _opened(path, largest) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline=None) as text:
        yield from parse_rows(text, path)


def parse_rows(text: io.TextIOBase, origin: AnyPath) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of an open text stream as `read_rows` does; messages name it `origin`."""
    reader = csv.reader(_lines(text, origin))
    first = True
    try:
        for row in reader:
            if row:
                if first and _has_semicolons(row):
                    problem = "has semicolons; separate columns by commas, and write decimals with points"
                    raise line_error(origin, reader.line_num, problem)
                first = False
                yield reader.line_num, [cell.strip() for cell in row]
    except UnicodeDecodeError:
        raise file_error(origin, "is not UTF-8 text; save it as UTF-8") from None
    except csv.Error as error:
        raise line_error(origin, reader.line_num, f"is not valid CSV ({error})") from None


def _has_semicolons(row: list[str]) -> bool:
    """Return whether the columns of a line seem to be separated by semicolons, with decimal commas or without."""
    return (len(row) == 1 and ";" in row[0]) or any(re.search(r"\d\s*;\s*[-+]?\d", cell) for cell in row)


def find_columns(names: Sequence[str], wanted: Sequence[str]) -> dict[str, list[int]]:
    """Return the column indices of each wanted name, ignoring case unless two wanted names differ only in case."""
    folded = [name.casefold() for name in wanted]
    found = {}
    for name, key in zip(wanted, folded, strict=True):
        exact = folded.count(key) > 1
        found[name] = [k for k, given in enumerate(names) if (given == name if exact else given.casefold() == key)]
    return found


def is_stream(path: AnyPath) -> bool:
    """Return whether a path is a device, a pipe or this process's output; such files are written into, not replaced."""
    status = _status(path)
    return status is not None and (_printed_to(status) is not None or _is_device_or_pipe(status))


def check_ending(path: AnyPath, endings: Sequence[str]) -> str:
    """Return the lower-case suffix of a file name, which must be one of `endings`."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise file_error(path, f"its ending is not known; give {', '.join(endings)}")
    return ending


def check_output(path: AnyPath, endings: Sequence[str] = ()) -> str:
    """Raise FileError if a file cannot be written; return the suffix that selects its format.

    Called before anything is computed. A stream without a known suffix gets the first of `endings`.
    """
    _check_path(path)
    ending = Path(path).suffix.lower()
    status = _status(path)
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise file_error(path, "is a directory; give the path of a file in it")
    if is_stream(path):
        return ending if ending in endings or not endings else endings[0]
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise file_error(path, "cannot be written: it is neither a regular file nor a device or pipe; choose another")
    if endings:
        check_ending(path, endings)
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise file_error(path, "cannot be written: its folder does not exist; make it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise file_error(path, "cannot be written: its folder may not be written to; choose another")
    if status is not None and not os.access(target, os.W_OK):
        raise file_error(path, "cannot be written: the file is read-only; choose another")
    return ending


def check_folder(path: AnyPath) -> None:
    """Raise FileError if a folder cannot be created or written to."""
    status = _status(path)
    if status is not None and not stat.S_ISDIR(status.st_mode):
        raise file_error(path, "is not a folder; give the path of a folder")
    existing = Path(os.path.realpath(path))
    while not existing.is_dir():
        existing = existing.parent
    if not os.access(existing, os.W_OK | os.X_OK):
        raise file_error(path, "the folder may not be written to; choose another")


def make_folder(path: AnyPath) -> Path:
    """Create a folder and its parents where they do not exist."""
    check_folder(path)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise file_error(path, f"the folder cannot be made ({_reason(error)})") from None
    return Path(path)


def csv_text(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return columns of equal length as CSV with a header."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()


def write_csv(path: AnyPath, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length to a CSV file."""
    check_output(path, CSV_ENDINGS)
    write_text(path, csv_text(columns))


def write_text(path: AnyPath, text: str, largest: int | None = None) -> None:
    """Write a text as `write_bytes` does; refuse more than `largest` bytes, which could not be read again."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise file_error(path, f"cannot be written: {error.object[error.start]!r} is not a Unicode character") from None
    if largest is not None and len(content) > largest:
        size = f"{len(content) / 1e6:.1f} MB"
        raise file_error(path, f"would have {size}; at most {largest / 1e6:.0f} MB can be read: write a smaller one")
    write_bytes(path, content)


def write_bytes(path: AnyPath, content: bytes) -> None:
    """Write a file atomically: the old content stays until the new one is complete on disk.

    Symbolic links are followed. Devices, pipes and standard output are written into.
    """
    check_output(path)
    try:
        if is_stream(path):
            _write_into(path, content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            why = "no space left on the disk; an old file is kept; free some space and run the same command again"
            raise file_error(path, why) from None
        raise file_error(path, f"cannot be written ({_reason(error)})") from None


def _write_into(path: AnyPath, content: bytes) -> None:
    status = os.stat(path)
    printed = _printed_to(status)
    sys.stdout.flush()
    # Opening a file that stdout is redirected to would overwrite it from its beginning.
    handle = os.open(path, os.O_WRONLY) if printed is None else os.dup(printed)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)


def _replace(target: Path, content: bytes) -> None:
    temporary = target.with_name(f"{UNFINISHED}{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # A new file gets its mode from the umask; an existing one keeps its mode.
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    finally:
        # Already renamed if the write succeeded.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _check_path(path: Any) -> None:
    """Raise FileError for anything but a path; `os.stat` and `open` accept an integer as a file descriptor."""
    if not isinstance(path, (str, os.PathLike)):
        raise FileError(f"path = {repr(path)[:LONGEST_REASON]} is not accepted; give the path of a file")


def _status(path: AnyPath) -> os.stat_result | None:
    """Return the status of the file at a path, links followed; None if there is none."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise file_error(path, "cannot be written: its folder is a file; choose another") from None
    except (OSError, ValueError) as error:
        raise file_error(path, f"cannot be written ({_reason(error)})") from None


def _is_device_or_pipe(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) or stat.S_ISFIFO(status.st_mode)


def _printed_to(status: os.stat_result) -> int | None:
    """Return the descriptor of stdout or stderr if it refers to the file with this status."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), status):
                return descriptor
    return None


@contextlib.contextmanager
def _opened(path: AnyPath, largest: int) -> Iterator[io.BufferedReader]:
    """Open a regular file for reading. Other files are not opened: a pipe would block until it has a writer."""
    _check_path(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise file_error(path, "no such file; give the path of an existing file") from None
    except (OSError, ValueError) as error:
        raise file_error(path, f"cannot be read ({_reason(error)})") from None
    if stat.S_ISDIR(status.st_mode):
        raise file_error(path, "is a directory; give the path of a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise file_error(path, "is not a regular file; give the path of a file on disk")
    if status.st_size > largest:
        raise _too_large(path, status.st_size, largest)
    try:
        with open(path, "rb") as stream:
            yield stream
    except OSError as error:
        raise file_error(path, f"cannot be read ({_reason(error)})") from None


def _lines(text: io.TextIOBase, origin: AnyPath) -> Iterator[str]:
    while line := text.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise file_error(origin, f"has a line of more than {LONGEST_LINE} characters, which is not a table")
        yield line


def _too_large(path: AnyPath, size: int, largest: int) -> FileError:
    return file_error(path, f"has {size / 1e6:.1f} MB; at most {largest / 1e6:.0f} MB are accepted")


def _reason(error: Exception) -> str:
    text = (getattr(error, "strerror", None) or str(error)).lower()
    text = text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 3] + "..."
    return "".join(character if character.isprintable() else " " for character in text)
