"""Add our title, our styles, our script and security headers to the HTML page of viser."""

from __future__ import annotations

import gzip
import html
from functools import lru_cache
from pathlib import Path
from typing import Any

TITLE = "arcreach studio"
# No other site may embed the page in a frame (clickjacking).
HEADERS = {
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
SCRIPT = Path(__file__).with_name("jog.js")
# Share of a phone's screen that the panel at the bottom covers; 0.6 in viser.
PHONE_PANEL = 0.46
STYLES = f"""
/* Messages are shown whole: long words break, long texts scroll. */
.mantine-Notification-description, .mantine-Notification-title {{
  white-space: pre-wrap; overflow-wrap: anywhere; text-overflow: clip; overflow: visible; }}
.mantine-Notification-root {{ max-height: none !important; align-items: flex-start !important; }}
.mantine-Notification-body {{ max-height: 65vh; overflow-y: auto !important; }}
/* Without step arrows numbers such as -816.9 fit. */
.mantine-NumberInput-controls, .mantine-NumberInput-section {{ display: none !important; }}
.mantine-NumberInput-input {{ padding-right: 0.5em !important; }}
/* The buttons of the Jog tab: six in a row. */
[data-arcreach="jog"] {{ padding: 2px 12px 6px; font-size: 0.875em; user-select: none; touch-action: none; }}
[data-arcreach="jog"] > div {{ display: grid; grid-template-columns: 3em repeat(6, 1fr); gap: 4px; margin-bottom: 4px;
  align-items: center; }}
[data-arcreach="jog"] span {{ color: var(--mantine-color-dimmed); }}
[data-arcreach="jog"] button {{ height: 34px; padding: 0; border: 1px solid #0072b2; border-radius: 3px; color: #0072b2;
  background: transparent; font: inherit; cursor: pointer; touch-action: none; -webkit-touch-callout: none; }}
[data-arcreach="jog"] button:nth-child(odd):not(:last-child) {{ margin-right: 4px; }}
[data-arcreach="jog"] button:hover {{ background: #e7f2fa; }}
[data-arcreach="jog"] button:active {{ background: #0072b2; color: white; }}
/* The panel at the bottom of a phone's screen, and the stage above it; viser shows it on screens of up to 36em. */
@media (max-width: 36em) {{
  body:not(:has([style*="width: 20em"] > [aria-hidden="true"])) div:has(> div > canvas) {{
    height: {100 * (1 - PHONE_PANEL):.0f}dvh !important; }} }}
[style*="max-height: 60%"] {{ max-height: {100 * PHONE_PANEL:.0f}% !important; width: 100% !important; }}
[style*="max-height: 60%"] [style*="width: 20em"] {{ width: 100% !important; }}
"""


def titled(page: str, title: str, styles: str = "", script: str = "") -> str:
    """Return a page of viser with another title, further styles and a script."""
    head = f"<title>{html.escape(title)}</title>" + (f"<style>{styles}</style>" if styles else "")
    head += f"<script>{script}</script>" if script else ""
    return page.replace("<title>Viser</title>", head, 1)


@lru_cache(maxsize=2)
def _styled(body: bytes, compressed: bool) -> bytes:
    text = (gzip.decompress(body) if compressed else body).decode("utf-8")
    styled = titled(text, TITLE, STYLES, SCRIPT.read_text(encoding="utf-8")).encode("utf-8")
    return gzip.compress(styled) if compressed else styled


def add_headers(response: Any) -> Any:
    """Add our headers to a response of viser, and our title, styles and script to the page."""
    for name, value in HEADERS.items():
        response.headers[name] = value
    if response.headers.get("Content-Type", "").startswith("text/html"):
        response.body = _styled(response.body, response.headers.get("Content-Encoding") == "gzip")
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(response.body))
    return response
