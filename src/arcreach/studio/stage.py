"""`Stage`: what stands in the scene. It draws what it is told and decides nothing.

Lengths on the stage are reaches of the robot, so that an endoscope and a crane look alike on the screen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene
from arcreach.studio import colours, obstacles
from arcreach.studio.colours import Colour
from arcreach.studio.rotations import pose_of, quaternion
from arcreach.studio.solving import Answer
from arcreach.studio.tube import Body, arrow_mesh, tip_radius
from arcreach.studio.wish import POSITION

# In reaches of the robot.
GROUND = 6.0
TARGET_RADIUS, GIZMO, SMALL_GIZMO = (0.012, 0.034), 0.22, 0.13
# The ball next to the tip's radius, and the arrow next to the ball's.
TIP_RADII, ARROW = 1.3, 5.0
AXES, AXES_THICKNESS = 0.09, 0.006
PATH_THICKNESS = 0.010
# Tips of as many random configurations show the workspace.
WORKSPACE_POINTS = 4000


class DrawnRobot:
    """A robot's body as meshes that are built once and then only change their points."""

    def __init__(self, server: Any, name: str, body: Body, scale: float, ghost: Colour | None = None) -> None:
        self.body, self._scale = body, scale
        opacity = None if ghost is None else colours.GHOST_OPACITY
        places = body.vertices(body.robot.neutral)
        # A ghost stands on the plate of the robot itself.
        self._shown = [i for i, colour in enumerate(body.colours) if ghost is None or colour != colours.BASE]
        self._meshes = [
            server.scene.add_mesh_simple(
                f"/{name}/{i}", scale * places[i], body.faces[i], color=ghost or body.colours[i], opacity=opacity,
                cast_shadow=ghost is None, receive_shadow=False, visible=False,
            )
            for i in self._shown
        ]  # fmt: skip
        self._name, self._server = name, server

    def draw(self, q: Array) -> None:
        """Show it at a configuration."""
        places = self.body.vertices(q)
        for i, mesh in zip(self._shown, self._meshes, strict=True):
            mesh.vertices = (self._scale * places[i]).astype(np.float32)
            mesh.visible = True

    def hide(self) -> None:
        """Show nothing."""
        for mesh in self._meshes:
            mesh.visible = False

    def fade(self, opacity: float) -> None:
        """Make it more or less see-through."""
        for mesh in self._meshes:
            mesh.opacity = opacity

    def remove(self) -> None:
        """Take it off the stage."""
        self._server.scene.remove_by_name(f"/{self._name}")


