"""Read which published equation each function computes, and write the page that lists them.

The reader works on syntax trees, so nothing is imported or compiled. In a docstring it looks for

    Source: [K22] eqs. 2.1-2.4; [FRD] fig. 1.
    Erratum: see docs/errata.md#k22-2-1.

Both may follow other text on the same line. `derived` is the source of what no paper prints.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1]
PACKAGE = DOCS.parent / "src" / "arcreach"

DERIVED = "derived"
KERNEL_DECORATORS = {"kernel"}

# A source ends at the full stop before a new sentence: the one in `eq. 2.1` is followed by a digit.
_SOURCE = re.compile(r"Source: (.+?)\.(?= [A-Z]|$)")
_ERRATUM = re.compile(r"docs/errata\.md#([a-z0-9-]+)")
_CITATION = re.compile(r"(?:\[(?P<key>\w+)\]|(?P<derived>derived))\s*(?P<label>.*)")
_SENTENCE = re.compile(r"(.+?[.!?])(?= [A-Z`]|$)")
_REFERENCE = re.compile(r"^\*\*\[(\w+)\]\*\*", re.MULTILINE)
_ANCHOR = re.compile(r"^\(([a-z0-9-]+)\)=$", re.MULTILINE)

_HEAD = """\
# Equations

Every function that computes something published names its source in its docstring. This page is made from these
docstrings when the documentation is built. Functions under *derived* follow from the definitions on the
[conventions](conventions.md) page and from elementary geometry. Where a source is misprinted, the last column links to
the [errata](errata.md).
"""


@dataclass(frozen=True)
class Citation:
    """A source and the place in it: key `K22` and label `eq. 2.1`."""

    key: str
    label: str


@dataclass(frozen=True)
class Function:
    """A function, and the sources that its docstring names."""

    module: str
    name: str
    arguments: tuple[str, ...]
    summary: str
    citations: tuple[Citation, ...]
    errata: tuple[str, ...]
    is_kernel: bool

    @property
    def place(self) -> str:
        """Module and name, without the package's own name that all have in common."""
        return f"{self.module}.{self.name}".partition(".")[2]


def read_functions(package: Path = PACKAGE) -> list[Function]:
    """Return every kernel of the package, and every other function that names a source, in the order of the files."""
    found = []
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                function = _read(node, module)
                if function.is_kernel or function.citations:
                    found.append(function)
    return found


def reference_keys(docs: Path = DOCS) -> list[str]:
    """Return the keys of the bibliography, in its order."""
    return _REFERENCE.findall((docs / "references.md").read_text(encoding="utf-8"))


def errata_anchors(docs: Path = DOCS) -> list[str]:
    """Return the anchors of the errata page."""
    return _ANCHOR.findall((docs / "errata.md").read_text(encoding="utf-8"))


def page(functions: list[Function], keys: list[str]) -> str:
    """Return the page as Markdown: one table per source, in the order of the bibliography."""
    parts = [_HEAD]
    for key in [*keys, DERIVED]:
        rows = sorted(_rows(functions, key))
        if rows:
            title = "Derived" if key == DERIVED else f"[{key}](#{key.lower()})"
            table = ["| place | function | what it does | erratum |", "|---|---|---|---|", *(row for _, row in rows)]
            parts.append("\n".join([f"## {title}", "", *table, ""]))
    return "\n".join(parts)


def write_page(docs: Path = DOCS) -> None:
    """Write docs/equations.md, unless it already says the same."""
    write_if_changed(docs / "equations.md", page(read_functions(), reference_keys(docs)))


def write_if_changed(path: Path, text: str) -> None:
    """Leave a file that is up to date alone, so that Sphinx does not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _read(node: ast.FunctionDef | ast.AsyncFunctionDef, module: str) -> Function:
    text = " ".join((ast.get_docstring(node) or "").split())
    sentence = _SENTENCE.match(text.split("Source:")[0].strip())
    return Function(
        module=module,
        name=node.name,
        arguments=tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)),
        summary=sentence[1] if sentence else "",
        citations=_citations(text, f"{module}.{node.name}"),
        errata=tuple(dict.fromkeys(_ERRATUM.findall(text))),
        is_kernel=any(_decorator_name(decorator) in KERNEL_DECORATORS for decorator in node.decorator_list),
    )


def _citations(text: str, place: str) -> tuple[Citation, ...]:
    sources = _SOURCE.findall(text)
    if len(sources) != text.count("Source:"):
        raise ValueError(f"{place}: a source is not closed by a full stop")
    citations = []
    for part in (part.strip() for source in sources for part in source.split(";")):
        match = _CITATION.fullmatch(part)
        if match is None:
            raise ValueError(f"{place}: the source '{part}' is neither '[key] place' nor 'derived'")
        citations.append(Citation(match["key"] or DERIVED, match["label"]))
    return tuple(citations)


def _decorator_name(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _rows(functions: list[Function], key: str) -> Iterator[tuple[tuple[list[int], int], str]]:
    """Yield the rows of one source's table, each with its sort key: the numbers in its label, then the file order."""
    for i, function in enumerate(functions):
        for citation in function.citations:
            if citation.key == key:
                numbers = [int(number) for number in re.findall(r"\d+", citation.label)]
                errata = ", ".join(f"[{anchor}](#{anchor})" for anchor in function.errata if _concerns(anchor, key))
                cells = (citation.label or "–", f"`{function.place}`", _escape(function.summary), errata)
                yield (numbers, i), f"| {' | '.join(cells)} |"


def _concerns(anchor: str, key: str) -> bool:
    """Return whether an anchor belongs to a source: anchors begin with its key."""
    return anchor.split("-", maxsplit=1)[0] == key.lower()


def _escape(text: str) -> str:
    """Keep Markdown from reading formulas as markup; code between backticks stays as it is."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([\[\]|*_<$])", r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces)
