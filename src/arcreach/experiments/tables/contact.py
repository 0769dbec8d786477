"""[K22] table 3.12: paths around obstacles in three planar scenes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach.experiments.engine.experiment import Block, Columns, Experiment, Settings, columns_of
from arcreach.experiments.published import table
from arcreach.experiments.report.parts import Drawing, Part, Table
from arcreach.files import load_planar_scene
from arcreach.planning.contact.contact_plan import ContactPlans
from arcreach.planning.contact.plan import plan_contact

GIVEN, AUTOMATIC = "given contacts", "automatic contacts"
# Largest time of a plan in seconds.
BUDGET = 1.0
# The three scenes, in the order of the rows of table 3.12.
SCENES = ("slalom", "pocket", "wedge")


def planned(scene: str, method: str, trace: bool = False) -> ContactPlans:
    """Plan the paths in a scene of the catalogue."""
    loaded = load_planar_scene(scene)
    return plan_contact(
        loaded.robot,
        loaded.target,
        loaded.obstacles,
        loaded.contacts if method == GIVEN else None,
        bend_radius=loaded.bend_radius,
        max_time=BUDGET,
        trace=trace,
    )


@dataclass(frozen=True)
class Contact(Experiment):
    """Plan paths in three planar scenes; one row per scene, label and repeat."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Return two labels: plans with the contacts that the scene names, and with all convex corners and discs."""
        return GIVEN, AUTOMATIC

    def blocks(self, settings: Settings) -> list[Block]:
        """Return a block per scene and label."""
        return [Block(scene, method, 0, settings.targets) for scene in SCENES for method in settings.methods]

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Plan the scene of a block once per row; the repeats differ in time only."""
        # Warm up: compile the kernels before the first timed plan.
        planned(block.case, block.method)
        seconds, plans = np.empty(block.count), []
        for k in range(block.count):
            began = time.perf_counter()
            plans.append(planned(block.case, block.method))
            seconds[k] = time.perf_counter() - began
        errors = np.array([_tip_error(one) for one in plans])
        reached = np.array([len(one) > 0 for one in plans]) & (errors < 1e-6)
        contacts = load_planar_scene(block.case).contacts
        judged = {
            "status": np.where(reached, "REACHED", "STALLED"),
            "reached": reached,
            "position_error": errors,
            "angle_error": np.zeros(block.count),
            "iterations": np.zeros(block.count, np.int64),
            "seconds": seconds,
            "solutions": np.array([len(one) for one in plans]),
            "contacts": np.full(block.count, 0 if contacts is None else len(contacts)),
        }
        return columns_of(self.name, block, settings, judged)

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield our counts and times with those of table 3.12, and the figures of the paths."""
        rows = []
        theirs = table("table-3.12-contact-planning")
        for scene, printed in zip(SCENES, theirs, strict=True):
            for method in run.methods:
                ours = run.frame.filter((run.frame["case"] == scene) & (run.frame["method"] == method))
                if not len(ours):
                    continue
                first = ours.row(0, named=True)
                median = float(ours["seconds"].median() or 0.0)
                given = method == GIVEN
                rows.append(
                    (
                        scene,
                        method,
                        str(first["contacts"]) if given else "–",
                        printed["contact_points"] if given else "–",
                        str(first["solutions"]),
                        printed["solutions"] if given else "–",
                        f"{median * 1e3:.2f} ms",
                        f"{float(printed['time_s']) * 1e3:g} ms" if given else "–",
                    )
                )
        columns = ("scene", "method", "contacts", "theirs", "solutions", "theirs", "median time", "theirs")
        yield Table(columns, tuple(rows), "Paths found.")
        from arcreach.figures import contact, contact_search

        figure = contact({scene: planned(scene, GIVEN) for scene in SCENES})
        yield Drawing("contact-paths", figure, "The paths found, and the shortest as an elastic rod ([K22] fig. 3.16).")
        figure = contact({"walls": planned("walls", GIVEN)}, width=120.0)
        yield Drawing(
            "contact-walls",
            figure,
            "Obstacles given as lines, and paths that lean on the inside of a wall ([K22] fig. 3.16).",
        )
        figure = contact_search(planned("pocket", GIVEN, trace=True))
        yield Drawing(
            "contact-search",
            figure,
            "Two rounds of the search in pocket: arcs that run into obstacles are discarded ([K22] fig. 2.12).",
        )


def _tip_error(plans: ContactPlans) -> float:
    """Return the distance from the target to the end of the shortest path; inf if there is no path."""
    if not len(plans):
        return float("inf")
    return float(np.hypot(*(np.asarray(plans[0].line()[-1]) - np.asarray(plans[0].target))))


EXPERIMENT = Contact(
    name="contact",
    title="Paths around obstacles",
    source="[K22] table 3.12, figs. 2.12 and 3.16",
    small=5,
    full=20,
    law="three scenes; every repeat plans the same paths",
    differences=(
        "The source does not print the coordinates of its scenes. Ours were drawn to have the same numbers of "
        "contacts and solutions. They show that the planner finds such paths. The printed counts and times are listed "
        "but not comparable.",
    ),
    count_printed=False,
    extras={"solutions": "Int64", "contacts": "Int64"},
)
