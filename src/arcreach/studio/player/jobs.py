"""`Jobs`: start work that takes seconds, and show its results: plans, replays, path files, all solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from arcreach._checks import shown
from arcreach._text import count
from arcreach._typing import Array
from arcreach.errors import FileError
from arcreach.files import planar_catalogue
from arcreach.robots.robot import Robot
from arcreach.studio.panels.trajectory import TrajectoryTab
from arcreach.studio.player.animation import Animation, path_animation, replay_animation
from arcreach.studio.player.background import Background
from arcreach.studio.player.player import Player
from arcreach.studio.stage.contact import ContactMotion
from arcreach.studio.stage.stage import Stage
from arcreach.studio.state.answer import TRACE_BUDGET, solve_request
from arcreach.studio.state.state import State
from arcreach.studio.state.uploads import parse_path_upload, plain_name

# Runs work outside the event loop; failures are shown to the client.
Run = Callable[[Callable[[], None], Any], None]

# Bodies whose distance is at most this share of the reach look the same.
SAME = 0.02


class Jobs:
    """Starts jobs for the trajectory tab and the view, and hands the results to the player or the stage.

    `boxes` are the check boxes of the view; "reach" and "branches" start jobs.
    """

    def __init__(
        self, state: State, stage: Stage, tab: TrajectoryTab, boxes: Mapping[str, Any], player: Player, run: Run
    ) -> None:
        self._state, self._stage, self._tab, self._player, self._run = state, stage, tab, player, run
        self._reach_box, self._branches_box = boxes["reach"], boxes["branches"]
        self._start: Array | None = None
        self._branches_pose: Array | None = None
        self.background = Background()

    @property
    def start(self) -> Array:
        """The start of the next plan or trace: the marked configuration, or the neutral one."""
        robot, marked = self._state.request.robot, self._start
        return marked if marked is not None and len(marked) == robot.dof else robot.neutral

    def mark_start(self) -> None:
        """Start the next plan or trace at the configuration shown."""
        self._start = self._state.q.copy()
        self._tab.say("The next plan or trace begins here.")

    def plan(self) -> None:
        """Plan a motion from the start to the target."""
        request = self._state.request

        def done(motion: tuple[Array, str]) -> None:
            self.present(Animation("plan", motion[1], motion[0]), request.robot)

        self._begin("Planning a motion …", "plan", (request.robot, self.start, request.target, request.scene), done)

    def plan_contact(self, scene: str) -> None:
        """Plan a path that leans on the obstacles of a planar scene of the catalogue."""
        # A client may send any text; one that is a path must not be opened.
        if scene not in planar_catalogue():
            raise FileError(f"{shown(scene)} is not a planar scene of the catalogue; choose one of the list")

        def done(motion: ContactMotion) -> None:
            self.present(Animation(f"contact plan of {motion.name}", motion.text, contact=motion), None)

        self._begin(f"Planning contacts of {scene} …", "contact", (scene,), done)

    def replay(self, client: Any = None, playing: bool = True) -> None:
        """Solve again from the marked start; play the recorded iterations, or show the first one."""

        def work() -> None:
            # Not posted as a new request, which would have to be answered even if there is nothing to play.
            request = replace(self._state.request, q=None)
            answer = solve_request(request, self.start, TRACE_BUDGET, trace=True)
            self.present(replay_animation(answer), request.robot, playing)

        self._run(work, client)

    def load_path(self, name: str, content: bytes, client: Any) -> None:
        """Play the path of a CSV file."""

        def work() -> None:
            robot = self._state.request.robot
            self.present(path_animation(parse_path_upload(name, content, robot), plain_name(name)), robot)

        self._run(work, client)

    def present(self, animation: Animation, robot: Robot | None, playing: bool = True) -> None:
        """Open an animation, unless it is empty or another robot was chosen in the meantime."""
        with self._stage.drawing():
            if robot is not None and robot is not self._state.request.robot:
                return
            if not len(animation):
                self._tab.say(animation.text, good=False)
                return
            self._player.open(animation, playing)

    def show_branches(self, shown: bool) -> None:
        """Show all distinct solutions of the target, or none."""
        self._branches_pose = None
        with self._stage.drawing():
            self._stage.set_branches([])
        if not shown:
            return
        request = self._state.request
        self._branches_pose = request.pose

        def done(found: list[Array]) -> None:
            robot = request.robot
            if robot is not self._state.request.robot or self._branches_pose is None:
                return
            with self._stage.drawing():
                # The configuration shown is left out.
                self._stage.set_branches([q for q in found if different(robot, q, self._state.q)])
            text = f"{count(len(found), 'solution')} found" if found else "no solution found"
            self._tab.say(text, good=bool(found))

        self._begin("Looking for all solutions …", "branches", (request.robot, request.target, self._state.q), done)

    def show_reach(self, shown: bool) -> None:
        """Show in how many directions the tip reaches the positions around the robot, or nothing."""
        with self._stage.drawing():
            self._stage.set_reach(None)
        if not shown:
            return
        robot = self._state.request.robot

        def done(found: tuple[Array, Array]) -> None:
            if robot is not self._state.request.robot or not self._reach_box.value:
                return
            with self._stage.drawing():
                self._stage.set_reach(found)
            most = found[1].max(initial=0.0)
            self._tab.say(f"{count(len(found[0]), 'position')}: dark is {most:.0%} of directions, pale fewer")

        self._begin("Mapping the reach …", "reach", (robot,), done)

    def drop_branches(self, pose: Array) -> None:
        """Remove the solutions shown if they belong to another target pose."""
        if self._branches_pose is not None and not np.array_equal(self._branches_pose, pose):
            self._branches_pose = None
            self._stage.set_branches([])
            self._branches_box.value = False

    def cancel(self) -> None:
        """End the job in progress."""
        if self.background.cancel():
            self._give_up("Cancelled.")

    def forget(self) -> None:
        """Drop the marked start, the solutions and the job in progress, which belong to the previous robot."""
        self._start = self._branches_pose = None
        self._reach_box.value = self._branches_box.value = False
        if self.background.cancel():
            self._show_work(None)

    def _begin(self, text: str, task: str, arguments: tuple[Any, ...], done: Callable[[Any], None]) -> None:
        self._show_work(text)

        def finished(value: Any) -> None:
            self._show_work(None)
            self._tab.say("")
            done(value)

        self.background.start(task, arguments, finished, lambda reason: self._give_up(reason, good=False))

    def _give_up(self, reason: str, good: bool = True) -> None:
        """Show why a job has no result, and untick the boxes of what it would have shown."""
        self._show_work(None)
        self._tab.say(reason, good)
        self._reach_box.value = self._stage.reach is not None
        self._branches_box.value = len(self._stage.branches) > 0

    def _show_work(self, text: str | None) -> None:
        """Show the name of the job in progress; until None ends it, no input starts another."""
        self._tab.show_work(text)
        self._reach_box.disabled = self._branches_box.disabled = text is not None


def different(robot: Robot, q: Array, other: Array) -> bool:
    """Return whether a robot looks different at two configurations."""
    return bool(np.linalg.norm(robot.backbone(q, 12) - robot.backbone(other, 12), axis=1).max() > SAME * robot.reach)
