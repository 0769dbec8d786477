"""Write a robot as an OpenSCAD model of one pose, or of a path that `View > Animate` plays.

The model is a chain of modules, one per element. OpenSCAD computes the pose from the coordinates, so its numbers can be
read and changed. Lengths are in millimetres and angles in degrees.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files as resources

import numpy as np
import numpy.typing as npt

from arcreach._io import check_output, write_text
from arcreach.elements import ANGLE, Element, Link, Parallelogram, Prismatic, Revolute, Section
from arcreach.errors import ConfigurationError
from arcreach.files.exports.solid_files import COLOURS
from arcreach.robots.mesh import STEP, check_chain, radii_of
from arcreach.robots.robot import Robot

MM = 1e3
MODULES = "openscad_modules.scad"


def write_openscad(robot: Robot, q: npt.ArrayLike, path: str | os.PathLike[str]) -> None:
    """Write a robot at q (dof,), or along a path q (n, dof) that OpenSCAD animates, as `.scad`."""
    check_output(path, (".scad",))
    write_text(path, openscad_text(robot, q))


def openscad_text(robot: Robot, q: npt.ArrayLike) -> str:
    """Return the text of the model; for a path of n rows it shows row floor($t * n), or row `step` if that is set."""
    check_chain(robot, "an OpenSCAD model")
    values = np.atleast_2d(robot.checked(q))
    if not len(values):
        raise ConfigurationError("q has no rows; give at least one configuration")
    scale = [np.degrees(1.0) if quantity == ANGLE else MM for quantity in robot.quantities]
    rows = ",\n".join(f"  {_list(row)}" for row in values * scale)
    names = "\n".join(
        f"//   q[{k}]  {name} ({'degrees' if quantity == ANGLE else 'mm'})"
        for k, (name, quantity) in enumerate(zip(robot.coordinates, robot.quantities, strict=True))
    )
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
    modules = (resources("arcreach.files.exports") / MODULES).read_text(encoding="utf-8")
    body = "\n".join(chain)
    return (
        f"// {robot.name or 'robot'}: written by arcreach. Millimetres and degrees.\n//\n{names}\n\n"
        f"// Configurations, one per step of the animation.\npath = [\n{rows}\n];\n"
        "step = min(floor($t * len(path)), len(path) - 1);\nq = path[step];\n\n"
        f"// Sides of a tube, and degrees of bend from ring to ring.\nsides = 32;\nring_step = {np.degrees(STEP):g};\n"
        f'steel = "#A9AEB4";\ndark = "#55595E";\n\nrobot(q);\n\nmodule robot(q)\n{body}\n  tip();\n\n{modules}'
    )


def _call(element: Element, k: int, path: npt.NDArray[np.float64], radius: float, colour: str) -> str:
    """Return the line of an element whose coordinates begin at q[k]."""
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
    poses = Robot([element]).tip_pose(path[:, k : k + len(element.coordinates)])
    shifts = ", ".join(_list(MM * pose[:3, 3]) for pose in poses)
    turns = ", ".join("[" + ", ".join(_list(row) for row in pose[:3, :3]) + "]" for pose in poses)
    return f"link([{shifts}][step], [{turns}][step], {_number(radius)})"


def _number(value: float) -> str:
    """Return a number with full precision; whole numbers have no decimal point."""
    value = float(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _list(values: Sequence[float] | npt.NDArray[np.float64]) -> str:
    return "[" + ", ".join(_number(value) for value in values) + "]"
