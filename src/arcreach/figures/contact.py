"""Draw the plans of planar bodies: paths around obstacles, the search for them, the elastic rod, and grasps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from arcreach import _text
from arcreach._checks import whole
from arcreach._typing import Array
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.planar import (
    draw_base,
    draw_body,
    draw_candidates,
    draw_obstacles,
    draw_target,
    finish_panel,
)
from arcreach.figures.drawing.theme import BLUE, COLOURS, GREEN, GREY, INK, MM, ORANGE, PURPLE, SKY, VERMILION
from arcreach.planning.contact.contact_plan import FORWARD, ContactPlan, ContactPlans, SearchArc, line_of
from arcreach.planning.contact.grasp_plan import GraspPlan, arcs_of
from arcreach.scenes.planar import Disc

# Colours of the paths, shortest first; the last colour is used for all further paths.
PATHS = (BLUE, VERMILION, PURPLE, ORANGE, SKY)
# Heights in millimetres of a row of panels, of the panels of a search and of a grasp, and of the legend.
ROW, SEARCH, GRASP, LEGEND = 52.0, 66.0, 72.0, 12.0
# Points on an arc of a search.
POINTS = 120
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
# Colour of a grasped object.
OBJECT = "#F7E3B5"
# Possible contacts in a legend.
CANDIDATE = {"color": GREEN, "marker": ".", "markersize": 3.5, "linestyle": "none"}
# Number of moments of the motion drawn in the first panel of a grasp.
SHAPES = 9


def contact(
    plans: Mapping[str, ContactPlans], *, rod: bool = True, width: theme.Width = theme.TWO_COLUMNS
) -> theme.Figure:
    """Draw the paths found in several scenes side by side; `rod` adds a row with the shortest as an elastic rod.

    `width` is in millimetres.
    """
    width = theme.millimetres(width)
    if not plans:
        raise MethodError("plans is empty; give at least one scene with its title")
    rows = 2 if rod and any(len(found) for found in plans.values()) else 1
    with theme.drawing(width, rows * ROW + LEGEND) as figure:
        panels = figure.subplots(rows, len(plans), squeeze=False, sharex="col", sharey="col")
        for column, (title, found) in enumerate(plans.items()):
            _draw_paths(panels[0, column], found)
            room = width / len(plans)
            finish_panel(panels[0, column], theme.title_lines(f"{title}: {_text.count(len(found), 'solution')}", room))
            if rows == 2:
                _draw_rod(panels[1, column], found, room)
            panels[-1, column].set_xlabel("x (mm)")
        for panel in panels[:, 0]:
            panel.set_ylabel("z (mm)")
        # At the width of one column two columns fit at a smaller font size.
        size = 8.0 if width >= theme.TWO_COLUMNS else 7.0
        theme.legend_below(figure, _path_legend(rows == 2), 4, fontsize=size)
    return figure


def contact_motion(plan: ContactPlan, *, moments: int = 6, width: theme.Width = theme.TWO_COLUMNS) -> theme.Figure:
    """Draw the body as it grows along a path, in a row of `moments` panels."""
    width = theme.millimetres(width)
    whole("moments", moments, 2, MethodError)
    line = plan.line()
    low, high = _extent(plan)
    height = width / moments * (high[1] - low[1]) / (high[0] - low[0])
    with theme.drawing(width, float(np.clip(height, 20.0, 90.0)) + 6.0) as figure:
        panels = figure.subplots(1, moments, sharex=True, sharey=True)
        for panel, frame in zip(panels, plan.frames(moments), strict=True):
            draw_obstacles(panel, plan.surroundings.obstacles)
            panel.plot(*(line * MM).T, color=GREY, linewidth=0.5, linestyle=(0, (2, 2)), zorder=2.0)
            draw_body(panel, frame, plan.body.radius, BLUE)
            draw_base(panel)
            draw_target(panel, plan.target)
            grown = float(np.hypot(*np.diff(frame, axis=0).T).sum())
            finish_panel(panel, f"{grown * MM:.0f} mm")
            panel.set_axis_off()
    return figure


def contact_search(plans: ContactPlans, *, rounds: int = 2, width: theme.Width = theme.TWO_COLUMNS) -> theme.Figure:
    """Draw the first rounds of a search side by side: arcs from the base, then from the ends of the arcs kept before.

    `plans` is the result of `plan_contact(..., trace=True)`; `width` is in millimetres. Source: [K22] fig. 2.12.
    """
    width = theme.millimetres(width)
    if not plans.search:
        raise MethodError("plans has no search; give the result of plan_contact(..., trace=True)")
    last = max(arc.round for arc in plans.search)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= last:
        raise MethodError(f"rounds = {rounds!r} is not accepted; give 1 to {last}, the rounds of this search")
    with theme.drawing(width, SEARCH + LEGEND) as figure:
        panels = figure.subplots(1, rounds, squeeze=False, sharex=True, sharey=True)[0]
        for k, panel in enumerate(panels, start=1):
            _draw_scene(panel, plans)
            draw_candidates(panel, plans)
            for arc in plans.search:
                line = arc.points(np.linspace(0.0, arc.length, POINTS)) * MM
                if arc.round == k and arc.outcome in LOOKS:
                    panel.plot(*line.T, **LOOKS[arc.outcome][1])
                elif arc.round < k and arc.outcome == SearchArc.KEPT:
                    panel.plot(*line.T, color=GREY, linewidth=0.8, zorder=2.0)
            tried = [arc.outcome for arc in plans.search if arc.round == k]
            title = f"round {k}: {tried.count(SearchArc.KEPT)} of {len(tried)} arcs kept"
            finish_panel(panel, theme.title_lines(title, width / rounds))
            panel.set_xlabel("x (mm)")
        panels[0].set_ylabel("z (mm)")
        theme.legend_below(figure, _search_legend(plans, rounds), 3)
    return figure


def grasp(plan: GraspPlan, *, title: str = "", width: theme.Width = theme.TWO_COLUMNS) -> theme.Figure:
    """Draw the motion of a grasp and the final shape by sections, side by side; `width` is in millimetres."""
    width = theme.millimetres(width)
    with theme.drawing(width, GRASP) as figure:
        moving, held = figure.subplots(1, 2, sharex=True, sharey=True)
        for panel in (moving, held):
            _draw_grasp_scene(panel, plan)
            panel.set_xlabel("x (mm)")
        _draw_motion(moving, plan)
        _draw_sections(held, plan)
        finish_panel(moving, f"{title}: approach and wrap" if title else "approach and wrap")
        finish_panel(held, f"wrap {math.degrees(plan.wrap_angle):.0f}°, body {plan.length * MM:.0f} mm")
        moving.set_ylabel("z (mm)")
        theme.legend_below(figure, _grasp_legend(plan))
    return figure


def _extent(plan: ContactPlan) -> tuple[Array, Array]:
    """Return the corners of the bounding box of a plan and its obstacles."""
    points = [plan.line(), np.array([plan.target])]
    for shape in plan.surroundings.obstacles:
        if isinstance(shape, Disc):
            points.append(np.array(shape.centre) + shape.radius * np.array([[-1.0, -1.0], [1.0, 1.0]]))
        else:
            points.append(np.array(shape.points))
    everything = np.concatenate(points)
    return everything.min(axis=0), everything.max(axis=0)


def _draw_scene(panel: Any, found: ContactPlans) -> None:
    draw_obstacles(panel, found.surroundings.obstacles)
    draw_base(panel)
    draw_target(panel, found.target)


def _draw_paths(panel: Any, found: ContactPlans) -> None:
    _draw_scene(panel, found)
    draw_candidates(panel, found)
    for i in reversed(range(len(found))):
        colour = PATHS[min(i, len(PATHS) - 1)]
        draw_body(panel, found[i].line(), found.body.radius, colour, zorder=3.0 if i else 3.5)
        for arc in found[i].arcs[:-1]:
            assert arc.contact is not None
            marker = "^" if arc.kind == FORWARD else "v"
            at = arc.contact[0] * MM, arc.contact[1] * MM
            panel.plot(*at, marker, **theme.hollow(colour, 4.5, 0.9), zorder=5.0)


def _draw_rod(panel: Any, found: ContactPlans, room: float) -> None:
    _draw_scene(panel, found)
    if not len(found):
        finish_panel(panel, "")
        return
    plan = found[0]
    panel.plot(*(plan.line() * MM).T, color=BLUE, linewidth=0.8, alpha=0.6, zorder=3.0)
    panel.plot(*(plan.rod.line * MM).T, color=INK, linestyle=(0, (4, 1.5)), zorder=3.2)
    if plan.repair.converged:
        panel.plot(*(plan.repair.line * MM).T, color=GREEN, zorder=3.1)
    away = plan.rod.deviation(plan.target) * MM
    text = f"rod {away:.0f} mm off" if plan.rod.converged else "no equilibrium of the rod"
    finish_panel(panel, theme.title_lines(text, room))


def _path_legend(rod: bool) -> list[Any]:
    hollow = {"linestyle": "none", **theme.hollow(INK, 4.5)}
    handles = [
        theme.handle("shortest path", color=BLUE),
        theme.handle("longer paths", color=VERMILION),
        theme.handle("forward-blocking contact", marker="^", **hollow),
        theme.handle("backward-blocking contact", marker="v", **hollow),
        theme.handle("possible contact", **CANDIDATE),
    ]
    if rod:
        handles += [
            theme.handle("elastic rod, same actuation", color=INK, linestyle=(0, (4, 1.5))),
            theme.handle("elastic rod, repaired", color=GREEN),
        ]
    return handles


def _search_legend(plans: ContactPlans, rounds: int) -> list[Any]:
    shown = {arc.outcome for arc in plans.search if arc.round <= rounds}
    handles = [theme.handle(label, **look) for outcome, (label, look) in LOOKS.items() if outcome in shown]
    if rounds > 1:
        handles.append(theme.handle("kept in an earlier round", color=GREY, linewidth=0.8))
    return [*handles, theme.handle("possible contact", **CANDIDATE)]


def _draw_grasp_scene(panel: Any, plan: GraspPlan) -> None:
    from matplotlib.patches import Circle

    draw_obstacles(panel, [shape for shape in plan.surroundings.obstacles if shape != plan.object])
    draw_obstacles(panel, [plan.object], OBJECT, ORANGE)
    centre = (plan.centre[0] * MM, plan.centre[1] * MM)
    style: dict[str, Any] = {"fill": False, "edgecolor": GREY, "linewidth": 0.6, "linestyle": (0, (2, 2))}
    panel.add_patch(Circle(centre, plan.object_radius * MM, zorder=2.0, **style))
    draw_base(panel)


def _draw_motion(panel: Any, plan: GraspPlan) -> None:
    frames = plan.frames()
    chosen = np.unique(np.linspace(0, len(frames) - 1, SHAPES).round().astype(int))
    for k, alpha in zip(chosen[:-1], np.linspace(0.25, 1.0, len(chosen)), strict=False):
        panel.plot(*(frames[k] * MM).T, color=BLUE, linewidth=0.7, alpha=alpha, zorder=3.0)
    draw_body(panel, frames[-1], plan.radius, BLUE, zorder=4.0)


def _colours(plan: GraspPlan) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(len(plan.pieces))]


def _draw_sections(panel: Any, plan: GraspPlan) -> None:
    for arc, colour in zip(arcs_of(plan.pieces), _colours(plan), strict=True):
        draw_body(panel, line_of([arc], 100), plan.radius, colour, zorder=4.0)
    touched = np.array(plan.touched).reshape(-1, 2) * MM
    panel.plot(*touched.T, "o", **theme.hollow(VERMILION, 3.5), zorder=6.0)


def _grasp_legend(plan: GraspPlan) -> list[Any]:
    several = plan.q is not None
    names = []
    for i in range(len(plan.pieces)):
        part = "approach" if i < len(plan.approach) else "wrap"
        names.append(f"section {i + 1}, {part}" if several else part)
    handles = [theme.handle(name, color=colour) for name, colour in zip(names, _colours(plan), strict=True)]
    handles.append(theme.handle("smallest enclosing circle", color=GREY, linewidth=0.6, linestyle=(0, (2, 2))))
    return [*handles, theme.handle("touched", marker="o", linestyle="none", **theme.hollow(VERMILION, 3.5))]
