"""A hint where a mesh file in millimetres may have been read in metres. No number is changed by it."""

from __future__ import annotations

from arcreach._text import length, number
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene

# Multiple of the reach: a part in millimetres exceeds it, a large room around a small robot does not.
FAR = 100.0


def mesh_hint(robot: Robot, scene: Scene) -> str:
    """A hint if a mesh is so much larger than the robot that its unit is in doubt; otherwise empty."""
    reach = robot.moving_reach
    for i, mesh in scene.meshes:
        if 0.0 < FAR * reach < mesh.length:
            return (
                f"hint: mesh '{scene.shape_names[i]}' is {length(mesh.length)} across, "
                f"{number(mesh.length / reach, 2)} times the robot's reach of {length(reach)}; meshes are in metres: "
                "if the file is in millimetres, give scale=0.001"
            )
    return ""
