"""The parts of a report: text, tables and figures, to be written as Markdown and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is the page's."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list with dots."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table; all cells are text, the first `words` columns (of `prose` the last too) are words, others numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    words: int = 2
    prose: bool = False

    def is_word(self, column: int) -> bool:
        """Whether a column holds words."""
        return column < self.words or (self.prose and column == len(self.columns) - 1)


@dataclass(frozen=True)
class Drawing:
    """A figure with the name of its file and what it shows."""

    name: str
    figure: Figure
    caption: str


Part = Heading | Text | Items | Table | Drawing
