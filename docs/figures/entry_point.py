"""Draw docs/images/entry-point.png: robots that reach several targets through one port."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from robots import draw, ground
from view import GREY, INK, VERMILION, View

import arcreach as ar

OUTPUT = Path(__file__).parents[1] / "images" / "entry-point.png"


def ring(view: View, port: ar.Port, radius: float) -> None:
    """Draw a ring around a port, normal to z."""
    t = np.linspace(0.0, 2.0 * math.pi, 60)
    circle = radius * np.column_stack([np.cos(t), np.sin(t), np.zeros_like(t)]) + port.point
    view.line(circle, color=VERMILION, linewidth=1.6, zorder=7)


def panel(
    view: View,
    robot: ar.Robot,
    start: np.ndarray,
    port: ar.Port,
    targets: list[ar.Target],
    widths: tuple[float, float],
) -> None:
    """Draw the robot at every target, each solved from `start`, all but the last pale."""
    solutions = [ar.solve(robot, target, start=start, through=port) for target in targets]
    assert all(solution.reached for solution in solutions), [str(solution) for solution in solutions]
    for solution in solutions:
        draw(view, robot, solution.q, widths, alpha=1.0 if solution is solutions[-1] else 0.35)
        view.axes.plot(*view(solution.target.position), "x", color=INK, markersize=4.0, zorder=8)


def main() -> None:
    figure, panels = plt.subplots(1, 2, figsize=(7.16, 3.2))
    views = [View(axes, azimuth=-60.0, elevation=18.0) for axes in panels]
    turns = np.linspace(0.0, 2.0 * math.pi, 5, endpoint=False)

    ground(views[0], 0.03)
    port = ar.Port([0.0, 0.0, 0.07], [0.0, 0.0, 1.0], radius=1e-3, axis_tol=math.radians(10.0))
    targets = [ar.Target([0.035 * math.cos(t), 0.035 * math.sin(t), 0.12]) for t in turns]
    robot = ar.load_robot("inserted-three-section")
    panel(views[0], robot, robot.neutral, port, targets, (3.0, 3.6))
    ring(views[0], port, 0.006)

    ground(views[1], 0.16)
    robot = ar.load_robot("ur5-bending-tool")
    port = ar.Port([0.5, 0.0, 0.25], [0.0, 0.0, -1.0], radius=2e-3, axis_tol=math.radians(30.0), first="section-1")
    targets = [
        ar.Target([0.5 + 0.06 * math.cos(t), 0.06 * math.sin(t), 0.18], axis=[math.cos(t), math.sin(t), -1.0])
        for t in turns
    ]
    start = np.radians([200.0, -80, 80, -90, -90, 0, 20, 0, 20, 0, 20, 0])
    panel(views[1], robot, start, port, targets, (5.0, 3.0))
    ring(views[1], port, 0.02)

    figure.subplots_adjust(left=0.01, right=0.99, top=0.99, bottom=0.08, wspace=0.03)
    for k, text in enumerate(("inserted-three-section", "ur5-bending-tool")):
        figure.text((k + 0.5) / 2, 0.04, text, ha="center", va="center", color=GREY)
    figure.savefig(OUTPUT, dpi=200, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
