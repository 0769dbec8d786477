"""Draw docs/images: plan.png, a motion among 60 spheres, leader.png, a follow-the-leader motion, and timing.png, the
speeds and accelerations of a timed motion."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import arcreach as ar
from arcreach.figures import save, scene
from arcreach.figures.drawing import theme

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.follow_the_leader import CLASSES, bezier, placed, robots
from benchmarks.planning import blocked_pairs

IMAGES = Path(__file__).parents[1] / "images"


def plan() -> ar.Plan:
    robot, clutter = ar.load_robot("extensible-sections"), ar.load_scene("clutter-60")
    [(start, goal)] = blocked_pairs(robot, clutter, 1)
    return ar.plan(robot, start, ar.Target(robot.tip_pose(goal)[:3, 3]), clutter, seed=1)


def leader() -> object:
    bases = robots()
    shades = {"free base": theme.INK, "slide and roll": theme.ORANGE, "UR5": theme.BLUE}
    with theme.drawing(theme.TWO_COLUMNS, 88.0) as figure:
        panels = figure.subplots(2, 3, height_ratios=(3.0, 1.6))
        for column, (name, control) in enumerate(CLASSES.items()):
            curve = bezier(control)
            for base, (robot, scale) in bases.items():
                path = ar.follow_the_leader(robot, placed(base, scale, curve))
                if base == "free base":
                    draw_bodies(panels[0, column], path, curve)
                share = 100.0 * path.mean_deviation / (3.0 * scale)
                dashes = "--" if base == "UR5" else "-"
                panels[1, column].plot(path.depth / scale, share, dashes, color=shades[base], label=base)
            panels[0, column].set_title({"bezier": "Bézier"}.get(name, name))
            panels[1, column].set_xlabel("depth of the tip (m)")
            panels[1, column].set_ylim(0.0, 1.2)
        panels[1, 0].set_ylabel("mean deviation (%)")
        panels[1, 0].legend(loc="upper left", frameon=False)
    return figure


def draw_bodies(panel, path, curve):
    """Draw the sections at four depths, side by side, each in its colour, and the curve."""
    tail = ar.Robot(path.robot.elements[-3:])
    shift = 1.7 if np.ptp(curve[:, 0]) > 1.5 else 1.5
    for i, row in enumerate((20, 45, 70, 99)):
        frame = path.robot.frames(path.q[row])[-4]
        body = tail.backbone(path.q[row, -tail.dof :], 301) @ frame[:3, :3].T + frame[:3, 3]
        panel.plot(*(curve[:, [0, 2]] + [shift * i, 0.0]).T, color=theme.VERMILION, linewidth=0.6, zorder=3)
        for k, colour in enumerate((theme.BLUE, theme.ORANGE, theme.GREEN)):
            part = body[100 * k : 100 * k + 101, [0, 2]] + [shift * i, 0.0]
            panel.plot(*part.T, color=colour, linewidth=2.2, solid_capstyle="butt", zorder=2, alpha=0.75)
    panel.set_aspect("equal")
    left, low = panel.get_xlim()[0] - 0.7, panel.get_ylim()[0]
    panel.plot([left, left], [low, low + 1.0], color=theme.INK, linewidth=0.8)
    panel.text(left + 0.08, low + 0.5, "1 m", va="center")
    panel.axis("off")


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
    colours = (theme.BLUE, theme.ORANGE, theme.GREEN)
    with theme.drawing(theme.TWO_COLUMNS, 78.0) as figure:
        panels = figure.subplots(2, 2, sharex=True, sharey="row")
        for column, (name, motion) in enumerate(motions.items()):
            rows = (
                (motion.smooth_speed, 1.0, "speed (rad/s)"),
                (motion.smooth_acceleration, 2.0, "acceleration (rad/s²)"),
            )
            for panel, (rates, limit, label) in zip(panels[:, column], rows, strict=True):
                panel.axhline(limit, color=theme.VERMILION, linewidth=0.8, linestyle="--")
                for k, colour in enumerate(colours):
                    size = np.hypot(rates[:, 2 * k], rates[:, 2 * k + 1])
                    panel.plot(motion.times, size, color=colour, label=f"section {k + 1}")
                panel.set_ylim(0.0, 1.12 * limit)
                if not column:
                    panel.set_ylabel(label)
            panels[0, column].set_title(f"{name}: {motion.duration:.2f} s")
            panels[1, column].set_xlabel("time (s)")
        panels[0, 0].legend(loc="center right")
    return figure


def main() -> None:
    save(scene(plan()), IMAGES / "plan.png")
    save(leader(), IMAGES / "leader.png")
    save(timing(), IMAGES / "timing.png")


if __name__ == "__main__":
    main()
