"""Finite rotations and displacements: an arm of eight joints, chains of ten to two hundred, a singular passage."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arcreach.elements import Element, Link, Revolute
from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.engine.experiment import Block, Columns, Settings, columns_of
from arcreach.experiments.engine.judge import ROTATION
from arcreach.experiments.report import charts
from arcreach.experiments.report.parts import Drawing, Part
from arcreach.experiments.tables import passage
from arcreach.files.robots import load_robot
from arcreach.robots.robot import Robot

JOINTS = (10, 20, 60, 100, 200)
POSITION_TOL, ANGLE_TOL = 1e-3, 1e-3
# What the source claims for numbers of 32 bits: 0.01 mm and 2 seconds of arc.
FINE = 1e-5, math.radians(2.0 / 3600.0)


def chain(joints: int) -> Robot:
    """A chain of 1 m whose joints turn about z and y by turns, a quarter turn to each side."""
    elements: list[Element] = []
    for i in range(joints):
        axis = (0.0, 0.0, 1.0) if i % 2 == 0 else (0.0, 1.0, 0.0)
        elements += [Revolute(axis, -math.pi / 2, math.pi / 2), Link((0.0, 0.0, 1.0 / joints))]
    return Robot(elements, name=f"{joints} joints")


def cases() -> list[Case]:
    """The arm, the arm with the tolerance claimed for 32 bits, the chains."""
    arm = load_robot("arm-8r")
    assert isinstance(arm, Robot)
    found = [Case("8R", arm, ROTATION, POSITION_TOL, ANGLE_TOL), Case("8R, 0.01 mm and 2″", arm, ROTATION, *FINE)]
    found += [Case(f"{n} joints", chain(n), ROTATION, POSITION_TOL, ANGLE_TOL, labels={"joints": n}) for n in JOINTS]
    return found


def pictures(run: Any) -> Iterator[Part]:
    """Time and success against the number of joints."""
    figure = charts.method_curves({"": run.by_label("joints")}, "joints", logarithmic=True)
    yield Drawing("finite-rotation-joints", figure, "Share reached, median time and median iterations of what was "
                  "reached, against the number of joints ([FRD] chapter 4: linear in time).")  # fmt: skip


@dataclass(frozen=True)
class FiniteRotation(Comparison):
    """A comparison, and the passage, which is followed and not solved target by target."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """The methods of the comparison, then the ways past the singular place."""
        return (*super().method_labels(settings), *passage.FOLLOWERS)

    def blocks(self, settings: Settings) -> list[Block]:
        """The passage is a block for each way."""
        ways = [method for method in passage.FOLLOWERS if method in settings.methods]
        return [*super().blocks(settings), *(Block(passage.CASE, method, 0, passage.POINTS) for method in ways)]

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Solve targets, or follow the passage."""
        if block.case == passage.CASE:
            return columns_of(self.name, block, settings, passage.rows(block.method))
        return super().rows(block, settings)

    def warm_up(self, block: Block, settings: Settings) -> None:
        """Solve two targets; the passage warms up by itself."""
        if block.case != passage.CASE:
            super().warm_up(block, settings)

    def parts(self, run: Any) -> Iterator[Part]:
        """Figures of the comparison, then the passage."""
        yield from super().parts(run)
        yield from passage.parts(run)


EXPERIMENT = FiniteRotation(
    name="finite-rotation",
    title="Finite rotations",
    source="[FRD] chapter 4",
    small=200,
    full=2_000,
    timed=50,
    law="each joint uniform between its limits; the whole pose within 1 mm and 1e-3 rad; each solve begins at a random "
    "configuration, the same for every method",
    differences=(
        "The source prints single solves and no shares, so nothing stands beside ours in the table.",
        "published turns the vectors of all links in place and drifts; corrected rebuilds them from the joints.",
        "float32 keeps its numbers in 32 bits and rebuilds them; whether it comes within 0.01 mm and 2 seconds of arc"
        " is a case of its own.",
        "The source prints no coordinates of its passage; ours has an arm like its own, and a line of our own.",
    ),
    make_cases=cases,
    calls=(
        Call("auto", "auto"),
        Call("corrected", "finite-rotation", "corrected"),
        Call("float32", "finite-rotation", "corrected", {"precision": "float32"}),
        Call("published", "finite-rotation", "published", most=100),
        Call("ccd", "ccd"),
    ),
    random_start=True,
    apart=tuple(passage.FOLLOWERS),
    extras={"step": "Float64", "inserted": "Int64"},
    pictures=pictures,
)
