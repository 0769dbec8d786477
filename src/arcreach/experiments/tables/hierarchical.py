"""[RGM3] table 5: the hierarchical approach at ten points of a line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach.experiments.engine.experiment import Block, Columns, Experiment, Settings, columns_of
from arcreach.experiments.engine.judge import POSITION, judge
from arcreach.experiments.published import table
from arcreach.experiments.report.parts import Drawing, Part, Table, Text
from arcreach.experiments.report.verdicts import AGREES, DIFFERS, Verdict
from arcreach.files import load_chain
from arcreach.ik.solution import Solution
from arcreach.ik.solve import solve
from arcreach.ik.target import Target
from arcreach.robots.robot import Robot

CASE, METHOD = "ten points", "hierarchical"
START = (0.0, 0.0, math.pi / 4)
# The source tests the largest component of the error, and solves in the order q0, q2, q1.
OPTIONS: dict[str, Any] = {"position_tol": 1e-5, "exit": "largest", "order": (0, 2, 1)}
MM = 1e3
# The point whose iterations the source draws.
DRAWN = 2
COLUMNS = ("q0_rad", "q1_mm", "q2_rad", "max_error_mm", "mean_error_mm", "iterations")
QUANTITY = "number to its last digit"


def arm() -> Robot:
    """Return the three-joint arm of the source."""
    return load_chain("librergm3", "the experiment")


def points() -> list[list[float]]:
    """Return the points of the line in metres."""
    return [[float(row[name]) / MM for name in ("x_mm", "y_mm", "z_mm")] for row in table("rgm3-table-5")]


def solved(robot: Robot, point: list[float], trace: bool = False) -> Solution:
    """Solve for one point under the conditions of the source."""
    return solve(robot, Target(point), METHOD, start=START, trace=trace, **OPTIONS)


@dataclass(frozen=True)
class Hierarchical(Experiment):
    """Ten solves, each from the same start."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Return the only method."""
        return (METHOD,)

    def blocks(self, settings: Settings) -> list[Block]:
        """Return one block; it takes milliseconds."""
        return [Block(CASE, METHOD, 0, min(settings.targets, self.full))]

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Solve for the points."""
        robot, targets = arm(), points()[: block.count]
        solutions = [solved(robot, point) for point in targets]
        q = np.array([solution.q for solution in solutions])
        poses = np.tile(np.eye(4), (block.count, 1, 1))
        poses[:, :3, 3] = targets
        apart = np.abs(robot.tip_pose(q)[:, :3, 3] - poses[:, :3, 3]) * MM
        status = np.array([int(solution.status) for solution in solutions])
        # The source tests the largest component; the distance is up to the square root of three times as large.
        judged = judge(robot, q, poses, POSITION, OPTIONS["position_tol"] * math.sqrt(3.0), math.inf, status)
        judged |= {
            "iterations": np.array([solution.iterations for solution in solutions]),
            "seconds": np.array([solution.seconds for solution in solutions]),
            "q0_rad": q[:, 0],
            "q1_mm": q[:, 1] * MM,
            "q2_rad": q[:, 2],
            "max_error_mm": apart.max(axis=1),
            "mean_error_mm": apart.mean(axis=1),
        }
        return columns_of(self.name, block, settings, judged)

    def verdicts(self, run: Any) -> Iterator[Verdict]:
        """Yield a verdict on every number of table 5 except its times."""
        for row in run.frame.sort("target").to_dicts():
            printed = table("rgm3-table-5")[row["target"]]
            for name in COLUMNS:
                outcome = AGREES if _text(row, name) == printed[name] else DIFFERS
                apart = (float(row[name]) - float(printed[name])) * (1.0 if name == "iterations" else 1e4)
                where = f"point {row['target']}, {name}"
                yield Verdict("[RGM3] table 5", where, METHOD, QUANTITY, outcome, apart, "in the last digit")

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield table 5 digit by digit, the iterations at the point that the source draws, and the poses."""
        theirs = table("rgm3-table-5")
        ours = run.frame.sort("target").to_dicts()
        rows, same, cells = [], 0, 0
        for row in ours:
            printed = theirs[row["target"]]
            line = [str(row["target"])]
            for name in COLUMNS:
                text = _text(row, name)
                agrees = text == printed[name]
                same, cells = same + agrees, cells + 1
                line.append(text if agrees else f"{text} (printed {printed[name]})")
            rows.append(tuple(line))
        others = "" if same == cells else "; for the others both are shown"
        yield Text(f"{same} of {cells} numbers agree with the printed ones to every digit{others}.")
        yield Table(("point", *COLUMNS), tuple(rows), "The ten points of table 5.", text_columns=1)
        from arcreach.figures import iterations, pose

        robot = arm()
        point = min(DRAWN, len(rows) - 1)
        figure = iterations(robot, solved(robot, points()[point], trace=True))
        yield Drawing(
            f"hierarchical-point-{point}",
            figure,
            f"Point {point}: coordinates and errors against the "
            "iteration, with the marks where a coordinate stays within 10, 5, 1 and 0.5 % of its change "
            "([RGM3] figs. 4 to 8).",
        )
        q = np.array([(row["q0_rad"], row["q1_mm"] / MM, row["q2_rad"]) for row in ours])
        yield Drawing(
            "hierarchical-line",
            pose(robot, q, frames=False),
            "The arm at the points of the line ([RGM3] "
            "fig. 9); `arcreach export --all-poses` writes such a path as an OpenSCAD model.",
        )


def _text(row: dict[str, Any], name: str) -> str:
    """Return a number with as many digits as the source prints."""
    return str(row[name]) if name == "iterations" else f"{row[name] + 0.0:.4f}"


EXPERIMENT = Hierarchical(
    name="hierarchical",
    title="The hierarchical approach",
    source="[RGM3] table 5, figs. 4 to 9",
    small=10,
    full=10,
    law="the ten points of the source's line, each from its start",
    differences=(
        "The printed matrix has a link of 25 mm; table 5 is reproduced with 250 mm.",
        "The printed range of the first joint is a full turn to each side; table 5 is reproduced with half a turn.",
        "The printed time is that of an older processor.",
    ),
    extras=dict.fromkeys(COLUMNS[:-1], "Float64"),
)
