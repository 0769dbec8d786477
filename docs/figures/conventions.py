"""Draw docs/images/conventions.png: the coordinates of a section and the frames of a chain."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from view import GREY, GROUND, ORANGE, PLANE, PURPLE, SKY, STEEL, View

import arcreach as ar

OUTPUT = Path(__file__).parents[1] / "images" / "conventions.png"
UP = np.array([0.0, 0.0, 1.0])


def turn(start: np.ndarray, end: np.ndarray, angle: float, radius: float, centre: np.ndarray) -> np.ndarray:
    """Return points of an arc from the unit vector `start` towards the unit vector `end` normal to it."""
    t = np.linspace(0.0, angle, 40)[:, None]
    return centre + radius * (np.cos(t) * start + np.sin(t) * end)


def draw_section(view: View) -> None:
    """Draw panel a: one section, its bending plane and its coordinates."""
    bend, direction, length = math.radians(78.0), math.radians(38.0), 1.0
    robot = ar.Robot([ar.Section(length=length, bend_max=math.pi)])
    q = np.array([bend, direction])
    curve = robot.backbone(q, points=101)
    base, end = robot.frames(q)
    tip = end[:3, 3]
    origin, x, y = np.zeros(3), base[:3, 0], base[:3, 1]
    out = math.cos(direction) * x + math.sin(direction) * y  # direction of bending

    # The base plane with the direction angle, and the bending plane perpendicular to it.
    view.fill([origin, *turn(x, y, math.pi / 2, 0.62, origin)], GROUND)
    wide, high = 0.98, 0.98
    view.fill([origin, wide * out, wide * out + high * UP, high * UP], PLANE, alpha=0.7)
    view.line([origin, wide * out], color=GREY, linewidth=0.8)
    view.line([origin, 0.62 * x], color=GREY, linewidth=0.8)
    view.line(turn(x, y, direction, 0.52, origin), color=ORANGE, linewidth=1.5)
    view.text(turn(x, y, 0.55 * direction, 0.52, origin)[-1], r"direction $\varphi$", (7, -5), ha="left")
    view.text(wide * out + high * UP, "bending plane", (-4, -9), color=GREY, ha="right")

    # The base tangent and the end tangent, extended to their intersection, and the bend between them.
    meet = length / bend * math.tan(bend / 2) * UP
    view.line([origin, high * UP], color=GREY, linewidth=0.8, linestyle=(0, (4, 2)))
    view.line([meet, tip], color=GREY, linewidth=0.8, linestyle=(0, (4, 2)))
    view.line(turn(UP, out, bend, 0.19, meet), color=ORANGE, linewidth=1.5)
    view.text(turn(UP, out, 0.5 * bend, 0.19, meet)[-1], r"bend $\theta$", (4, 4), ha="left")

    # The section, its chord and the chord angle.
    view.line(curve, color=SKY, linewidth=4.5, zorder=4)
    view.line([origin, tip], color=PURPLE, linewidth=1.2, linestyle=(0, (5, 2)), zorder=5)
    view.line(turn(UP, out, bend / 2, 0.30, origin), color=PURPLE, linewidth=1.2, zorder=5)
    view.text(turn(UP, out, 0.36 * bend, 0.30, origin)[-1], r"$\alpha$", (3, 6))
    view.text(0.58 * tip, "chord", (7, -5), ha="left")
    view.leader(curve[52], r"length $S$", (-37, 3), ha="right")

    view.frame(base, 0.33, ("$x$", "$y$", "$z$"), offsets=((0, -9), (9, 3), (-8, 0)))
    view.frame(end, 0.24, ("$x'$", "$y'$", "$z'$"), offsets=((7, -4), (8, 3), (8, -4)))
    view.text(origin, "base", (-7, -5), ha="right")
    view.text(tip, "end", (-2, 10))
    view.window(-0.30, 1.14, -0.22, 0.98)


def draw_chain(view: View) -> None:
    """Draw panel b: a chain of rail, links, hinge and three sections, with the frames of `Robot.frames`."""
    robot = ar.Robot(
        [
            ar.Prismatic(0.0, 0.12, axis=(1, 0, 0), name="rail"),
            ar.Link((0, 0, 0.10), name="post"),
            ar.Revolute((0, 1, 0), -1.5, 1.5, name="hinge"),
            ar.Link((0, 0, 0.10), name="arm"),
            *[ar.Section(length=0.10, bend_max=math.pi / 2) for _ in range(3)],
        ]
    )
    q = np.array([0.10, *np.radians([38.0, 62.0, 12.0, 88.0, 168.0, 80.0, 15.0])])
    frames = robot.frames(q)
    styles = {"prismatic": (GREY, 2.0), "link": (STEEL, 5.0), "section": (SKY, 4.5)}

    view.fill(np.array([(-0.02, -0.02, 0), (0.13, -0.02, 0), (0.13, 0.02, 0), (-0.02, 0.02, 0)]), GROUND)
    k = 0
    for before, element in zip(frames[:-1], robot.elements, strict=True):
        here = q[k : k + len(element.coordinates)]
        k += len(here)
        if element.kind in styles:
            colour, width = styles[element.kind]
            line = ar.Robot([element]).backbone(here, points=60)
            view.line(line @ before[:3, :3].T + before[:3, 3], color=colour, linewidth=width, zorder=4)
    for pose in frames[1:]:
        view.frame(pose, 0.036)
    view.frame(frames[0], 0.036, ("$x$", "$y$", "$z$"), offsets=((-3, -7), (5, 5), (0, 7)))

    # Number and offset of each frame label; the hinge has no length, so frames 2 and 3 share their origin.
    numbers = {0: ("0", (-8, -3)), 1: ("1", (-4, -10)), 2: ("2, 3", (-13, 3)), 4: ("4", (-7, 6)), 5: ("5", (2, 10)),
               6: ("6", (4, -11)), 7: ("7", (3, 9))}  # fmt: skip
    for i, (number, offset) in numbers.items():
        view.text(frames[i, :3, 3], number, offset, fontweight="bold")
    names = {0: (-4, -13), 1: (14, 4), 2: (-17, -8), 3: (-11, 12), 4: (-6, 20), 5: (29, -13), 6: (-27, 17)}
    for i, offset in names.items():
        middle = 0.5 * (frames[i, :3, 3] + frames[i + 1, :3, 3])
        view.text(middle, robot.element_names[i], offset, color=GREY, fontsize=8)
    view.window(-0.035, 0.372, -0.063, 0.257)


def main() -> None:
    figure, panels = plt.subplots(1, 2, figsize=(7.16, 3.0))
    views = [View(axes, azimuth=-44.0, elevation=24.0) for axes in panels]
    draw_section(views[0])
    draw_chain(views[1])
    figure.subplots_adjust(left=0.005, right=0.995, top=0.93, bottom=0.005, wspace=0.02)
    for x, text in ((0.01, "(a)  coordinates of a section"), (0.51, "(b)  frames of a chain")):
        figure.text(x, 0.97, text, fontsize=9, va="center")
    OUTPUT.parent.mkdir(exist_ok=True)
    figure.savefig(OUTPUT, dpi=200, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
