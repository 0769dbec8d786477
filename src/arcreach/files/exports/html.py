"""Write a robot as a web page that solves without a server: the C solver as WebAssembly in one HTML file."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import os
import subprocess
import sys
import tempfile
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._extras import require
from arcreach._io import check_output, write_bytes, write_text
from arcreach.elements import Section
from arcreach.errors import FileError
from arcreach.files.exports.c.header import check_robot
from arcreach.files.exports.c.writer import export_c
from arcreach.robots.initial import initial_pose
from arcreach.robots.robot import Robot

# Optimise for size, with less inlining than LLVM's default; results are bit-identical to those of the C solver.
SMALL = ("-Os", "-mllvm", "-inline-threshold=-50")
FLAGS = ("-target", "wasm32-freestanding", "-std=c99", *SMALL, "-ffp-contract=off", "-fno-math-errno", "-nostdlib")
LINKED = ("--no-entry", "--strip-all")
EXPORTED = ("page_target", "page_start", "page_q", "page_errors", "page_solve", "page_steps")
# Tolerances of the page (share of the reach, radians), far below the digits that it shows.
POSITION_TOL, ANGLE_TOL = 1e-5, 1e-4


def export_html(
    robot: Robot, path: str | os.PathLike[str], q: npt.ArrayLike | None = None, precision: str = "float64"
) -> None:
    """Write a page that works offline: the robot, a target to drag, and the solver.

    `q` is the first configuration, by default one that shows the robot well. Needs the extra `web`.
    """
    check_output(path, (".html",))
    write_text(path, page_text(robot, q, precision))


def page_text(robot: Robot, q: npt.ArrayLike | None = None, precision: str = "float64") -> str:
    """Return the text of the page that `export_html` writes."""
    check_robot(robot, precision)
    require("ziglang")
    described = json.dumps(_described(robot, q, precision), allow_nan=False).replace("</", "<\\/")
    with tempfile.TemporaryDirectory() as folder:
        export_c(robot, folder, precision)
        module = _compile(Path(folder))
    page = resources("arcreach.files.exports") / "page"
    parts = {name: (page / f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
    text = parts["html"]
    for mark, value in (
        ("%TITLE%", html.escape(robot.name or "Robot")),
        ("%STYLE%", parts["css"]),
        ("%ROBOT%", described),
        ("%MODULE%", base64.b64encode(module).decode()),
        ("%SCRIPT%", parts["js"]),
    ):
        text = text.replace(mark, value)
    return text


def _compile(folder: Path) -> bytes:
    """Return the exported solver in `folder`, compiled to WebAssembly."""
    source = folder / "page.c"
    write_bytes(source, (resources("arcreach.files.exports") / "page" / "page.c").read_bytes())
    out = folder / "page.wasm"
    linked = [f"-Wl,{flag}" for flag in (*LINKED, *(f"--export={name}" for name in EXPORTED))]
    command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-I", str(folder / "src"), *linked]
    run = subprocess.run(  # noqa: S603
        [*command, "-o", str(out), str(source)], capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise FileError(f"the WebAssembly compiler failed: {run.stderr.strip()[-400:]}")
    return out.read_bytes()


def _described(robot: Robot, q: npt.ArrayLike | None, precision: str) -> dict[str, Any]:
    """Return the description of the robot for the page, in SI units."""
    # Sliders of continuous joints span one turn.
    continuous = np.isinf(robot.lower)
    return {
        "dof": robot.dof,
        "precision": precision,
        "reach": robot.reach,
        "coordinates": robot.coordinates,
        "quantities": robot.quantities,
        "lower": np.where(continuous, -np.pi, robot.lower).tolist(),
        "upper": np.where(continuous, np.pi, robot.upper).tolist(),
        "neutral": robot.neutral.tolist(),
        "opening": robot.clip(initial_pose(robot) if q is None else np.asarray(q, dtype=float)).tolist(),
        "position_tol": POSITION_TOL * robot.reach,
        "angle_tol": ANGLE_TOL,
        "elements": [_element(element, first) for element, first in robot.indexed_elements()],
    }


def _element(element: Any, first: int) -> dict[str, Any]:
    known: dict[str, Any] = {"kind": element.kind, "first": first, "count": len(element.coordinates), "arcs": []}
    for field in dataclasses.fields(element):
        value = getattr(element, field.name)
        if isinstance(value, float | bool) and np.isfinite(value):
            known[field.name] = value
        elif field.name in {"axis", "link", "translation"}:
            known[field.name] = list(value)
        elif field.name == "rotation":
            known[field.name] = [number for row in value for number in row]
    if isinstance(element, Section):
        lengths = np.divide(element.length_weights, sum(element.length_weights))
        bends = np.divide(element.bend_weights, sum(element.bend_weights))
        known["arcs"] = np.stack([lengths, bends], axis=1).tolist()
    return known
