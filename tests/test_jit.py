"""The cache of compiled kernels: used by the next process, never stale."""

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.types.functions import BaseFunction

import arcreach
from arcreach import _jit
from arcreach._jit import cache as kernel_cache

pytestmark = pytest.mark.compiled

PACKAGE = Path(arcreach.__file__).parent

# Prints the tip and how many kernels were compiled rather than loaded.
PROGRAM = """
from arcreach import _jit
compiled = []
with _jit.on_compile(lambda: compiled.append(1)):
    from arcreach.kernels.chain.arc import arc_tip
    z = 0.1 * arc_tip(0.0, 0.0)[1]
print(z, len(compiled), _jit.CACHE_DIRECTORY)
"""


def run(home, package_home, **variables):
    environment = {**os.environ, "ARCREACH_CACHE_DIR": str(home), "PYTHONPATH": str(package_home), **variables}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    z, compiled, folder = done.stdout.split()
    return float(z), int(compiled), Path(folder)


@pytest.fixture
def package_home(tmp_path):
    """A copy of the package that a test may edit."""
    home = tmp_path / "src"
    shutil.copytree(PACKAGE, home / "arcreach", ignore=shutil.ignore_patterns("__pycache__"))
    return home


def test_the_second_process_compiles_nothing_and_an_edit_anywhere_is_seen(tmp_path, package_home):
    cache = tmp_path / "cache"
    z, compiled, first_folder = run(cache, package_home)
    assert z == pytest.approx(0.1)
    assert compiled > 0
    z, compiled, folder = run(cache, package_home)
    assert (z, compiled, folder) == (pytest.approx(0.1), 0, first_folder)
    # An edit in another file than that of the function that is called: numba alone would not see it.
    trigonometry = package_home / "arcreach" / "kernels" / "math" / "trigonometry.py"
    text = trigonometry.read_text()
    assert "return sincos_reduced(x)\n" in text
    trigonometry.write_text(text.replace("return sincos_reduced(x)\n", "return math.sin(x), 2.0 * math.cos(x)\n"))
    z, compiled, folder = run(cache, package_home)
    assert z == pytest.approx(0.2)
    assert compiled > 0
    assert folder != first_folder


def test_a_home_that_cannot_be_written_is_no_obstacle(tmp_path, package_home):
    obstacle = tmp_path / "file"
    obstacle.write_text("not a folder")
    z, _, folder = run(obstacle / "cache", package_home, TMPDIR=str(tmp_path))
    assert z == pytest.approx(0.1)
    assert tmp_path in folder.parents


def test_the_cache_of_other_numba_code_is_left_alone():
    assert str(_jit.CACHE_DIRECTORY) != numba.config.CACHE_DIR


