"""[K22a] figs. 5 to 7: FABRIK on tangents and on chords, for small and large bends and two limits of the bend."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arcreach.elements import Section
from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.report import charts
from arcreach.experiments.report.parts import Drawing, Part, Table
from arcreach.experiments.report.statistics import Summary, time_text
from arcreach.ik.target import Target
from arcreach.robots.robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECTIONS = (3, 5, 10)
BENDS = (30, 60, 90, 120, 180)
WIDE = 360
LINKS = (
    ("fabrikc", "Tangents of two sections, fabrikc", "[K22] fig. 1.5, [K22a] fig. 2"),
    ("fabrikx", "Tangents and chords of three sections, fabrikx", "[K22] fig. 2.7"),
    ("chords", "Chords of two sections", "[K22a] fig. 3"),
)
TANGENTS, CHORDS = "fabrikc", ("chords on-arrival", "chords always")


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
    """Yield success, time and iterations against the bend, first iterations, and the source's statements."""
    for n, figure in zip(SECTIONS, "567", strict=True):
        panels = {f"limit {limit}": run.by_label("bend", sections=n, limit=limit) for limit in (f"{WIDE}°", "as drawn")}
        drawn = charts.method_curves(panels, "largest bend of the targets (°)", means=True)
        yield Drawing(
            f"tangents-chords-{n}",
            drawn,
            f"{n} sections: share reached, and time and iterations of targets "
            f"that were reached, filled marks their medians, hollow ones their means ([K22a] fig. {figure}, "
            "[K22] figs. 3.10 to 3.12).",
        )
    for name, label, sources in LINKS:
        drawn = first_iteration(name)
        yield Drawing(
            f"virtual-links-{name}", drawn, f"{label}: the first iteration for a target of our own ({sources})."
        )
    found = statements(run)
    if found:
        yield Table(
            ("statement", "method", "here", "verdict"),
            found,
            f"Conclusions of the source from its figures, about tangents ({TANGENTS}) and chords.",
            prose=True,
        )


def first_iteration(method: str) -> Figure:
    """Draw the first iteration of a method, on as many sections as the sources: three for fabrikx, two otherwise."""
    from arcreach.figures import virtual_links
    from arcreach.ik.solve import solve

    n = 3 if method == "fabrikx" else 2
    robot = Robot([Section(0.100, math.radians(180.0))] * n)
    # Planar, as in the sources: the start bends to one side, the target configuration is S-shaped.
    start, goal = (
        [value for bend in bends for value in (abs(bend), 0.0 if bend > 0.0 else math.pi)]
        for bends in ((0.5, 0.6, 0.4)[:n], (0.9, -1.4, 1.1)[:n])
    )
    pose = robot.tip_pose(goal)
    return virtual_links(solve(robot, Target(pose[:3, 3], axis=pose[:3, 2]), method, start=start, trace=True))


def statements(run: Any) -> tuple[tuple[str, str, str, str], ...]:
    """Return rows: a statement of the source, the method it is about, the result of the run, and a verdict."""
    return tuple(dict.fromkeys(row for label in CHORDS for row in _statements(run, label)))


