"""The workspace in cells of 1 mm: those that inverse kinematics reaches, and those that random configurations hit."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.experiments.engine.experiment import (
    Block,
    Columns,
    Experiment,
    Settings,
    columns_of,
    device_option,
    generator,
)
from arcreach.experiments.engine.judge import POSITION, STATUS_NAMES, verdict
from arcreach.experiments.published import table
from arcreach.experiments.report import charts
from arcreach.experiments.report.parts import Drawing, Part, Table, Text
from arcreach.experiments.report.statistics import NONE
from arcreach.experiments.report.verdicts import Verdict, on_number
from arcreach.experiments.tables.scaling import NUMBERS, robot
from arcreach.ik.solve import solve_batch
from arcreach.robots.robot import Robot

MONTE_CARLO = "monte-carlo"
METHODS = ("auto", "fabrikx", "chords")
CELL = 1e-3
POSITION_TOL = 1e-4
# Corners are asked for this far inside, so that a tip within the tolerance is in the cell.
INSIDE = 101e-6
# A cell that the workspace touches in a corner alone is missed by these five points: its corners are then asked for
# again, this far inside, and at last the very point that chance has hit.
FINE_TOL, FINE_INSIDE = 1e-6, 1.01e-6
HIT_TOL = 1e-7
# By which of the three a cell was found, best known first.
FIVE, FINE, HIT, NOT_FOUND = "five points", "finer corners", "the hit", ""
# No place of a cell is farther from the nearest of its five points: 0.42 mm from the middle of an edge.
HALF = CELL / 2
# Cells of the half-plane: all robots are 100 mm long, x is the distance from the axis. All bends together are half a
# turn, so no tip is below its base; some rows below it show that.
WIDE, HIGH, BELOW = 100, 105, 5
CELLS = WIDE * HIGH
BLOCK = 2_100
# Of one solve, as in the tables of the same robots.
MOST = 300
SAMPLES = 50_000
# Columns of the printed table, and what they count.
COUNTS = {
    "found_by_both": "cells of both",
    "found_by_ik_only": "cells of the solver only",
    "found_by_monte_carlo_only": "cells of chance only",
}


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
        judged = _chance_rows(counts) if block.method == MONTE_CARLO else _by_solver(arm, block, hits, settings)
        corners = corner(np.arange(block.first, block.first + block.count))
        judged |= {"x_mm": corners[:, 0] * 1e3, "z_mm": corners[:, 1] * 1e3}
        return columns_of(self.name, block, settings, judged)

    def verdicts(self, run: Any) -> Iterator[Verdict]:
        """The counts of table 3.5, by the method that it names."""
        if not {"fabrikx", MONTE_CARLO} <= set(run.methods):
            return
        for printed in table("table-3.5-workspace-cells"):
            ours = counted(run, int(printed["sections"]), "fabrikx")
            for count, name in zip(ours, COUNTS, strict=False):
                case = name_of(int(printed["sections"]))
                theirs = float(printed[name])
                yield on_number("[K22] table 3.5", case, "fabrikx", COUNTS[name], count, theirs, "cells")

    def parts(self, run: Any) -> Iterator[Part]:
        """Table 3.5, the cells that its rule misses, and the maps."""
        methods = [method for method in run.methods if method != MONTE_CARLO]
        yield _table_3_5(run, methods)
        if "auto" in methods:
            yield from _missed(run, "auto")
        found = run.frame.filter((run.frame["found_by"] == FIVE) | (run.frame["method"] == MONTE_CARLO))
        by_rule = SimpleNamespace(cases=run.cases, frame=found)
        for method in methods:
            figure = charts.cell_maps(by_rule, method, MONTE_CARLO)
            yield Drawing(f"workspace-{method}", figure, f"Cells found by {method} and by chance ([K22] fig. 3.8).")
        if "auto" in methods:
            figure = charts.time_maps(run, "auto")
            yield Drawing("workspace-time", figure, "Time of auto for each cell that it reaches ([K22] fig. 3.9).")


def counted(run: Any, sections: int, method: str) -> tuple[int, int, int, int, int]:
    """Cells found by both, by the solver only, by chance only; and by chance only with finer corners, with the hit."""
    rows = run.frame.filter(run.frame["case"] == name_of(sections))
    found = rows["found_by"]
    chance = rows["method"] == MONTE_CARLO
    both, solver, missed = charts.cells(rows.filter(chance | (found == FIVE)), method, MONTE_CARLO)
    finer = charts.cells(rows.filter(chance | (found == FIVE) | (found == FINE)), method, MONTE_CARLO)[2]
    left = charts.cells(rows, method, MONTE_CARLO)[2]
    return len(both), len(solver), len(missed), len(finer), len(left)


def _table_3_5(run: Any, methods: list[str]) -> Table:
    rows: list[tuple[str, ...]] = []
    for printed in table("table-3.5-workspace-cells"):
        sections = int(printed["sections"])
        rows += [(name_of(sections), method, *map(str, counted(run, sections, method))) for method in methods]
        theirs = (printed[name] for name in COUNTS)
        rows.append((name_of(sections), "fabrikx (printed)", *theirs, NONE, NONE))
    columns = (
        "robot", "method", "both", "solver only", "chance only", "chance only, finer corners", "chance only, the hit",
    )  # fmt: skip
    return Table(
        columns, tuple(rows), "Cells found by the solver, by random configurations, and by both. The first three counts"
        " are those of the authors' five points; the last two are of what is left when the corners are asked for again "
        f"{1e6 * FINE_INSIDE:.2f} µm inside, and when the very point is asked for that chance has hit.",
    )  # fmt: skip


def _missed(run: Any, method: str) -> Iterator[Part]:
    """The cells that chance hits and the five points do not find: how far the workspace stays away from the five."""
    rows = []
    for sections in NUMBERS:
        own = run.frame.filter(run.frame["case"] == name_of(sections))
        hit = set(own.filter((own["method"] == MONTE_CARLO) & own["reached"])["target"])
        hits = by_chance(sections, run.settings)[1]
        for row in own.filter(own["method"] == method).sort("target").to_dicts():
            if row["target"] in hit and row["found_by"] != FIVE:
                low, place = np.array([row["x_mm"], row["z_mm"]]) / 1e3, hits[row["target"]]
                away = min(float(np.hypot(*(low + shift - place))) for shift in SHIFTS)
                rows.append((
                    name_of(sections), f"{row['x_mm']:.0f}, {row['z_mm']:.0f}",
                    f"{1e6 * (place[0] - low[0]):.1f}, {1e6 * (place[1] - low[1]):.1f} µm", f"{1e6 * away:.1f} µm",
                    f"{1e6 * row['nearest']:.1f} µm", row["found_by"] or "nothing",
                ))  # fmt: skip
    if not rows:
        yield Text(f"No cell that chance hits is missed by the five points of {method}.")
        return
    columns = (
        "robot", "cell (mm)", "hit, from its corner", "hit to the nearest of the five", "nearest that the tip comes to "
        "one of the five", "found by",
    )  # fmt: skip
    yield Table(
        columns, tuple(rows), f"Cells that chance hits and the five points of {method} do not find. Where the tip comes"
        f" to none of the five within {1e6 * POSITION_TOL:.0f} µm, the workspace holds a corner of the cell alone, and "
        "no solver finds the cell by this rule.", words=2,
    )  # fmt: skip


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
        "found_by": np.full(CELLS, NOT_FOUND),
        "nearest": np.full(CELLS, np.nan),
    }


def _by_solver(arm: Robot, block: Block, hits: Array, settings: Settings) -> dict[str, npt.NDArray[Any]]:
    """Ask for the middle of every cell, and where that is not reached for the four corners in turn.

    A cell may be reached in a corner alone, away from all five: then the corners are asked for again, nearer to the
    edge, and last the very point that chance has hit.
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
        "found_by": np.full(n, NOT_FOUND, dtype="<U16"),
        "nearest": np.full(n, np.inf),
    }
    # No cell is reached whose nearest point is farther from the base than the robot is long.
    nearest = np.hypot(low[:, 0], np.minimum(np.abs(low[:, 1]), np.abs(low[:, 1] + CELL)))
    left = np.flatnonzero(nearest < arm.reach)
    call = {"method": block.method, "threads": 1, "max_iterations": MOST, **device_option(block.method, settings)}
    for shift in SHIFTS:
        left = _ask(arm, call, left, cells, low[left] + shift, POSITION_TOL, FIVE, found)
    near = left[found["nearest"][left] < HALF]
    for shift in corners(FINE_INSIDE):
        near = _ask(arm, call, near, cells, low[near] + shift, FINE_TOL, FINE, found)
    left = left[~found["reached"][left] & np.isfinite(hits[cells[left], 0])]
    _ask(arm, call, left, cells, hits[cells[left]], HIT_TOL, HIT, found)
    return found


