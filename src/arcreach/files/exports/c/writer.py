"""`export_c`: write the C sources of one robot, with an example, a CMake file and the layout of an Arduino library."""

from __future__ import annotations

import os
from importlib.resources import files as resources
from pathlib import Path

from arcreach._checks import shown
from arcreach._io import check_folder, make_folder, write_text
from arcreach.errors import MethodError
from arcreach.files.exports.c.header import Header, check_robot
from arcreach.files.load import save_robot
from arcreach.ik.method import find_method
from arcreach.robots.robot import Robot

# Methods available in C, with the additional source files that each needs.
METHODS = {"auto": (), "finite-rotation": ("arcreach_joints.h",), "hierarchical": (), "ccd": ("arcreach_joints.h",)}
# Further files of a robot with tendons, and the files of every robot.
TENDONS = ("arcreach_pulls.h", "arcreach_routes.h")
KERNEL = ("arcreach.h", "arcreach.c", "arcreach_math.h", "arcreach_chain.h")


def export_c(
    robot: Robot, folder: str | os.PathLike[str], precision: str = "float32", method: str = "auto"
) -> tuple[Path, ...]:
    """Write a robot's solver as C99 sources into a folder, which is created if it is missing; return the files.

    `precision` of all numbers in C is `float32` or `float64`. `method` is `auto`, `finite-rotation`,
    `hierarchical` or `ccd`, with its default options. A robot with tendons also gets `ar_pulls`.
    """
    check_robot(robot, precision)
    if method not in METHODS:
        raise MethodError(f"method = {shown(method)} is not accepted in C; give {', '.join(METHODS)}")
    # The solver in C takes targets of every kind: ask for the one that fewest methods serve.
    refusal = find_method(method).refusal(robot, "rotation")
    if refusal is not None:
        raise MethodError(f"method '{method}' cannot serve robot '{robot.name}': {refusal}")
    check_folder(folder)
    root = Path(folder)
    source = root / "src"
    header = Header(robot, precision, method)
    stem = method.replace("-", "_")
    kernel = resources("arcreach.files.exports.c") / "kernel"
    tendons = TENDONS if robot.tendons else ()
    names = (*KERNEL, *METHODS[method], f"arcreach_{stem}.h", f"arcreach_{stem}_state.h", *tendons)
    texts = {source / name: (kernel / name).read_text(encoding="utf-8") for name in names}
    texts[source / "arcreach_robot.h"] = header.text()
    if robot.tendons:
        texts[source / "arcreach_tendons.h"] = header.tendons()
        texts[source / "arcreach.c"] += '\n#include "arcreach_routes.h"\n'
    for name in ("README.md", "CMakeLists.txt", "library.properties", "examples/solve/solve.ino", "examples/solve.c"):
        texts[root / name] = (kernel / "project" / name).read_text(encoding="utf-8")
    texts[root / "README.md"] = texts[root / "README.md"].replace("ROBOT", robot.name or "one robot")
    # Half-way from rest to a random configuration, which is inside the limits also when it is rounded.
    example = 0.5 * (robot.neutral + robot.sample(1, seed=1)[0])
    suffix = "f" if precision == "float32" else ""
    values = ", ".join(f"{value:.4f}{suffix}" for value in example)
    texts[root / "examples/solve.c"] = texts[root / "examples/solve.c"].replace("CONFIGURATION", values)
    for path, text in texts.items():
        make_folder(path.parent)
        write_text(path, text)
    save_robot(robot, root / "robot.toml")
    return (*texts, root / "robot.toml")
