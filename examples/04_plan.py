"""Plan a certified and timed motion among obstacles, and let the body of a robot follow its tip."""

import sys
from pathlib import Path

import numpy as np

import arcreach as ar


def main(folder="build/examples"):
    arm = ar.load_robot("three-section")
    scene = ar.load_scene("clutter-20")
    target = ar.Target([-0.048, -0.0193, 0.079])
    try:
        plan = ar.plan(arm, arm.neutral, target, scene)
    except ar.MissingExtraError as error:
        print(error)
        return
    print(f"among {len(scene)} spheres: {plan}")
    least = ar.clearance(arm, plan.sampled(5000), scene).distance.min()
    print(f"  certified {plan.clearance * 1e3:.4f} mm; the smallest clearance of 5000 samples is {least * 1e3:.4f} mm")
    if plan.reached:
        print(f"  at 1 rad/s and 2 rad/s2: {plan.timed(1.0, 2.0)}")

    lengthening = ar.load_robot("telescopic-sections")
    bend = np.linspace(0.0, 1.0, 101)
    curve = 0.1 * np.stack([1 - np.cos(bend), 0 * bend, np.sin(bend)], axis=1)
    print(f"\nalong a C of 100 mm: {ar.follow_the_leader(lengthening, curve, points=40)}")
    save_picture(Path(folder), plan)


def save_picture(folder, plan):
    picture = folder / "04_plan.png"
    try:
        from arcreach.figures import save, scene

        folder.mkdir(parents=True, exist_ok=True)
        save(scene(plan), picture)
    except ar.MissingExtraError as error:
        print(error)
        return
    print(f"\npicture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
