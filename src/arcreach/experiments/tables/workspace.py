"""[K22] table 3.5: cells of the workspace that inverse kinematics reaches, and cells that random configurations hit."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array, Integers
from arcreach.experiments.engine.experiment import (
    Block,
    Columns,
    Experiment,
    Settings,
    columns_of,
    device_option,
    generator,
)
from arcreach.experiments.engine.judge import POSITION, STATUS_NAMES, judge
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
CELL = charts.CELL
POSITION_TOL = 1e-4
# The corner targets lie this far inside the cell, so that a tip within the tolerance is in the cell.
INSIDE = 101e-6
# The five points miss a cell that the workspace only touches in a corner. Its corners are then solved for again, this
# far inside, and last the point that a random configuration has hit.
FINE_TOL, FINE_INSIDE = 1e-6, 1.01e-6
HIT_TOL = 1e-7
# The rule by which a cell was found.
FIVE, FINE, HIT, NOT_FOUND = "five points", "finer corners", "the hit", ""
# Upper bound of the distance from any point of a cell to the nearest of its five points.
HALF = CELL / 2
# Cells of the half-plane; x is the distance from the axis. All robots are 100 mm long, and their total bend of half a
# turn keeps tips above the base; a few rows of cells below the base confirm that.
WIDE, HIGH, BELOW = 100, 105, 5
CELLS = WIDE * HIGH
BLOCK = 2_100
# Iterations of a solve, as in the tables of the same robots.
MOST = 300
SAMPLES = 50_000
# Columns of the printed table with their meaning.
COUNTS = {
    "found_by_both": "cells of both",
    "found_by_ik_only": "cells of the solver only",
    "found_by_monte_carlo_only": "cells of Monte Carlo only",
}


def name_of(sections: int) -> str:
    """Return the case name of a robot."""
    return f"{sections} sections"


def lower_left(cells: Integers) -> Array:
    """Return the lower left corners of cells, as x and z in metres (n, 2)."""
    return np.asarray(np.stack([cells % WIDE, cells // WIDE - BELOW], axis=1) * CELL, dtype=np.float64)


def cell_of(positions: Array) -> Integers:
    """Return the cells that contain positions (n, 3), by distance from the z axis and height; -1 outside."""
    x = np.floor(np.hypot(positions[:, 0], positions[:, 1]) / CELL).astype(np.int64)
    z = np.floor(positions[:, 2] / CELL).astype(np.int64) + BELOW
    inside = (x < WIDE) & (z >= 0) & (z < HIGH)
    return np.where(inside, z * WIDE + x, -1)


@dataclass(frozen=True)
class Workspace(Experiment):
    """A row per cell."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Return the label of random configurations, then the solvers."""
        return (MONTE_CARLO, *METHODS)

    def chosen(self, settings: Settings, methods: Sequence[str]) -> tuple[str, ...]:
        """Return the chosen labels, always with random configurations: the cells of a solver are compared with them."""
        labels = super().chosen(settings, methods)
        return labels if MONTE_CARLO in labels else (MONTE_CARLO, *labels)

    def blocks(self, settings: Settings) -> list[Block]:
        """Return one block for random configurations, and ranges of cells for a solver."""
        found = []
        for sections in NUMBERS:
            for method in settings.methods:
                size = CELLS if method == MONTE_CARLO else BLOCK
                found += [Block(name_of(sections), method, first, size) for first in range(0, CELLS, size)]
        return found

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Search every cell of a block."""
        sections = int(block.case.split()[0])
        counts, hits = by_monte_carlo(sections, settings)
        if block.method == MONTE_CARLO:
            judged = _monte_carlo_rows(counts)
        else:
            judged = _by_solver(robot(sections), block, hits, settings)
        x, z = lower_left(np.arange(block.first, block.first + block.count)).T * 1e3
        judged |= {"x_mm": x, "z_mm": z}
        return columns_of(self.name, block, settings, judged)

    def verdicts(self, run: Any) -> Iterator[Verdict]:
        """Yield the verdicts on the counts of table 3.5, for the method that it names."""
        if not {"fabrikx", MONTE_CARLO} <= set(run.methods):
            return
        for printed in table("table-3.5-workspace-cells"):
            ours = counted(run, int(printed["sections"]), "fabrikx")
            for count, name in zip(ours, COUNTS, strict=False):
                case = name_of(int(printed["sections"]))
                theirs = float(printed[name])
                yield on_number("[K22] table 3.5", case, "fabrikx", COUNTS[name], count, theirs, "cells")

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield table 3.5, the cells that its five points miss, and the maps."""
        methods = [method for method in run.methods if method != MONTE_CARLO]
        yield _table_3_5(run, methods)
        if "auto" in methods:
            yield from _missed(run, "auto")
        found = run.frame.filter((run.frame["found_by"] == FIVE) | (run.frame["method"] == MONTE_CARLO))
        by_rule = SimpleNamespace(cases=run.cases, frame=found)
        for method in methods:
            figure = charts.cell_maps(by_rule, method, MONTE_CARLO)
            yield Drawing(
                f"workspace-{method}", figure, f"Cells found by {method} and by Monte Carlo sampling ([K22] fig. 3.8)."
            )
            caption = f"Time of {method} for each cell that it reaches ([K22] fig. 3.9)."
            yield Drawing(f"workspace-time-{method}", charts.time_maps(run, method), caption)


