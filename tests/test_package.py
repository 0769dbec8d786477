"""What the package shows and what it does not drag in."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import arcreach
from arcreach.cli import main
from arcreach.ik.method import markdown_table

ROOT = Path(__file__).parents[1]


def test_public_names_exist_and_are_documented():
    for name in arcreach.__all__:
        assert getattr(arcreach, name).__doc__


def test_import_brings_no_optional_package():
    optional = ("sympy", "matplotlib", "viser", "typer", "dask")
    code = f"import sys, arcreach; print([name for name in {optional} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "[]"


def code_blocks(path, language):
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [text for found, text in blocks if found == language]


@pytest.mark.compiled
def test_the_readme_s_example_runs_and_is_short(capsys):
    (example,) = code_blocks(ROOT / "README.md", "python")
    assert len(example.strip().splitlines()) <= 15
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    # The comments beside the print calls say what they print.
    promised = re.findall(r"print\(.*?\)\s+# (.+)", example)
    assert promised
    assert printed == promised


COMMANDS = [
    line for block in code_blocks(ROOT / "README.md", "") for line in block.splitlines() if line.startswith("arcreach")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_readme_works(command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", shlex.split(command, comments=True))
    with pytest.raises(SystemExit) as caught:
        main()
    assert not caught.value.code


def test_the_table_of_methods_is_the_registry_s():
    assert markdown_table() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_version_has_one_home():
    assert f"version: {arcreach.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {arcreach.__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.compiled
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example):
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
