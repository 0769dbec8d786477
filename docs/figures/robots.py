"""Draw docs/images/robots.png: a continuum robot, a serial arm, and an arm with a bending tool."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from view import BLUE, GREY, GROUND, INK, SKY, STEEL, View

import arcreach as ar

OUTPUT = Path(__file__).parents[1] / "images" / "robots.png"


def ground(view: View, radius: float) -> None:
    t = np.linspace(0.0, 2.0 * math.pi, 80)
    view.fill(radius * np.column_stack([np.cos(t), np.sin(t), np.zeros_like(t)]), GROUND, zorder=0)


def draw(view: View, robot: ar.Robot, q: np.ndarray, widths: tuple[float, float], alpha: float = 1.0) -> None:
    """Draw the centre line of a robot: rigid elements grey, sections blue, joints as dots."""
    frames = robot.frames(q)
    k = 0
    for before, element in zip(frames[:-1], robot.elements, strict=True):
        here = q[k : k + len(element.coordinates)]
        k += len(here)
        line = ar.Robot([element]).backbone(here, points=40) @ before[:3, :3].T + before[:3, 3]
        if element.kind == "section":
            view.line(line, color=SKY, linewidth=widths[1], alpha=alpha, zorder=4)
            view.axes.plot(*view(line[-1]), "o", color=BLUE, markersize=2.6, alpha=alpha, zorder=6)
        elif element.reach:
            view.line(line, color=STEEL, linewidth=widths[0], zorder=3)
        else:
            view.axes.plot(*view(before[:3, 3]), "o", color=INK, markersize=3.2, zorder=5)


def main() -> None:
    figure, panels = plt.subplots(1, 3, figsize=(7.16, 2.5), width_ratios=(1.0, 1.0, 1.0))
    views = [View(axes, azimuth=-50.0, elevation=20.0) for axes in panels]
    rad = np.radians

    continuum = ar.load_robot("three-section")
    ground(views[0], 0.02)
    for bends, turn in (
        ((60, 60, 60), 40),
        ((45, 40, 35), 40),
        ((25, 20, 20), 40),
        ((30, 30, 30), 220),
        ((60, 55, 50), 220),
    ):
        q = rad(np.array([[bend, turn] for bend in bends]).ravel())
        draw(views[0], continuum, q, (0, 3.2), alpha=0.35)
    draw(views[0], continuum, rad(np.array([50.0, 40, 55, 220, 60, 130])), (0, 3.8))

    ground(views[1], 0.22)
    draw(views[1], ar.load_robot("puma-560"), rad(np.array([40.0, 50, -150, 0, -40, 0])), (6.0, 0))

    ground(views[2], 0.16)
    q = rad(np.array([200.0, -80, 80, -90, -90, 0, 50, 30, 80, -150, 80, 40]))
    draw(views[2], ar.load_robot("ur5-bending-tool"), q, (6.0, 3.2))

    # Scale each robot to its panel, with all three bases at the same height.
    for view, left, width in zip(views, (-0.083, -0.36, -0.22), (0.17, 1.26, 0.86), strict=True):
        view.window(left, left + width, -0.11 * width, 0.82 * width)

    figure.subplots_adjust(left=0.01, right=0.99, top=0.97, bottom=0.11, wspace=0.05)
    for k, text in enumerate(("bends: three-section", "hinges: puma-560", "does both: ur5-bending-tool")):
        figure.text((k + 0.5) / 3, 0.05, text, ha="center", va="center", color=GREY)
    figure.savefig(OUTPUT, dpi=200, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
