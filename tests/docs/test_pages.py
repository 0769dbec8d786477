"""The pages are true: every code block is run, every command given, every public name described."""

import pkgutil
import re

import pytest
import typer
from tests.docs.page_runner import (
    _FENCE,
    DOCS,
    LANGUAGES,
    ROOT,
    PageRun,
    _block,
    alike,
    blocks_of,
    holds_code,
    pages,
    reader_s_desk,
)

import arcreach
from arcreach.cli.app import app
from arcreach.gpu import driver

# Blocks that are shown only: nothing of ours could run them. By page, with how they begin.
SHOWN_ONLY = {
    ("CONTRIBUTING.md", '"""A joint that turns'),  # files of a copy of the package, see test_new_element.py
    ("CONTRIBUTING.md", "from arcreach.elements.helical"),
    ("command-line.md", "ENV ARCREACH_CACHE_DIR"),  # lines of a Dockerfile
    ("robot-files.md", "#:schema"),  # a comment for editors
}


def shown_only(block):
    return any(block.page.name == page and block.text.startswith(begin) for page, begin in SHOWN_ONLY)


def code_blocks(page):
    return [block for block in blocks_of(page) if holds_code(block) and not shown_only(block)]


def names(paths):
    return [pytest.param(path, id=str(path.relative_to(ROOT).with_suffix(""))) for path in paths]


@pytest.mark.compiled
@pytest.mark.parametrize("page", names(page for page in pages() if code_blocks(page)))
def test_everything_on_the_page_works(page, tmp_path, monkeypatch):
    # As for most readers; the simulated GPU would take a minute for a hundred targets.
    monkeypatch.setattr(driver, "unusable", lambda: "no NVIDIA GPU was found")
    run = PageRun(tmp_path)
    with reader_s_desk(tmp_path):
        for block in code_blocks(page):
            run.run(block)


@pytest.mark.parametrize("page", names(pages()))
def test_no_block_is_left_out(page):
    """A block in a language that nobody runs is a mistake, and so is a fence that is not closed."""
    text = page.read_text(encoding="utf-8")
    blocks = blocks_of(page)
    assert len(re.findall(r"^ *`{3,}", text, re.MULTILINE)) == 2 * len(blocks), "a fence is indented or not closed"
    for block in blocks:
        if holds_code(block):
            assert block.language in LANGUAGES | {"{literalinclude}"}, f"{block.place}: who runs '{block.language}'?"


@pytest.mark.parametrize(
    "block",
    [block for page in pages() for block in blocks_of(page) if block.language == "toml"],
    ids=lambda block: block.place,
)
def test_files_load(block, tmp_path):
    if "matrix" in block.text:
        pytest.importorskip("sympy")
    PageRun(tmp_path).toml(block)


def test_what_is_shown_only_exists():
    found = {
        (block.page.name, begin)
        for page in pages()
        for block in blocks_of(page)
        for name, begin in SHOWN_ONLY
        if block.page.name == name and block.text.startswith(begin)
    }
    assert found == SHOWN_ONLY


def page_with(tmp_path, text):
    page = ROOT / "docs" / "unwritten.md"
    return [_block(page, 1, *one) for one in text]


@pytest.mark.parametrize(
    ("info", "text"),
    [
        ("python", "assert 1 == 2\n"),
        ("python", 'print("three")  # four\n'),
        ("text", "nobody printed this\n"),
        ("sh", "arcreach info no-such-robot\n"),
        ("sh", "arcreach robots  # exit code 1\n"),
        ("sh", "curl example.org\n"),
        ("sh", "make coffee\n"),
        ("sh", "pip install 'arcreach[coffee]'\n"),
        ("console", "$ arcreach --version\narcreach 99\n"),
        ("toml", '[[elements]]\nkind = "section"\nlenght = 1\n'),
    ],
)
def test_a_page_that_is_wrong_fails(info, text, tmp_path):
    with reader_s_desk(tmp_path), pytest.raises((AssertionError, ValueError)):
        PageRun(tmp_path).run(*page_with(tmp_path, [(info, text)]))


@pytest.mark.parametrize(
    ("line", "promise", "same"),
    [
        ("path of 8 points, 0.256 mm", "path of 8 points, ...", True),
        ("path of 9 points, 0.256 mm", "path of 8 points, ...", False),
        ("a.b", "a.b", True),
        ("axb", "a.b", False),
    ],
)
def test_dots_stand_for_anything(line, promise, same):
    assert alike(line, promise) is same


COMMANDS = set(typer.main.get_command(app).commands)
API = (DOCS / "api.md").read_text(encoding="utf-8")
# Modules that users import beside the package itself, described with all their members.
PUBLIC_MODULES = ("arcreach.figures", "arcreach.ik.hierarchical")


def described(module):
    """The names under `.. currentmodule:: module`."""
    found = set()
    for part in re.split(r"^\.\. currentmodule:: ", API, flags=re.MULTILINE)[1:]:
        if part.split("\n", 1)[0] == module:
            found |= set(re.findall(r"^\.\. auto(?:class|function|exception|data):: (\w+)$", part, re.MULTILINE))
    return found


def test_every_public_name_is_described():
    assert described("arcreach") == set(arcreach.__all__)


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_every_public_module_is_described(module):
    assert re.search(rf"^\.\. automodule:: {module}\n   :members:", API, re.MULTILINE)


def inline(page):
    """Return the code between backticks in the text of a page, outside its blocks."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize("page", names(pages()))
def test_what_the_text_names_exists(page):
    """Commands, names of the package and dotted names of modules, where the text speaks of them."""
    for code in inline(page):
        if match := re.match(r"arcreach ([a-z][a-z-]*)", code):
            assert match[1] in COMMANDS, code
        if match := re.match(r"ar\.(\w+)", code):
            assert match[1] in arcreach.__all__, code
        if match := re.match(r"arcreach(\.\w+)+", code):
            assert pkgutil.resolve_name(match[0]), code


def test_every_unit_is_described():
    from arcreach.files import units

    page = (DOCS / "robot-files.md").read_text(encoding="utf-8")
    for unit in (*units.LENGTH_UNITS, *units.ANGLE_UNITS):
        assert f"`{unit.replace('μ', 'µ')}`" in page, unit
