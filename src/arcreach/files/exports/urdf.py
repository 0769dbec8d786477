"""Write a serial chain as URDF; reading it gives a chain with bit-identical numbers.

Every element becomes a joint; a link is a fixed joint with a cylinder. Two properties that URDF lacks are written as an
element `<arcreach .../>` of the joint, which other programs ignore: a rotation that three angles do not reproduce
exactly, and the radius of a body.
"""

from __future__ import annotations

import math
import os
from xml.sax.saxutils import quoteattr

import numpy as np

from arcreach._io import check_output, write_text
from arcreach.elements import Element, Link, Prismatic, Revolute
from arcreach.errors import RobotError
from arcreach.files.rpy import rotation_from_rpy, rpy_of
from arcreach.files.toml.sizes import LARGEST_URDF, MOST_ELEMENTS, check_count
from arcreach.robots.body_mesh import check_chain, radii_of
from arcreach.robots.robot import Robot

BASE = "base_link"
# URDF requires an effort and a velocity for every joint with limits; `Robot` defines neither.
UNKNOWN_LIMITS = 'effort="0" velocity="0"'


def write_urdf(robot: Robot, path: str | os.PathLike[str]) -> None:
    """Write a chain of links, revolute and prismatic joints as URDF.

    `load_robot` reads it back with the same elements and bit-identical numbers. Elements without a name are written
    with their default name, such as `link-1`.
    """
    check_output(path, (".urdf",))
    check_count("elements", len(robot.elements), MOST_ELEMENTS)
    write_text(path, urdf_text(robot), LARGEST_URDF)


def urdf_text(robot: Robot) -> str:
    """Return the text of a URDF."""
    check_chain(robot, "a URDF")
    check_elements(robot, "URDF", (Link, Revolute, Prismatic), "links, revolute and prismatic joints")
    radii = radii_of(robot)
    lines = ['<?xml version="1.0"?>']
    lines.append("<!-- Written by arcreach. Efforts and velocities are unknown and written as 0. -->")
    lines.append(f"<robot name={quoteattr(robot.name or 'robot')}>")
    parent = BASE
    # The body of an element belongs to the parent link of its URDF joint.
    bodies = [*zip(robot.elements, radii, strict=True), (None, 0.0)]
    lines += _link(BASE, *bodies[0])
    for k, (element, name) in enumerate(zip(robot.elements, robot.element_names, strict=True)):
        child = f"{name}_end"
        lines += _joint(element, name, parent, child)
        lines += _link(child, *bodies[k + 1])
        parent = child
    return "\n".join([*lines, "</robot>", ""])


def check_elements(robot: Robot, form: str, kinds: tuple[type[Element], ...], accepted: str) -> None:
    """Refuse a robot with an element of another kind, which the file format `form` has no joint for."""
    problems = [
        f"element '{name}' is a {element.kind}, which {form} has no joint for; give a chain of {accepted}"
        for name, element in zip(robot.element_names, robot.elements, strict=True)
        if not isinstance(element, kinds)
    ]
    if problems:
        raise RobotError(f"robot {robot.name!r}: {problems[0]}", tuple(problems))


def _link(name: str, element: Element | None, radius: float) -> list[str]:
    """Return the lines of a URDF link, with a cylinder if the element that follows is a `Link`."""
    if not isinstance(element, Link) or radius == 0.0:
        return [f"  <link name={quoteattr(name)}/>"]
    x, y, z = element.translation
    # A URDF cylinder is aligned with z and centred at its origin.
    tilt, turn = math.atan2(math.hypot(x, y), z), math.atan2(y, x)
    shape = [
        f'      <origin xyz="{_text(0.5 * x, 0.5 * y, 0.5 * z)}" rpy="{_text(0.0, tilt, turn)}"/>',
        f'      <geometry><cylinder radius="{radius!r}" length="{element.reach!r}"/></geometry>',
    ]
    parts = [["    <visual>", *shape, "    </visual>"]]
    if element.radius > 0.0:
        parts.append(["    <collision>", *shape, "    </collision>"])
    return [f"  <link name={quoteattr(name)}>", *(line for part in parts for line in part), "  </link>"]


def _joint(element: Element, name: str, parent: str, child: str) -> list[str]:
    lines = [f"    <parent link={quoteattr(parent)}/>", f"    <child link={quoteattr(child)}/>"]
    own = []
    match element:
        case Link():
            kind = "fixed"
            angles = rpy_of(np.array(element.rotation))
            lines.append(f'    <origin xyz="{_text(*element.translation)}" rpy="{_text(*angles)}"/>')
            if not np.array_equal(rotation_from_rpy(*angles), element.rotation):
                own.append(f'rotation="{_text(*np.ravel(element.rotation).tolist())}"')
        case Revolute():
            kind = "revolute" if math.isfinite(element.lower) else "continuous"
        case _:
            kind = "prismatic"
    if isinstance(element, (Revolute, Prismatic)):
        lines.append(f'    <axis xyz="{_text(*element.axis)}"/>')
        if kind != "continuous":
            lines.append(f'    <limit lower="{element.lower!r}" upper="{element.upper!r}" {UNKNOWN_LIMITS}/>')
    if element.radius > 0.0:
        own.append(f'radius="{element.radius!r}"')
    if own:
        lines.append(f"    <arcreach {' '.join(own)}/>")
    return [f'  <joint name={quoteattr(name)} type="{kind}">', *lines, "  </joint>"]


def _text(*values: float) -> str:
    """Return numbers with full precision."""
    return " ".join(repr(value) for value in values)
