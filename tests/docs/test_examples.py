"""Every example runs, tells something and leaves the picture that the documentation shows."""

import subprocess
import sys

import pytest
from tests.docs.page_runner import DOCS, ROOT

EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


@pytest.mark.compiled
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_leaves_a_picture(example, tmp_path):
    for extra in ("matplotlib", "polars", "sympy", "shapely"):
        pytest.importorskip(extra)
    done = subprocess.run(
        [sys.executable, example, tmp_path], capture_output=True, text=True, timeout=600, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    pictures = sorted(path.name for path in tmp_path.glob("*.png"))
    assert f"{example.stem}.png" in pictures
    for picture in pictures:
        assert picture.startswith(example.stem)
        assert (DOCS / "images" / picture).exists(), "run docs/figures/examples.py"


def test_examples_are_numbered_without_a_gap():
    assert [int(path.stem[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
