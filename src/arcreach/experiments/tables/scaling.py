"""[K22] tables 3.3 and 3.4: robots of two, three, five and ten sections with a total length of 100 mm."""

from __future__ import annotations

from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.engine.experiment import Printed, Reading
from arcreach.experiments.engine.judge import AXIS, POSITION
from arcreach.experiments.published import number, table
from arcreach.files import load_chain
from arcreach.robots.robot import Robot

NUMBERS = {2: "two", 3: "three", 5: "five", 10: "ten"}
GOALS = {"position": POSITION, "pose": AXIS}
TABLES = {"position": "[K22] table 3.3", "pose": "[K22] table 3.4"}

READING = "chords reading"


def robot(sections: int) -> Robot:
    """Return the catalogue's robot with that number of sections."""
    return load_chain(f"{NUMBERS[sections]}-section", "the experiment")


def cases() -> list[Case]:
    """Return four robots with two kinds of target: position, and position and axis."""
    return [
        Case(
            f"{sections} sections, {name}", robot(sections), goal, 1e-4, 0.1, max_iterations=300,
            labels={"sections": sections, "goal": name},
        )
        for name, goal in GOALS.items()
        for sections in NUMBERS
    ]  # fmt: skip


def printed() -> list[Printed]:
    """Return tables 3.3 and 3.4."""
    return [
        Printed(
            f"{row['sections']} sections, {row['goal']}", "fabrikx", number(row, "success_percent"),
            median_time=number(row, "median_time_ms", 1e-3), median_iterations=number(row, "median_iterations"),
            table=TABLES[row["goal"]],
        )
        for row in table("table-3.3-3.4-fabrikx-scaling")
    ]  # fmt: skip


EXPERIMENT = Comparison(
    name="scaling",
    title="More and more sections",
    source="[K22] tables 3.2 to 3.4",
    small=20_000,
    full=1_000_000,
    law="bend uniform from 0 to its limit, direction uniform over a turn; the position alone, or position and axis, "
    "within 0.1 mm and 0.1 rad, 300 iterations",
    readings=(
        Reading(
            "fabrikx",
            READING,
            "chords with a quarter turn of all points about the direction of the target after every 100 iterations",
            table=TABLES["position"],
            remains="Three sections stay behind: chords stall where all of them lie in one line.",
        ),
        Reading(
            "fabrikx",
            READING,
            "chords with A = 3 and C = 25 that turn the whole robot by the full angle between the axes",
            table=TABLES["pose"],
        ),
    ),
    differences=(
        "The mean row of table 3.4 repeats that of table 3.3; the mean of its own rows is another.",
        "Times are those of compiled code on another machine.",
    ),
    make_cases=cases,
    calls=(
        Call("auto", "auto"),
        Call("fabrikx", "fabrikx"),
        Call("chords", "chords"),
        Call(READING, "chords", options={"A": 3, "C": 25, "shake": "full", "position_period": 100}),
    ),
    make_printed=printed,
)