def counted(run: Any, sections: int, method: str) -> tuple[int, int, int, int, int]:
    """Return the numbers of cells found by both, by the solver only, and by Monte Carlo only by each of three rules."""
    rows = run.frame.filter(run.frame["case"] == name_of(sections))
    found = rows["found_by"]
    sampled = rows["method"] == MONTE_CARLO
    both, solver, missed = charts.cells(rows.filter(sampled | (found == FIVE)), method, MONTE_CARLO)
    finer = charts.cells(rows.filter(sampled | (found == FIVE) | (found == FINE)), method, MONTE_CARLO)[2]
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
        "robot",
        "method",
        "both",
        "solver only",
        "Monte Carlo only",
        "Monte Carlo only, finer corners",
        "Monte Carlo only, the hit",
    )
    return Table(
        columns,
        tuple(rows),
        "Cells found by the solver, by random configurations, and by both. The first three "
        "counts are those of the authors' five points; the last two are the cells still missed after solving for the "
        f"corners {1e6 * FINE_INSIDE:.2f} µm inside, and for the points that random configurations hit.",
    )


def _missed(run: Any, method: str) -> Iterator[Part]:
    """Yield a table of cells that random configurations hit and the five points miss, with distances to the points."""
    rows = []
    for sections in NUMBERS:
        own = run.frame.filter(run.frame["case"] == name_of(sections))
        hit = set(own.filter((own["method"] == MONTE_CARLO) & own["reached"])["target"])
        hits = by_monte_carlo(sections, run.settings)[1]
        for row in own.filter(own["method"] == method).sort("target").to_dicts():
            if row["target"] in hit and row["found_by"] != FIVE:
                low, point = np.array([row["x_mm"], row["z_mm"]]) / 1e3, hits[row["target"]]
                away = min(float(np.hypot(*(low + shift - point))) for shift in SHIFTS)
                rows.append(
                    (
                        name_of(sections),
                        f"{row['x_mm']:.0f}, {row['z_mm']:.0f}",
                        f"{1e6 * (point[0] - low[0]):.1f}, {1e6 * (point[1] - low[1]):.1f} µm",
                        f"{1e6 * away:.1f} µm",
                        f"{1e6 * row['nearest']:.1f} µm",
                        row["found_by"] or "nothing",
                    )
                )
    if not rows:
        yield Text(f"No cell that random configurations hit is missed by the five points of {method}.")
        return
    columns = (
        "robot",
        "cell (mm)",
        "hit, from its corner",
        "hit to the nearest of the five",
        "smallest distance of the tip from the five",
        "found by",
    )
    yield Table(
        columns,
        tuple(rows),
        f"Cells that random configurations hit and the five points of {method} do not find. Where the tip "
        f"stays more than {1e6 * POSITION_TOL:.0f} µm from all five, the workspace contains only a corner of the "
        f"cell, and no solver finds the cell by this rule.",
        text_columns=2,
    )


