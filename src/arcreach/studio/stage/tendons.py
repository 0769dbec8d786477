"""`DrawnTendons`: tendons as lines, slack ones dashed, their discs, and the ellipsoid of the tip's uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array, Booleans
from arcreach.robots.body_mesh import revolved, tube_faces
from arcreach.robots.robot import Robot
from arcreach.robots.tendon_curves import dashes, discs_of, tendon_points
from arcreach.studio.stage import colours
from arcreach.studio.stage.obstacles import AROUND, BALL, BALL_FACES, SIDES
from arcreach.studio.stage.target import wxyz_of

# Thickness of a tendon and length of a dash, as shares of the robot's reach.
THICKNESS, DASH = 0.003, 0.012
# Half the height of a disc in radii.
HALF = 0.05
# The rings of a disc are doubled, so that its edges stay sharp.
DISC = revolved([(1.0, -HALF)] * 2 + [(1.0, HALF)] * 2, AROUND)
DISC_FACES = tube_faces(DISC, SIDES)


class DrawnTendons:
    """The tendons and discs of one robot."""

    def __init__(self, server: Any, robot: Robot, scale: float) -> None:
        self.robot, self._scale = robot, scale
        self._scene = server.scene
        positions, turns, radii = self._discs(robot.neutral)
        self.discs = self._scene.add_batched_meshes_simple(
            "/tendons/discs",
            DISC,
            DISC_FACES,
            turns,
            positions,
            batched_scales=radii,
            batched_colors=colours.DISC,
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
        )
        nothing = np.zeros((1, 2, 3), dtype=np.float32)
        self.taut, self.slack = (
            self._scene.add_line_segments(f"/tendons/{name}", nothing, colour, thickness=THICKNESS)
            for name, colour in (("taut", colours.TENDON), ("slack", colours.VERMILION))
        )
        self.ellipsoid = self._scene.add_mesh_simple(
            "/tendons/ellipsoid",
            BALL,
            BALL_FACES,
            color=colours.VERMILION,
            opacity=0.35,
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )

    def draw(self, q: Array | None, slack: Booleans | None = None) -> None:
        """Draw tendons and discs at q, slack tendons as dashes; None hides them."""
        self.discs.visible = q is not None
        if q is None:
            self.taut.visible = self.slack.visible = False
            return
        self.discs.batched_positions, self.discs.batched_wxyzs, _ = self._discs(q)
        curves = [self._scale * points for points in tendon_points(self.robot, q)]
        loose = np.zeros(len(curves), dtype=bool) if slack is None else slack
        for handle, chosen in ((self.taut, ~loose), (self.slack, loose)):
            lines = [
                dashes(points, DASH) if handle is self.slack else np.stack([points[:-1], points[1:]], axis=1)
                for points, mine in zip(curves, chosen, strict=True)
                if mine
            ]
            handle.visible = bool(lines)
            if lines:
                handle.points = np.concatenate(lines).astype(np.float32)

    def draw_ellipsoid(self, centre: Array, axes: Array | None) -> None:
        """Draw the ellipsoid around a point in metres whose semi-axes are the columns of `axes`; None hides it."""
        self.ellipsoid.visible = axes is not None
        if axes is not None:
            # Left-handed axes would turn the faces inside out.
            right_handed = axes * np.sign(np.linalg.det(axes) or 1.0)
            self.ellipsoid.vertices = (self._scale * (BALL @ right_handed.T + centre)).astype(np.float32)

    def remove(self) -> None:
        """Remove everything from the 3-D view."""
        self._scene.remove_by_name("/tendons")

    def _discs(self, q: Array) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        discs = discs_of(self.robot, q)
        arrays = self._scale * discs.poses[:, :3, 3], wxyz_of(discs.poses[:, :3, :3]), self._scale * discs.radii
        positions, wxyz, radii = (array.astype(np.float32) for array in arrays)
        return positions, wxyz, radii
