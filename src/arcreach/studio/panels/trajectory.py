"""The tab of films: plan a motion, replay iterations, lean on contacts; play, pause, scrub."""

from __future__ import annotations

import html
from typing import Any, Protocol

from arcreach.studio.colours import QUIET
from arcreach.studio.extras import missing_for_plans
from arcreach.studio.panels.events import by_hand, sent

_SAID = "padding:2px 12px;font-size:0.875em;overflow-wrap:anywhere"


class Asked(Protocol):
    """What the tab reports."""

    def plan(self) -> None:
        """Plan a motion to the target."""

    def mark_start(self) -> None:
        """Begin the next plan here."""

    def replay(self, client: Any = None) -> None:
        """Replay the iterations of the methods."""

    def receive_path(self, name: str, content: bytes, client: Any) -> None:
        """Play a path file that a visitor sent."""

    def plan_contact(self, scene: str) -> None:
        """Show a plan with contacts."""

    def cancel(self) -> None:
        """End the work under way."""

    def close_film(self) -> None:
        """Go back to dragging."""

    def play(self) -> None:
        """Play the film."""

    def pause(self) -> None:
        """Stand still."""

    def seek(self, moment: int) -> None:
        """Stand still at a moment of the film."""


class TrajectoryTab:
    """Buttons for films, and those to play them."""

    def __init__(self, gui: Any, scenes: tuple[str, ...]) -> None:
        self._missing = missing_for_plans()
        self.start = gui.add_button("Start here", icon="flag", color=QUIET, hint="The next plan begins at this pose.")
        self.plan = gui.add_button(
            "Plan to the target", icon="route", disabled=bool(self._missing),
            hint=self._missing or "A motion that keeps clear of obstacles.",
        )  # fmt: skip
        if self._missing:
            gui.add_html(f'<div data-arcreach="missing" style="{_SAID}">{html.escape(self._missing)}</div>')
        self.replay = gui.add_button(
            "Replay iterations", icon="history", color=QUIET, hint="How the methods find their answers."
        )
        self.upload = gui.add_upload_button(
            "Play a path file", icon="upload", color=QUIET, hint="CSV with a column for each coordinate"
        )
        self.cancel = gui.add_button("Cancel", icon="x", color="red", visible=False)
        self.text = gui.add_html("")
        # Two buttons of which one is seen: a button does not change its icon.
        self.play = gui.add_button("Play", icon="player-play", disabled=True)
        self.pause = gui.add_button("Pause", icon="player-pause", visible=False)
        self.moment = gui.add_slider("Moment", 0, 1, 1, 0, disabled=True)
        self.close = gui.add_button("Back to dragging", icon="arrow-back-up", color=QUIET, visible=False)
        with gui.add_folder("Leaning on contact", expand_by_default=False):
            self.scene = gui.add_dropdown("Scene", scenes, initial_value=scenes[0])
            self.contact = gui.add_button("Plan with contacts", icon="arrow-guide", color=QUIET)

    def connect(self, asked: Asked) -> None:
        """Report to that one."""
        self.start.on_click(by_hand(lambda _: asked.mark_start()))
        self.plan.on_click(by_hand(lambda _: asked.plan()))
        self.replay.on_click(by_hand(lambda event: asked.replay(event.client)))
        self.upload.on_upload(by_hand(lambda event: asked.receive_path(*sent(event), event.client)))
        self.cancel.on_click(by_hand(lambda _: asked.cancel()))
        self.play.on_click(by_hand(lambda _: asked.play()))
        self.pause.on_click(by_hand(lambda _: asked.pause()))
        self.moment.on_update(by_hand(lambda event: asked.seek(event.target.value)))
        self.close.on_click(by_hand(lambda _: asked.close_film()))
        self.contact.on_click(by_hand(lambda _: asked.plan_contact(self.scene.value)))

    def show_work(self, text: str | None) -> None:
        """Say what is under way, and offer to end it."""
        self.cancel.visible = text is not None
        self.contact.disabled = text is not None
        self.plan.disabled = text is not None or bool(self._missing)
        if text is not None:
            self.say(text)

    def say(self, text: str, good: bool = True) -> None:
        """Say something in words."""
        style = f"{_SAID};color:{'inherit' if good else '#B34E00'}"
        self.text.content = f'<div data-arcreach="film" style="{style}">{html.escape(text)}</div>' if text else ""

    def show_film(self, moments: int) -> None:
        """Offer a film of so many moments; 0 for none."""
        there = moments > 1
        self.play.disabled = self.moment.disabled = not there
        self.close.visible = moments > 0
        self.moment.max = max(moments - 1, 1)
        self.show_moment(0)
        self.show_playing(False)

    def show_moment(self, moment: int) -> None:
        """Move the slider."""
        self.moment.value = moment

    def show_playing(self, playing: bool) -> None:
        """Change what the button offers."""
        self.play.visible, self.pause.visible = not playing, playing