class Stage:
    """The ground, the robot, the one it is compared with, the target, obstacles, and whatever else can be shown."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.scale = 1.0
        self.robot: DrawnRobot | None = None
        self.ghost: DrawnRobot | None = None
        self.branches: list[DrawnRobot] = []
        self.obstacles: list[Any] = []
        self._shapes: list[Any] = []
        self._red: set[int] = set()
        self._path: Any = None
        self._workspace: Any = None
        self._frames: Any = None
        self.show_frames = False
        self.show_tubes = True
        self._line: Any = None
        self._hidden = False
        self._set_up()

    def _set_up(self) -> None:
        scene = self.server.scene
        scene.set_up_direction("+z")
        scene.world_axes.visible = False
        # Bright enough for the shaded side of a tube, and no more: the colours must not wash out.
        scene.configure_environment_map("studio", environment_intensity=0.35)
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        self.ground = scene.add_grid(
            "/ground", GROUND, GROUND, cell_size=0.1, section_size=0.5, cell_color=(228, 228, 232),
            section_color=(205, 205, 212), cell_thickness=0.6, section_thickness=0.9, plane_opacity=0.0,
            shadow_opacity=0.22, fade_distance=9.0, fade_from="origin",
        )  # fmt: skip
        self.target = scene.add_transform_controls("/target", scale=GIZMO, line_width=3.0, depth_test=False)
        self.ball = scene.add_icosphere("/target/ball", 1.0, colours.VERMILION, cast_shadow=False)
        self.arrow = scene.add_mesh_simple(
            "/target/axis", *arrow_mesh(1.0), color=colours.VERMILION, cast_shadow=False
        )  # fmt: skip
        self.labels = [scene.add_label(f"/label/{i}", "", visible=False, anchor="bottom-center") for i in range(2)]

    def set_robot(self, robot: Robot) -> None:
        """Put another robot on the stage."""
        for drawn in (self.robot, self.ghost):
            if drawn is not None:
                drawn.remove()
        self.clear_branches()
        self.clear_path()
        self.scale = 1.0 / robot.reach
        body = Body(robot)
        self.robot = DrawnRobot(self.server, "robot", body, self.scale)
        self.ghost = DrawnRobot(self.server, "compared", body, self.scale, colours.GHOST)
        self._place_frames(robot.frames(robot.neutral))
        self.set_workspace(None)
        # A thin tool on a long arm would vanish in a ball made for the arm.
        self.ball.scale = float(np.clip(TIP_RADII * self.scale * tip_radius(robot), *TARGET_RADIUS))
        self.arrow.scale = ARROW * self.ball.scale
        self.target.scale = GIZMO if self.ball.scale > 0.02 else SMALL_GIZMO

    @property
    def target_pose(self) -> Array:
        """Where the target is, T_base_target (4, 4) in metres."""
        return pose_of(self.target.wxyz, np.asarray(self.target.position) / self.scale)

    def place_target(self, pose: Array) -> None:
        """Move the target."""
        self.target.position = tuple(self.scale * pose[:3, 3])
        self.target.wxyz = tuple(quaternion(pose[:3, :3]))

    def draw(self, answer: Answer) -> None:
        """Show what was found: the robot, the compared one, which obstacles are run into."""
        assert self.robot is not None
        assert self.ghost is not None
        if self._hidden:
            return
        results = answer.results
        self._draw_robot(results[0].q)
        compared = len(results) > 1 and not results[1].refused
        if compared:
            self.ghost.draw(results[1].q)
        else:
            self.ghost.hide()
        self.arrow.visible = answer.wish.aim != POSITION
        self._mark({i for result in results[:1] for i in result.touched})
        for i, label in enumerate(self.labels):
            label.visible = compared
            if compared:
                label.text = results[i].method
                label.position = tuple(self.scale * self._middle(results[i].q, 0.45 if i == 0 else 0.6))

    def hide(self) -> None:
        """Empty the stage, but for the ground, for something else."""
        self._hidden = True
        for drawn in (self.robot, self.ghost):
            if drawn is not None:
                drawn.hide()
        for handle in (self.target, self._frames, self._line, *self.labels, *self.obstacles):
            if handle is not None:
                handle.visible = False
        self.clear_branches()
        self.set_workspace(None)

    def unhide(self) -> None:
        """Let everything be seen again; the robot appears when it is drawn next."""
        self._hidden = False
        self._frames.visible = self.show_frames
        for handle in (self.target, *self.obstacles):
            handle.visible = True

    def draw_robot(self, q: Array, ghost: Array | None) -> None:
        """Show a moment of a film."""
        assert self.ghost is not None
        self._draw_robot(q)
        if ghost is None:
            self.ghost.hide()
        else:
            self.ghost.draw(ghost)

    def _draw_robot(self, q: Array) -> None:
        assert self.robot is not None
        if self.show_tubes:
            self.robot.draw(q)
            if self._line is not None:
                self._line.visible = False
        else:
            self.robot.hide()
            self._draw_line(self.robot.body.robot.backbone(q, 80))
        if self.show_frames:
            self._place_frames(self.robot.body.robot.frames(q))

    def _middle(self, q: Array, share: float) -> Array:
        assert self.robot is not None
        line = self.robot.body.robot.backbone(q, 21)
        return np.asarray(line[int(share * 20)])

    def set_frames(self, shown: bool) -> None:
        """Show or hide the frames at the ends of all elements."""
        self.show_frames = shown
        self._frames.visible = shown

    def _place_frames(self, frames: Array) -> None:
        positions, turns = self.scale * frames[:, :3, 3], np.array([quaternion(frame[:3, :3]) for frame in frames])
        if self._frames is None or len(self._frames.batched_positions) != len(frames):
            if self._frames is not None:
                self._frames.remove()
            self._frames = self.server.scene.add_batched_axes(
                "/frames", turns, positions, axes_length=AXES, axes_radius=AXES_THICKNESS, visible=self.show_frames
            )
            return
        self._frames.batched_positions = positions.astype(np.float32)
        self._frames.batched_wxyzs = turns.astype(np.float32)

    def _draw_line(self, points: Array) -> None:
        segments = _segments(self.scale * points)
        if self._line is None:
            self._line = self.server.scene.add_line_segments("/line", segments, colours.BLUE, thickness=0.012)
        else:
            self._line.points = segments
            self._line.visible = True

    def set_workspace(self, tips: Array | None) -> None:
        """Show places the tip can reach as a cloud of points, or nothing."""
        if self._workspace is not None:
            self._workspace.remove()
            self._workspace = None
        if tips is not None:
            self._workspace = self.server.scene.add_point_cloud(
                "/workspace", self.scale * tips, colours.SECTIONS[4], point_size=0.004, point_shape="circle"
            )

    def set_branches(self, configurations: list[Array]) -> None:
        """Show further configurations, each seen through."""
        assert self.robot is not None
        self.clear_branches()
        for i, q in enumerate(configurations):
            drawn = DrawnRobot(self.server, f"branch-{i}", self.robot.body, self.scale, colours.of_section(i))
            drawn.fade(colours.BRANCH_OPACITY)
            drawn.draw(q)
            self.branches.append(drawn)

    def clear_branches(self) -> None:
        """Show no further configurations."""
        for drawn in self.branches:
            drawn.remove()
        self.branches = []

    def set_path(self, tips: Array) -> None:
        """Show the way of the tip."""
        self.clear_path()
        if len(tips) > 1:
            self._path = self.server.scene.add_line_segments(
                "/path", _segments(self.scale * tips), colours.VERMILION, thickness=PATH_THICKNESS
            )

    def clear_path(self) -> None:
        """Show no way of the tip."""
        if self._path is not None:
            self._path.remove()
            self._path = None

    def set_obstacles(self, scene: Scene, reach: float) -> list[int]:
        """Show these obstacles; the numbers of those that are new on the stage."""
        shapes = list(scene)
        for handle in self.obstacles[len(shapes) :]:
            handle.remove()
        del self.obstacles[len(shapes) :], self._shapes[len(shapes) :]
        new = []
        for i, shape in enumerate(shapes):
            known = self._shapes[i] if i < len(self._shapes) else None
            place = tuple(self.scale * obstacles.centre_of(shape))
            if known is not None and _same_form(known, shape):
                self.obstacles[i].position = place
            elif known is not None and type(known) is type(shape) and obstacles.movable(shape):
                points, _ = obstacles.mesh_of(shape, reach)
                self.obstacles[i].vertices = (self.scale * points).astype(np.float32)
                self.obstacles[i].position = place
            else:
                self._add_obstacle(i, shape, reach)
                new.append(i)
            if known is None:
                self._shapes.append(shape)
            else:
                self._shapes[i] = shape
        return new

    def clear_obstacles(self) -> None:
        """Take all obstacles off the stage."""
        self.set_obstacles(Scene(), 1.0)

    def _add_obstacle(self, i: int, shape: Any, reach: float) -> None:
        points, faces = obstacles.mesh_of(shape, reach)
        opacity = 0.35 if obstacles.is_wall(shape) else None
        handle = self.server.scene.add_mesh_simple(
            f"/obstacles/{i}", self.scale * points, faces, color=colours.OBSTACLE, opacity=opacity,
            position=tuple(self.scale * obstacles.centre_of(shape)), receive_shadow=False,
        )  # fmt: skip
        self.obstacles[i : i + 1] = [handle]
        self._red.discard(i)

    def _mark(self, touched: set[int]) -> None:
        """Show in another colour what is run into."""
        for i in (touched ^ self._red) & set(range(len(self.obstacles))):
            self.obstacles[i].color = colours.VERMILION if i in touched else colours.OBSTACLE
        self._red = set(touched)

    @property
    def red(self) -> frozenset[int]:
        """The numbers of the obstacles shown as run into."""
        return frozenset(self._red)


def _same_form(a: Any, b: Any) -> bool:
    """Whether two obstacles differ in place only."""
    return type(a) is type(b) and obstacles.movable(a) and obstacles.moved(a, obstacles.centre_of(b)) == b


def _segments(points: Array) -> npt.NDArray[np.float32]:
    """The pieces (n - 1, 2, 3) of a line."""
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
