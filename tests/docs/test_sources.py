"""Every kernel says where it comes from, and what it cites exists."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

import equations  # noqa: E402

FUNCTIONS = equations.read_functions()
KERNELS = [function for function in FUNCTIONS if function.is_kernel]
MOST_ARGUMENTS = 8
# Kernels that may take more, with the reason.
LONG_LISTS = {
    "kernels.solver.seed_lookup.quaternion": "the nine entries of a rotation",
}


def cited(functions):
    return {citation.key for function in functions for citation in function.citations} - {equations.DERIVED}


def test_reader_finds_kernels():
    places = {function.place for function in KERNELS}
    assert {"kernels.chain.arc.chord", "kernels.chain.batch.tip_poses"} <= places


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.place)
def test_kernel_names_its_source(kernel):
    assert kernel.citations, "add 'Source: [key] eq. n.' or 'Source: derived.' to its docstring"
    assert kernel.summary, "begin its docstring with a sentence"


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.place)
def test_kernel_takes_few_arguments(kernel):
    few = len(kernel.arguments) <= MOST_ARGUMENTS or kernel.place in LONG_LISTS
    assert few, f"{len(kernel.arguments)} arguments: put those that travel together into a NamedTuple"


def test_cited_keys_are_in_the_bibliography():
    assert cited(FUNCTIONS) <= set(equations.reference_keys())


def test_bibliography_has_an_anchor_per_key():
    text = (DOCS / "references.md").read_text(encoding="utf-8")
    for key in equations.reference_keys():
        assert f"({key.lower()})=\n**[{key}]**" in text


def test_catalogue_cites_the_bibliography():
    paths = list((ROOT / "src" / "arcreach" / "files" / "catalogues").rglob("*.toml"))
    assert len(paths) > 30
    for path in paths:
        source = re.search(r'^source = "(.*)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        assert source, path.name
        assert set(re.findall(r"\[(\w+)\]", source[1])) <= set(equations.reference_keys()), path.name


def test_errata_exist():
    anchors = {anchor for function in FUNCTIONS for anchor in function.errata}
    assert anchors <= set(equations.errata_anchors())


def test_errata_name_tests_that_exist():
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_errata_*.py"))
    for name in re.findall(r"`(test_\w+)`", (DOCS / "errata.md").read_text(encoding="utf-8")):
        assert f"def {name}(" in tests, name


def test_page_names_every_kernel():
    page = equations.page(FUNCTIONS, equations.reference_keys())
    for kernel in KERNELS:
        assert f"`{kernel.place}`" in page


def test_page_links_errata():
    page = equations.page(FUNCTIONS, equations.reference_keys())
    for function in FUNCTIONS:
        for anchor in function.errata:
            assert f"[{anchor}](#{anchor})" in page


def read(docstring, tmp_path, decorator="@kernel\n"):
    (tmp_path / "arcreach").mkdir()
    source = f'{decorator}def f():\n    """{docstring}"""\n'
    (tmp_path / "arcreach" / "module.py").write_text(source, encoding="utf-8")
    return equations.read_functions(tmp_path / "arcreach")


@pytest.mark.parametrize(
    ("docstring", "citations"),
    [
        ("Do it. Source: derived.", [("derived", "")]),
        ("Do it.\n\n    Source: [A1] eqs. 1.4,\n    2.6. More text.", [("A1", "eqs. 1.4, 2.6")]),
        (
            "Do it. Source: [A1]; [B2] fig. 3; derived for joints.",
            [("A1", ""), ("B2", "fig. 3"), ("derived", "for joints")],
        ),
        ("Do it.", []),
    ],
)
def test_reader_splits_sources(docstring, citations, tmp_path):
    [function] = read(docstring, tmp_path)
    assert [(citation.key, citation.label) for citation in function.citations] == citations
    assert function.summary == "Do it."
    assert function.place == "module.f"


@pytest.mark.parametrize("docstring", ["Do it. Source: a book.", "Do it. Source: [A1] eq. 2"])
def test_reader_refuses_what_it_cannot_read(docstring, tmp_path):
    with pytest.raises(ValueError, match=r"arcreach\.module\.f"):
        read(docstring, tmp_path)


def test_reader_leaves_other_functions_out(tmp_path):
    assert read("Do it.", tmp_path, decorator="") == []


def test_formulas_are_not_markup():
    assert equations._escape("a [b] * c_d | `e_f * g`") == r"a \[b\] \* c\_d \| `e_f * g`"
