"""Three sections enter tubes through 13 points without touching."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach.experiments.engine.experiment import Block, Columns, Experiment, Settings, columns_of
from arcreach.experiments.engine.judge import AXIS, POSITION, verdict
from arcreach.experiments.published import table
from arcreach.experiments.report.parts import Drawing, Part, Table
from arcreach.files.robots import load_robot
from arcreach.files.scene_catalogue import catalogue_waypoints
from arcreach.files.scenes import load_scene
from arcreach.planning.motion.follow import follow
from arcreach.planning.motion.path import Path
from arcreach.robots.robot import Robot

TUBES = ("tube-offset", "tube-angled", "tube-curved", "tube-side", "tube-angled-3d", "tube-curved-3d")
GOALS = {"follow position": POSITION, "follow axis": AXIS}
POSITION_TOL, ANGLE_TOL = 1e-5, 1e-2
POINTS = 13


def arm() -> Robot:
    """The robot that enters."""
    loaded = load_robot("inserted-three-section")
    assert isinstance(loaded, Robot)
    return loaded


def followed(tube: str, method: str) -> Path:
    """The path into a tube."""
    waypoints = catalogue_waypoints(tube)
    axes = waypoints[:, 3:] if GOALS[method] == AXIS else None
    return follow(
        arm(), waypoints[:, :3], axes=axes, scene=load_scene(tube), position_tol=POSITION_TOL, angle_tol=ANGLE_TOL
    )


@dataclass(frozen=True)
class Tube(Experiment):
    """A row per waypoint."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Positions alone, and with the direction of the tube."""
        return tuple(GOALS)

    def blocks(self, settings: Settings) -> list[Block]:
        """A block per tube and goal."""
        return [Block(tube, method, 0, POINTS) for tube in TUBES for method in settings.methods]

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Follow the waypoints; the time of the whole path is shared between them."""
        robot, waypoints = arm(), catalogue_waypoints(block.case)
        # Once before, so that nothing is compiled while the clock runs.
        followed(block.case, block.method)
        path = followed(block.case, block.method)
        last = [int(np.flatnonzero(path.waypoint == k)[-1]) for k in range(POINTS)]
        poses = np.tile(np.eye(4), (POINTS, 1, 1))
        poses[:, :3, 3], poses[:, :3, 2] = waypoints[:, :3], waypoints[:, 3:]
        judged = verdict(robot, path.q[last], poses, GOALS[block.method], POSITION_TOL, ANGLE_TOL, path.status[last])
        assert path.clearance is not None
        # The least on the whole way to a waypoint, points between included.
        least = [path.clearance[low + 1 : high + 1].min() for low, high in zip([-1, *last[:-1]], last, strict=True)]
        judged["reached"] &= np.array(least) > 0.0
        judged |= {
            "iterations": np.zeros(POINTS, np.int64),
            "seconds": np.full(POINTS, path.seconds / POINTS),
            "clearance": np.array(least),
        }
        return columns_of(self.name, block, settings, judged)

    def parts(self, run: Any) -> Iterator[Part]:
        """Points reached, clearance, time; the way into two of the tubes."""
        rows = []
        for tube in TUBES:
            for method in run.methods:
                ours = run.frame.filter((run.frame["case"] == tube) & (run.frame["method"] == method))
                if len(ours):
                    clear, seconds = float(ours["clearance"].min()), float(ours["seconds"].sum())
                    reached = f"{int(ours['reached'].sum())} of {len(ours)}"
                    rows.append((tube, method, reached, f"{1e3 * clear:.3f} mm", f"{1e3 * seconds:.1f} ms"))
        theirs = table("section-3.2-tube")[0]
        columns = ("tube", "method", "points reached", "least clearance, certified", "time of the path")
        yield Table(
            columns,
            tuple(rows),
            f"The ways into {len(TUBES)} tubes; the authors report {theirs['time_s']} s for theirs.",
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
        "The printed formulas of avoidance do not keep a body clear, see the errata; follow uses exact distances.",
    ),
    extras={"clearance": "Float64"},
)
