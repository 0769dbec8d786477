"""The trajectory tab: plan a motion, replay iterations, play a path; play, pause, seek."""

from __future__ import annotations

import html
from typing import Any

from arcreach.files import load_planar_scene, planar_catalogue
from arcreach.studio.panels.events import Studio, from_client, uploaded
from arcreach.studio.stage.colours import QUIET, WARNING

STYLE = "padding:2px 12px;font-size:0.875em;overflow-wrap:anywhere"


class TrajectoryTab:
    """Buttons that start jobs, and the controls of the player."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        self.start = gui.add_button("Start here", icon="flag", color=QUIET, hint="The next plan begins at this pose.")
        self.plan = gui.add_button("Plan to the target", icon="route", hint="A motion that keeps clear of obstacles.")
        self.replay = gui.add_button(
            "Replay iterations", icon="history", color=QUIET, hint="How the methods find their answers."
        )
        self.upload = gui.add_upload_button(
            "Play a path file", icon="upload", color=QUIET, hint="CSV with a column for each coordinate"
        )
        self.cancel = gui.add_button("Cancel", icon="x", color="red", visible=False)
        self.text = gui.add_html("")
        # Two buttons, one of them hidden: a button cannot change its icon.
        self.play = gui.add_button("Play", icon="player-play", disabled=True)
        self.pause = gui.add_button("Pause", icon="player-pause", visible=False)
        self.frame = gui.add_slider("Frame", 0, 1, 1, 0, disabled=True)
        self.close = gui.add_button("Back to dragging", icon="arrow-back-up", color=QUIET, visible=False)
        with gui.add_folder("Leaning on contact", expand_by_default=False):
            scenes = tuple(name for name in planar_catalogue() if load_planar_scene(name).target is not None)
            self.scene = gui.add_dropdown("Scene", scenes, initial_value=scenes[0])
            self.contact = gui.add_button("Plan with contacts", icon="arrow-guide", color=QUIET)
        self._connect()

    def _connect(self) -> None:
        studio = self._studio
        self.start.on_click(from_client(lambda _: studio.jobs.mark_start()))
        self.plan.on_click(from_client(lambda _: studio.jobs.plan()))
        self.replay.on_click(from_client(lambda event: studio.jobs.replay(event.client)))
        self.upload.on_upload(from_client(lambda event: studio.jobs.load_path(*uploaded(event), event.client)))
        self.cancel.on_click(from_client(lambda _: studio.jobs.cancel()))
        self.play.on_click(from_client(lambda _: studio.player.play()))
        self.pause.on_click(from_client(lambda _: studio.player.pause()))
        self.frame.on_update(from_client(lambda event: studio.player.seek(event.target.value)))
        self.close.on_click(from_client(self._close))
        self.contact.on_click(from_client(lambda _: studio.jobs.plan_contact(self.scene.value)))

    def _close(self, _: Any) -> None:
        player = self._studio.player
        of_robot = player.animation is not None and player.animation.q is not None
        player.close()
        if of_robot:
            # The robot reaches for its target again.
            self._studio.change()

    def show_work(self, text: str | None) -> None:
        """Show the name of the job in progress and a Cancel button; None hides them."""
        self.cancel.visible = text is not None
        self.contact.disabled = text is not None
        self.plan.disabled = text is not None
        if text is not None:
            self.say(text)

    def say(self, text: str, good: bool = True) -> None:
        """Show a text."""
        style = f"{STYLE};color:{'inherit' if good else WARNING}"
        self.text.content = f'<div data-arcreach="animation" style="{style}">{html.escape(text)}</div>' if text else ""

    def show_animation(self, frames: int) -> None:
        """Enable the player for an animation of this many frames; 0 for none."""
        self.play.disabled = self.frame.disabled = frames < 2
        self.close.visible = frames > 0
        self.frame.max = max(frames - 1, 1)
        self.frame.value = 0
        self.show_playing(False)

    def show_playing(self, playing: bool) -> None:
        """Show the Pause button while playing, else the Play button."""
        self.play.visible, self.pause.visible = not playing, playing
