"""The page on adding an element is followed to the letter, in a copy of the package, and the element then serves."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.page_runner import ROOT, blocks_of

import arcreach

CHECKS = Path(__file__).with_name("check_helical.py")


@pytest.fixture
def package_home(tmp_path):
    """A copy of the package with the helical joint of the page."""
    home = tmp_path / "src"
    shutil.copytree(Path(arcreach.__file__).parent, home / "arcreach", ignore=shutil.ignore_patterns("__pycache__"))
    module, registration = (block.text for block in blocks_of(ROOT / "CONTRIBUTING.md"))
    elements = home / "arcreach" / "elements"
    (elements / "helical.py").write_text(module)
    imported, entry = registration.strip().split("\n\n")
    known = (elements / "__init__.py").read_text()
    changed, count = re.subn(r"^ELEMENTS: .*$", lambda _: entry, known, flags=re.MULTILINE)
    assert count == 1
    (elements / "__init__.py").write_text(f"{imported}\n{changed}")
    return home


def check(package_home, tmp_path, *options, **variables):
    environment = {**os.environ, "PYTHONPATH": str(package_home), "ARCREACH_CACHE_DIR": str(tmp_path), **variables}
    command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "--noconftest", "-p", "no:cacheprovider"]
    command += [*options, str(CHECKS)]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=800, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_joint_of_the_page_serves_everywhere(package_home, tmp_path):
    check(package_home, tmp_path, NUMBA_DISABLE_JIT="1")


@pytest.mark.compiled
def test_the_joint_of_the_page_is_compiled(package_home, tmp_path):
    # Optimised less: that it compiles is the question, and half of the time is the compiler's optimisation.
    check(package_home, tmp_path, "-k", "pose or auto", NUMBA_DISABLE_JIT="0", NUMBA_OPT="1")
