"""What the pages show works: Python is run, robot files are loaded, public names are described."""

import re
import shlex
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

import arcreach
from arcreach.cli import main
from arcreach.files.robot_file import json_schema, parse_robot

DOCS = Path(__file__).parents[2] / "docs"


def blocks(language):
    """Every code block of a language, with its page and number."""
    fence = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [
        pytest.param(block, id=f"{path.stem}-{i}")
        for path in sorted(DOCS.glob("*.md"))
        for i, block in enumerate(fence.findall(path.read_text(encoding="utf-8")), start=1)
    ]


@pytest.mark.compiled
@pytest.mark.parametrize("block", blocks("python"))
def test_python_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "page", "exec"), {})


@pytest.mark.parametrize("block", blocks("toml"))
def test_robot_file_loads(block):
    if "matrix" in block:
        pytest.importorskip("sympy")
    assert parse_robot(block, "page").dof > 0
    jsonschema.validate(tomllib.loads(block), json_schema())


@pytest.mark.parametrize("block", blocks("console"))
def test_commands_print_what_the_page_shows(block, tmp_path, monkeypatch, capsys):
    command, _, shown = block.partition("\n")
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    (tmp_path / "arm.toml").write_text(re.search(r"^```text\n(\[\[.*?)^```$", page, re.MULTILINE | re.DOTALL)[1])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", shlex.split(command.removeprefix("$ ")))
    with pytest.raises(SystemExit):
        main()
    out, err = capsys.readouterr()
    printed = [line.rstrip() for line in [*out.splitlines(), *err.splitlines()] if not line.startswith("Compiling")]
    # Rich puts an empty line around every table.
    assert [line for line in printed if line] == [line.rstrip() for line in shown.splitlines() if line]


def test_every_public_name_is_described():
    api = (DOCS / "api.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\.\. auto\w+:: (\w+)$", api, re.MULTILINE))
    assert described == set(arcreach.__all__)


def test_every_unit_is_described():
    from arcreach.files import units

    page = (DOCS / "robot-files.md").read_text(encoding="utf-8")
    for unit in (*units.LENGTH_UNITS, *units.ANGLE_UNITS):
        assert f"`{unit.replace('μ', 'µ')}`" in page, unit
