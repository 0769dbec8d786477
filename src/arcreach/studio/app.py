"""`Studio`: the page, put together from state, stage, panels and player."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from arcreach._checks import choice
from arcreach._extras import require
from arcreach._typing import Array
from arcreach.files import catalogue_robot
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.studio import server
from arcreach.studio.panels.events import TaskQueue, dismiss
from arcreach.studio.panels.layout import Panels
from arcreach.studio.player.jobs import Jobs
from arcreach.studio.player.jogging import Jogging
from arcreach.studio.player.player import Player
from arcreach.studio.saved_page import caption_of, saved_page
from arcreach.studio.stage.cameras import Cameras
from arcreach.studio.stage.stage import Stage
from arcreach.studio.state.answer import Answer, solve_request
from arcreach.studio.state.devices import Devices
from arcreach.studio.state.request import AIMS, Tuning
from arcreach.studio.state.robots import RobotEntry, RobotList, drawable
from arcreach.studio.state.solver import Solver
from arcreach.studio.state.state import State

DEFAULT_ROBOT = "three-section"
DEFAULT_PORT = 8080
GETTING_READY = "Getting ready: the first solve of an installation compiles for about half a minute."


class Studio:
    """The page on a server of its own: `stop` it, or use it in a `with` block."""

    def __init__(
        self,
        robot: Robot | None = None,
        scene: Scene | None = None,
        *,
        host: str = server.LOOPBACK,
        port: int = DEFAULT_PORT,
        allow_remote: bool = False,
    ) -> None:
        chosen = drawable(catalogue_robot(DEFAULT_ROBOT) if robot is None else robot)
        given = None if scene is None else spatial_scene(scene)
        require("viser")
        listener = server.bound_socket(host, port, allow_remote)
        self.host, self.port = listener.getsockname()[:2]
        self._ending = contextlib.ExitStack()
        self.devices = Devices()
        self.server = server.start_server(listener, server.Guard(self.port, allow_remote), self.devices)
        self._ending.callback(server.stop_server, self.server)
        try:
            self._open(chosen, given)
        except BaseException:
            # The caller has no studio to stop.
            self.stop()
            raise

    def _open(self, robot: Robot, scene: Scene | None) -> None:
        self.queue = TaskQueue()
        self._ending.callback(self.queue.stop)
        self.robots = RobotList()
        self.state = State(self.robots.put(robot), scene)
        self.panels = Panels(self.server.gui, self)
        self.stage = Stage(self.server, self._aim, self.panels.obstacles.drag)
        self.cameras = Cameras(self.server)
        tab = self.panels.trajectory
        self.player = Player(self.state, self.stage, tab, self._show)
        self._ending.callback(self.player.stop)
        self.jobs = Jobs(self.state, self.stage, tab, self.panels.view.boxes, self.player, self.queue.run)
        self._ending.callback(self.jobs.background.stop)
        self._solver = Solver(self.state, self._show)
        self._ending.callback(self._solver.stop)
        self.jogging = Jogging(self.state, self.devices, self.pose, self.panels.jog.refresh_if_due)
        self._ending.callback(self.jogging.stop)
        self._show_robot(self.state.entry)
        self.panels.results.say(GETTING_READY)
        self._ask(q=None)

    @property
    def url(self) -> str:
        """The address of the page."""
        name = "localhost" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    @property
    def answer(self) -> Answer:
        """The answer shown."""
        return self.state.answer

    @property
    def q(self) -> Array:
        """The configuration shown."""
        return self.state.q

    @property
    def scene(self) -> Scene:
        """The obstacles."""
        return self.state.request.scene

    def settle(self, timeout: float) -> bool:
        """Wait until the latest request is answered and drawn; return whether it was, within `timeout` seconds."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            with self.stage.drawing():
                if self.state.settled:
                    return True
            time.sleep(0.01)
        return False

    def stop(self) -> None:
        """End the server and all threads and processes of the page."""
        self._ending.close()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def aim_at(self, pose: Array) -> None:
        """Move the target to a pose (4, 4) in metres; the robot follows."""
        self.stage.target.pose = pose
        self._aim(pose)

    def _aim(self, pose: Array) -> None:
        """Solve for a target that the user moved."""
        self.state.record("target")
        self.player.leave()
        self._ask(pose=pose, q=None)

    def pose(self, q: Array) -> None:
        """Set the configuration; the target follows the tip."""
        self.state.record("pose")
        self.player.leave()
        robot = self.state.request.robot
        q = robot.clip(q)
        self._ask(q=q, pose=robot.tip_pose(q))

    def pull(self, pulls: Array) -> None:
        """Set the pulls of the tendons; the robot takes the configuration that they produce, within its limits."""
        self.state.record("pull")
        self.player.leave()
        robot = self.state.request.robot
        found = robot.from_pulls(pulls, self.panels.tendons.elastic, self.state.latest_q)
        q = robot.clip(found.q)
        self._ask(q=q, pose=robot.tip_pose(q), pulled=found)

    def change(self, **fields: Any) -> None:
        """Solve again with other fields of the request, such as `method` or `compared`."""
        if fields:
            self.state.record()
        self.player.leave()
        self._ask(q=None, **fields)
        if fields:
            # The inputs show the previous values unless one of them made the change.
            self.panels.show_request(self.state.request)

    def set_aim(self, aim: str) -> None:
        """Aim at the position, the position and the axis, or the whole pose, by a method that accepts this."""
        choice("aim", aim, AIMS)
        method, compared = self.panels.method.offer(self.state.request.robot, aim)
        self.change(aim=aim, method=method, compared=compared)

    def set_scene(self, scene: Scene, kind: str = "") -> None:
        """Replace the obstacles; consecutive changes of one `kind` are undone in one step."""
        self.state.record(kind)
        # A contact plan hides the obstacles.
        self.player.close_contact()
        self.state.own_scene = scene
        self._ask(scene=scene)

    def set_robot(self, robot: Any, name: str = "") -> None:
        """Show another robot; obstacles that the user changed are kept."""
        chosen = drawable(robot)
        with self.stage.drawing():
            self.state.record()
            self._show_robot(self.robots.put(chosen, name))
            self._ask(q=None)

    def set_view(
        self,
        *,
        tubes: bool | None = None,
        frames: bool | None = None,
        workspace: bool | None = None,
        reach: bool | None = None,
        branches: bool | None = None,
        tendons: bool | None = None,
    ) -> None:
        """Show or hide parts of the view; `reach` is the reach map, `branches` are all solutions of the target."""
        stage, jobs, boxes = self.stage, self.jobs, self.panels.view.boxes
        setters = {
            "tubes": (stage.set_tubes, tubes),
            "frames": (stage.set_frames, frames),
            "workspace": (stage.set_workspace, workspace),
            "reach": (jobs.show_reach, reach),
            "branches": (jobs.show_branches, branches),
            "tendons": (stage.set_tendons, tendons),
        }
        with stage.drawing():
            # A contact plan hides what they show.
            self.player.close_contact()
            for name, (setter, visible) in setters.items():
                if visible is not None:
                    boxes[name].value = visible
                    setter(visible)
            stage.draw(self.answer)

    def set_pull_error(self, error: float | None) -> None:
        """Show the tip's uncertainty ellipsoid for this standard deviation of all pulls in metres; None hides it."""
        with self.stage.drawing():
            self.stage.set_pull_error(error, self.panels.tendons.elastic)
            self.stage.draw(self.answer)

    def undo(self) -> None:
        """Undo the last change of the user."""
        before = self.state.undo()
        request = before.request
        self.player.leave()
        with self.stage.drawing():
            self.state.own_scene = before.own_scene
            if request.robot is not self.state.request.robot:
                self._show_robot(self.robots.restore(before.entry))
            self.panels.show_request(request)
            self.stage.target.pose = request.pose
            fields = {name: value for name, value in vars(request).items() if name not in {"robot", "revision"}}
            again = self.state.change(**fields)
            # Shown at once: the solver then starts from the restored configuration and returns it if it is a solution.
            if before.answer.request.robot is request.robot:
                self._show(Answer(again, before.answer.results), repeated=True)
        self._solver.post(again)

    def reset(self) -> None:
        """Show the robot in its initial pose and scene, with the default aim and method."""
        with self.stage.drawing():
            self.state.record()
            self.state.own_scene = self.state.given_scene
            self.panels.reset()
            self._show_robot(self.state.entry)
            self._ask(q=None, tuning=Tuning())

    def as_html(self) -> str:
        """Return the scene as one HTML file that works offline, with the results and the animation, if any."""
        with self.stage.drawing():
            player, name = self.player, self.state.entry.name
            animation = player.animation
            frames, rate, text = 0, 1.0, ""
            if animation is not None:
                frames, rate, text = len(animation), animation.rate, f"{animation.title}: {animation.text}"
            caption = caption_of(name, self.answer, text)
            page = saved_page(self.stage, f"{name} – arcreach studio", caption, frames, rate, player.draw_frame)
            # What is shown may not be a frame: the user may have left the animation.
            if self.stage.contact is not None:
                player.draw_frame(player.frame)
            elif frames:
                self.stage.draw(self.answer)
        return page

    def _ask(self, **fields: Any) -> None:
        """Change the request and let the solver answer it."""
        self._solver.post(self.state.change(**fields))

    def _show_robot(self, entry: RobotEntry) -> None:
        """Show a robot in its initial pose, with the target at its tip."""
        self.state.entry = entry
        q, scene = self.state.initial()
        with self.stage.drawing():
            dismiss(self.server.get_clients().values())
            self.jobs.forget()
            self.player.close()
            self.stage.set_robot(entry.robot)
            fields = self.panels.set_robot(entry, q)
            pose = entry.robot.tip_pose(q)
            self._show(solve_request(self.state.change(robot=entry.robot, pose=pose, q=q, scene=scene, **fields), q))
            self.stage.set_workspace(self.panels.view.boxes["workspace"].value)

    def _show(self, answer: Answer, repeated: bool = False) -> None:
        """Draw an answer, unless a later one has been drawn."""
        with self.stage.drawing():
            if not self.state.accept(answer):
                return
            self.stage.draw(answer)
            self.panels.show(answer, self.state.settled, repeated)
            self.jobs.drop_branches(answer.request.pose)
