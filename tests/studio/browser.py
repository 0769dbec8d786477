"""A page in a browser, and what tests do with it."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
from viser.transforms import SO3

from arcreach.studio.app import Studio
from tests.studio.waiting import until

CHROMIUM = shutil.which("chromium")
MISSING = "chromium is not installed: apt-get install chromium, as .ci/run does"
# Software rendering, and no network traffic of the browser itself.
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
# Small: every pixel is drawn by the processor.
VIEWPORT = {"width": 1160, "height": 560}
# Milliseconds.
PATIENCE = 60_000
# Resolves after some frames, which take seconds where a loaded processor draws them.
FRAMES = "count => new Promise(done => { const next = () => count-- ? requestAnimationFrame(next) : done(); next(); })"


class Visit:
    """A page that shows a studio, its requests and its errors."""

    def __init__(self, browser: Any, studio: Studio, viewport: Any = VIEWPORT, sliders: bool = True) -> None:
        self.studio = studio
        before = set(studio.server.get_clients())
        self.context = browser.new_context(viewport=viewport, accept_downloads=True)
        self.context.set_default_timeout(PATIENCE)
        # Requests to other machines are aborted, and listed below.
        self.context.route(lambda url: not url.startswith(("http://127.0.0.1", "blob:", "data:")), lambda r: r.abort())
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(studio.url)
        self.wait(lambda: set(studio.server.get_clients()) - before)
        self.client_id = max(set(studio.server.get_clients()) - before)
        if sliders:
            # On a phone they are folded away.
            self.wait_for_sliders()
        # A message about software rendering covers the scene.
        self._close_message()

    def _close_message(self) -> None:
        button = self.page.locator(".mantine-Notification-closeButton")
        for _ in range(30):
            if button.count():
                button.first.click()
                return
            self.page.wait_for_timeout(100)

    @property
    def client(self) -> Any:
        return self.studio.server.get_clients()[self.client_id]

    def wait(self, holds: Any) -> None:
        """Wait until something holds, while the browser continues."""

        def held() -> bool:
            self.page.wait_for_timeout(30)
            return bool(holds())

        until(held)

    def wait_for_sliders(self) -> None:
        self.element(self.studio.panels.sliders.handles[0]).wait_for()
        # The scene is drawn at least once, so that things can be dragged.
        self.page.wait_for_timeout(500)
        self.draw()

    def draw(self) -> None:
        """Wait until the page has drawn what was sent to it, and has sent its camera."""
        self.page.wait_for_timeout(300)
        self.page.evaluate(FRAMES, 10)

    def element(self, handle: Any) -> Any:
        """Return the element of a handle."""
        return self.page.locator(f'[id="{handle._impl.uuid}"]')

    def open_tab(self, name: str) -> None:
        self.page.get_by_text(name, exact=True).first.click()

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True)

    def choose(self, handle: Any, option: str) -> None:
        """Choose from a list."""
        self.element(handle).click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def pixel(self, point: Any) -> tuple[float, float]:
        """Return the pixel of a point of the scene, by the client's camera."""
        camera = self.client.camera
        x, y, z = SO3(camera.wxyz).as_matrix().T @ (np.asarray(point) - camera.position)
        box = self.page.locator("canvas").first.bounding_box()
        focal = 0.5 * box["height"] / np.tan(0.5 * camera.fov)
        return box["x"] + 0.5 * box["width"] + focal * x / z, box["y"] + 0.5 * box["height"] + focal * y / z

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        """Press, move and release the mouse."""
        mouse = self.page.mouse
        mouse.move(*start)
        # Until the page has found what is under the pointer.
        self.draw()
        mouse.down()
        for i in range(1, steps + 1):
            share = i / steps
            mouse.move(start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
            self.page.wait_for_timeout(40)
            self.page.evaluate(FRAMES, 2)
        mouse.up()

    def close(self) -> None:
        self.context.close()
