"""The page of coverage leaves no item of the sources out, and what it names exists."""

import re
import sys
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

from arcreach import figures, files
from arcreach.cli.commands import figure
from arcreach.experiments.catalogue import NAMES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

import equations  # noqa: E402

FOLDER = DOCS / "reproduction"
PAGE = (FOLDER / "coverage.md").read_text(encoding="utf-8")
TESTS = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
NOT = "not computed: "


def numbers(chapter, last, first=1):
    return [f"{chapter}{k}" for k in range(first, last + 1)]


# By source: how many of each kind it has.
ITEMS = {
    "K22": {
        "Fig": [*numbers("1.", 5), *numbers("2.", 12), *numbers("3.", 16)],
        "Table": ["2.1", *numbers("3.", 12)],
        "Eq": [*numbers("1.", 27), *numbers("2.", 48)],
        "Proposition": numbers("", 3),
        "Result": numbers("", 5),
    },
    "K22a": {"Fig": numbers("", 7), "Eq": numbers("", 5), "Conclusion": numbers("", 3)},
    "RGM3": {"Fig": numbers("", 9), "Table": numbers("", 5), "Eq": numbers("", 2)},
    "FRD": {
        "Fig": numbers("", 10),
        "Table": numbers("", 1),
        "Eq": numbers("", 8),
        "Statement": numbers("", 4),
        "Proposition": numbers("", 4),
        "Conclusion": numbers("", 8),
    },
}


def rows():
    """Source, and cells of a row, for all rows of all tables."""
    source = None
    for line in PAGE.splitlines():
        if heading := re.match(r"## \[(\w+)\]", line):
            source = heading[1]
        elif line.startswith("| ") and not line.startswith(("| item |", "| statement |")):
            yield source, [cell.strip() for cell in line.strip("|").split(" | ")]


ROWS = list(rows())
KINDS = "|".join(sorted(set(chain.from_iterable(ITEMS.values()))))


def listed(source):
    """The items of a source, as pairs of kind and number."""
    found = []
    for _, (item, *_) in (row for row in ROWS if row[0] == source):
        if match := re.match(rf"({KINDS})s?\.? ((?:\d+\.)?)(\d+)(?: to (?:\d+\.)?(\d+))?(?=$|:)", item):
            kind, chapter, first, last = match.groups()
            found += [(kind, number) for number in numbers(chapter, int(last or first), int(first))]
    return found


@pytest.mark.parametrize("source", ITEMS)
def test_no_item_is_left_out(source):
    wanted = {(kind, number) for kind, of_kind in ITEMS[source].items() for number in of_kind}
    assert set(listed(source)) == wanted
    # Several statements may stand under one conclusion.
    assert [item for item, n in Counter(listed(source)).items() if n > 1 and item[0] != "Conclusion"] == []


@pytest.mark.parametrize(("source", "cells"), ROWS, ids=lambda one: one if isinstance(one, str) else one[0][:40])
def test_every_row_says_where_or_why_not(source, cells):
    assert len(cells) in (3, 5)
    assert all(cells)
    place = cells[-1]
    reason = place.partition(NOT)[2]
    assert re.search(r"`|\]\(", place) or place == "arithmetic" or len(reason) > len("not")


def named(pattern):
    found = re.findall(pattern, PAGE)
    assert found
    return sorted(set(found))


def test_experiments_exist():
    assert set(named(r"experiment `([\w-]+)`")) <= set(NAMES)


def test_every_published_experiment_is_named():
    assert set(named(r"experiment `([\w-]+)`")) == set(NAMES) - {"arms", "compare"}


def test_figure_commands_exist():
    commands = {command.name or command.callback.__name__ for command in figure.app.registered_commands}
    assert set(named(r"`arcreach figure ([\w-]+)`")) <= commands


def test_figures_exist():
    assert set(named(r"`figures\.(\w+)`")) <= set(figures.__all__)


def test_functions_exist():
    places = {function.place for function in equations.read_functions()}
    assert set(named(r"`(kernels\.[\w.]+)`")) <= places


def test_tests_exist():
    for name in named(r"`(test_\w+)`"):
        assert f"def {name}(" in TESTS, name
    for path in named(r"`(tests/[\w/.]+)`"):
        assert (ROOT / path).is_file(), path


def test_robots_exist():
    robots = set(re.findall(r"`([\w-]+)`", " ".join(named(r"[Rr]obots? (`[^|.;]*)"))))
    known = {path.stem for path in (Path(files.__file__).parent / "catalogues" / "robots").glob("*.toml")}
    assert robots <= known


def test_published_tables_are_named():
    folder = ROOT / "src" / "arcreach" / "experiments" / "published"
    assert {path.stem for path in folder.glob("*.csv")} == set(named(r"\(`((?:rgm3-)?(?:table|section)-[\w.-]+)`\)"))


def anchors(page):
    """The anchors of the headings of a page."""
    headings = re.findall(r"^#{1,3} (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+\.md(?:#[^)]+)?)\)", PAGE))))
def test_links_lead_somewhere(link):
    path, _, anchor = link.partition("#")
    if path == "../equations.md":  # written when the documentation is built
        return
    assert (FOLDER / path).is_file()
    assert not anchor or anchor in anchors(FOLDER / path)


@pytest.mark.parametrize("anchor", sorted(set(re.findall(r"\]\(#([\w-]+)\)", PAGE))))
def test_errata_and_references_exist(anchor):
    assert anchor in equations.errata_anchors() or anchor in {key.lower() for key in equations.reference_keys()}
