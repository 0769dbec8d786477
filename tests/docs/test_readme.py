"""The README is short, true to the code and leads somewhere."""

import re

from tests.docs.page_runner import DOCS, ROOT, blocks_of, pages

from arcreach.ik.method import methods

README = ROOT / "README.md"


def test_the_example_is_short_and_says_what_it_prints():
    (example,) = [block for block in blocks_of(README) if block.language == "python"]
    assert len(example.text.strip().splitlines()) <= 14
    assert len(re.findall(r"print\(.*\)  # ", example.text)) == example.text.count("print(")


def test_links_lead_somewhere():
    """Sphinx checks the links between pages; those of the README and all pictures are checked here."""
    for page in (README, ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert target.startswith("https://") or (ROOT / target).exists(), f"{page.name}: {target}"


def test_what_is_said_of_other_libraries_is_what_was_measured():
    page = (DOCS / "peers.md").read_text(encoding="utf-8")
    short, every = page.split("## All figures")
    leads = [float(times) for times in re.findall(r"^\|.* start \|.*% \| ([\d.]+) \(", short, re.MULTILINE)]
    assert "at least 2.4 times the median time" in (DOCS / "performance.md").read_text(encoding="utf-8")
    assert min(leads) >= 2.4
    arms = re.split(r"^### ", every, flags=re.MULTILINE)[1:]
    medians = [
        dict(re.findall(r"^\| ([^|]+) \|[^|]+%[^|]*\|.*\| ([\d.]+) \| [\d.]+ \|$", arm, re.MULTILINE)) for arm in arms
    ]
    served = [one for one in medians if "EAIK" in one]
    assert served
    for one in served:
        assert 2.0 * float(one["EAIK"]) < float(one["arcreach auto, no start"]) < float(one["arcreach auto"])
    assert sum(min(general(one), key=general(one).get) == "rtb ik_LM" for one in medians) == 7


def general(medians):
    return {name: float(time) for name, time in medians.items() if "arcreach" not in name and name != "EAIK"}


def test_every_method_has_its_section_and_its_measurement():
    page = (DOCS / "methods.md").read_text(encoding="utf-8")
    measured = (DOCS / "measured" / "methods.md").read_text(encoding="utf-8")
    for name in methods():
        assert f"### `{name}`" in page
        assert f"| `{name}`" in measured


def test_every_tutorial_is_on_the_first_page_and_in_the_readme():
    for tutorial in (DOCS / "tutorials").glob("*.md"):
        for page in (README, DOCS / "index.md", DOCS / "getting-started.md"):
            assert f"tutorials/{tutorial.name}" in page.read_text(encoding="utf-8"), page.name


def test_every_picture_of_an_example_is_shown():
    shown = "".join(page.read_text(encoding="utf-8") for page in pages())
    for picture in (DOCS / "images").glob("[0-9]*.png"):
        assert picture.name in shown, picture.name
