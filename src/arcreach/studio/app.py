"""`Studio`: the page, put together. Callbacks post wishes, workers answer them, the latest answer is drawn."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.errors import ArcreachError, MissingExtraError, RobotError, TargetError
from arcreach.files.catalogue import catalogue, catalogue_robot
from arcreach.files.planar_file import load_planar_scene, planar_catalogue
from arcreach.robots.checks import shown
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.studio import obstacles, recording, safety, uploads
from arcreach.studio.films import Films
from arcreach.studio.grip import Grip
from arcreach.studio.opening import first_pose, first_scene
from arcreach.studio.panels.choices import UPLOADED, ChoicesPanel
from arcreach.studio.panels.events import all_of, tell
from arcreach.studio.panels.obstacles import ObstaclesTab
from arcreach.studio.panels.results import Chart
from arcreach.studio.panels.sliders import Sliders
from arcreach.studio.panels.trajectory import TrajectoryTab
from arcreach.studio.rotations import pose_of
from arcreach.studio.solving import SECOND_BUDGET, Answer, answer, better
from arcreach.studio.stage import WORKSPACE_POINTS, Stage
from arcreach.studio.wish import AIMS, Desk, Wish
from arcreach.studio.worker import Worker

Array = npt.NDArray[np.float64]

_log = logging.getLogger(__name__)

DEFAULT_ROBOT = "three-section"
DEFAULT_PORT = 8080
GETTING_READY = "Getting ready: the first solve of an installation compiles, for half a minute or so."
PANEL_WIDTH = 310.0
# Darker than the blue of the first section: viser makes lighter shades of it.
BRAND = (0, 84, 140)
# A new obstacle, in reaches of the robot: where it appears and how large.
NEW_PLACE, NEW_SIZE = (0.35, -0.35, 0.3), 0.07


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
        self._errands = ThreadPoolExecutor(1, thread_name_prefix="arcreach-errand")
        self._ending.callback(self._errands.shutdown, wait=False, cancel_futures=True)
        self._given_scene = given
        self._robots: dict[str, Robot] = {}
        self._held: int | None = None
        self._grip = Grip()
        q = first_pose(chosen)
        scene = first_scene(chosen, q) if given is None else given
        self.desk = Desk(Wish(chosen, chosen.tip_pose(q), q=q, scene=scene))
        self._answer = answer(self.desk.wish, q)
        self.stage = Stage(self.server)
        self._build_panels(viser)
        self.films = Films(self, self.trajectory)
        self._ending.callback(self.films.stop)
        self._solver: Worker[Wish] = Worker("solver", self._solve)
        self._ending.callback(self._solver.stop)
        # Apart from the solver: a method that takes long does not hold up a slider.
        self._poser: Worker[Wish] = Worker("poser", self._solve)
        self._ending.callback(self._poser.stop)
        self._set_robot(chosen, chosen.name or UPLOADED)
        self.stage.target.on_update(self._dragged)
        self.stage.ball.on_drag(self._dragged_ball)
        self.choices.results.say(GETTING_READY)
        self._post(self.desk.change(q=None))

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
            self.obstacles_tab = ObstaclesTab(gui, self)
        with below.add_tab("Error and time", "chart-line"):
            self.chart = Chart(gui, viser)
        with below.add_tab("Trajectory", "route"):
            scenes = tuple(name for name in planar_catalogue() if load_planar_scene(name).target is not None)
            self.trajectory = TrajectoryTab(gui, scenes)
        robots = tuple(filter(has_body, catalogue()))
        first = self.desk.wish.robot.name
        if first not in robots:
            robots = (first or UPLOADED, *robots)
        self.choices = ChoicesPanel(gui, robots, self)
        left.dock_left()
        left.set_width(PANEL_WIDTH)
        below.dock_below(left)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(PANEL_WIDTH)

    def _set_robot(self, robot: Robot, name: str) -> None:
        """Show another robot in its first pose, the target at its tip."""
        self._robots[name] = robot
        q = first_pose(robot)
        scene = first_scene(robot, q) if self._given_scene is None else self._given_scene
        with self.drawing(), self.server.atomic():
            self.films.forget()
            self.stage.clear_obstacles()
            self.stage.set_robot(robot)
            method, compared = self.choices.set_robot(robot, name)
            wish = self.desk.change(
                robot=robot, pose=robot.tip_pose(q), q=q, method=method, compared=compared, scene=scene
            )
            self.sliders.set_robot(robot, q)
            self.chart.clear()
            self.show(answer(wish, q))
            self.set_view(workspace=self.choices.view["workspace"].value)

    def drawing(self) -> contextlib.AbstractContextManager[Any]:
        """A block in which nobody else draws."""
        return self._drawing

    def _post(self, wish: Wish) -> None:
        (self._solver if wish.q is None else self._poser).post(wish)

    async def _dragged(self, event: Any) -> None:
        """The target was moved by its arrows, rings or squares."""
        # Asynchronous, though it waits for nothing: so the moves of a hand come in their order.
        self.aim_at(pose_of(event.target.wxyz, np.asarray(event.target.position) / self.stage.scale))

    async def _dragged_ball(self, event: Any) -> None:
        """The target was moved by its ball, in the plane of the screen."""
        place = self._grip.place(event, self.stage.target.position)
        if place is not None:
            self.stage.target.position = tuple(place)
            self.aim_at(self.stage.target_pose)

    def aim_at(self, pose: Array) -> None:
        """Move the target; the robot follows."""
        self.films.leave()
        self._held = None
        self._post(self.desk.change(pose=pose, q=None))

    def _slid(self, coordinate: int, value: float) -> None:
        """A slider was moved: the robot takes that pose, and the target comes along."""
        wish = self.desk.wish
        # What was asked a moment ago and is not drawn yet counts: sliders are moved one after another.
        q = (self.q if wish.q is None else wish.q).copy()
        q[coordinate] = value
        self.pose(q, held=coordinate)

    def pose(self, q: Array, held: int | None = None) -> None:
        """Set the configuration by hand; the target comes along."""
        self.films.leave()
        robot = self.desk.wish.robot
        q = robot.clip(q)
        self._held = held
        self._post(self.desk.change(q=q, pose=robot.tip_pose(q)))

    def set_aim(self, aim: str) -> None:
        """Aim at something else, by methods that can."""
        if aim not in AIMS:
            raise TargetError(f"aim = {shown(aim)} is not accepted; give one of {', '.join(AIMS)}")
        method, compared = self.choices.offer(self.desk.wish.robot, aim)
        self.change(aim=aim, method=method, compared=compared)

    def change(self, **fields: Any) -> None:
        """Solve with another method, or compare with another."""
        self.films.leave()
        self._post(self.desk.change(q=None, **fields))

    def set_scene(self, scene: Scene) -> None:
        """Other obstacles; a pose set by hand stays, a target is solved anew."""
        self._post(self.desk.change(scene=scene))

    def add_obstacle(self, kind: str) -> None:
        """One more obstacle, in front."""
        reach = self.desk.wish.robot.reach
        scene = obstacles.with_new(self.scene, kind, reach * np.array(NEW_PLACE), NEW_SIZE * reach)
        self.obstacles_tab.chosen = len(scene) - 1
        self.set_scene(scene)

    def change_obstacle(self, index: int, shape: Any) -> None:
        """Another obstacle in place of one."""
        if 0 <= index < len(self.scene):
            self.set_scene(obstacles.with_shape(self.scene, index, shape))

    def remove_obstacle(self, index: int) -> None:
        """One obstacle less."""
        if 0 <= index < len(self.scene):
            self.set_scene(obstacles.without_shape(self.scene, index))

    def set_avoid(self, avoid: bool) -> None:
        """Whether methods that can avoid obstacles do."""
        self.change(avoid=avoid)

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
        """Draw an answer, unless a later one is drawn; the chart takes note of it."""
        with self._drawing:
            if not self.desk.accept(found.wish.revision):
                return
            self._answer = found
            with self.server.atomic():
                self._draw(found)
                if noted:
                    self.chart.note(found, draw=self.desk.settled)
        self.server.flush()

    def _draw(self, found: Answer) -> None:
        wish, settled = found.wish, self.desk.settled
        if wish.q is not None:
            self.stage.place_target(wish.pose)
        for index in self.stage.set_obstacles(wish.scene, wish.robot.reach):
            self._connect_obstacle(index)
        self.stage.draw(found)
        self.films.check_branches(wish.pose)
        # The slider under a hand is left alone until the hand rests: it would jump back to where it was.
        self.sliders.show(found.q, None if settled else self._held)
        self.obstacles_tab.show(wish.scene, wish.robot.reach)
        self.choices.results.show(found)

    def _connect_obstacle(self, index: int) -> None:
        """Let an obstacle be dragged, in the plane of the screen; it is the chosen one from then on."""
        handle = self.stage.obstacles[index]

        async def dragged(event: Any) -> None:
            if index >= len(self.scene) or not obstacles.movable(self.scene[index]):
                return
            place = self._grip.place(event, handle.position)
            if place is not None:
                self.obstacles_tab.chosen = index
                self.change_obstacle(index, obstacles.moved(self.scene[index], place / self.stage.scale))

        handle.on_drag(dragged)

    def errand(self, work: Callable[[], None], client: Any = None) -> None:
        """Do something outside the event loop, and tell the visitor what was refused."""

        def done() -> None:
            try:
                work()
            except ArcreachError as error:
                if client is None:
                    _log.warning("not accepted: %s", all_of(error))
                else:
                    tell(client, "Not accepted", all_of(error))
            except Exception:
                _log.exception("the studio could not do what was asked")

        self._errands.submit(done)

    def choose_robot(self, name: str, client: Any = None) -> None:
        """A robot of the catalogue, or one that was sent."""
        if name in self._robots or name in catalogue():
            self.errand(lambda: self.set_robot(self._robots.get(name) or catalogue_robot(name), name), client)

    def set_robot(self, robot: Any, name: str = "") -> None:
        """Another robot; its target is solved for at once."""
        chosen = drawable(robot)
        with self._drawing:
            self._set_robot(chosen, name or chosen.name or UPLOADED)
            self._post(self.desk.change(q=None))

    def receive(self, name: str, content: bytes, client: Any) -> None:
        """A robot file that a visitor sent."""

        def work() -> None:
            robot = uploads.robot_of_upload(name, content)
            # A robot of the catalogue keeps its name, whatever somebody else's is called.
            own = robot.name if robot.name and robot.name not in catalogue() else UPLOADED
            self.set_robot(robot, own)
            tell(client, "Robot loaded", f"{uploads.plain_name(name)}: {robot!r}", good=True)

        self.errand(work, client)

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
        """The scene as one HTML file that needs no network; a film in it plays."""
        with self._drawing, self.server.atomic():
            film = self.films.player.film
            moments, rate = (0, 1.0) if film is None else (len(film), film.rate)
            page = recording.as_html(self.server, [self.stage.target], moments, rate, self.films.draw_moment)
            if moments:
                self.films.draw_moment(self.films.player.moment)
        return page


def has_body(name: str) -> bool:
    """Whether a robot of the catalogue is a chain of elements; one given as a matrix needs a package of its own."""
    try:
        return isinstance(catalogue_robot(name), Robot)
    except MissingExtraError:
        return False


def drawable(robot: Any) -> Robot:
    """A robot with a body to draw and something to move."""
    if not isinstance(robot, Robot):
        raise RobotError(f"robot = {shown(robot)} has no body to draw; give a chain of elements")
    if robot.dof == 0:
        raise RobotError(f"robot '{robot.name}' has nothing to move; give at least one joint or section")
    return robot
