"""A report's parts as Markdown beside its pictures, and as one page of HTML that needs nothing else."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from arcreach._io import write_bytes
from arcreach.experiments.report.parts import Drawing, Heading, Items, Part, Table, Text
from arcreach.figures import _style

# Dots per inch of pictures beside the Markdown: sharp on a screen, small enough to keep.
DPI = 160
# Colours of a picture: curves and maps need no more, and a page of forty pictures weighs a third.
SHADES = 128

# Letters of a cell that is a sentence: in the last column it gets room.
LONG = 36

CSS = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 84rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin-top: 2em; }
table { border-collapse: collapse; font-size: 0.8rem; margin: 0.5rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.4rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th { border-bottom: 2px solid #888; }
td.word, th.word { text-align: left; white-space: normal; min-width: 5rem; }
td.long:last-child { min-width: 18rem; }
tr:nth-child(even) td { background: #f7f7f7; }
figure { margin: 1.5rem 0; }
figure svg, figure img { max-width: 100%; height: auto; }
figcaption, p.caption { font-size: 0.9rem; color: #555; margin-bottom: 0; }
div.wide { overflow-x: auto; }
code { background: #f2f2f2; padding: 0 0.2em; }
@media print { tr, figure { break-inside: avoid; } }
"""


def figure_files(parts: Iterable[Part], folder: Path) -> None:
    """Write the pictures of a report."""
    for part in parts:
        if isinstance(part, Drawing):
            write_bytes(folder / f"{part.name}.png", _pixels(part))


def as_markdown(parts: Iterable[Part]) -> str:
    """The report as Markdown; its pictures are in `figures`."""
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
    lines = [part.columns, ["---" if part.is_word(k) else "---:" for k in range(len(part.columns))], *part.rows]
    table = "\n".join("| " + " | ".join(_escaped(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"*{_escaped(part.caption)}*\n\n{table}" if part.caption else table


def _escaped(text: str) -> str:
    """Text as Markdown that shows it, with no HTML in it and on one line; `code` between back quotes stays as it is."""
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(piece if k % 2 else html.escape(piece, quote=False) for k, piece in enumerate(pieces))


def as_html(parts: Sequence[Part], folder: Path) -> str:
    """The report as one page, style and pictures inside; `folder` is where `figure_files` wrote them."""
    title = next((part.text for part in parts if isinstance(part, Heading)), "Report")
    body = "\n".join(_html(part, folder) for part in parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _html(part: Part, folder: Path) -> str:
    if isinstance(part, Heading):
        return f"<h{part.level}>{html.escape(part.text)}</h{part.level}>"
    if isinstance(part, Text):
        return f"<p>{_inline(part.text)}</p>"
    if isinstance(part, Items):
        return "<ul>\n" + "\n".join(f"<li>{_inline(item)}</li>" for item in part.items) + "\n</ul>"
    if isinstance(part, Drawing):
        return f"<figure>\n{_picture(part, folder)}\n<figcaption>{_inline(part.caption)}</figcaption>\n</figure>"
    return _html_table(part)


def _html_table(part: Table) -> str:
    def cells(line: Sequence[str], tag: str) -> str:
        return "".join(f"<{tag}{_mark(part, k, cell)}>{_inline(cell)}</{tag}>" for k, cell in enumerate(line))

    head = f"<thead><tr>{cells(part.columns, 'th')}</tr></thead>"
    body = "\n".join(f"<tr>{cells(line, 'td')}</tr>" for line in part.rows)
    caption = f'<p class="caption">{_inline(part.caption)}</p>\n' if part.caption else ""
    return f'{caption}<div class="wide"><table>\n{head}\n<tbody>\n{body}\n</tbody></table></div>'


def _mark(part: Table, column: int, cell: str) -> str:
    """The class of a cell: words stand left, sentences are marked."""
    if not part.is_word(column):
        return ""
    return ' class="word long"' if len(cell) > LONG else ' class="word"'


def _inline(text: str) -> str:
    """Plain text as HTML, with `code` between back quotes."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def _picture(part: Drawing, folder: Path) -> str:
    """The figure as SVG, or as pixels where it has so many pieces that they weigh more."""
    vectors, pixels = _svg(part), base64.b64encode((folder / f"{part.name}.png").read_bytes()).decode()
    if len(vectors) <= len(pixels):
        return vectors
    label = html.escape(part.caption, quote=True)
    return f'<img alt="{label}" src="data:image/png;base64,{pixels}">'


def _pixels(part: Drawing) -> bytes:
    """The figure as the content of a PNG file."""
    from PIL import Image

    stream, small = io.BytesIO(), io.BytesIO()
    with _style.style():
        part.figure.savefig(stream, format="png", dpi=DPI)
    with Image.open(stream) as image:
        # Nearest shade without a raster of dots, which would blur thin lines.
        image.convert("RGB").quantize(SHADES, dither=Image.Dither.NONE).save(small, format="PNG", optimize=True)
    return small.getvalue()


def _svg(part: Drawing) -> str:
    """The figure as SVG, its names made its own: a page has many figures."""
    stream = io.StringIO()
    with _style.style():
        part.figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{part.name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{part.name}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{part.name}-\1"', text)
    label = html.escape(part.caption, quote=True)
    return text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1).strip()
