"""[K22] section 3.2: three sections enter tubes along 13 waypoints without contact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach.experiments.engine.experiment import Block, Columns, Experiment, Settings, columns_of
from arcreach.experiments.engine.judge import AXIS, POSITION, judge_path
from arcreach.experiments.published import table
from arcreach.experiments.report.parts import Drawing, Part, Table
from arcreach.files import catalogue_waypoints, load_chain, load_scene
from arcreach.planning.motion.follow import follow
from arcreach.planning.motion.path import Path

TUBES = ("tube-offset", "tube-angled", "tube-curved", "tube-side", "tube-angled-3d", "tube-curved-3d")
GOALS = {"follow position": POSITION, "follow axis": AXIS}
POSITION_TOL, ANGLE_TOL = 1e-5, 1e-2
POINTS = 13


def followed(tube: str, method: str) -> Path:
    """Follow the waypoints into a tube."""
    robot, waypoints = load_chain("inserted-three-section", "the experiment"), catalogue_waypoints(tube)
    axes = waypoints[:, 3:] if GOALS[method] == AXIS else None
    return follow(
        robot, waypoints[:, :3], axes=axes, scene=load_scene(tube), position_tol=POSITION_TOL, angle_tol=ANGLE_TOL
    )


@dataclass(frozen=True)
class Tube(Experiment):
    """A row per waypoint."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Return two labels: positions only, and positions with the direction of the tube."""
        return tuple(GOALS)

    def blocks(self, settings: Settings) -> list[Block]:
        """Return a block per tube and label."""
        return [Block(tube, method, 0, POINTS) for tube in TUBES for method in settings.methods]

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Follow the waypoints; a waypoint is reached if the whole motion to it is clear of the walls."""
        waypoints = catalogue_waypoints(block.case)
        poses = np.tile(np.eye(4), (POINTS, 1, 1))
        poses[:, :3, 3], poses[:, :3, 2] = waypoints[:, :3], waypoints[:, 3:]
        path, judged, spans = judge_path(
            lambda: followed(block.case, block.method), poses, GOALS[block.method], POSITION_TOL, ANGLE_TOL
        )
        assert path.clearance is not None
        judged["clearance"] = np.array([path.clearance[span].min() for span in spans])
        judged["reached"] &= judged["clearance"] > 0.0
        return columns_of(self.name, block, settings, judged)

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield points reached, clearance and time, and the paths into two of the tubes."""
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
