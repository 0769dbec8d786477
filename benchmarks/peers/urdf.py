"""Write a chain of links and joints as a URDF file that every peer reads."""

import numpy as np

import arcreach as ar

from .judge import BASE, TIP

# URDF requires both; inverse kinematics does not use them.
EFFORT, VELOCITY = 100, 10


def written(robot):
    """Return the text of a URDF of links and joints from `base` to `tip`."""
    lines = ['<?xml version="1.0"?>', f'<robot name="{robot.name}">', f'  <link name="{BASE}"/>']
    parent, origin, count = BASE, np.eye(4), 0
    for element in robot.elements:
        if isinstance(element, ar.Link):
            origin = origin @ _matrix(element)
            continue
        count += 1
        kind = {ar.Revolute: "revolute", ar.Prismatic: "prismatic"}[type(element)]
        child = f"link{count}"
        limit = f'<limit lower="{element.lower!r}" upper="{element.upper!r}" effort="{EFFORT}" velocity="{VELOCITY}"/>'
        lines += _joint(f"joint{count}", kind, parent, child, origin, [f'<axis xyz="{_text(element.axis)}"/>', limit])
        parent, origin = child, np.eye(4)
    lines += _joint("flange", "fixed", parent, TIP, origin, [])
    return "\n".join([*lines, "</robot>", ""])


def _joint(name, kind, parent, child, origin, rest):
    inside = [
        f'<parent link="{parent}"/>',
        f'<child link="{child}"/>',
        f'<origin xyz="{_text(origin[:3, 3])}" rpy="{_text(_rpy(origin[:3, :3]))}"/>',
        *rest,
    ]
    head = [f'  <link name="{child}"/>', f'  <joint name="{name}" type="{kind}">']
    return [*head, *(f"    {line}" for line in inside), "  </joint>"]


def _matrix(link):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = link.rotation, link.translation
    return matrix


def _rpy(R):
    """Return roll, pitch and yaw of R = Rz(yaw) Ry(pitch) Rx(roll)."""
    across = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], across)
    if across < 1e-12:  # roll and yaw are about the same axis: use roll alone
        return np.arctan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])


def _text(values):
    """Format numbers with all digits, so that reading the file gives the same robot."""
    return " ".join(repr(float(value) + 0.0) for value in values)