def corners(inside: float) -> tuple[tuple[float, float], ...]:
    """The corners of a cell, this far inside, from its lower left corner."""
    far = CELL - inside
    return (inside, inside), (far, inside), (inside, far), (far, far)


# The five points of the authors.
SHIFTS = ((CELL / 2, CELL / 2), *corners(INSIDE))


def _ask(
    arm: Robot, call: dict[str, Any], left: npt.NDArray[np.int64], cells: npt.NDArray[np.int64], places: Array,
    tolerance: float, rule: str, found: dict[str, npt.NDArray[Any]],
) -> npt.NDArray[np.int64]:  # fmt: skip
    """Solve for a point in each of the cells that are left, add to what was found, and give those still left."""
    if not len(left):
        return left
    poses = np.tile(np.eye(4), (len(left), 1, 1))
    poses[:, 0, 3], poses[:, 2, 3] = places.T
    answer = solve_batch(arm, poses[:, :3, 3], position_tol=tolerance, **call)
    judged = verdict(arm, answer.q, poses, POSITION, tolerance, np.inf, answer.status)
    # Whatever was asked for, the tip must be in the cell.
    judged["reached"] &= cell_of(arm.tip_pose(answer.q)[:, :3, 3]) == cells[left]
    for name in ("status", "reached", "position_error"):
        found[name][left] = judged[name]
    found["iterations"][left] += answer.iterations
    found["seconds"][left] += answer.seconds
    found["asked"][left] += 1
    found["found_by"][left[judged["reached"]]] = rule
    if rule == FIVE:
        found["nearest"][left] = np.minimum(found["nearest"][left], judged["position_error"])
    still: npt.NDArray[np.int64] = left[~judged["reached"]]
    return still


