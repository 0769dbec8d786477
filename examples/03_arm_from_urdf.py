"""Load an arm from a URDF file: all configurations for a pose, a straight line, and a bending tool on the arm."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import arcreach as ar

URDF = Path(__file__).parent / "arm.urdf"
# The z axis of the tool points down, its x axis ahead.
DOWN = np.diag([1.0, -1.0, -1.0])


def main(folder="build/examples"):
    arm = ar.load_robot(URDF, base="base_link", tip="tool0")
    print(arm)
    for name, low, high in zip(arm.coordinates, np.degrees(arm.lower), np.degrees(arm.upper), strict=True):
        print(f"  {name:9} {low:7.1f}° to {high:6.1f}°")

    target = ar.Target([0.38, 0.05, 0.12], rotation=DOWN)
    solutions = ar.solve_all(arm, target, start=arm.neutral)
    print(f"\n{len(solutions)} configurations for this pose, the nearest to the rest pose first:")
    for solution in solutions:
        degrees = np.degrees(solution.q).round(1) + 0.0
        print(f"  {degrees.tolist()}")

    across = np.linspace([0.38, -0.25, 0.12], [0.38, 0.25, 0.12], 60)
    path = ar.follow(arm, across, rotations=np.tile(DOWN, (60, 1, 1)))
    print(f"\na straight line of 0.5 m: {path}")

    bending = ar.Robot(
        [*arm.elements, ar.Section(0.06, np.pi / 2, radius=0.004), ar.Section(0.04, np.pi / 2, radius=0.004)],
        name="arm with a bending tool",
    )
    sideways = ar.Target([0.38, 0.05, 0.12], axis=[0.0, 1.0, 0.0])
    print(f"\n{bending}\n  from the side: {ar.solve(bending, sideways)}")
    save_picture(Path(folder), arm, path)


def save_picture(folder, arm, path):
    # The first link is the offset of the base; with a radius it is drawn as a column.
    standing = ar.Robot([replace(arm.elements[0], radius=0.025), *arm.elements[1:]])
    picture = folder / "03_arm_from_urdf.png"
    try:
        from arcreach.figures import TWO_COLUMNS, pose, save

        folder.mkdir(parents=True, exist_ok=True)
        save(pose(standing, path.q[[0, 15, 30, 45, 59]], names=False, width=TWO_COLUMNS), picture)
    except ar.MissingExtraError as error:
        print(error)
        return
    print(f"\npicture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
