"""How the documentation is built: `make docs`. Warnings are errors, and the pages need no network to be read."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import equations
from sphinx.util.inspect import TypeAliasForwardRef

import arcreach
from arcreach.files import json_schema
from arcreach.ik.method import markdown_table

project = "arcreach"
author = "The arcreach developers"
copyright = "the arcreach developers"
version = release = arcreach.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["figures", "_ext", "measured", "methods-table.md"]

html_theme = "furo"
html_title = f"arcreach {version}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["arcreach.css"]
html_copy_source = False

# A name between single backticks in a docstring is code.
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 100
autodoc_type_aliases = {"npt.ArrayLike": "ArrayLike", "theme.Figure": "Figure"}
autodoc_type_aliases |= {name: name for name in ("Array", "Bands", "Cells", "Counts", "Times")}

# An alias that is part of a union or a tuple is written by its name alone.
TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # type: ignore[method-assign]

UNITS = {"length": " (metres)", "angle": " (radians)"}


def write_generated_files(app: Any) -> None:
    """Write the pages that are made from the code; git ignores them."""
    equations.write_page(DOCS)
    equations.write_if_changed(DOCS / "robot-file.schema.json", json.dumps(json_schema(), indent=2) + "\n")
    # The keys of sources become links to the bibliography.
    table = re.sub(r"\[(\w+)\]", lambda key: f"[{key[1]}](#{key[1].lower()})", markdown_table())
    equations.write_if_changed(DOCS / "methods-table.md", table)


def describe_fields(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Add the descriptions of an element's fields to its docstring."""
    if what == "class" and dataclasses.is_dataclass(obj):
        described = [field for field in dataclasses.fields(obj) if "about" in field.metadata]
        lines += [f":param {f.name}: {f.metadata['about']}{UNITS.get(f.metadata['quantity'], '')}" for f in described]


def setup(app: Any) -> None:
    app.connect("builder-inited", write_generated_files)
    app.connect("autodoc-process-docstring", describe_fields)
