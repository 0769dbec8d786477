"""Options that all figures share, and saving a figure."""

from __future__ import annotations

import enum
from pathlib import Path as File
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcreach._io import is_stream
from arcreach.cli.output import printable, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Width(enum.StrEnum):
    """The width of a figure."""

    COLUMN = "column"
    PAGE = "page"


Out = Annotated[File, typer.Option("--out", help="File to write: .svg, .pdf or .png.")]
WidthChoice = Annotated[
    Width | None,
    typer.Option("--width", help="One column (3.5 in) or a page (7.16 in); by default as suits the figure."),
]


def width_option(width: Width | None) -> dict[str, Any]:
    """Return the keyword for the width in millimetres, if one is given."""
    from arcreach import figures

    if width is None:
        return {}
    return {"width": figures.ONE_COLUMN if width == Width.COLUMN else figures.TWO_COLUMNS}


def save(figure: Figure, out: File) -> None:
    """Write a figure and print its size."""
    save_figure(figure, out)
    width, height = (25.4 * size for size in figure.get_size_inches())
    typer.echo(printable(f"{out}: {width:.1f} x {height:.1f} mm"), err=is_stream(out))
