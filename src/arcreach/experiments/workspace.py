"""The workspace in cells of 1 mm: those that inverse kinematics reaches, and those that random configurations hit."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.experiments import charts
from arcreach.experiments.experiment import Block, Columns, Experiment, Settings, columns_of, generator
from arcreach.experiments.judge import POSITION, STATUS_NAMES, verdict
from arcreach.experiments.parts import Drawing, Part, Table
from arcreach.experiments.published import table
from arcreach.experiments.scaling import NUMBERS, robot
from arcreach.ik.solve import solve_batch
from arcreach.robots.robot import Robot

Array = npt.NDArray[np.float64]

MONTE_CARLO = "monte-carlo"
METHODS = ("auto", "fabrikx", "chords")
CELL = 1e-3
POSITION_TOL = 1e-4
# Corners are asked for this far inside, so that a tip within the tolerance is in the cell.
INSIDE = 101e-6
# Points asked for by the authors' rule, and the tolerance of the one that chance has hit.
POINTS = 5
HIT_TOL = 1e-6
# Cells of the half-plane: all robots are 100 mm long, x is the distance from the axis. All bends together are half a
# turn, so no tip is below its base; some rows below it show that.
WIDE, HIGH, BELOW = 100, 105, 5
CELLS = WIDE * HIGH
BLOCK = 2_100
# Of one solve, as in the tables of the same robots.
MOST = 300
SAMPLES = 50_000


def name_of(sections: int) -> str:
    """The case of a robot."""
    return f"{sections} sections"


def corner(cells: npt.NDArray[np.int64]) -> Array:
    """The lower left corner of cells, as x and z in metres (n, 2)."""
    return np.asarray(np.stack([cells % WIDE, cells // WIDE - BELOW], axis=1) * CELL, dtype=np.float64)


def cell_of(positions: Array) -> npt.NDArray[np.int64]:
    """The cell of positions (n, 3), turned about the axis into the half-plane; -1 outside."""
    x = np.floor(np.hypot(positions[:, 0], positions[:, 1]) / CELL).astype(np.int64)
    z = np.floor(positions[:, 2] / CELL).astype(np.int64) + BELOW
    inside = (x < WIDE) & (z >= 0) & (z < HIGH)
    return np.where(inside, z * WIDE + x, -1)


@dataclass(frozen=True)
class Workspace(Experiment):
    """A row per cell."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Random configurations, then the solvers."""
        return (MONTE_CARLO, *METHODS)

    def blocks(self, settings: Settings) -> list[Block]:
        """All cells at once for random configurations, ranges of cells for a solver."""
        found = []
        for sections in NUMBERS:
            for method in settings.methods:
                size = CELLS if method == MONTE_CARLO else BLOCK
                found += [Block(name_of(sections), method, first, size) for first in range(0, CELLS, size)]
        return found

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Look into every cell of a block."""
        arm = robot(int(block.case.split()[0]))
        counts, hits = by_chance(int(block.case.split()[0]), settings)
        judged = _chance_rows(counts) if block.method == MONTE_CARLO else _by_solver(arm, block, hits)
        corners = corner(np.arange(block.first, block.first + block.count))
        judged |= {"x_mm": corners[:, 0] * 1e3, "z_mm": corners[:, 1] * 1e3}
        return columns_of(self.name, block, settings, judged)

    def parts(self, run: Any) -> Iterator[Part]:
        """Table 3.5 and the maps."""
        theirs = {int(row["sections"]): row for row in table("table-3.5-workspace-cells")}
        methods = [method for method in run.methods if method != MONTE_CARLO]
        rows = []
        for sections, printed in theirs.items():
            for method in methods:
                counts = run.frame.filter(run.frame["case"] == name_of(sections))
                by_rule = counts.filter((counts["asked"] <= POINTS) | (counts["method"] == MONTE_CARLO))
                both, solver, chance = charts.cells(by_rule, method, MONTE_CARLO)
                left = charts.cells(counts, method, MONTE_CARLO)[2]
                numbers = (str(len(one)) for one in (both, solver, chance, left))
                rows.append((name_of(sections), method, *numbers, "", "", ""))
            rows.append((
                name_of(sections), "fabrikx (printed)", "", "", "", "", printed["found_by_both"],
                printed["found_by_ik_only"], printed["found_by_monte_carlo_only"],
            ))  # fmt: skip
        columns = (
            "robot", "method", "both", "solver only", "chance only", "left when asked for the hit", "theirs: both",
            "solver only", "chance only",
        )  # fmt: skip
        yield Table(columns, tuple(rows), "Cells found by the solver, by random configurations, and by both.")
        for method in methods:
            figure = charts.cell_maps(run, method, MONTE_CARLO)
            yield Drawing(f"workspace-{method}", figure, f"Cells found by {method} and by chance ([K22] fig. 3.8).")
        if "auto" in methods:
            figure = charts.time_maps(run, "auto")
            yield Drawing("workspace-time", figure, "Time of auto for each cell that it reaches ([K22] fig. 3.9).")


@functools.lru_cache(maxsize=4)
def by_chance(sections: int, settings: Settings) -> tuple[npt.NDArray[np.int64], Array]:
    """How often random configurations hit each cell, and where one did: x and z in metres (cells, 2) or NaN."""
    arm = robot(sections)
    counts, hits = np.zeros(CELLS, np.int64), np.full((CELLS, 2), np.nan)
    for k, first in enumerate(range(0, settings.targets, SAMPLES)):
        n = min(SAMPLES, settings.targets - first)
        tips = arm.tip_pose(arm.sample(n, generator(settings, "workspace", name_of(sections), k)))[:, :3, 3]
        cells = cell_of(tips)
        inside = cells >= 0
        counts += np.bincount(cells[inside], minlength=CELLS)
        hits[cells[inside], 0] = np.hypot(tips[inside, 0], tips[inside, 1])
        hits[cells[inside], 1] = tips[inside, 2]
    return counts, hits


def _chance_rows(counts: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
    return {
        "status": np.where(counts > 0, "REACHED", "OUT_OF_REACH"),
        "reached": counts > 0,
        "position_error": np.full(CELLS, np.nan),
        "angle_error": np.zeros(CELLS),
        "iterations": counts,
        "seconds": np.zeros(CELLS),
        "asked": np.zeros(CELLS, np.int64),
    }


def _by_solver(arm: Robot, block: Block, hits: Array) -> dict[str, npt.NDArray[Any]]:
    """Ask for the middle of every cell, and where that is not reached for the four corners in turn.

    A cell may be reached in a corner alone, away from all five: last the very point is asked for that chance has hit.
    """
    n = block.count
    cells = np.arange(block.first, block.first + n)
    low = corner(cells)
    found: dict[str, npt.NDArray[Any]] = {
        "status": np.full(n, "OUT_OF_REACH", STATUS_NAMES.dtype),
        "reached": np.zeros(n, np.bool_),
        "position_error": np.full(n, np.nan),
        "angle_error": np.zeros(n),
        "iterations": np.zeros(n, np.int64),
        "seconds": np.zeros(n),
        "asked": np.zeros(n, np.int64),
    }
    near, far = INSIDE, CELL - INSIDE
    # No cell is reached whose nearest point is farther from the base than the robot is long.
    nearest = np.hypot(low[:, 0], np.minimum(np.abs(low[:, 1]), np.abs(low[:, 1] + CELL)))
    left = np.flatnonzero(nearest < arm.reach)
    for shift in ((CELL / 2, CELL / 2), (near, near), (far, near), (near, far), (far, far)):
        left = _ask(arm, block.method, left, low[left] + shift, POSITION_TOL, found)
    left = left[np.isfinite(hits[cells[left], 0])]
    _ask(arm, block.method, left, hits[cells[left]], HIT_TOL, found)
    return found


def _ask(
    arm: Robot, method: str, cells: npt.NDArray[np.int64], places: Array, tolerance: float,
    found: dict[str, npt.NDArray[Any]],
) -> npt.NDArray[np.int64]:  # fmt: skip
    """Solve for a point in each of these cells, add to what was found, and give the cells that are left."""
    if not len(cells):
        return cells
    poses = np.tile(np.eye(4), (len(cells), 1, 1))
    poses[:, 0, 3], poses[:, 2, 3] = places.T
    answer = solve_batch(arm, poses[:, :3, 3], method=method, position_tol=tolerance, threads=1, max_iterations=MOST)
    judged = verdict(arm, answer.q, poses, POSITION, tolerance, np.inf, answer.status)
    for name in ("status", "reached", "position_error"):
        found[name][cells] = judged[name]
    found["iterations"][cells] += answer.iterations
    found["seconds"][cells] += answer.seconds
    found["asked"][cells] += 1
    left: npt.NDArray[np.int64] = cells[~judged["reached"]]
    return left


EXPERIMENT = Workspace(
    name="workspace",
    title="The workspace, cell by cell",
    source="[K22] table 3.5, figs. 3.8 and 3.9",
    small=1_000_000,
    full=1_000_000,
    law="cells of 1 mm in the half-plane; a solver is asked for the middle of a cell, else for its corners 101 µm "
    "inside, within 0.1 mm; random configurations have bends uniform from 0 to the limit, directions over a turn",
    differences=(
        "The authors look into the 86 x 104 cells around what random configurations hit, ours are all cells around the "
        "base that a robot of 100 mm could touch.",
        "At the edge of the workspace a cell may be within reach in one corner only, more than the tolerance away from "
        "all five points. Chance may hit that corner; the solver is then asked for the very point (within 1 µm), and "
        "the table tells both counts. Maps show the second.",
    ),
    extras={"x_mm": "Float64", "z_mm": "Float64", "asked": "Int64"},
)
