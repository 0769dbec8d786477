"""What the package shows and what it does not drag in."""

import subprocess
import sys
from pathlib import Path

import arcreach

ROOT = Path(__file__).parents[1]


def test_public_names_exist_and_are_documented():
    for name in arcreach.__all__:
        assert getattr(arcreach, name).__doc__


def test_import_brings_no_optional_package():
    optional = ("sympy", "matplotlib", "viser", "typer", "dask")
    assert loaded("import arcreach", optional) == []


def test_a_solve_brings_its_own_method_alone():
    here = ("arcreach.ik.methods.ccd", "arcreach.ik.methods.chords", "arcreach.ik.methods.hierarchical")
    assert loaded("from arcreach.ik.method import find_method; find_method('ccd')", here) == [here[0]]


def loaded(line, names):
    """Which modules a new process has imported after a line of code."""
    code = f"{line}\nimport sys; print(*(name for name in {names} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    return done.stdout.split()


def test_the_version_has_one_home():
    assert f"version: {arcreach.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {arcreach.__version__}" in (ROOT / "CHANGELOG.md").read_text()
