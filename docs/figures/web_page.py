"""Take the picture docs/images/web-page.png of an exported page.

Needs the extra web, playwright and chromium.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

import arcreach as ar

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.studio.browser import CHROMIUM, FLAGS, MISSING

OUTPUT = Path(__file__).parents[1] / "images" / "web-page.png"


def main() -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        sys.exit(MISSING)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        page_file = Path(folder) / "page.html"
        ar.export_html(ar.load_robot("three-section"), page_file)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True).new_page()
        page.goto(page_file.as_uri())
        page.get_by_text("Direction", exact=True).click()
        page.wait_for_timeout(1000)
        Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(OUTPUT, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
