"""`Studio`: the page, put together. Callbacks post wishes, workers answer them, the latest answer is drawn."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from arcreach._checks import shown
from arcreach._typing import Array
from arcreach.errors import TargetError
from arcreach.files.catalogue import catalogue, catalogue_robot
from arcreach.files.toml.planar_file import load_planar_scene, planar_catalogue
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.studio import recording, safety, scenes, uploads
from arcreach.studio.cameras import Cameras
from arcreach.studio.editor import Editor
from arcreach.studio.errands import Errands
from arcreach.studio.films import Films
from arcreach.studio.grip import Grip
from arcreach.studio.history import History
from arcreach.studio.opening import first_pose, first_scene
from arcreach.studio.panels.choices import ChoicesPanel
from arcreach.studio.panels.events import dismiss, tell
from arcreach.studio.panels.obstacles import ObstaclesTab
from arcreach.studio.panels.results import Chart
from arcreach.studio.panels.sliders import Sliders
from arcreach.studio.panels.trajectory import TrajectoryTab
from arcreach.studio.rotations import pose_of
from arcreach.studio.shelf import Shelf, drawable, has_body
from arcreach.studio.solving import SECOND_BUDGET, Answer, answer, better
from arcreach.studio.stage import WORKSPACE_POINTS, Stage
from arcreach.studio.wish import AIMS, Desk, Wish
from arcreach.studio.words import counted
from arcreach.studio.worker import Worker

DEFAULT_ROBOT = "three-section"
DEFAULT_PORT = 8080
GETTING_READY = "Getting ready: the first solve of an installation compiles, for half a minute or so."
PANEL_WIDTH = 310.0
# Darker than the blue of the first section: viser makes lighter shades of it.
BRAND = (0, 84, 140)


class Studio:
    """The page on a server of its own: `stop` it, or use it in a `with` block."""

    def __init__(
        self,
        robot: Robot | None = None,
        scene: Scene | None = None,
        *,
        host: str = safety.LOOPBACK,
        port: int = DEFAULT_PORT,
        allow_remote: bool = False,
    ) -> None:
        chosen = drawable(catalogue_robot(DEFAULT_ROBOT) if robot is None else robot)
        given = None if scene is None else spatial_scene(scene)
        viser = safety.import_viser()
        listener = safety.bound_socket(host, port, allow_remote)
        self.host, self.port = listener.getsockname()[:2]
        self._ending = contextlib.ExitStack()
        self.server = safety.start_server(listener, safety.Guard(self.port, allow_remote), "arcreach studio")
        self._ending.callback(safety.stop_server, self.server)
        try:
            self._open(chosen, given, viser)
        except BaseException:
            # Nobody else can end what runs by now: there is no studio to stop.
            self.stop()
            raise

    def _open(self, chosen: Robot, given: Scene | None, viser: Any) -> None:
        # One hand on the page at a time, whichever thread it belongs to.
        self._drawing = threading.RLock()
        self._errands = Errands()
        self._ending.callback(self._errands.stop)
        # The visitor's own obstacles are kept for the next robot; each robot has a first one otherwise.
        self.given_scene = self.own_scene = given
        self.shelf, self.history, self.editor = Shelf(), History(self), Editor(self)
        self._held: int | None = None
        self.grip = Grip()
        q = first_pose(chosen)
        scene = first_scene(chosen, q) if given is None else given
        self.desk = Desk(Wish(chosen, chosen.tip_pose(q), q=q, scene=scene))
        self._answer = answer(self.desk.wish, q)
        self.stage, self.cameras = Stage(self.server), Cameras(self.server)
        self._build_panels(viser)
        self.films = Films(self, self.trajectory)
        self._ending.callback(self.films.stop)
        self._solver: Worker[Wish] = Worker("solver", self._solve)
        self._ending.callback(self._solver.stop)
        # Apart from the solver: a method that takes long does not hold up a slider.
        self._poser: Worker[Wish] = Worker("poser", self._solve)
        self._ending.callback(self._poser.stop)
        self.show_robot(self.shelf.put(chosen))
        self.stage.target.on_update(self._dragged)
        self.stage.ball.on_drag(self._dragged_ball)
        self.choices.results.say(GETTING_READY)
        self.post(self.desk.change(q=None))

    @property
    def url(self) -> str:
        """The address of the page."""
        name = "localhost" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    @property
    def answer(self) -> Answer:
        """What is shown."""
        return self._answer

    @property
    def q(self) -> Array:
        """The configuration shown."""
        return self._answer.q

    @property
    def scene(self) -> Scene:
        """The obstacles."""
        return self.desk.wish.scene

    def settle(self, timeout: float) -> bool:
        """Wait until the latest wish is answered and drawn; whether it was within so many seconds."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            with self._drawing:
                if self.desk.settled:
                    return True
            time.sleep(0.01)
        return False

    def stop(self) -> None:
        """End the server and all that belongs to it."""
        self._ending.close()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _build_panels(self, viser: Any) -> None:
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
        left, below = gui.add_panel(), gui.add_panel()
        self._sliders_tab = left.add_tab("Pose", "adjustments")
        self.sliders = Sliders(gui, self._sliders_tab, self._slid)
        with left.add_tab("Obstacles", "sphere"):
            self.obstacles_tab = ObstaclesTab(gui, self.editor, scenes.offered())
        with below.add_tab("Error and time", "chart-line"):
            self.chart = Chart(gui, viser)
        with below.add_tab("Trajectory", "route"):
            planar = tuple(name for name in planar_catalogue() if load_planar_scene(name).target is not None)
            self.trajectory = TrajectoryTab(gui, planar)
        self.choices = ChoicesPanel(gui, tuple(filter(has_body, catalogue())), self)
        left.dock_left()
        left.set_width(PANEL_WIDTH)
        below.dock_below(left)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(PANEL_WIDTH)

    def show_robot(self, name: str) -> None:
        """Show a robot of the shelf in its first pose, the target at its tip."""
        known = self.shelf[name]
        self.name, self.known = name, known
        robot, q = known.robot, first_pose(known.robot)
        scene = first_scene(robot, q) if self.own_scene is None else self.own_scene
        with self.drawing(), self.server.atomic():
            dismiss(self.server.get_clients().values())
            self.films.forget()
            self.stage.clear_obstacles()
            self.stage.set_robot(robot)
            method, compared = self.choices.set_robot(robot, name, known.tips, known.tip)
            wish = self.desk.change(
                robot=robot, pose=robot.tip_pose(q), q=q, method=method, compared=compared, scene=scene,
                aim=self.choices.aim.value, avoid=self.obstacles_tab.avoid.value,
            )  # fmt: skip
            self.sliders.set_robot(robot, q)
            self.chart.clear()
            self.show(answer(wish, q))
            self.set_view(workspace=self.choices.view["workspace"].value)

    def drawing(self) -> contextlib.AbstractContextManager[Any]:
        """A block in which nobody else draws."""
        return self._drawing

    def post(self, wish: Wish) -> None:
        """Let a worker answer a wish."""
        (self._solver if wish.q is None else self._poser).post(wish)

    async def _dragged(self, event: Any) -> None:
        """The target was moved by its arrows, rings or squares."""
        # Asynchronous, though it waits for nothing: so the moves of a hand come in their order.
        self.aim_at(pose_of(event.target.wxyz, np.asarray(event.target.position) / self.stage.scale))

    async def _dragged_ball(self, event: Any) -> None:
        """The target was moved by its ball, in the plane of the screen."""
        place = self.grip.place(event, self.stage.target.position)
        if place is not None:
            self.stage.target.position = tuple(place)
            self.aim_at(self.stage.target_pose)

    def aim_at(self, pose: Array) -> None:
        """Move the target; the robot follows."""
        self.history.note("target")
        self.films.leave()
        self._held = None
        self.post(self.desk.change(pose=pose, q=None))

    @property
    def target_pose(self) -> Array:
        """Where the target is, T_base_target (4, 4) in metres."""
        return self.stage.target_pose

    def type_target(self, pose: Array) -> None:
        """Move the target to numbers that were typed."""
        self.stage.place_target(pose)
        self.aim_at(pose)

    def _slid(self, coordinate: int, value: float) -> None:
        """A slider was moved: the robot takes that pose, and the target comes along."""
        wish = self.desk.wish
        # What was asked a moment ago and is not drawn yet counts: sliders are moved one after another.
        q = (self.q if wish.q is None else wish.q).copy()
        q[coordinate] = value
        self.pose(q, held=coordinate)

    def pose(self, q: Array, held: int | None = None) -> None:
        """Set the configuration by hand; the target comes along."""
        self.history.note("pose")
        self.films.leave()
        robot = self.desk.wish.robot
        q = robot.clip(q)
        self._held = held
        self.post(self.desk.change(q=q, pose=robot.tip_pose(q)))

    def set_aim(self, aim: str) -> None:
        """Aim at something else, by methods that can."""
        if aim not in AIMS:
            raise TargetError(f"aim = {shown(aim)} is not accepted; give one of {', '.join(AIMS)}")
        method, compared = self.choices.offer(self.desk.wish.robot, aim)
        self.change(aim=aim, method=method, compared=compared)

    def change(self, **fields: Any) -> None:
        """Solve with another method, or compare with another."""
        if fields:
            self.history.note()
        self.films.leave()
        self.post(self.desk.change(q=None, **fields))

    def set_scene(self, scene: Scene, kind: str = "") -> None:
        """Other obstacles; a pose set by hand stays, a target is solved anew."""
        self.history.note(kind)
        self.own_scene = scene
        self.post(self.desk.change(scene=scene))

    def _solve(self, wish: Wish) -> None:
        """Answer a wish from the configuration shown, and draw the answer unless a later one is drawn."""
        before = self._answer
        start = before.q if before.wish.robot is wish.robot else first_pose(wish.robot)
        found = answer(wish, start)
        self.show(found)
        # Nobody asks for anything else: a second look at what was not reached.
        if not found.reached and wish.q is None and self.desk.wish is wish:
            self.show(better(found, answer(wish, start, SECOND_BUDGET)), noted=False)

    def show(self, found: Answer, noted: bool = True) -> None:
        """Draw an answer, unless a later one is drawn; the chart takes note of it, or corrects its last note."""
        with self._drawing:
            if not self.desk.accept(found.wish.revision):
                return
            self._answer = found
            with self.server.atomic():
                self._draw(found)
                self.chart.note(found, draw=self.desk.settled, again=not noted)
        self.server.flush()

    def _draw(self, found: Answer) -> None:
        wish, settled = found.wish, self.desk.settled
        if wish.q is not None:
            self.stage.place_target(wish.pose)
        for index in self.stage.set_obstacles(wish.scene, wish.robot.reach):
            self.editor.connect(index)
        self.stage.draw(found)
        self.films.check_branches(wish.pose)
        # The slider under a hand is left alone until the hand rests: it would jump back to where it was.
        self.sliders.show(found.q, None if settled else self._held)
        self.obstacles_tab.show(wish.scene, wish.robot.reach)
        self.choices.target.show(wish.pose, wish.aim)
        self.choices.results.show(found)

    def errand(self, work: Callable[[], None], client: Any = None) -> None:
        """Do something outside the event loop, and tell the visitor what failed."""
        self._errands.run(work, client)

    def choose_robot(self, name: str, client: Any = None) -> None:
        """A robot of the catalogue, or one that was sent."""
        if name in self.shelf:
            self.errand(lambda: self._exchange(name, client), client)

    def _exchange(self, name: str, client: Any) -> None:
        try:
            self.set_robot(self.shelf[name].robot, name, client)
        finally:
            # Where that failed, the lists still show what was chosen.
            self.choices.robot.value = self.name
            if self.known.tips:
                self.choices.tip.value = self.known.tip

    def set_robot(self, robot: Any, name: str = "", client: Any = None, said: str = "") -> None:
        """Another robot; its target is solved for at once, among the visitor's own obstacles if there are any."""
        chosen = drawable(robot)
        with self._drawing:
            self.history.note()
            self.show_robot(self.shelf.put(chosen, name))
            self.post(self.desk.change(q=None))
        count = 0 if self.own_scene is None else len(self.own_scene)
        kept = f"the scene keeps its {counted(count, 'obstacle')}; Reset brings the first one back" if count else ""
        if client is not None and (said or kept):
            tell(client, "Robot loaded", "; ".join(filter(None, (said or repr(chosen), kept))), good=True)

    def receive(self, name: str, content: bytes, client: Any) -> None:
        """A robot file that a visitor sent."""

        def work() -> None:
            own = self.shelf.receive(name, content)
            known = self.shelf[own]
            tip = f"; its tip is {known.tip}, choose another under Tip" if len(known.tips) > 1 else ""
            self.set_robot(known.robot, own, client, f"{uploads.plain_name(name)}: {known.robot!r}{tip}")

        self.errand(work, client)

    def choose_tip(self, tip: str, client: Any = None) -> None:
        """Another link of the robot file as its tip."""

        def work() -> None:
            try:
                self.shelf.set_tip(self.name, tip)
            finally:
                self._exchange(self.name, client)

        self.errand(work, client)

    def look(self, view: str, client: Any) -> None:
        """Place the camera of a visitor."""
        self.cameras.show(client, view)

    def set_view(self, client: Any = None, **options: bool) -> None:
        """Show or hide tubes, frames, the workspace, all solutions."""
        self.errand(lambda: self._set_view(options), client)

    def _set_view(self, options: dict[str, bool]) -> None:
        robot = self.desk.wish.robot
        with self._drawing, self.server.atomic():
            self.stage.show_tubes = options.get("tubes", self.stage.show_tubes)
            if "frames" in options:
                self.stage.set_frames(options["frames"])
            if "workspace" in options:
                tips = robot.tip_pose(robot.sample(WORKSPACE_POINTS, seed=0))[:, :3, 3]
                self.stage.set_workspace(tips if options["workspace"] else None)
            self.stage.draw(self._answer)
        self.server.flush()
        if "branches" in options:
            self.films.show_branches(options["branches"])

    def save(self, client: Any) -> None:
        """Send the scene to a visitor as one file, with the film if there is one."""

        def work() -> None:
            page = self.as_html()
            client.send_file_download("arcreach-studio.html", page.encode(), save_immediately=True)

        self.errand(work, client)

    def as_html(self) -> str:
        """The scene as one HTML file that needs no network, with its numbers; a film in it plays."""
        with self._drawing, self.server.atomic():
            film, name = self.films.player.film, self.name
            moments, rate = (0, 1.0) if film is None else (len(film), film.rate)
            caption = recording.caption_of(name, self._answer, "" if film is None else f"{film.title}: {film.text}")
            page = recording.as_html(
                self.stage, f"{name} – arcreach studio", caption, moments, rate, self.films.draw_moment
            )
            if moments:
                self.films.draw_moment(self.films.player.moment)
        return page