@functools.lru_cache(maxsize=4)
def by_monte_carlo(sections: int, settings: Settings) -> tuple[Integers, Array]:
    """Return how often random configurations hit each cell, and one hit: x and z in metres (cells, 2) or NaN."""
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


def _monte_carlo_rows(counts: Integers) -> dict[str, npt.NDArray[Any]]:
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
    """Solve for the centre of every cell and, until one is reached, for its corners in turn.

    A cell may be within reach in a corner only, away from all five points: its corners are then solved for again,
    nearer to the edge, and last the point that a random configuration has hit.
    """
    n = block.count
    cells = np.arange(block.first, block.first + n)
    low = lower_left(cells)
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
    # A cell whose nearest point is farther from the base than the robot is long cannot be reached.
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
    """Return the corners of a cell moved inwards by `inside` metres, relative to its lower left corner."""
    far = CELL - inside
    return (inside, inside), (far, inside), (inside, far), (far, far)


# The authors' five points.
SHIFTS = ((CELL / 2, CELL / 2), *corners(INSIDE))


def _ask(
    arm: Robot,
    call: dict[str, Any],
    left: Integers,
    cells: Integers,
    points: Array,
    tolerance: float,
    rule: str,
    found: dict[str, npt.NDArray[Any]],
) -> Integers:
    """Solve for a point in each of the cells `left`, record the results, and return the cells still not found."""
    if not len(left):
        return left
    poses = np.tile(np.eye(4), (len(left), 1, 1))
    poses[:, 0, 3], poses[:, 2, 3] = points.T
    answer = solve_batch(arm, poses[:, :3, 3], position_tol=tolerance, **call)
    judged = judge(arm, answer.q, poses, POSITION, tolerance, np.inf, answer.status)
    # The tip must be in the cell, wherever the target was.
    judged["reached"] &= cell_of(arm.tip_pose(answer.q)[:, :3, 3]) == cells[left]
    for name in ("status", "reached", "position_error"):
        found[name][left] = judged[name]
    found["iterations"][left] += answer.iterations
    found["seconds"][left] += answer.seconds
    found["asked"][left] += 1
    found["found_by"][left[judged["reached"]]] = rule
    if rule == FIVE:
        found["nearest"][left] = np.minimum(found["nearest"][left], judged["position_error"])
    still: Integers = left[~judged["reached"]]
    return still


EXPERIMENT = Workspace(
    name="workspace",
    title="The workspace, cell by cell",
    source="[K22] table 3.5, figs. 3.8 and 3.9",
    small=1_000_000,
    full=1_000_000,
    law="cells of 1 mm in the half-plane; the targets of a solver are the middle of a cell, then its corners 101 µm "
    "inside, within 0.1 mm; random configurations have bends uniform from 0 to the limit, directions over a turn",
    reasons={
        "fabrikx": "Ours misses cells on the inner side, where sections bend against each other. For two and three "
        "sections the authors find more cells than auto does by any rule, see the table of counts: their solver seems "
        "to leave the limits of the bend.",
    },
    differences=(
        "The authors search the 86 x 104 cells around those that random configurations hit; we search all cells "
        "around the base that a robot of 100 mm could touch.",
        "At the edge of the workspace a cell may be within reach in one corner only, more than the tolerance away from "
        "all five points; a random configuration may hit that corner. The table of such cells has the smallest "
        "distance of the tip from the five. With corners nearer to the edge, and finally the hit itself as targets, "
        "auto finds these cells; the table of counts has both rules side by side, and the maps show the first.",
        "The cells that the authors' solver finds beyond those hit by random configurations depend on the position of "
        "their grid and on how they check the limits of the bend; neither is printed.",
    ),
    extras={"x_mm": "Float64", "z_mm": "Float64", "asked": "Int64", "found_by": "String", "nearest": "Float64"},
)
