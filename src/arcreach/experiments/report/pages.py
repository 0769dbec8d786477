"""Write the parts of a report as Markdown with its figures, and as one self-contained page of HTML."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from arcreach._extras import require
from arcreach._io import write_bytes
from arcreach.experiments.report.parts import Drawing, Heading, Items, Part, Text
from arcreach.figures.drawing import theme

# Dots per inch of the PNG files.
DPI = 160
# Colours in the palette of a PNG file: enough for curves and maps, and a third of the size of full colour.
SHADES = 128

# A cell of more characters is a sentence; page.html widens the last column for it.
LONG = 36


def write_figures(parts: Iterable[Part], folder: Path) -> None:
    """Write the figures of a report into a folder, as PNG files."""
    for part in parts:
        if isinstance(part, Drawing):
            write_bytes(folder / f"{part.name}.png", _png(part))


def as_markdown(parts: Iterable[Part]) -> str:
    """Return the report as Markdown; its figures are in the folder `figures`."""
    return "\n\n".join(_markdown(part) for part in parts) + "\n"


def _markdown(part: Part) -> str:
    if isinstance(part, Heading):
        return f"{'#' * part.level} {_escaped(part.text)}"
    if isinstance(part, Text):
        return _escaped(part.text)
    if isinstance(part, Items):
        return "\n".join(f"- {_escaped(item)}" for item in part.items)
    if isinstance(part, Drawing):
        caption = _escaped(part.caption)
        return f"![{caption}](figures/{part.name}.png)\n\n*{caption}*"
    lines = [part.columns, ["---" if part.is_left_aligned(k) else "---:" for k in range(len(part.columns))], *part.rows]
    table = "\n".join("| " + " | ".join(_escaped(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"*{_escaped(part.caption)}*\n\n{table}" if part.caption else table


def _escaped(text: str) -> str:
    """Return a text as one line of Markdown with HTML escaped; `code` between back quotes is unchanged."""
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(piece if k % 2 else html.escape(piece, quote=False) for k, piece in enumerate(pieces))


def as_html(parts: Sequence[Part], folder: Path) -> str:
    """Return the report as one HTML page with style and figures; `folder` holds the files of `write_figures`."""
    jinja2 = require("jinja2")
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True)
    environment.filters["inline"] = lambda text: jinja2.utils.markupsafe.Markup(_inline(text))
    environment.filters["figure"] = lambda part: jinja2.utils.markupsafe.Markup(_figure_html(part, folder))
    title = next((part.text for part in parts if isinstance(part, Heading)), "Report")
    page: str = environment.get_template("page.html").render(title=title, parts=parts, long=LONG)
    return page + "\n"


def _inline(text: str) -> str:
    """Return plain text as HTML, with `code` between back quotes."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def _figure_html(part: Drawing, folder: Path) -> str:
    """Return the HTML of a figure: its SVG, or an <img> with the PNG file if that is smaller."""
    vectors, pixels = _svg(part), base64.b64encode((folder / f"{part.name}.png").read_bytes()).decode()
    if len(vectors) <= len(pixels):
        return vectors
    label = html.escape(part.caption, quote=True)
    return f'<img alt="{label}" src="data:image/png;base64,{pixels}">'


def _png(part: Drawing) -> bytes:
    """Return a figure as the content of a PNG file."""
    from PIL import Image

    stream, small = io.BytesIO(), io.BytesIO()
    with theme.style():
        part.figure.savefig(stream, format="png", dpi=DPI)
    with Image.open(stream) as image:
        # No dithering: it would blur thin lines.
        image.convert("RGB").quantize(SHADES, dither=Image.Dither.NONE).save(small, format="PNG", optimize=True)
    return small.getvalue()


def _svg(part: Drawing) -> str:
    """Return a figure as SVG, with its ids made unique on the page."""
    stream = io.StringIO()
    with theme.style():
        part.figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{part.name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{part.name}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{part.name}-\1"', text)
    label = html.escape(part.caption, quote=True)
    return text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1).strip()
