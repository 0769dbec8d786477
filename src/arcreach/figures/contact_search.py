"""Draw the search of the contact planner: the arcs that it tries round by round, kept and discarded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.planar import draw_base, draw_candidates, draw_obstacles, draw_target, finish_panel
from arcreach.figures.drawing.theme import BLUE, GREEN, GREY, MM, ORANGE, VERMILION
from arcreach.planning.contact.contact_plan import ContactPlans, SearchArc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 120
PANEL, LEGEND = 66.0, 12.0
# Arcs that the robot's limits exclude are left out: they would lead far outside the scene.
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    SearchArc.KEPT: ("kept", {"color": BLUE, "linestyle": "-", "linewidth": 1.1, "zorder": 4.0}),
    SearchArc.OBSTACLE: (
        "discarded: runs into an obstacle",
        {"color": VERMILION, "linestyle": (0, (4, 1.5)), "linewidth": 0.7, "zorder": 3.0},
    ),
    SearchArc.RULE: (
        "discarded: wrong kind of contact",
        {"color": ORANGE, "linestyle": (0, (1, 1)), "linewidth": 0.9, "zorder": 3.1},
    ),
}


def contact_search(plans: ContactPlans, *, rounds: int = 2, width: float = theme.TWO_COLUMNS) -> Figure:
    """Draw the first rounds of a search side by side: arcs from the base, then from the ends of the arcs kept before.

    `plans` is the result of `plan_contact(..., trace=True)`; `width` is in millimetres. Source: [K22] fig. 2.12.
    """
    if not plans.search:
        raise MethodError("plans has no search; give the result of plan_contact(..., trace=True)")
    last = max(arc.round for arc in plans.search)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= last:
        raise MethodError(f"rounds = {rounds!r} is not accepted; give 1 to {last}, the rounds of this search")
    with theme.style():
        figure = theme.new_figure(width, PANEL + LEGEND)
        panels = figure.subplots(1, rounds, squeeze=False, sharex=True, sharey=True)[0]
        for k, panel in enumerate(panels, start=1):
            draw_obstacles(panel, plans.surroundings.obstacles)
            draw_candidates(panel, plans)
            draw_base(panel)
            draw_target(panel, plans.target)
            for arc in plans.search:
                line = arc.points(np.linspace(0.0, arc.length, POINTS)) * MM
                if arc.round == k and arc.outcome in LOOKS:
                    panel.plot(*line.T, **LOOKS[arc.outcome][1])
                elif arc.round < k and arc.outcome == SearchArc.KEPT:
                    panel.plot(*line.T, color=GREY, linewidth=0.8, zorder=2.0)
            tried = [arc.outcome for arc in plans.search if arc.round == k]
            finish_panel(panel, f"round {k}: {tried.count(SearchArc.KEPT)} of {len(tried)} arcs kept")
            panel.set_xlabel("x (mm)")
        panels[0].set_ylabel("z (mm)")
        figure.legend(handles=_legend(plans, rounds), loc="outside lower center", ncols=3)
        theme.settle(figure)
    return figure


def _legend(plans: ContactPlans, rounds: int) -> list[Any]:
    from matplotlib.lines import Line2D

    shown = {arc.outcome for arc in plans.search if arc.round <= rounds}
    handles = [Line2D([], [], label=label, **look) for outcome, (label, look) in LOOKS.items() if outcome in shown]
    if rounds > 1:
        handles.append(Line2D([], [], color=GREY, linewidth=0.8, label="kept in an earlier round"))
    dots = Line2D([], [], color=GREEN, marker=".", markersize=3.5, linestyle="none", label="possible contact")
    return [*handles, dots]
