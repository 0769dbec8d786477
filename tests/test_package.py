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
    code = f"import sys, arcreach; print([name for name in {optional} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_has_one_home():
    assert f"version: {arcreach.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {arcreach.__version__}" in (ROOT / "CHANGELOG.md").read_text()
