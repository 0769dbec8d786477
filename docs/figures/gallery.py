"""Draw docs/images/figure-*.png: the figures of `arcreach figure` for docs/figures.md."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import arcreach as ar
from arcreach import figures
from arcreach.files import load_planar_scene

IMAGES = Path(__file__).parents[1] / "images"
SOLVED = math.radians(55), math.radians(20), math.radians(45), math.radians(150), math.radians(50), math.radians(-80)

# Millimetres, as in the command of docs/figures.md.
PULLS = 4, 0, -4, 3, 0, 0, 12, 0, -3


def pipe_surface() -> dict[str, np.ndarray]:
    """Return a pipe around the robot: inner and outer wall of 48 faces, closed at both ends."""
    angle = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
    profile = ((0.020, 0.02), (0.024, 0.02), (0.024, 0.14), (0.020, 0.14))
    rings = [np.stack([r * np.cos(angle), r * np.sin(angle), np.full(48, z)], axis=1) for r, z in profile]
    k = np.arange(48)
    faces = []
    for ring in range(4):
        low, high = 48 * ring, 48 * ((ring + 1) % 4)
        a, b, c, d = low + k, low + (k + 1) % 48, high + (k + 1) % 48, high + k
        faces += [np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]
    return {"vertices": np.concatenate(rings), "faces": np.concatenate(faces)}


def contact_plans() -> dict[str, object]:
    plans = {}
    for name in ("slalom", "pocket", "wedge"):
        scene = load_planar_scene(name)
        plans[name] = ar.plan_contact(
            scene.robot, scene.target, scene.obstacles, scene.contacts, bend_radius=scene.bend_radius
        )
    return plans


def main() -> None:
    robot = ar.load_robot("three-section")
    figure = figures.pose(robot, SOLVED)
    figures.save(figure, IMAGES / "figure-pose.png")

    arm = ar.load_robot("ur5-bending-tool")
    q = np.array([*np.radians([200, -65, 75, -35, -90, 0]), 0.9, 0.0, 0.7, 2.0, 0.9, -1.0])
    tip = arm.tip_pose(q)
    figures.save(figures.pose(arm, q, target=ar.Target(tip[:3, 3], axis=tip[:3, 2])), IMAGES / "figure-pose-arm.png")

    pipe = ar.Mesh(**pipe_surface())
    inside = np.radians([12, 20, 18, 200, 8, 20])
    figures.save(figures.pose(robot, inside, scene=[pipe], names=False), IMAGES / "figure-pose-mesh.png")

    driven = ar.load_robot("tendon-driven")
    pulled = driven.from_pulls(1e-3 * np.array(PULLS), elastic=True)
    around = ar.tip_covariance(driven, pulled.q, pulls=np.full(len(driven.tendons), 1e-3), elastic=True)
    figures.save(figures.pose(driven, pulled, uncertainty=around), IMAGES / "figure-tendons.png")

    corners, shares, cell = figures.tip_directions(robot, samples=2_000_000)
    percent = 100.0 * shares
    figure = figures.workspace(
        {"": (corners, percent)}, cell=cell, label="directions of the tip (%)", limits=(0.0, percent.max())
    )
    figures.save(figure, IMAGES / "figure-workspace.png")

    reach = ar.reach_map(robot, cells=40, directions=64, layer=("y", 0.0))
    figures.save(figures.reach_map(reach), IMAGES / "figure-reach.png")

    figures.save(figures.solve_times(figures.measure_times(robot, targets=20_000)), IMAGES / "figure-times.png")
    bands = figures.measure_convergence(robot, targets=200)
    figures.save(figures.convergence({"": bands}, tolerance=1e-6), IMAGES / "figure-convergence.png")
    counts = figures.measure_success(robot, targets=2_000)
    figures.save(figures.success(counts), IMAGES / "figure-success.png")

    rgm3 = ar.load_robot("librergm3")
    solution = ar.solve(
        rgm3,
        ar.Target((0.2, 0.05, 1.06)),
        "hierarchical",
        start=(0, 0, math.pi / 4),
        order=("q0", "q2", "q1"),
        position_tol=1e-5,
        trace=True,
    )
    figures.save(figures.iterations(rgm3, solution), IMAGES / "figure-iterations.png")

    target = ar.Target([0.041, 0.029, 0.079], axis=[1.0, 0.5, 0.7])
    solution = ar.solve(robot, target, "fabrikc", trace=True)
    assert solution.reached
    figures.save(figures.virtual_links(solution), IMAGES / "figure-links.png")

    figures.save(figures.contact(contact_plans()), IMAGES / "figure-contact.png")

    scene = ar.load_scene("clutter-20")
    plan = ar.plan(robot, robot.neutral, ar.Target([-0.048, -0.0193, 0.079]), scene)
    figures.save(figures.clearance(plan), IMAGES / "figure-clearance.png")


if __name__ == "__main__":
    main()
