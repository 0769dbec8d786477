"""Write a robot as an OpenSCAD model of one pose, of a path that `View > Animate` plays, or of all poses of a path.

The model is a chain of modules, one per element. OpenSCAD computes the pose from the coordinates, so its numbers can be
read and changed. A robot given as a matrix is drawn as a rod from base to tip, with the poses written as numbers.
Lengths are in millimetres and angles in degrees.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files as resources

import numpy as np
import numpy.typing as npt

from arcreach._checks import shown
from arcreach._io import check_output, write_text
from arcreach._typing import Array
from arcreach.elements import ANGLE, Element, Link, Parallelogram, Prismatic, Revolute, Section
from arcreach.errors import ConfigurationError, RobotError
from arcreach.files.exports.solid_files import COLOURS
from arcreach.robots.body_mesh import BARE, STEP, radii_of
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

MM = 1e3
MODULES = "openscad_modules.scad"


def write_openscad(
    robot: Robot | SymbolicRobot, q: npt.ArrayLike, path: str | os.PathLike[str], *, all_poses: bool = False
) -> None:
    """Write a robot at q (dof,), or along a path q (n, dof) that OpenSCAD animates, as `.scad`.

    With `all_poses` the model shows every pose of the path at once, and the path of the tip.
    """
    check_output(path, (".scad",))
    write_text(path, openscad_text(robot, q, all_poses=all_poses))


def openscad_text(robot: Robot | SymbolicRobot, q: npt.ArrayLike, *, all_poses: bool = False) -> str:
    """Return the text of the model; for a path of n rows it shows row floor($t * n), or row `step` if that is set.

    With `all_poses` it shows all rows and the path of the tip. Source: [RGM3] fig. 9.
    """
    if not isinstance(robot, Robot | SymbolicRobot):
        raise RobotError(f"robot = {shown(robot)} is not accepted; give a Robot or a SymbolicRobot")
    values = np.atleast_2d(robot.checked(q))
    if not len(values):
        raise ConfigurationError("q has no rows; give at least one configuration")
    scale = [np.degrees(1.0) if quantity == ANGLE else MM for quantity in robot.quantities]
    rows = ",\n".join(f"  {_list(row)}" for row in values * scale)
    names = "\n".join(
        f"//   q[{k}]  {name} ({'degrees' if quantity == ANGLE else 'mm'})"
        for k, (name, quantity) in enumerate(zip(robot.coordinates, robot.quantities, strict=True))
    )
    tips = MM * np.atleast_3d(robot.tip_pose(values))[:, :3, 3]
    if isinstance(robot, Robot):
        body, thickness = _chain(robot, values), MM * BARE * robot.reach
    else:
        thickness = BARE * float(np.linalg.norm(tips, axis=1).max()) or 1.0
        body = f"  {_posed(robot, values, thickness)}  // from base to tip\n  frame({_number(10.0 * thickness)})"
    line = ",\n".join(f"  {_list(tip)}" for tip in tips)
    modules = (resources("arcreach.files.exports") / MODULES).read_text(encoding="utf-8")
    return (
        f"// {robot.name or 'robot'}: written by arcreach. Millimetres and degrees.\n//\n{names}\n\n"
        f"// Configurations, one per step of the animation, and the positions of the tip.\npath = [\n{rows}\n];\n"
        f"tips = [\n{line}\n];\n"
        "step = min(floor($t * len(path)), len(path) - 1);\nq = path[step];\n"
        "// true: all configurations and the path of the tip at once; false: one step.\n"
        f"all_poses = {str(bool(all_poses)).lower()};\n\n"
        f"// Sides of a tube, degrees of bend from ring to ring, radius of the line.\nsides = 32;\n"
        f"ring_step = {np.degrees(STEP):g};\nline_radius = {_number(0.5 * thickness)};\n"
        'steel = "#A9AEB4";\ndark = "#55595E";\n\n'
        "if (all_poses) {\n  for (k = [0:1:len(path) - 1]) robot(path[k], k);\n  line(tips, line_radius);\n}\n"
        f"else robot(q, step);\n\nmodule robot(q, step)\n{body}\n  tip();\n\n{modules}"
    )


def _chain(robot: Robot, values: Array) -> str:
    """Return the module calls of a robot's elements, one per line."""
    radii = radii_of(robot)
    sections = 0
    chain = []
    for e, (element, k) in enumerate(robot.indexed_elements()):
        colour = "steel"
        if isinstance(element, Section):
            colour = f'"{COLOURS[sections % len(COLOURS)]}"'
            sections += 1
        name = robot.element_names[e]
        chain.append(f"  {_call(element, k, values, MM * radii[e], colour)}  // {name}")
    return "\n".join(chain)


def _call(element: Element, k: int, path: Array, radius: float, colour: str) -> str:
    """Return the module call of an element whose coordinates begin at q[k]."""
    match element:
        case Section():
            length = f"q[{k + 2}]" if element.stretch > 0.0 else _number(MM * element.length)
            lengths, bends = (
                _list(np.array(weights) / sum(weights)) for weights in (element.length_weights, element.bend_weights)
            )
            shape = f"{_number(np.degrees(element.bend_max))}, {lengths}, {bends}, {str(element.twist).lower()}"
            return f"section(q[{k}], q[{k + 1}], {length}, {_number(radius)}, {shape}, {colour})"
        case Revolute():
            return f"revolute({_list(element.axis)}, q[{k}], {_number(radius)})"
        case Prismatic():
            return f"prismatic({_list(element.axis)}, q[{k}], {_number(radius)})"
        case Parallelogram():
            vector = _list(MM * np.array(element.link))
            return f"parallelogram({vector}, {_list(element.axis)}, q[{k}], {_number(radius)})"
        case Link():
            rows = "[" + ", ".join(_list(row) for row in element.rotation) + "]"
            return f"link({_list(MM * np.array(element.translation))}, {rows}, {_number(radius)})"
    # Any other element is written as its poses along the path.
    return _posed(Robot([element]), path[:, k : k + len(element.coordinates)], radius)


def _posed(robot: Robot | SymbolicRobot, path: Array, radius: float) -> str:
    """Return the module call of a rod from base to tip, with its poses along the path as numbers."""
    poses = robot.tip_pose(path)
    shifts = ", ".join(_list(MM * pose[:3, 3]) for pose in poses)
    turns = ", ".join("[" + ", ".join(_list(row) for row in pose[:3, :3]) + "]" for pose in poses)
    return f"link([{shifts}][step], [{turns}][step], {_number(radius)})"


def _number(value: float) -> str:
    """Return a number with full precision; whole numbers have no decimal point."""
    value = float(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _list(values: Sequence[float] | Array) -> str:
    return "[" + ", ".join(_number(value) for value in values) + "]"
