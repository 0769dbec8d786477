"""Measure every method on robots of the catalogue and write docs/measured/methods.md, the tables of the methods page.

    python docs/figures/methods.py [--targets 1000]

The rows of the experiment `compare` are kept in build/methods, so an interrupted run can be resumed.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import arcreach as ar
from arcreach.experiments import Run, find_experiment, run_experiment
from arcreach.experiments.report.statistics import time_text

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "measured" / "methods.md"
ROWS = ROOT / "build" / "methods"

ONE_SECTION = ar.Robot([ar.Section(0.05, math.pi, stretch=0.05, name="section")], name="one section")
# Robot, case and a description of the targets.
CASES = (
    (ONE_SECTION, "position, fine", "position within 1 µm"),
    ("three-section", "axis, fine", "position and axis within 1 µm and 1 mrad"),
    ("mixed-sections", "axis, fine", "position and axis within 1 µm and 1 mrad"),
    ("ten-section", "axis, fine", "position and axis within 1 µm and 1 mrad"),
    ("ur5", "rotation, fine", "whole pose within 1 µm and 1 mrad"),
    ("panda", "rotation, fine", "whole pose within 1 µm and 1 mrad"),
    ("ur5-bending-tool", "rotation, fine", "whole pose within 1 µm and 1 mrad"),
)


def measured(robot: ar.Robot, targets: int) -> Run:
    folder = ROWS / f"{robot.name.replace(' ', '-')}-{targets}"
    run_experiment("compare", find_experiment("compare").settings(targets, robot=robot), folder)
    return Run(folder)


def table(run: Run, robot: ar.Robot, case: str, targets: str) -> str:
    found = sorted(run.of_case(case), key=lambda one: (-one.reached / one.count, one.median_time))
    of_auto = next(one for one in found if one.method == "auto").median_time
    lines = [
        f"### {robot.name}",
        "",
        f"{targets[0].upper()}{targets[1:]}; {robot.dof} coordinates.",
        "",
        "| method | reached % (95 %) | median time | times `auto` |",
        "|---|---:|---:|---:|",
    ]
    for one in found:
        name, _, variant = one.method.partition(" ")
        times = one.median_time / of_auto
        cells = (
            f"`{name}`{' ' + variant if variant else ''}",
            one.share_text,
            time_text(one.median_time),
            f"{times:.1f}" if math.isfinite(times) else "–",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=1000)
    targets = parser.parse_args().targets
    parts, machine = [], {}
    for given, case, description in CASES:
        robot = ar.load_robot(given) if isinstance(given, str) else given
        print(robot, flush=True)
        run = measured(robot, targets)
        machine = run.sessions[-1]
        parts.append(table(run, robot, case, description))
    versions = machine["versions"]
    parts.append(
        f"{targets} targets each, 200 for `hierarchical`; {machine['began'][:10]}, {machine['processor']}, "
        f"{machine['cores']} cores, Python {machine['python']}, NumPy {versions['numpy']}, numba {versions['numba']}. "
        "Written by `docs/figures/methods.py` from the rows of the experiment `compare`.\n"
    )
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
