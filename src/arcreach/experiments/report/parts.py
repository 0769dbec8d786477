"""The parts of a report: text, tables and figures, independent of Markdown and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title of the page."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A bulleted list."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table of texts; the first `text_columns` are left-aligned, and with `prose` the last one."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    text_columns: int = 2
    prose: bool = False

    def is_left_aligned(self, column: int) -> bool:
        """Return whether a column is left-aligned."""
        return column < self.text_columns or (self.prose and column == len(self.columns) - 1)


@dataclass(frozen=True)
class Drawing:
    """A figure with the name of its file and its caption."""

    name: str
    figure: Figure
    caption: str


Part = Heading | Text | Items | Table | Drawing