EXPERIMENT = Workspace(
    name="workspace",
    title="The workspace, cell by cell",
    source="[K22] table 3.5, figs. 3.8 and 3.9",
    small=1_000_000,
    full=1_000_000,
    law="cells of 1 mm in the half-plane; a solver is asked for the middle of a cell, else for its corners 101 µm "
    "inside, within 0.1 mm; random configurations have bends uniform from 0 to the limit, directions over a turn",
    reasons={
        "fabrikx": "Ours misses cells on the inner side, where sections bend against each other; what the authors do "
        "there is not printed. auto stands in the table of counts.",
    },
    differences=(
        "The authors look into the 86 x 104 cells around what random configurations hit, ours are all cells around the "
        "base that a robot of 100 mm could touch.",
        "At the edge of the workspace a cell may be within reach in one corner only, more than the tolerance away from "
        "all five points; chance may hit that corner. The table of such cells tells how near the tip comes to the five."
        " Asked for the corners again nearer to the edge, and at last for the very point, auto finds them; the table of"
        " counts has both rules side by side, and the maps show the first.",
        "Which cells the authors' solver finds beyond those hit by chance depends on where their grid lies and on how "
        "they judge the limits of the bend; neither is printed.",
    ),
    extras={"x_mm": "Float64", "z_mm": "Float64", "asked": "Int64", "found_by": "String", "nearest": "Float64"},
)