def _statements(run: Any, chords: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the statements for tangents and one variant of chords."""
    pairs: dict[tuple[bool, int, int], tuple[Summary, Summary]] = {}
    for n, wide in itertools.product(SECTIONS, (True, False)):
        curves = run.by_label("bend", sections=n, limit=f"{WIDE}°" if wide else "as drawn")
        both = dict(curves.get(TANGENTS, ())), dict(curves.get(chords, ()))
        pairs |= {(wide, n, int(bend)): (both[0][bend], both[1][bend]) for bend in both[0] if bend in both[1]}
    if not pairs:
        return

    free = {key[1:]: pair for key, pair in pairs.items() if key[0]}
    bound = {key[1:]: pair for key, pair in pairs.items() if not key[0]}
    as_said = [(one.share >= other.share) != (n == 3 and bend < 120) for (n, bend), (one, other) in free.items()]
    yield (
        "Without a limit tangents reach more, except three sections below 120°",
        chords,
        f"as stated in {sum(as_said)} of {len(as_said)} cases",
        _verdict(as_said),
    )
    chord_shares = [pair[1].share for pair in free.values()]
    yield (
        "Without a limit chords stay at about 85 %",
        chords,
        f"{min(chord_shares):.1f} to {max(chord_shares):.1f} %, mean {np.mean(chord_shares):.1f} %",
        _verdict([abs(one - 85.0) <= 5.0 for one in chord_shares]),
    )
    by_n = [float(np.mean([pair[0].share for key, pair in free.items() if key[0] == n])) for n in SECTIONS]
    yield (
        "Without a limit tangents rise to 100 % with the number of sections",
        TANGENTS,
        ", ".join(f"{one:.1f} %" for one in by_n) + f" for {', '.join(map(str, SECTIONS))} sections",
        _verdict([by_n == sorted(by_n), by_n[-1] >= 99.5]),
    )
    timed = [pair for pair in free.values() if all(one.reached and math.isfinite(one.mean_time) for one in pair)]
    if timed:
        slowest, fastest = max(pair[0].mean_time for pair in timed), min(pair[1].mean_time for pair in timed)
        yield (
            "Without a limit tangents are faster: mean times below 2 ms, those of chords above",
            chords,
            f"tangents at most {time_text(slowest)}, chords at least {time_text(fastest)}; tangents faster in "
            f"{sum(one.mean_time < other.mean_time for one, other in timed)} of {len(timed)} cases",
            _verdict([one.mean_time < other.mean_time for one, other in timed]),
        )
        each = [(one.mean_time / one.mean_iterations, other.mean_time / other.mean_iterations) for one, other in timed]
        yield (
            "An iteration of chords costs more",
            chords,
            f"{min(b / a for a, b in each):.2g} to {max(b / a for a, b in each):.2g} times as much",
            _verdict([b > a for a, b in each]),
        )
        long = [pair for key, pair in free.items() if key[0] > 3 and pair in timed]
        fewer = [one.mean_iterations < other.mean_iterations for one, other in long]
        if fewer:
            yield (
                "For five and ten sections tangents need fewer iterations",
                chords,
                f"in {sum(fewer)} of {len(fewer)} cases",
                _verdict(fewer),
            )
    gaps = {key: pair[1].share - pair[0].share for key, pair in bound.items()}
    if gaps:
        n, bend = max(gaps, key=lambda key: gaps[key])
        more = [gap >= 0.0 for gap in gaps.values()]
        yield (
            "With limits chords reach more, by up to 30 %",
            chords,
            f"more in {sum(more)} of {len(more)} cases, by up to {gaps[n, bend]:.1f} points ({n} sections, {bend}°)",
            _verdict([*more, abs(gaps[n, bend] - 30.0) <= 5.0]),
        )


def _verdict(held: Sequence[bool]) -> str:
    return "holds" if all(held) else "holds in part" if 2 * sum(held) >= len(held) else "does not hold"


EXPERIMENT = Comparison(
    name="tangents-chords",
    title="Tangents and chords",
    source="[K22a] figs. 2, 3 and 5 to 7, [K22] figs. 1.5, 2.7 and 3.10 to 3.12",
    small=2_000,
    full=100_000,
    timed=200,
    law="bend uniform from 0 to 30, 60, 90, 120 or 180°, direction uniform over a turn, whatever the limit in the "
    "solve; position and axis within 1 µm and 1e-3 rad",
    differences=(
        "The source prints figures and no numbers, so the table has no printed numbers.",
        "As printed, the chain turns away from the wanted axis and next to nothing is reached; ours turns towards it, "
        "in every iteration (chords always) or after arrival (chords on-arrival).",
        "Instead of the authors' limit of 30 ms, ours end after 300 iterations.",
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
