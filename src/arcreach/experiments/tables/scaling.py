"""[K22] tables 3.3 and 3.4: robots of two, three, five and ten sections with a total length of 100 mm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.experiments import published
from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.engine.experiment import Printed, Reading
from arcreach.experiments.engine.judge import AXIS, POSITION
from arcreach.experiments.report import charts
from arcreach.experiments.report.parts import Drawing, Part
from arcreach.figures.drawing import theme
from arcreach.files import load_chain
from arcreach.robots.robot import Robot

NUMBERS = {2: "two", 3: "three", 5: "five", 10: "ten"}
GOALS = {"position": POSITION, "pose": AXIS}
TABLES = {"position": "[K22] table 3.3", "pose": "[K22] table 3.4"}

READING = "chords reading"
# Heights in millimetres of the row of panels and of the legend.
PANEL, LEGEND = 46.0, 8.0


def robot(sections: int) -> Robot:
    """Return the catalogue's robot with that number of sections."""
    return load_chain(f"{NUMBERS[sections]}-section", "the experiment")


def cases() -> list[Case]:
    """Return a case for each of four robots and two kinds of target: position, and position and axis."""
    return [
        Case(
            f"{sections} sections, {name}",
            robot(sections),
            goal,
            1e-4,
            0.1,
            max_iterations=300,
            labels={"sections": sections, "goal": name},
        )
        for name, goal in GOALS.items()
        for sections in NUMBERS
    ]


def printed() -> list[Printed]:
    """Return tables 3.3 and 3.4."""
    rows = published.printed("table-3.3-3.4-fabrikx-scaling", "{sections} sections, {goal}", "fabrikx")
    return [replace(row, table=TABLES[row.case.split(", ")[1]]) for row in rows]


def pictures(run: Any) -> Iterator[Part]:
    """Yield the least and the largest time of fabrikx against its number of iterations."""
    for goal, figure in zip(GOALS, ("3.6", "3.7"), strict=True):
        titles = {f"{sections} sections, {goal}": f"{sections} sections" for sections in NUMBERS}
        efforts = charts.efforts(run, titles, ("fabrikx",))
        if efforts:
            drawn = time_ranges({title: by_method["fabrikx"] for title, by_method in efforts.items()})
            wanted = "position" if goal == "position" else "position and axis"
            yield Drawing(
                f"scaling-ranges-{goal}",
                drawn,
                "Least and largest time of fabrikx against the number of iterations, for targets reached in "
                f"{wanted} ([K22] fig. {figure}).",
            )


def time_ranges(efforts: Mapping[str, tuple[Array, Array]]) -> theme.Figure:
    """Draw the least and largest time by number of iterations; `efforts` has iterations and seconds by panel title."""
    looks = theme.look(("largest time", "least time"), linestyle="")
    with theme.drawing(theme.TWO_COLUMNS, PANEL + LEGEND) as figure:
        panels = figure.subplots(1, len(efforts), squeeze=False, sharey=True)[0]
        for panel, (title, (iterations, seconds)) in zip(panels, efforts.items(), strict=True):
            counts = np.unique(iterations)
            for name, end in (("largest time", np.max), ("least time", np.min)):
                panel.plot(counts, [1e6 * end(seconds[iterations == count]) for count in counts], **looks[name])
            panel.set_title(title)
            panel.set_xlabel("iterations")
            panel.set_xlim(left=0.0)
            # Single solves take up to a thousand times as long as the others.
            panel.set_yscale("log")
        panels[0].set_ylabel("time (µs)")
        theme.legend_below(figure, looks)
    return figure


EXPERIMENT = Comparison(
    name="scaling",
    title="Increasing numbers of sections",
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
            remains="Three sections stay below the printed share: chords stall where all of them lie in one line.",
        ),
        Reading(
            "fabrikx",
            READING,
            "chords with A = 3 and C = 25 that turn the whole robot by the full angle between the axes",
            table=TABLES["pose"],
        ),
    ),
    differences=(
        "The mean row of table 3.4 repeats that of table 3.3; the mean of its own rows differs.",
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
    pictures=pictures,
)
