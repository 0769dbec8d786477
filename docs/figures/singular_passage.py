"""Draw docs/images/singular-passage.png and wrist-passage.png: paths near singular configurations.

The tip of an arm of seven joints passes its first axis at 5 cm, and a wrist passes its singular configuration, each
with and without bounded joint steps.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import arcreach as ar
from arcreach.figures import joint_paths, save

IMAGES = Path(__file__).parents[1] / "images"


def beside_the_first_axis() -> dict[str, ar.Path]:
    arm = ar.load_robot("era-like")
    y = np.arange(-1.0, 1.001, 0.02)
    points = np.stack([np.full_like(y, 8.0), y, np.full_like(y, 0.05)], axis=1)
    turns = np.tile(np.eye(3), (len(y), 1, 1))
    start = ar.solve(arm, ar.Target(points[0], rotation=turns[0])).q
    call = {"rotations": turns, "start": start, "method": "finite-rotation", "position_tol": 1e-4}
    return {
        "finite-rotation, no rule": ar.follow(arm, points, **call),
        "finite-rotation, steps of 2.5° at most": ar.follow(arm, points, max_step=np.radians(2.5), **call),
        "auto, no rule": ar.follow(arm, points, **call | {"method": "auto"}),
    }


def wrist() -> dict[str, ar.Path]:
    arm = ar.load_robot("puma-560")
    shares = np.linspace(-1.0, 1.0, 101)
    q = np.array([0.3, 0.6, -0.9, 0.4, 0.0, 0.5]) + np.outer(shares, [0.2, 0.1, 0.1, 0.0, 0.4, 0.1])
    through = arm.tip_pose(q)
    angle = 1e-3
    tilt = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    beside = through.copy()
    beside[:, :3, :3] = through[:, :3, :3] @ tilt
    call = {"start": q[0], "angle_tol": 1e-6}
    return {
        "1 mrad beside, no rule": ar.follow(arm, beside, **call),
        "1 mrad beside, steps of 3° at most": ar.follow(arm, beside, max_step=np.radians(3.0), **call),
        "through q5 = 0, steps of 3° at most": ar.follow(arm, through, max_step=np.radians(3.0), **call),
    }


def main() -> None:
    save(joint_paths(beside_the_first_axis()), IMAGES / "singular-passage.png")
    save(joint_paths(wrist()), IMAGES / "wrist-passage.png")


if __name__ == "__main__":
    main()
