"""The one style of all figures: sizes of a journal's columns, fonts, and colours that every reader can tell apart."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcreach.errors import FileError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Widths of one and of two columns in millimetres, as most journals of the field ask for.
ONE_COLUMN = 88.0
TWO_COLUMNS = 180.0

# The colours of Okabe and Ito, which readers with any colour vision can tell apart, dark ones first.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY = "#E69F00", "#56B4E9"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
INK, GREY, PALE = "#222222", "#666666", "#A9A9A9"

RASTER_DPI = 300
ENDINGS = (".pdf", ".png", ".svg")

_RC: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Arial", "Helvetica", "Liberation Sans", "DejaVu Sans"],
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "lines.linewidth": 1.1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "mathtext.fontset": "dejavusans",
    "savefig.dpi": RASTER_DPI,
    "figure.dpi": 150.0,
    # Text stays text in PDF and SVG, so that a publisher can set it anew.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    # The parts of an SVG get the same names every time.
    "svg.hashsalt": "arcreach",
}


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Draw what is inside the block in this style; matplotlib's own settings are as before afterwards."""
    matplotlib = import_matplotlib()
    with matplotlib.rc_context(_RC):
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in millimetres, whose parts find their places by themselves."""
    import_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 25.4, height / 25.4), layout="constrained")


def settle(figure: Figure) -> None:
    """Give the parts of a figure their places once and for all: left alone they move a little with every drawing."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as .pdf, .svg or .png (300 dots per inch) in the size that it was made for."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise FileError(f"{target}: its ending is not known; give {', '.join(ENDINGS)}")
    # Without a date, so that the same figure is the same file.
    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}[target.suffix.lower()]
    try:
        with style():
            figure.savefig(target, dpi=RASTER_DPI, metadata=metadata)
    except OSError as error:
        raise FileError(f"{target}: cannot be written ({error})") from None


def import_matplotlib() -> Any:
    """Matplotlib, or an error that names the extra it comes with."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("matplotlib", "figures", "a figure") from None
    return matplotlib
