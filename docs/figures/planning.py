"""Draw docs/images: plan.png, a motion among 60 spheres, leader.png, a follow-the-leader motion, and timing.png, the
speeds and accelerations of a timed motion."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np

import arcreach as ar
from arcreach.figures import _style, save, scene

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.planning import arcs, blocked_pair

IMAGES = Path(__file__).parents[1] / "images"
CURVES = {
    "C": arcs((10.0, 0.1)),
    "J": arcs((0.0, 0.05), (15.0, 0.05)),
    "S": arcs((12.0, 0.05), (-12.0, 0.05)),
}


def plan() -> ar.Plan:
    robot, clutter = ar.load_robot("extensible-sections"), ar.load_scene("clutter-60")
    start, goal = blocked_pair(robot, clutter, 23)
    return ar.plan(robot, start, ar.Target(robot.tip_pose(goal)[:3, 3]), clutter, seed=1)


def leader() -> object:
    sections = ar.load_robot("extensible-sections").elements
    robot = ar.Robot([ar.Prismatic(-0.15, 0.05, name="insertion"), *sections])
    colours = (_style.BLUE, _style.ORANGE, _style.GREEN)
    with _style.style():
        figure = _style.new_figure(_style.TWO_COLUMNS, 78.0)
        panels = figure.subplots(2, 3, height_ratios=(3.0, 1.4), sharex="row", sharey="row")
        for column, (name, curve) in enumerate(CURVES.items()):
            path = ar.follow_the_leader(robot, curve)
            panel = panels[0, column]
            for i, row in enumerate((25, 50, 75, 99)):
                body = 1e3 * robot.backbone(path.q[row], 400)[:, [0, 2]] + [28.0 * i, 0.0]
                line = 1e3 * curve[:, [0, 2]] + [28.0 * i, 0.0]
                panel.plot(*line.T, color=_style.VERMILION, linewidth=0.6, zorder=3)
                draw_body(panel, robot, path.q[row], body, colours)
            panel.axhline(0.0, color=_style.PALE, linewidth=0.6, zorder=0)
            panel.set_aspect("equal")
            panel.set_ylim(-62.0, 108.0)
            panel.set_title(name)
            panel.set_xticks([])
            panel.spines["bottom"].set_visible(False)
            below = panels[1, column]
            below.plot(1e3 * path.depth, 1e3 * path.body_deviation, color=_style.INK)
            below.set_xlabel("depth of the tip (mm)")
            worst = 1e3 * path.worst_body_deviation
            below.set_ylim(0.0, 1.6)
            below.text(0.97, 0.93, f"worst {worst:.2f} mm", transform=below.transAxes, ha="right", va="top")
        panels[0, 0].set_ylabel("z (mm)")
        panels[1, 0].set_ylabel("body off the\ncurve (mm)")
        _style.settle(figure)
    return figure


def draw_body(panel, robot, q, body, colours):
    """Draw the sections in their colours."""
    stroke = 1e3 * abs(q[0])
    ends = np.cumsum([stroke, *(1e3 * q[k + 2] for k in (1, 4, 7))])
    along = np.linspace(0.0, ends[-1], len(body))
    for (low, high), colour in zip(itertools.pairwise(ends), colours, strict=True):
        part = (along >= low - 0.5) & (along <= high + 0.5)
        panel.plot(*body[part].T, color=colour, linewidth=2.6, solid_capstyle="butt", zorder=2, alpha=0.75)


def timing() -> object:
    """Draw a tip on a Lissajous curve: the norms of the rates of the bend vectors, and their limits."""
    robot = ar.load_robot("three-section")
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    curve = 0.01 * np.stack([np.sin(angle), np.sin(2.0 * angle), 0.0 * angle], axis=1)
    path = ar.follow(robot, np.add(curve, [0.02, 0.015, 0.9 * robot.reach]), position_tol=1e-9)
    assert path.reached
    motions = {
        "fastest": path.timed(1.0, 2.0, rate=1000),
        "max_jerk = 10 rad/s³": path.timed(1.0, 2.0, max_jerk=10.0, rate=1000),
    }
    colours = (_style.BLUE, _style.ORANGE, _style.GREEN)
    with _style.style():
        figure = _style.new_figure(_style.TWO_COLUMNS, 78.0)
        panels = figure.subplots(2, 2, sharex=True, sharey="row")
        for column, (name, motion) in enumerate(motions.items()):
            rows = (
                (motion.smooth_speed, 1.0, "speed (rad/s)"),
                (motion.smooth_acceleration, 2.0, "acceleration (rad/s²)"),
            )
            for panel, (rates, limit, label) in zip(panels[:, column], rows, strict=True):
                panel.axhline(limit, color=_style.VERMILION, linewidth=0.8, linestyle="--")
                for k, colour in enumerate(colours):
                    size = np.hypot(rates[:, 2 * k], rates[:, 2 * k + 1])
                    panel.plot(motion.times, size, color=colour, label=f"section {k + 1}")
                panel.set_ylim(0.0, 1.12 * limit)
                if not column:
                    panel.set_ylabel(label)
            panels[0, column].set_title(f"{name}: {motion.duration:.2f} s")
            panels[1, column].set_xlabel("time (s)")
        panels[0, 0].legend(loc="center right")
        _style.settle(figure)
    return figure


def main() -> None:
    save(scene(plan()), IMAGES / "plan.png")
    save(leader(), IMAGES / "leader.png")
    save(timing(), IMAGES / "timing.png")


if __name__ == "__main__":
    main()
