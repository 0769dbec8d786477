"""`Films`: long work and what comes of it. Plans, iterations and contacts become films; branches become ghosts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arcreach._checks import shown
from arcreach._typing import Array
from arcreach.errors import FileError
from arcreach.files.toml.planar_file import planar_catalogue
from arcreach.robots.robot import Robot
from arcreach.studio import uploads
from arcreach.studio.background import Background
from arcreach.studio.contact_stage import ContactStage
from arcreach.studio.film import Film, Player, path_film, plan_film, replay
from arcreach.studio.panels.trajectory import TrajectoryTab
from arcreach.studio.solving import TRACE_BUDGET, answer
from arcreach.studio.tasks import ContactMotion, Motion
from arcreach.studio.words import counted
from arcreach.studio.worker import Worker

if TYPE_CHECKING:
    from arcreach.studio.app import Studio


# Bodies nearer to each other than this share of the reach are one on the screen.
SAME = 0.02


def different(robot: Robot, q: Array, other: Array) -> bool:
    """Whether a robot looks different at two configurations."""
    return bool(np.linalg.norm(robot.backbone(q, 12) - robot.backbone(other, 12), axis=1).max() > SAME * robot.reach)


class Films:
    """What the tab of trajectories asks for."""

    def __init__(self, studio: Studio, tab: TrajectoryTab) -> None:
        self._studio, self._tab = studio, tab
        self._start: Array | None = None
        self._branched_at: Array | None = None
        self._contact: ContactStage | None = None
        self.player = Player(lambda moment: self._show_moment(moment, playing=True), self._ended)
        # A slider that is drawn along asks for more moments than can be shown.
        self._scrubber: Worker[int] = Worker("scrubber", lambda moment: self._show_moment(moment, playing=False))
        self.background = Background()
        tab.connect(self)

    def stop(self) -> None:
        """End the player and the process."""
        self.player.stop()
        self._scrubber.stop()
        self.background.stop()

    def mark_start(self) -> None:
        """Begin the next plan at the configuration shown."""
        self._start = self._studio.q.copy()
        self._tab.say("The next plan begins here.")

    @property
    def start(self) -> Array:
        """Where a plan begins: at the marked configuration, or at rest."""
        robot = self._studio.desk.wish.robot
        marked = self._start
        return marked if marked is not None and len(marked) == robot.dof else robot.neutral

    def plan(self) -> None:
        """Plan a motion from the start to the target, in a process of its own."""
        wish = self._studio.desk.wish
        arguments = (wish.robot, self.start, wish.target, wish.scene)
        self._begin("Planning a motion …", "plan", arguments, lambda motion: self._planned(motion, wish.robot))

    def _planned(self, motion: Motion, robot: Any) -> None:
        self._present(plan_film(motion), robot)

    def replay(self, client: Any = None) -> None:
        """Solve once more from rest, remembering the iterations, and play them."""
        self._studio.errand(self._replay, client)

    def _replay(self) -> None:
        # Beside the desk: a wish made there would have to be answered, also where there is no film.
        wish = replace(self._studio.desk.wish, q=None)
        self._present(replay(answer(wish, wish.robot.neutral, TRACE_BUDGET, trace=True)), wish.robot)

    def _present(self, film: Film, robot: Robot) -> None:
        """Play a film of a robot, unless another robot was chosen meanwhile."""
        studio = self._studio
        with studio.drawing():
            if robot is not studio.desk.wish.robot:
                return
            if film.q is None or not len(film):
                self._tab.say(film.text, good=False)
                return
            self.open(film)
            studio.stage.set_path(robot.tip_pose(film.q)[:, :3, 3])
        self.play()

    def receive_path(self, name: str, content: bytes, client: Any) -> None:
        """Play the path of a CSV file that a visitor sent."""

        def work() -> None:
            robot = self._studio.desk.wish.robot
            path = uploads.path_of_upload(name, content, robot)
            self._present(path_film(path, uploads.plain_name(name)), robot)

        self._studio.errand(work, client)

    def plan_contact(self, scene: str) -> None:
        """Plan a way around the obstacles of a planar scene of the catalogue."""
        # A visitor may send any text: a path must not be opened.
        if scene not in planar_catalogue():
            raise FileError(f"{shown(scene)} is no planar scene of the catalogue; choose one of the list")
        self._begin(f"Planning contacts of {scene} …", "contact", (scene,), self._contacted)

    def _contacted(self, motion: ContactMotion) -> None:
        if not motion.lines:
            self._tab.say(motion.text, good=False)
            return
        self.open(Film(f"contact plan of {motion.name}", motion.text, contact=motion))
        self.play()

    def show_branches(self, shown: bool) -> None:
        """Show all distinct solutions of the target, or none."""
        studio = self._studio
        self._branched_at = None
        with studio.drawing():
            studio.stage.clear_branches()
        if not shown:
            return
        wish = studio.desk.wish
        self._branched_at = wish.pose
        self._begin(
            "Looking for all solutions …", "branches", (wish.robot, wish.target, studio.q),
            lambda found: self._branched(found, wish.robot),
        )  # fmt: skip

    def _branched(self, found: list[Array], robot: Robot) -> None:
        studio = self._studio
        if robot is not studio.desk.wish.robot or self._branched_at is None:
            return
        with studio.drawing(), studio.server.atomic():
            # The one that is shown already would only blur it.
            studio.stage.set_branches([q for q in found if different(robot, q, studio.q)])
        studio.server.flush()
        self._tab.say(f"{counted(len(found), 'solution')} found" if found else "no solution found", good=bool(found))

    def check_branches(self, pose: Array) -> None:
        """Take the solutions off the stage when the target they belong to has moved on."""
        if self._branched_at is not None and not np.array_equal(self._branched_at, pose):
            self._branched_at = None
            self._studio.stage.clear_branches()
            self._studio.choices.view["branches"].value = False

    def _begin(self, text: str, task: str, arguments: tuple[Any, ...], done: Any) -> None:
        self._tab.show_work(text)

        def finished(value: Any) -> None:
            self._tab.show_work(None)
            self._tab.say("")
            done(value)

        def failed(reason: str) -> None:
            self._tab.show_work(None)
            self._tab.say(reason, good=False)

        def start() -> None:
            try:
                self.background.start(task, arguments, finished, failed)
            except Exception as error:
                failed(f"the work could not be started: {type(error).__name__}: {error}")

        # To start a process takes a while: not in the event loop.
        self._studio.errand(start)

    def cancel(self) -> None:
        """End the work under way."""
        if self.background.cancel():
            self._tab.show_work(None)
            self._tab.say("Cancelled.")

    def open(self, film: Film) -> None:
        """Put in a film and stand at its beginning."""
        studio = self._studio
        with studio.drawing(), studio.server.atomic():
            self._clear_contact()
            studio.stage.clear_path()
            self.player.load(film)
            if film.contact is not None:
                studio.stage.hide()
                self._contact = ContactStage(studio.server, film.contact)
            self._tab.show_film(len(film))
            self._tab.say(f"{film.title}: {film.text}")

    def leave(self) -> None:
        """Stand still; a film of the robot stays at hand, one of contacts gives the stage back."""
        if self.player.playing:
            self.pause()
        if self._contact is not None:
            self.close_film()

    def close_film(self) -> None:
        """Take the film out and give the stage back to the robot, which reaches for its target again."""
        studio = self._studio
        solved = self.player.film is not None and self.player.film.contact is None
        self._take_out()
        studio.server.flush()
        if solved:
            studio.change()

    def forget(self) -> None:
        """Take out the film and the marked start, and end what is under way: they belong to the robot that is left."""
        self._start = self._branched_at = None
        if self.background.cancel():
            self._tab.show_work(None)
        self._studio.choices.view["branches"].value = False
        self._take_out()

    def _take_out(self) -> None:
        studio = self._studio
        self.player.load(None)
        with studio.drawing(), studio.server.atomic():
            contact = self._contact is not None
            self._clear_contact()
            studio.stage.clear_path()
            self._tab.show_film(0)
            self._tab.say("")
            if contact:
                studio.stage.draw(studio.answer)

    def _clear_contact(self) -> None:
        if self._contact is not None:
            self._contact.remove()
            self._contact = None
            self._studio.stage.unhide()

    def play(self) -> None:
        """Play, from the beginning where it stands at the end."""
        self.player.play()
        self._tab.show_playing(self.player.playing)

    def pause(self) -> None:
        """Stand still."""
        self.player.pause()
        self._tab.show_playing(False)

    def seek(self, moment: int) -> None:
        """Stand still at a moment."""
        self._tab.show_playing(False)
        self.player.seek(moment)
        self._scrubber.post(self.player.moment)

    def _ended(self) -> None:
        self._tab.show_playing(False)

    def _show_moment(self, moment: int, playing: bool) -> None:
        studio = self._studio
        with studio.drawing(), studio.server.atomic():
            # Not before: who chooses another robot takes out the film while nobody else draws.
            film = self.player.film
            if film is None or moment >= len(film):
                return
            self._tab.show_moment(moment)
            if film.contact is None:
                assert film.q is not None
                wish = studio.desk.change_unless(lambda: playing and not self.player.playing, q=film.q[moment])
                if wish is not None:
                    studio.show(film.moment(moment, wish))
            else:
                self.draw_moment(moment)
        studio.server.flush()

    def draw_moment(self, moment: int) -> None:
        """Only draw a moment: nothing else on the page changes."""
        film, stage = self.player.film, self._studio.stage
        if self._contact is not None:
            self._contact.draw(moment)
        elif film is not None and film.q is not None:
            stage.draw_robot(film.q[moment], None if film.ghost is None else film.ghost[moment])
