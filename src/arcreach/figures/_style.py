"""The one style of all figures: sizes of a journal's columns, fonts, and colours that every reader can tell apart."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arcreach import _text
from arcreach._extras import require
from arcreach._io import check_output, write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Widths in millimetres of one column and of a page of two: 3.5 and 7.16 inches, as most journals of the field ask for.
ONE_COLUMN = 3.5 * 25.4
TWO_COLUMNS = 7.16 * 25.4

# The colours of Okabe and Ito, which readers with any colour vision can tell apart, dark ones first.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY = "#E69F00", "#56B4E9"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
INK, GREY, PALE = "#222222", "#666666", "#A9A9A9"
# Beside colours, so that lines can be told apart in black and white.
LINES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P")

RASTER_DPI = 300
ENDINGS = (".pdf", ".png", ".svg")

_RC: dict[str, Any] = {
    "font.family": "sans-serif",
    # It comes with matplotlib: the same figure is the same file on every machine.
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.4,
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


def look(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour, line and marker for every name: no two alike, also without colours."""
    return {
        name: {
            "color": COLOURS[k % len(COLOURS)],
            "linestyle": LINES[k // len(COLOURS) % len(LINES)],
            "marker": MARKERS[(k + k // len(COLOURS)) % len(MARKERS)],
            "markersize": 3.0,
        }
        for k, name in enumerate(names)
    }


def plain_log_axis(axis: Any) -> None:
    """Number a logarithmic axis in plain decimals, at 1, 2 and 5 where it spans less than two decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 25.0 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _text.number(value)))
    axis.set_minor_formatter(NullFormatter())


def legend_below(figure: Figure, looks: Mapping[str, dict[str, Any]], columns: int = 5) -> None:
    """A legend of what `look` chose, below the panels."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **one) for name, one in looks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), columns))


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
    engine = figure.get_layout_engine()
    assert engine is not None, "new_figure makes figures with a layout engine"
    # Twice: panels of equal scales take their final size in the first round only.
    engine.execute(figure)
    engine.execute(figure)
    figure.set_layout_engine("none")


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as .pdf, .svg or .png (300 dots per inch) in the size that it was made for."""
    ending = check_output(path, ENDINGS)
    # Without a date, so that the same figure is the same file.
    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}[ending]
    stream = io.BytesIO()
    with style():
        figure.savefig(stream, format=ending[1:], dpi=RASTER_DPI, metadata=metadata)
    write_bytes(path, stream.getvalue())


def import_matplotlib() -> Any:
    """Matplotlib, or an error that names the extra it comes with."""
    return require("matplotlib", "a figure")
