"""The cache of compiled kernels: used by the next process, never stale."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import arcreach
from arcreach import _jit

pytestmark = pytest.mark.compiled

PACKAGE = Path(arcreach.__file__).parent

# Prints the tip and how many kernels were compiled rather than loaded.
PROGRAM = """
from arcreach import _jit
compiled = []
with _jit.on_compile(lambda: compiled.append(1)):
    import arcreach as ar
    z = ar.Robot([ar.Section(0.1, 3.0)]).tip_pose([0.0, 0.0])[2, 3]
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
    # An edit three calls below the function that is called: numba alone would not see it.
    arc = package_home / "arcreach" / "kernels" / "arc.py"
    text = arc.read_text()
    assert "if u != 0.0 else 1.0" in text
    arc.write_text(text.replace("if u != 0.0 else 1.0", "if u != 0.0 else 2.0"))
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
    import numba

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
    assert _jit._cache_home() == Path(home)


def test_without_a_home_directory_there_is_no_cache_of_the_user(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for variable in ("ARCREACH_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert _jit._cache_home() is None
    monkeypatch.setenv("ARCREACH_CACHE_DIR", "~nobody-of-this-name/cache")
    assert _jit._cache_home() is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX users")
@pytest.mark.parametrize("trap", ["", "writable by all", "link", "another user's"])
def test_a_folder_for_temporary_files_that_another_user_prepared_is_not_used(trap, tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "_cache_home", lambda: None)
    monkeypatch.setattr(_jit.tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"arcreach-{os.getuid()}"
    if trap == "writable by all":
        folder.mkdir()
        folder.chmod(0o777)
    elif trap == "link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    elif trap:
        user = os.getuid() + 1
        folder = tmp_path / f"arcreach-{user}"
        folder.mkdir()
        monkeypatch.setattr(os, "getuid", lambda: user)
    chosen = _jit._open_cache()
    assert (chosen.parent == folder) == (not trap)
    private = chosen if trap else chosen.parent
    assert private.stat().st_mode & 0o077 == 0