@pytest.mark.parametrize(
    ("variables", "home"),
    [
        ({"ARCREACH_CACHE_DIR": "/x/y"}, "/x/y"),
        ({"NUMBA_CACHE_DIR": "/n"}, "/n/arcreach"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/arcreach"),
    ],
)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the folders of Linux")
def test_where_the_cache_lies(variables, home, monkeypatch):
    for variable in ("ARCREACH_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert kernel_cache._cache_home() == Path(home)


def test_without_a_home_directory_there_is_no_cache_of_the_user(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for variable in ("ARCREACH_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert kernel_cache._cache_home() is None
    monkeypatch.setenv("ARCREACH_CACHE_DIR", "~nobody-of-this-name/cache")
    assert kernel_cache._cache_home() is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX users")
@pytest.mark.parametrize("given", ["", "ARCREACH_CACHE_DIR", "NUMBA_CACHE_DIR"])
@pytest.mark.parametrize(
    ("trap", "reason"),
    [
        ("", ""),
        ("writable by all", "can be written by others"),
        ("link", "is not a folder"),
        ("another user's", "belongs to another user"),
        ("another user's file", "holds files of another user"),
        ("subfolder writable by group", "can be written by others"),
        ("subfolder of another user", "belongs to another user"),
    ],
)
def test_a_cache_folder_that_others_can_write_to_is_not_used(given, trap, reason, tmp_path, monkeypatch, capsys):
    if "another" in trap and os.getuid() != 0:
        pytest.skip("only root can give a file away")
    for variable in ("ARCREACH_CACHE_DIR", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(variable, raising=False)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(kernel_cache.tempfile, "tempdir", str(temporary))
    fallback = temporary / f"arcreach-{os.getuid()}"
    if given:
        monkeypatch.setenv(given, str(tmp_path / "home"))
        folder = tmp_path / "home" / ("arcreach" if given == "NUMBA_CACHE_DIR" else "")
    else:
        monkeypatch.setattr(kernel_cache, "_cache_home", lambda: None)
        folder = fallback
    (tmp_path / "elsewhere").mkdir()
    if trap == "link":
        folder.parent.mkdir(exist_ok=True)
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        sub = folder / _jit.kernel_hash()
        sub.mkdir(parents=True)
        (sub / "planted.nbc").write_text("code")
        folder.chmod(0o777 if trap == "writable by all" else 0o755)
        sub.chmod(0o775 if trap == "subfolder writable by group" else 0o755)
        foreign = {"another user's": folder, "another user's file": sub / "planted.nbc"}
        if "another" in trap:
            os.chown(foreign.get(trap, sub), 12345, -1)
    chosen = kernel_cache._open_cache()
    told = capsys.readouterr().err
    assert chosen.stat().st_mode & 0o077 == 0
    if trap:
        assert chosen.parent != folder
        assert not any((tmp_path / "elsewhere").iterdir())
        assert told.splitlines()[0].startswith(f"arcreach: compiled kernels are not kept in {folder}: it {reason}")
        assert "set ARCREACH_CACHE_DIR" in told
    else:
        assert (chosen, told) == (folder / _jit.kernel_hash(), "")


# A fast kernel that is first to call a strict one, a counter that begins at 0, and two signatures of one kernel.
KERNELS = """
import math
import numpy as np
from arcreach._jit import CACHE_DIRECTORY, kernel
from arcreach.kernels.math.trigonometry import sincos

@kernel(fast=True, batch=True)
def fast(x, out):
    out[0], out[1] = sincos(x[0])

@kernel
def add(i, x):
    return x + i

@kernel
def count(x):
    i = 0
    while i < 3:
        x = add(i, x)
        i += 1
    return x

out = np.zeros(2)
worst = 0.0
for x in np.linspace(-300.0, 300.0, 1001):
    fast(np.array([x]), out)
    for sine, cosine in (out, sincos(x)):
        worst = max(worst, abs(sine - math.sin(x)), abs(cosine - math.cos(x)))
total = count(1.0)
print(worst < 1e-12, total, len(add.signatures), count(1), len(list(CACHE_DIRECTORY.rglob("*.nbi"))))
"""


def test_kernels_do_not_depend_on_who_calls_them_first(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    told = []
    for quiet in ("0", "0", "1"):
        if quiet == "1":
            shutil.rmtree(tmp_path / "cache")
        environment = {**os.environ, "ARCREACH_CACHE_DIR": str(tmp_path / "cache"), "ARCREACH_QUIET": quiet}
        done = subprocess.run(
            [sys.executable, tmp_path / "kernels.py"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        # From the disk the inner kernel comes inside the outer one.
        signatures = 0 if len(told) == 1 else 1
        assert done.stdout.split() == ["True", "4.0", str(signatures), "4", "0"]
        told.append(done.stderr)
    # One line where kernels are compiled, none where they are loaded or where it is switched off.
    assert told == [_jit.COMPILING_LINE + "\n", "", ""]


# Two kernels that call a third one, which Python calls too. Prints the results and the names of compiled kernels.
FORMS = """
import sys
from numba.core import event
from arcreach._jit import kernel

@kernel
def half(x):
    return 0.5 * x

@kernel
def quarter(x):
    return half(half(x))

@kernel
def less(x):
    return half(x) - 1.0

class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].__name__)

    def on_end(self, event):
        pass

compiled = []
event.register("numba:compile", Listener())
print(*(globals()[name](8.0) for name in sys.argv[1:]), *compiled)
"""


@pytest.mark.parametrize("first", ["quarter", "half"])
def test_a_kernel_is_compiled_once_for_kernels_and_once_for_python(first, tmp_path):
    (tmp_path / "kernels.py").write_text(FORMS)

    def call(*names):
        done = subprocess.run(
            [sys.executable, tmp_path / "kernels.py", *names],
            env={**os.environ, "ARCREACH_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        return done.stdout.split()

    if first == "half":
        # Its version for Python is not needed by the others.
        assert call("half") == ["4.0", "half"]
    assert call("quarter") == ["2.0", "quarter", "half"]
    # From the disk into another kernel; from there for Python.
    again = ["half"] if first == "quarter" else []
    assert call("less", "half", "quarter") == ["3.0", "4.0", "2.0", "less", *again]
    assert call("less", "half", "quarter") == ["3.0", "4.0", "2.0"]


def test_code_of_others_is_compiled_silently(capsys):
    assert numba.njit(lambda x: x + 1)(1) == 2
    assert capsys.readouterr().err == ""


def test_generated_code_is_compiled_silently(capsys, monkeypatch):
    """The formulas of a symbolic robot are compiled in every run, which the line on stderr does not mean."""
    monkeypatch.setenv("ARCREACH_QUIET", "0")
    assert _jit.compile_source("def double(x):\n    return 2 * x\n", "double")(2) == 4
    assert capsys.readouterr().err == ""


def test_a_kernel_that_returns_arrays_must_say_that_it_allocates():
    # Without reference counts numba compiles this, and the process aborts when it runs.
    @_jit.kernel
    def halves(x):
        return x[:1], x[1:]

    @_jit.kernel(batch=True)
    def caller(x):
        first, _ = halves(x)
        return first[0]

    with pytest.raises(numba.errors.NumbaError, match="kernel halves returns an array; mark it `allocates`"):
        caller(np.zeros(2))


@pytest.mark.parametrize("compiles", [True, False])
def test_compiling_leaves_numba_and_the_garbage_collector_as_they_were(compiles):
    @_jit.kernel
    def half(x):
        return x / 2.0

    resolve, collecting = BaseFunction.get_call_type, []
    with _jit.on_compile(lambda: collecting.append(gc.isenabled())):
        if compiles:
            assert half(3.0) == 1.5
        else:
            with pytest.raises(numba.errors.TypingError):
                half("three")
    assert collecting[0] is False
    assert gc.isenabled()
    assert BaseFunction.get_call_type is resolve


def test_one_line_is_printed_where_a_process_interprets_and_compiles(monkeypatch, capsys):
    from arcreach._jit import announcements

    monkeypatch.setattr(announcements, "_announced", False)
    monkeypatch.setenv("ARCREACH_QUIET", "0")
    for line in (_jit.INTERPRETING_LINE, _jit.COMPILING_LINE, _jit.INTERPRETING_LINE):
        _jit.announce(line)
    assert capsys.readouterr().err == _jit.INTERPRETING_LINE + "\n"
