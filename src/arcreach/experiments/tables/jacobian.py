"""[K22] table 3.6: FABRIKx and a Jacobian method on three, five and ten sections with a total bend of 180 degrees."""

from __future__ import annotations

import math

from arcreach.elements import Section
from arcreach.experiments import published
from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.engine.experiment import Printed, Reading
from arcreach.experiments.published import iterations_within, table
from arcreach.robots.robot import Robot

BUDGET = 0.050
READING = "chords reading"


def iterations_in_budget() -> dict[int, int]:
    """Return, by number of sections, the iterations of fabrikx that fit into the time budget."""
    rows = table("table-3.6-fabrikx-vs-jacobian")
    return {int(row["sections"]): iterations_within(BUDGET, row) for row in rows if row["method"] == "fabrikx"}


def cases() -> list[Case]:
    """Return the three robots."""
    most = iterations_in_budget()
    return [
        Case(
            f"{n} sections",
            Robot([Section(0.050, math.pi / n)] * n, name=f"{n} sections"),
            position_tol=1e-5,
            angle_tol=1e-2,
            max_iterations=most[n],
            labels={"sections": n},
        )
        for n in (3, 5, 10)
    ]


def printed() -> list[Printed]:
    """Return table 3.6."""
    return published.printed("table-3.6-fabrikx-vs-jacobian", "{sections} sections")


EXPERIMENT = Comparison(
    name="jacobian",
    title="FABRIKx and a Jacobian method",
    source="[K22] table 3.6",
    small=5_000,
    full=1_000_000,
    law="bend uniform from 0 to 180° divided by the number of sections, direction uniform over a turn; position and "
    "axis"
    " within 10 µm and 1e-2 rad",
    readings=(
        Reading(
            "fabrikx",
            READING,
            "chords with A = 3 and C = 100 that turn the whole robot by the full angle between the axes",
            "[K22] section 3.1.3, as far as C is concerned",
        ),
    ),
    reasons={
        "jacobian": "The source does not print in full which Jacobian method it uses, nor its start; ours is damped "
        "least squares with the exact Jacobian.",
    },
    differences=(
        "Instead of the authors' time limit, every method has the iterations that fabrikx completes in it on their "
        "machine.",
    ),
    make_cases=cases,
    calls=(
        Call("auto", "auto"),
        Call("fabrikx", "fabrikx"),
        Call("chords", "chords"),
        Call(READING, "chords", options={"A": 3, "C": 100, "shake": "full"}),
        Call("jacobian", "jacobian"),
    ),
    budget=BUDGET,
    make_printed=printed,
)
