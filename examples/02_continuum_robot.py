"""Describe a continuum robot in a file, and compute its forward and inverse kinematics."""

import sys
from pathlib import Path

import numpy as np

import arcreach as ar

SNAKE = """\
name = "snake"
source = "our drawing 17-3"

[[elements]]
kind = "prismatic"      # insertion through the port
name = "insertion"
lower = 0
upper = "60 mm"
radius = "3 mm"

[[elements]]
kind = "section"
name = "rear"
length = "50 mm"
bend_max = "90 deg"
radius = "3 mm"

[[elements]]
kind = "section"
name = "front"
length = "40 mm"
bend_max = "120 deg"
radius = "3 mm"
"""


def main(folder="build/examples"):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "snake.toml"
    file.write_text(SNAKE, encoding="utf-8")
    snake = ar.load_robot(file)
    print(f"{snake}\ncoordinates: {', '.join(snake.coordinates)}")

    q = [0.03, *np.radians([45, 0, 60, 90])]
    print(f"\ntip at {1e3 * snake.tip_pose(q)[:3, 3]} mm")

    target = ar.Target([0.03, 0.02, 0.08], axis=[1.0, 0.0, 0.0])
    solution = ar.solve(snake, target)
    print(f"\none target: {solution}")
    for name, quantity, value in zip(snake.coordinates, snake.quantities, solution.q, strict=True):
        print(
            f"  {name:16} {value * 1e3:8.2f} mm" if quantity == "length" else f"  {name:16} {np.degrees(value):8.2f}°"
        )

    poses = snake.tip_pose(snake.sample(10_000, seed=0))
    found = ar.solve_batch(snake, poses[:, :3, 3], poses[:, :3, 2])
    print(f"\na batch: {found}\n  all within the limits: {snake.within_limits(found.q).all()}")

    for position in ([0.0, 0.0, 0.16], [0.0, 0.0, 0.03]):
        print(f"\n{position}: {ar.solve(snake, ar.Target(position))}")
    save_picture(folder, snake)


def save_picture(folder, snake):
    """Follow a circle with the tip pointing outwards, and save a picture of it."""
    angle = np.linspace(0.0, 2.0 * np.pi, 61)
    circle = np.stack([0.045 * np.cos(angle), 0.045 * np.sin(angle), np.full(61, 0.085)], axis=1)
    outwards = np.stack([np.cos(angle), np.sin(angle), np.zeros(61)], axis=1)
    path = ar.follow(snake, circle[:46], axes=outwards[:46])
    print(f"\naround a circle: {path}")
    picture = folder / "02_continuum_robot.png"
    try:
        from arcreach.figures import save, scene

        save(scene(path, poses=6), picture)
    except ar.MissingExtraError as error:
        print(error)
        return
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
