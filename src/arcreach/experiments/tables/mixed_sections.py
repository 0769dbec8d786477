"""[K22] table 3.9: all robots of three fixed, extensible or telescopic sections, at 20 limits of the bend."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from arcreach.elements import Section
from arcreach.experiments import published
from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.engine.experiment import Printed, Reading
from arcreach.experiments.published import iterations_within, table
from arcreach.experiments.report import charts
from arcreach.experiments.report.parts import Drawing, Part, Table
from arcreach.figures.drawing import theme
from arcreach.figures.success import draw_shares
from arcreach.robots.robot import Robot

# Constant and variable length in metres of fixed, extensible and telescopic sections.
KINDS = {"F": (0.050, 0.0), "E": (0.025, 0.025), "T": (0.0, 0.050)}
BENDS = range(9, 181, 9)
# Targets of a case for the slower methods: 270 000 in all give a share to a fifth of a per cent.
SLOWER = 500
BUDGET = 0.030
READING, JACOBIAN_READING = "fabrikx reading", "jacobian reading"
# The source prints no damping; a smaller one changes the share by less than a point.
DAMPING = 0.01
# Millimetres of paper for a row of panels, and for the legend with the label of the axis.
PANEL, LEGEND = 36.0, 14.0


def uncoupled(robot: Robot) -> Robot:
    """Return the robot with the same limit of the bend at every length."""
    return Robot([replace(section, coupled=False) for section in robot.sections], name=robot.name)


def cases() -> list[Case]:
    """Return 27 robots with 20 limits each."""
    rows = [row for row in table("table-3.9-mixed-sections") if row["mean_time_ms"]]
    limits = {row["method"]: iterations_within(BUDGET, row) for row in rows}
    limits |= {READING: limits["fabrikx"], JACOBIAN_READING: limits["jacobian"]}
    found = []
    for kinds, bend in itertools.product(itertools.product(KINDS, repeat=3), BENDS):
        name = "".join(kinds)
        sections = [Section(KINDS[kind][0], float(np.radians(bend)), KINDS[kind][1]) for kind in kinds]
        labels = {"kinds": name, "bend": bend}
        found.append(Case(f"{name} {bend}°", Robot(sections, name=name), limits=limits, labels=labels))
    return found


def printed() -> list[Printed]:
    """Return table 3.9, over all cases."""
    return published.printed("table-3.9-mixed-sections", "", labels={"both": "portfolio"}, source="[K22] table 3.9")


def pictures(run: Any) -> Iterator[Part]:
    """Yield success against the limit of the bend, and by robot."""
    figure = charts.success_curves(run.by_label("bend"), "limit of the bend (°)")
    yield Drawing(
        "mixed-sections-bend",
        figure,
        "Share of targets reached against the limit of the bend, all 27 "
        "robots together; bands are 95 % Wilson intervals.",
    )
    figure = charts.worst_cases(run)
    yield Drawing(
        "mixed-sections-worst",
        figure,
        "Share of targets reached by each of the 27 robots (F fixed, "
        "E extensible, T telescopic, base first), all limits together.",
    )
    yield Drawing(
        "mixed-sections-robots",
        robot_panels(run),
        "Share of targets reached by each robot against the "
        "limit of the bend; bands are 95 % Wilson intervals ([K22] fig. 3.13).",
    )
    leads = largest_leads(run)
    if leads:
        yield Table(
            ("method", "ahead of jacobian by", "in case", "behind jacobian by", "in case"),
            leads,
            "Largest "
            "differences of the shares of a case, in points. The source prints that FABRIKx is ahead by up to "
            "76 %.",
            text_columns=1,
        )


def robot_panels(run: Any) -> theme.Figure:
    """Draw the share reached against the limit of the bend: the base section by row, the others by column."""
    labels = {case.name: case.labels for case in run.experiment.cases(run.settings)}
    counts: dict[str, dict[str, tuple[list[float], list[int], list[int]]]] = {}
    for one in run.summaries:
        bends, reached, asked = counts.setdefault(labels[one.case]["kinds"], {}).setdefault(one.method, ([], [], []))
        bends.append(labels[one.case]["bend"])
        reached.append(one.reached)
        asked.append(one.count)
    # Markers on every fifth point, at different points for different methods.
    looks = {
        method: {**one, "markevery": (k % 5, 5), "linewidth": 0.9}
        for k, (method, one) in enumerate(theme.look(run.methods).items())
    }
    kinds = list(KINDS)
    with theme.drawing(theme.TWO_COLUMNS, len(kinds) * PANEL + LEGEND) as figure:
        panels = figure.subplots(len(kinds), len(kinds) ** 2, sharex=True, sharey=True)
        for panel, name in zip(panels.flat, map("".join, itertools.product(kinds, repeat=3)), strict=True):
            draw_shares(panel, counts.get(name, {}), "", looks)
            panel.set_ylabel("")
            panel.set_title(name)
            panel.set_xlim(0, 180)
            panel.set_xticks((60, 120))
            panel.set_yticks((0, 50, 100))
            panel.grid(linewidth=0.3)
        panels[-1, len(kinds) ** 2 // 2].set_xlabel("limit of the bend (°)")
        for row in panels:
            row[0].set_ylabel("reached (%)")
        theme.legend_below(figure, theme.look(run.methods))
    return figure


def largest_leads(run: Any) -> tuple[tuple[str, ...], ...]:
    """Return rows: a method, its largest lead over jacobian in points, the case, its largest deficit, the case."""
    shares = {(one.method, one.case): one.share for one in run.summaries}
    rows = []
    for method in ("fabrikx", READING):
        leads = {
            case: share - shares["jacobian", case]
            for (name, case), share in shares.items()
            if name == method and ("jacobian", case) in shares
        }
        if leads:
            best, worst = max(leads, key=leads.__getitem__), min(leads, key=leads.__getitem__)
            rows.append((method, f"{leads[best]:.1f}", best, f"{-leads[worst]:.1f}", worst))
    return tuple(rows)


EXPERIMENT = Comparison(
    name="mixed-sections",
    title="Sections of fixed and variable length",
    source="[K22] tables 3.8 and 3.9, fig. 3.13",
    small=200,
    full=10_000,
    timed=40,
    law="bend uniform from 0 to the limit that the length allows, direction uniform over a turn, length uniform over "
    "its range; position and axis within 1 µm and 1e-3 rad",
    readings=(
        Reading(
            "fabrikx",
            READING,
            "fabrikx and targets whose bend has the same limit at every length, without eq. 2.5",
            remains="The worst case and the iterations stay open: sections of small bends converge slowly.",
        ),
        Reading(
            "jacobian",
            JACOBIAN_READING,
            "eq. 1.18 as printed, in bend, direction and length with a constant damping, from a straight start, and "
            "targets without eq. 2.5",
            remains="Start and coordinates explain why fewer targets are reached, but not the exact share; the "
            "source does not print more of the method.",
        ),
    ),
    reasons={
        "jacobian": "The source does not print in full which Jacobian method it uses, nor its damping and start; "
        "ours is damped least squares with the exact Jacobian.",
        "both": "It runs fabrikx, then jacobian, and differs as these do.",
    },
    differences=(
        "The limit of the bend and the length are coupled, as in the source's model, except in the reading.",
        "Instead of the authors' limit of 30 ms, fabrikx and jacobian have the iterations that they complete in it "
        "on the authors' machine, so that rows do not depend on a clock.",
        f"At the authors' number of targets auto solves all of them, the slower methods {SLOWER} of each case.",
    ),
    make_cases=cases,
    calls=(
        Call("auto", "auto"),
        Call("fabrikx", "fabrikx", most=SLOWER),
        Call(READING, "fabrikx", most=SLOWER, robot_of=uncoupled),
        Call("jacobian", "jacobian", most=SLOWER),
        Call(JACOBIAN_READING, "dls", "published", {"damping": DAMPING}, most=SLOWER, robot_of=uncoupled),
        Call("portfolio", "portfolio", most=SLOWER),
    ),
    budget=BUDGET,
    pictures=pictures,
    make_printed=printed,
    failed={"fabrikx": (0.22e-3, 0.06), "jacobian": (3.62e-3, 0.1)},
)
