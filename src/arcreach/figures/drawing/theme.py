"""The style of all figures: column widths of journals, fonts, and colours for every kind of colour vision."""

from __future__ import annotations

import contextlib
import io
import math
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from arcreach import _text
from arcreach._checks import real_array, shown
from arcreach._extras import require
from arcreach._io import check_output, write_bytes
from arcreach.errors import MethodError

if TYPE_CHECKING:
    import matplotlib.figure

    Figure = matplotlib.figure.Figure

# Widths in millimetres of one column and of a page: 3.5 and 7.16 inches, as most journals of the field require.
ONE_COLUMN = 3.5 * 25.4
TWO_COLUMNS = 7.16 * 25.4
# Accepted widths in millimetres: in narrower figures labels leave no room for panels; an A0 poster is 841 mm wide.
NARROWEST, WIDEST = 60.0, 1000.0
Width = float | Literal["column", "page"]
WIDTHS = {"column": ONE_COLUMN, "page": TWO_COLUMNS}

# The colours of Okabe and Ito, distinguishable with any colour vision, dark ones first.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY = "#E69F00", "#56B4E9"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
INK, GREY, PALE = "#222222", "#666666", "#A9A9A9"
# Obstacles in space, which are shaded, and in the plane.
OBSTACLE, PLANAR_OBSTACLE = (0.80, 0.78, 0.74), "#E3E3E3"
# Line styles and markers distinguish lines in black and white.
LINES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P")

# Millimetres beside a panel for its labels, and width of a letter of its title.
LABELS, LETTER = 10.0, 1.6
# Millimetres between ticks at whole numbers, and largest number of steps of such an axis.
TICK, MOST_TICKS = 14.0, 9
# Points between texts that are kept apart: the layout moves a little when others are removed.
APART = 1.5
RASTER_DPI = 300
MM = 1e3  # millimetres per metre
ENDINGS = (".pdf", ".png", ".svg")

_RC: dict[str, Any] = {
    "font.family": "sans-serif",
    # Shipped with matplotlib, so that equal figures are equal files on every machine.
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
    # Text is stored as text in PDF and SVG, so that a publisher can change its font.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    # Gives the parts of an SVG the same ids every time.
    "svg.hashsalt": "arcreach",
}


def millimetres(width: Width | None, panels: int = 1) -> float:
    """Return the width of a figure in millimetres; None is a column for one panel and a page for several."""
    if width is None:
        width = "column" if panels == 1 else "page"
    chosen = real_array(WIDTHS.get(width, width) if isinstance(width, str) else width)
    if chosen is None or chosen.shape != () or not NARROWEST <= chosen <= WIDEST:
        accepted = f"'column', 'page', or millimetres from {NARROWEST:g} to {WIDEST:g}"
        raise MethodError(f"width = {shown(width)} is not accepted; give {accepted}")
    return float(chosen)


def look(names: Sequence[str], **changed: Any) -> dict[str, dict[str, Any]]:
    """Return colour, line style and marker by name, distinguishable also without colours; `changed` overrides them."""
    return {
        name: {
            "color": COLOURS[k % len(COLOURS)],
            "linestyle": LINES[k // len(COLOURS) % len(LINES)],
            "marker": MARKERS[(k + k // len(COLOURS)) % len(MARKERS)],
            "markersize": 3.0,
            **changed,
        }
        for k, name in enumerate(names)
    }


def handle(label: str, **look: Any) -> Any:
    """Return a line or a marker for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def hollow(edge: str, size: float, width: float = 1.0, face: str = "white") -> dict[str, Any]:
    """Return the style of a hollow marker: the colour of its edge, its size, and the width of its edge."""
    return {"markeredgecolor": edge, "markersize": size, "markeredgewidth": width, "markerfacecolor": face}


def plain_log_axis(axis: Any) -> None:
    """Label a logarithmic axis in decimals, at 1, 2 and 5 if it spans less than a factor of 25, else at 1."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 25.0 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _text.number(value)))
    axis.set_minor_formatter(NullFormatter())


def whole_ticks(axis: Any, room: float) -> None:
    """Put the ticks of an axis `room` millimetres long at whole numbers.

    Their number is fixed: a locator that counts by the size of the panel has no stable layout with the last number at
    the edge of the figure.
    """
    from matplotlib.ticker import MaxNLocator

    steps = min(max(int(room / TICK), 1), MOST_TICKS)
    axis.set_major_locator(MaxNLocator(steps, steps=(1, 2, 5, 10), integer=True))


def legend_below(
    figure: Figure, entries: Mapping[str, dict[str, Any]] | Sequence[Any], columns: int = 5, **options: Any
) -> None:
    """Draw a legend of handles, or of the styles from `look`, below the panels, in up to `columns` columns.

    The figure must have room for it in that many columns; where fewer fit, the figure grows by the additional rows.
    """
    handles = [handle(name, **one) for name, one in entries.items()] if isinstance(entries, Mapping) else list(entries)

    def drawn(columns: int) -> Any:
        return figure.legend(handles=handles, loc="outside lower center", ncols=columns, **options)

    most = columns = min(len(handles), columns)
    legend = drawn(columns)
    height = legend.get_window_extent().height
    while columns > 1 and legend.get_window_extent().width > figure.bbox.width:
        legend.remove()
        columns -= 1
        legend = drawn(columns)
    if columns < most:
        # Rows of equal length.
        legend.remove()
        legend = drawn(math.ceil(len(handles) / math.ceil(len(handles) / columns)))
        grown = (legend.get_window_extent().height - height) / figure.dpi
        figure.set_figheight(figure.get_figheight() + grown)


def title_lines(title: str, room: float) -> str:
    """Return the title of a panel, broken into lines; `room` is the width of panel and labels in millimetres."""
    return textwrap.fill(title, max(int((room - LABELS) / LETTER), 1), break_long_words=False)


def keep_apart(figure: Figure, panel: Any, groups: Sequence[Sequence[Any]]) -> None:
    """Keep of every group of texts in a panel the first that overlaps no other text there, and remove the rest."""
    if not groups:
        return
    figure.draw_without_rendering()
    movable = {text for group in groups for text in group}
    taken = [text.get_window_extent() for text in panel.texts if text.get_text() and text not in movable]
    for group in groups:
        boxes = [text.get_window_extent().padded(APART * figure.dpi / 72.0) for text in group]
        free = [k for k, box in enumerate(boxes) if box.count_overlaps(taken) == 0]
        taken += [boxes[k] for k in free[:1]]
        for k, text in enumerate(group):
            if k not in free[:1]:
                text.remove()


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Apply this style inside the block, and restore matplotlib's settings after it."""
    with require("matplotlib").rc_context(_RC):
        yield


@contextlib.contextmanager
def drawing(width: float, height: float) -> Iterator[Figure]:
    """Yield an empty figure of a size in millimetres, to be drawn in this style; compute its layout after the block."""
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width / 25.4, height / 25.4), layout="constrained")
        yield figure
        # Keep the layout: computed again, it would change slightly with every drawing.
        engine = figure.get_layout_engine()
        assert engine is not None, "the layout is constrained"
        # Twice, because panels of equal scales get their final size in the first pass.
        engine.execute(figure)
        engine.execute(figure)
        figure.set_layout_engine("none")


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as .pdf, .svg or .png (300 dots per inch) in its own size."""
    ending = check_output(path, ENDINGS)
    # Without a date, so that equal figures are equal files.
    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}[ending]
    stream = io.BytesIO()
    with style():
        figure.savefig(stream, format=ending[1:], dpi=RASTER_DPI, metadata=metadata)
    write_bytes(path, stream.getvalue())
