"""[K22] section 3.2: three sections enter tubes along 13 waypoints without contact."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach.experiments.engine.experiment import Block, Columns, Experiment, Settings, columns_of
from arcreach.experiments.engine.judge import AXIS, POSITION, judge_path
from arcreach.experiments.published import table
from arcreach.experiments.report.parts import Drawing, Part, Table, Text
from arcreach.files import catalogue_waypoints, load_chain, load_scene
from arcreach.ik.solution import Solution
from arcreach.ik.solve import solve
from arcreach.ik.target import Targets
from arcreach.planning.motion.follow import follow
from arcreach.planning.motion.motion_check import MotionCheck, VariableSpace
from arcreach.planning.motion.path import Path
from arcreach.scenes.clearance import clearance
from arcreach.scenes.scene import Scene
from arcreach.scenes.shapes import Capsule
from arcreach.scenes.tubes import covering_balls

# Solves of the single waypoints by fabrikx: without obstacles, and with the walls covered by spheres.
ALONE, AVOIDING, PRINTED = "fabrikx alone", "fabrikx avoidance", "fabrikx avoidance as printed"
AVOIDANCE = {AVOIDING: "corrected", PRINTED: "published"}
TUBES = ("tube-offset", "tube-angled", "tube-curved", "tube-side", "tube-angled-3d", "tube-curved-3d")
GOALS = {"follow position": POSITION, "follow axis": AXIS} | dict.fromkeys((ALONE, AVOIDING, PRINTED), POSITION)
POSITION_TOL, ANGLE_TOL = 1e-5, 1e-2
POINTS = 13


def followed(tube: str, method: str, count: int = POINTS) -> Path:
    """Follow the first waypoints into a tube."""
    robot, waypoints = load_chain("inserted-three-section", "the experiment"), catalogue_waypoints(tube)[:count]
    axes = waypoints[:, 3:] if GOALS[method] == AXIS else None
    return follow(
        robot, waypoints[:, :3], axes=axes, scene=load_scene(tube), position_tol=POSITION_TOL, angle_tol=ANGLE_TOL
    )


def solved(tube: str, method: str, count: int) -> Path:
    """Solve the first waypoints singly by fabrikx, each from the last one reached; motions between are not planned."""
    robot, points = load_chain("inserted-three-section", "the experiment"), catalogue_waypoints(tube)[:count, :3]
    walls = load_scene(tube)
    options: dict[str, Any] = {}
    if method in AVOIDANCE:
        balls = covering_balls([wall for wall in walls if isinstance(wall, Capsule)])
        options = {"scene": Scene(balls), "avoidance": AVOIDANCE[method]}
    found: list[Solution] = []
    start = None
    began = time.perf_counter()
    for point in points:
        found.append(solve(robot, point, "fabrikx", start=start, position_tol=POSITION_TOL, **options))
        start = found[-1].q if found[-1].reached else start
    seconds = time.perf_counter() - began
    q = np.array([one.q for one in found])
    space = VariableSpace(robot)
    _, between = MotionCheck(space, walls, 0.0).certify(space.variables(q))
    at_points = np.asarray(clearance(robot, q, walls))
    clear = np.minimum(at_points, np.concatenate([at_points[:1], between]))
    errors = np.array([one.position_error for one in found])
    status = np.array([one.status for one in found])
    return Path(robot, q, Targets(points), np.arange(len(q)), errors, np.zeros(len(q)), status, seconds, clear, walls)


@dataclass(frozen=True)
class Tube(Experiment):
    """A row per waypoint."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Return the labels: follow with position targets, follow with position and axis, and variants of fabrikx."""
        return tuple(GOALS)

    def blocks(self, settings: Settings) -> list[Block]:
        """Return a block per tube and label."""
        count = min(settings.targets, POINTS)
        return [Block(tube, method, 0, count) for tube in TUBES for method in settings.methods]

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Visit the waypoints; one counts as reached only if the whole motion to it is clear of the walls."""
        waypoints = catalogue_waypoints(block.case)[: block.count]
        poses = np.tile(np.eye(4), (block.count, 1, 1))
        poses[:, :3, 3], poses[:, :3, 2] = waypoints[:, :3], waypoints[:, 3:]
        path, judged, spans = judge_path(
            lambda: (followed if block.method.startswith("follow") else solved)(block.case, block.method, block.count),
            poses,
            GOALS[block.method],
            POSITION_TOL,
            ANGLE_TOL,
        )
        assert path.clearance is not None
        judged["clearance"] = np.array([path.clearance[span].min() for span in spans])
        visited = path.q[[span.stop - 1 for span in spans]]
        free = np.asarray(clearance(path.robot, visited, load_scene(block.case))) > 0.0
        judged["free_there"] = judged["reached"] & free
        judged["reached"] &= judged["clearance"] > 0.0
        return columns_of(self.name, block, settings, judged)

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield points reached, clearance and time, a verdict on the source's avoidance, and paths into two tubes."""
        rows = []
        for tube in TUBES:
            for method in run.methods:
                ours = run.frame.filter((run.frame["case"] == tube) & (run.frame["method"] == method))
                if len(ours):
                    clear, seconds = float(ours["clearance"].min()), float(ours["seconds"].sum())
                    counts = [f"{int(ours[name].sum())} of {len(ours)}" for name in ("free_there", "reached")]
                    shown = f"{1e3 * clear:.3f} mm" if clear > 0.0 else "touches"
                    rows.append((tube, method, *counts, shown, f"{1e3 * seconds:.1f} ms"))
        theirs = table("section-3.2-tube")[0]
        columns = (
            "tube",
            "method",
            "points reached and free there",
            "points reached on a free motion",
            "least clearance, certified",
            "time of the path",
        )
        yield Table(
            columns,
            tuple(rows),
            f"Paths into {len(TUBES)} tubes; the authors report {theirs['time_s']} s for theirs.",
        )
        totals = {
            method: int(run.frame.filter(run.frame["method"] == method)["free_there"].sum()) for method in run.methods
        }
        if {ALONE, AVOIDING, PRINTED} <= set(totals):
            points = int((run.frame["method"] == PRINTED).sum())
            yield Text(
                "The source's avoidance, eqs. 2.41 to 2.48 as a part of FABRIKx, with the walls covered by spheres: of "
                f"{points} points it reaches {totals[PRINTED]} without contact, its corrected form {totals[AVOIDING]}, "
                f"and fabrikx without avoidance {totals[ALONE]}. The motions between points are not planned."
            )
        from arcreach.figures import scene

        for tube in ("tube-curved", "tube-curved-3d"):
            figure = scene(followed(tube, "follow position"), load_scene(tube))
            yield Drawing(tube, figure, f"Into {tube}: poses along the path from two sides ([K22] fig. 3.15).")


EXPERIMENT = Tube(
    name="tube",
    title="Into a tube without touching",
    source="[K22] section 3.2, fig. 3.15",
    small=POINTS,
    full=POINTS,
    law="13 points along the middle of each of six tubes of the catalogue; within 10 µm and 1e-2 rad, the body clear"
    " of the walls at the points and between them",
    differences=(
        "The source prints neither its robot's nor its tube's dimensions; the tubes are ours.",
        "follow uses exact distances. fabrikx avoids spheres that cover the walls, by the formulas of the source, "
        "corrected or as printed, see the errata; it solves the points one by one, as the source does.",
    ),
    extras={"clearance": "Float64", "free_there": "Boolean"},
)
