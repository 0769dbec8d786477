"""Largest accepted sizes of files: a text that would need much time or memory is refused before it is parsed."""

from __future__ import annotations

import re

import numpy as np

from arcreach.errors import FileError

# Bytes of a robot or scene file: a thousand elements need 300 kB, ten thousand obstacles 1 MB. Large meshes have files
# of their own.
LARGEST_TOML = 2_000_000
# Bytes of a URDF; the largest descriptions of humanoids have about a megabyte.
LARGEST_URDF = 10_000_000
# Levels of nested brackets, and dots of a dotted key; a robot file needs four.
DEEPEST = 16
# Elements of a robot; a hyper-redundant arm has a hundred.
MOST_ELEMENTS = 1000
# Tendons of a section.
MOST_TENDONS = 100
# Obstacles of a scene, and corners of a polygon, whose sides are compared pairwise.
MOST_OBSTACLES = 10_000
MOST_CORNERS = 1000
# Tables of a TOML text; every element and obstacle may be one.
MOST_TABLES = MOST_ELEMENTS + MOST_OBSTACLES + 1
# XML elements of a URDF, and their nesting.
MOST_NODES = 200_000
DEEPEST_NODE = 100
# Characters of a formula, characters of all formulas of a matrix, nested brackets: derivatives grow with all three.
LONGEST_FORMULA = 5_000
LONGEST_MATRIX = 20_000
DEEPEST_FORMULA = 30

# Strings and comments of TOML, each to its end or the end of the text. Every branch matches once it has begun, so that
# the time is linear; possessive quantifiers would enforce this, but Python 3.11.2 matches them wrongly.
_STRINGS = re.compile(
    r'"""[^"\\]*(?:(?:\\(?:.|\Z)|"(?!""))[^"\\]*)*(?:"""|\Z)'
    r"|'''[^']*(?:'(?!'')[^']*)*(?:'''|\Z)"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*",
    re.DOTALL,
)
# A dotted key with at least DEEPEST dots.
_LONG_KEY = re.compile(rf"(?:\.[^.\n=\[\],{{}}]*){{{DEEPEST}}}")


def check_toml(text: str) -> None:
    """Refuse a TOML text that is too long, has too many tables, or is nested too deeply."""
    if len(text) > LARGEST_TOML:
        raise FileError(f"has {len(text) / 1e6:.1f} MB; at most {LARGEST_TOML / 1e6:.0f} MB are accepted")
    bare = _STRINGS.sub("", text)
    if (tables := bare.count("\n[")) > MOST_TABLES:
        raise FileError(f"has {tables} tables; at most {MOST_TABLES} are accepted")
    if nesting(bare, "[{", "]}") > DEEPEST or _LONG_KEY.search(bare):
        raise FileError(f"is nested too deeply; a robot or scene file has at most {DEEPEST} levels")


def nesting(text: str, opening: str, closing: str) -> int:
    """Return the largest number of brackets that are open at once."""
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    steps = np.isin(letters, [ord(one) for one in opening]).astype(np.int32)
    steps -= np.isin(letters, [ord(one) for one in closing])
    return int(np.cumsum(steps).max(initial=0))


def check_count(what: str, count: int, most: int) -> None:
    """Refuse more entries than a file may have."""
    if count > most:
        raise FileError(f"{what} has {count} entries; at most {most} are accepted")
