"""[K22a] figs. 5 to 7: FABRIK on tangents and on chords, for small and large bends and two limits of the bend."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from arcreach.elements import Section
from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.report import charts
from arcreach.experiments.report.parts import Drawing, Part
from arcreach.robots.robot import Robot

SECTIONS = (3, 5, 10)
BENDS = (30, 60, 90, 120, 180)
WIDE = 360


def cases() -> list[Case]:
    """Return three robots with five ranges of the bend and two limits."""
    found = []
    for n, wide, bend in itertools.product(SECTIONS, (True, False), BENDS):
        drawn = Robot([Section(0.100, math.radians(bend))] * n, name=f"{n} sections {bend} deg")
        limit = WIDE if wide else bend
        robot = Robot([Section(0.100, math.radians(limit))] * n, name=f"{n} sections {limit} deg")
        labels = {"sections": n, "bend": bend, "limit": f"{WIDE}°" if wide else "as drawn"}
        found.append(Case(f"{n} sections, {bend}°, limit {limit}°", robot, targets_of=drawn, labels=labels))
    return found


def pictures(run: Any) -> Iterator[Part]:
    """Yield success, time and iterations against the bend of the targets."""
    for n, figure in zip(SECTIONS, "567", strict=True):
        panels = {f"limit {limit}": run.by_label("bend", sections=n, limit=limit) for limit in (f"{WIDE}°", "as drawn")}
        drawn = charts.method_curves(panels, "largest bend of the targets (°)")
        yield Drawing(f"tangents-chords-{n}", drawn, f"{n} sections: share reached, median time and median iterations "
                      f"of targets that were reached ([K22a] fig. {figure}, [K22] figs. 3.10 to 3.12).")  # fmt: skip


EXPERIMENT = Comparison(
    name="tangents-chords",
    title="Tangents and chords",
    source="[K22a] figs. 5 to 7, [K22] figs. 3.10 to 3.12",
    small=2_000,
    full=100_000,
    timed=200,
    law="bend uniform from 0 to 30, 60, 90, 120 or 180°, direction uniform over a turn, whatever the limit in the "
    "solve; position and axis within 1 µm and 1e-3 rad",
    differences=(
        "The source prints figures and no numbers, so nothing stands beside ours in the table.",
        "As printed, the chain turns away from the wanted axis and next to nothing is reached; ours turns towards it, "
        "in every iteration (chords always) or after arrival (chords on-arrival).",
        "In place of the authors' 30 ms ours end after 300 iterations.",
        "Tangents do not exist at bends of 180° and more.",
    ),
    make_cases=cases,
    calls=(
        Call("auto", "auto"),
        Call("fabrikc", "fabrikc"),
        Call("chords always", "chords", "always"),
        Call("chords on-arrival", "chords", "on-arrival"),
    ),
    budget=0.030,
    pictures=pictures,
)
