"""`Stage`: the 3D scene. It draws answers and reports drags.

Lengths in the scene are in reaches of the robot, so that an endoscope and a crane have the same size on the screen.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array, Booleans
from arcreach.calibration import tip_covariance
from arcreach.errors import ArcreachError
from arcreach.robots.robot import Robot
from arcreach.robots.tendon_curves import with_cores
from arcreach.studio.stage import colours
from arcreach.studio.stage.body import Body, DrawnRobot
from arcreach.studio.stage.contact import ContactMotion, ContactStage
from arcreach.studio.stage.obstacles import DrawnObstacles
from arcreach.studio.stage.port import DrawnPort
from arcreach.studio.stage.target import DrawnTarget, wxyz_of
from arcreach.studio.stage.tendons import DrawnTendons
from arcreach.studio.state.answer import Answer
from arcreach.studio.state.request import POSITION

# In reaches of the robot.
GROUND = 6.0
AXES, AXES_THICKNESS = 0.09, 0.006
PATH_THICKNESS, LINE_THICKNESS, POINT, REACH_POINT = 0.010, 0.012, 0.004, 0.015
LINKS_THICKNESS = 0.006
LINKS = {"forward": colours.VERMILION, "backward": colours.BASE}
# Number of random configurations whose tips show the workspace.
WORKSPACE_POINTS = 4000
# Positions of the labels of two compared robots, as indices of 21 points along the backbone.
LABELLED = (9, 12)


class Stage:
    """The ground, the robot, the robot of the compared method, the target, the obstacles, a path and the workspace."""

    def __init__(
        self, server: Any, target_moved: Callable[[Array], None], obstacle_moved: Callable[[int, Array], None]
    ) -> None:
        self.server = server
        self._lock = threading.RLock()
        self.scale = 1.0
        self.robot: DrawnRobot | None = None
        self.ghost: DrawnRobot | None = None
        self.branches: list[DrawnRobot] = []
        self.path: Any = None
        self.links = DrawnLinks(server)
        self.workspace: Any = None
        self.reach: Any = None
        self.frames: Any = None
        self.backbone: Any = None
        self._show_frames = False
        self._show_tubes = True
        self._show_tendons = True
        self.tendons: DrawnTendons | None = None
        self._robot: Robot | None = None  # as given, without thinned sections
        self._pull_error: float | None = None
        self._elastic = False
        self.contact: ContactStage | None = None
        self._set_up()
        self.target = DrawnTarget(server, target_moved)
        self.obstacles = DrawnObstacles(server, obstacle_moved)
        self.port = DrawnPort(server)

    def _set_up(self) -> None:
        scene = self.server.scene
        scene.set_up_direction("+z")
        scene.world_axes.visible = False
        # Bright enough for the shaded side of a tube; more would wash out the colours.
        scene.configure_environment_map("studio", environment_intensity=0.35)
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        scene.add_grid(
            "/ground",
            GROUND,
            GROUND,
            cell_size=0.1,
            section_size=0.5,
            cell_color=(228, 228, 232),
            section_color=(205, 205, 212),
            cell_thickness=0.6,
            section_thickness=0.9,
            plane_opacity=0.0,
            shadow_opacity=0.22,
            fade_distance=9.0,
            fade_from="origin",
        )
        self.labels = [scene.add_label(f"/label/{i}", "", visible=False, anchor="bottom-center") for i in range(2)]

    @contextlib.contextmanager
    def drawing(self) -> Iterator[None]:
        """Keep other threads from drawing within the block; browsers show its changes in one step."""
        with self._lock, self.server.atomic():
            yield
        self.server.flush()

    def set_robot(self, robot: Robot) -> None:
        """Show another robot, alone."""
        self.obstacles.clear()
        self.set_branches([])
        self.set_path(None)
        self.set_links({})
        self.set_workspace(False)
        self.set_reach(None)
        self.scale = 1.0 / robot.reach
        self._pull_error = None
        self._add_robot(robot)
        self._draw_frames(robot.frames(robot.neutral))
        self.target.set_size(self.scale, Body(robot).tip_radius)

    def _add_robot(self, robot: Robot) -> None:
        """Replace the robot; unless tendons are hidden, sections with tendons are thinned to cores."""
        for drawn in (self.robot, self.ghost, self.tendons):
            if drawn is not None:
                drawn.remove()
        self._robot = robot
        shown = self._show_tendons and len(robot.tendons) > 0
        self.tendons = DrawnTendons(self.server, robot, self.scale) if shown else None
        body = Body(with_cores(robot) if shown else robot)
        self.robot = DrawnRobot(self.server, "robot", body, self.scale)
        self.ghost = DrawnRobot(self.server, "compared", body, self.scale, colours.GHOST, colours.GHOST_OPACITY)

    def draw(self, answer: Answer) -> None:
        """Show an answer: obstacles, target, port, robots and labels; obstacles in collision are marked."""
        request, results = answer.request, answer.results
        self.obstacles.draw(request.scene, request.robot.reach)
        if request.q is not None:
            self.target.pose = request.pose
        # A contact plan hides the robot; closing it draws the answer again.
        if self.contact is not None:
            return
        self.port.draw(request.port, request.robot, results[0].q)
        compared = len(results) > 1 and not results[1].refused
        slack = None if request.pulled is None else request.pulled.slack
        self.draw_robot(results[0].q, results[1].q if compared else None, slack)
        self.target.arrow.visible = request.aim != POSITION
        self.obstacles.mark(set(results[0].touched))
        for label in self.labels:
            label.visible = compared
        if compared:
            for label, result, point in zip(self.labels, results, LABELLED, strict=True):
                label.text = result.method
                label.position = tuple(self.scale * request.robot.backbone(result.q, 21)[point])

    def draw_robot(self, q: Array, ghost: Array | None, slack: Booleans | None = None) -> None:
        """Show the robot and the ghost, if any, at these configurations; `slack` marks tendons to be dashed."""
        assert self.robot is not None
        assert self.ghost is not None
        self.robot.draw(q if self._show_tubes else None)
        self.ghost.draw(ghost)
        robot = self.robot.body.robot
        if not self._show_tubes:
            self._draw_backbone(robot.backbone(q, 80))
        elif self.backbone is not None:
            self.backbone.visible = False
        if self._show_frames:
            self._draw_frames(robot.frames(q))
        if self.tendons is not None:
            self.tendons.draw(q, slack)
            self.tendons.draw_ellipsoid(robot.tip_pose(q)[:3, 3], self._tip_axes(q))

    def _tip_axes(self, q: Array) -> Array | None:
        """Return the semi-axes of the tip's ellipsoid; None if the ellipsoid is hidden or undefined at q."""
        if self._pull_error is None or self.tendons is None:
            return None
        robot = self.tendons.robot
        errors = np.full(len(robot.tendons), self._pull_error)
        try:
            return tip_covariance(robot, q, pulls=errors, elastic=self._elastic).axes
        except ArcreachError:
            # Undefined at q, for example where no pulls hold the springs of elastic sections.
            return None

    def show_contact(self, motion: ContactMotion | None) -> None:
        """Show a contact plan and hide everything else.

        None shows everything again, but for the robots and the entry point, which the next `draw` shows.
        """
        if self.contact is None and motion is None:
            return
        if self.contact is not None:
            self.contact.remove()
        self.contact = None if motion is None else ContactStage(self.server, motion)
        shown = motion is None
        for thing in (self.target.handle, *self.obstacles.handles, self.workspace, self.reach, *self.branches):
            if thing is not None:
                thing.visible = shown
        self.frames.visible = shown and self._show_frames
        self.port.clear()
        if motion is not None:
            for drawn in (self.robot, self.ghost):
                assert drawn is not None
                drawn.draw(None)
            if self.tendons is not None:
                self.tendons.draw(None)
                self.tendons.draw_ellipsoid(np.zeros(3), None)
            for handle in (self.backbone, *self.labels):
                if handle is not None:
                    handle.visible = False

    def set_tubes(self, shown: bool) -> None:
        """Draw sections as tubes if `shown`, else the backbone as a line; the next `draw` applies it."""
        self._show_tubes = shown

    def set_tendons(self, shown: bool) -> None:
        """Draw tendons, discs and thin cores if `shown`, else full tubes; the next `draw` applies it."""
        self._show_tendons = shown
        if self._robot is not None and self._robot.tendons:
            self._add_robot(self._robot)
            self.set_branches([drawn.q for drawn in self.branches if drawn.q is not None])

    def set_pull_error(self, error: float | None, elastic: bool) -> None:
        """Set the standard deviation of pulls (m) for the tip's ellipsoid; None hides it.

        The next `draw` shows it, unless tendons are hidden.
        """
        self._pull_error, self._elastic = error, elastic

    def set_frames(self, shown: bool) -> None:
        """Show or hide the frames at the ends of all elements."""
        self._show_frames = self.frames.visible = shown

    def set_workspace(self, shown: bool) -> None:
        """Show or hide points that the tip can reach."""
        if self.workspace is not None:
            self.workspace.remove()
            self.workspace = None
        if shown:
            assert self.robot is not None
            robot = self.robot.body.robot
            tips = robot.tip_pose(robot.sample(WORKSPACE_POINTS, seed=0))[:, :3, 3]
            self.workspace = self.server.scene.add_point_cloud(
                "/workspace", self.scale * tips, colours.SECTIONS[4], point_size=POINT, point_shape="circle"
            )

    def set_reach(self, found: tuple[Array, Array] | None) -> None:
        """Show positions (n, 3) in metres, darker for larger shares of directions (n,); None hides them."""
        if self.reach is not None:
            self.reach.remove()
            self.reach = None
        if found is not None:
            positions, share = found
            dark = share / share.max(initial=1e-9)
            shades = np.outer(1.0 - dark, colours.FEW) + np.outer(dark, colours.MANY)
            self.reach = self.server.scene.add_point_cloud(
                "/reach", self.scale * positions, shades.astype(np.uint8), point_size=REACH_POINT, point_shape="circle"
            )

    def set_branches(self, configurations: list[Array]) -> None:
        """Show further configurations as ghosts, replacing the previous ones."""
        for drawn in self.branches:
            drawn.remove()
        self.branches = []
        for i, q in enumerate(configurations):
            assert self.robot is not None
            drawn = DrawnRobot(
                self.server, f"branch-{i}", self.robot.body, self.scale, colours.of_section(i), colours.BRANCH_OPACITY
            )
            drawn.draw(q)
            self.branches.append(drawn)

    def set_path(self, tips: Array | None) -> None:
        """Show the path of the tip through positions (n, 3) in metres; None hides it."""
        if self.path is not None:
            self.path.remove()
            self.path = None
        if tips is not None and len(tips) > 1:
            self.path = self.server.scene.add_line_segments(
                "/path", _segments(self.scale * tips), colours.VERMILION, thickness=PATH_THICKNESS
            )

    def set_links(self, links: Mapping[str, Array]) -> None:
        """Show the virtual links (sections, 3, 3) of an iteration by stage, in metres; {} hides them."""
        self.links.draw(links, self.scale)

    def _draw_frames(self, frames: Array) -> None:
        positions, wxyz = self.scale * frames[:, :3, 3], wxyz_of(frames[:, :3, :3])
        if self.frames is not None and len(self.frames.batched_positions) == len(frames):
            self.frames.batched_positions = positions.astype(np.float32)
            self.frames.batched_wxyzs = wxyz.astype(np.float32)
            return
        if self.frames is not None:
            self.frames.remove()
        self.frames = self.server.scene.add_batched_axes(
            "/frames", wxyz, positions, axes_length=AXES, axes_radius=AXES_THICKNESS, visible=self._show_frames
        )

    def _draw_backbone(self, points: Array) -> None:
        segments = _segments(self.scale * points)
        if self.backbone is None:
            self.backbone = self.server.scene.add_line_segments(
                "/line", segments, colours.BLUE, thickness=LINE_THICKNESS
            )
        self.backbone.points = segments
        self.backbone.visible = True


def _segments(points: Array) -> npt.NDArray[np.float32]:
    """Return the segments (n - 1, 2, 3) of a polyline."""
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)


class DrawnLinks:
    """Tangents, or chords where there are none, as line segments of one colour per stage."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.drawn: dict[str, Any] = {}

    def draw(self, links: Mapping[str, Array], scale: float) -> None:
        """Show links (sections, 3, 3) in metres by stage in place of the previous ones; NaN are left out."""
        for handle in self.drawn.values():
            handle.remove()
        self.drawn = {}
        for stage, colour in LINKS.items():
            segments = link_segments(links[stage]) if stage in links else np.empty((0, 2, 3), np.float32)
            if len(segments):
                self.drawn[stage] = self._server.scene.add_line_segments(
                    f"/links/{stage}", scale * segments, colour, thickness=LINKS_THICKNESS
                )


def link_segments(links: Array) -> npt.NDArray[np.float32]:
    """Return tangents, or chords where there are none, as segments (k, 2, 3)."""
    tangents = np.concatenate([links[:, :2], links[:, 1:]])
    segments = links[:, ::2] if np.isnan(links[:, 1]).any() else tangents
    return np.asarray(segments[np.isfinite(segments).all(axis=(1, 2))], np.float32)
