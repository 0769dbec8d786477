"""Six robots whose sections bend unevenly along their length."""

from __future__ import annotations

import math

from arcreach.experiments.comparison import Call, Case, Comparison
from arcreach.experiments.experiment import Printed
from arcreach.experiments.published import number, table
from arcreach.files.robots import load_robot
from arcreach.robots.robot import Robot

LABELS = {
    "fabrikx-iterative": "fabrikx iterative",
    "fabrikx-polynomial": "fabrikx polynomial",
    "jacobian-500ms": "jacobian",
}


def cases() -> list[Case]:
    """The robots of table 3.10, from the catalogue."""
    found = []
    for k in range(1, 7):
        robot = load_robot(f"variable-curvature-{k}")
        assert isinstance(robot, Robot)
        case = Case(f"robot {k}", robot, position_tol=1e-5, angle_tol=math.radians(0.01), labels={"robot": k})
        found.append(case)
    return found


def printed() -> list[Printed]:
    """Table 3.11."""
    return [
        Printed(
            f"robot {row['robot']}", LABELS.get(row["method"], row["method"]), number(row, "success_percent"),
            number(row, "mean_time_ms", 1e-3), number(row, "median_time_ms", 1e-3), number(row, "mean_iterations"),
            number(row, "median_iterations"), row["method"],
        )
        for row in table("table-3.11-variable-curvature")
    ]  # fmt: skip


EXPERIMENT = Comparison(
    name="variable-curvature",
    title="Sections of variable curvature",
    source="[K22] tables 3.10 and 3.11",
    small=5_000,
    full=100_000,
    law="bend uniform from 0 to 100°, direction uniform over a turn; position and axis within 10 µm and 0.01°",
    differences=(
        "fabrikc: its iterations stop at the tolerance of the tip; limits of the bends are looked at only then, as in "
        "the source. What the authors do with answers outside the limits is not printed.",
        "jacobian: ours ends after 300 steps, long before the 30 and 500 ms of the authors; both printed rows stand "
        "beside the same numbers of ours.",
    ),
    make_cases=cases,
    calls=(
        Call("auto", "auto"),
        Call("fabrikx iterative", "fabrikx", "iterative"),
        Call("fabrikx polynomial", "fabrikx", "polynomial"),
        Call("fabrikc", "fabrikc"),
        Call("jacobian", "jacobian"),
    ),
    budget=0.030,
    make_printed=printed,
)
