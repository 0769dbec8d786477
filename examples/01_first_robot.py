"""Draw a continuum robot in the terminal, and measure the speed of its kinematics and of four solvers."""

import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console

import arcreach as ar

SECTION_STYLES = ("#0072B2", "#E69F00", "#009E73")
# Bits of a Braille character, by row and column of the dot.
DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def draw(curves, width=90):
    """Yield text lines that draw curves (n, 2) of x and z, one style each, in Braille characters."""
    points = np.vstack(curves)
    low, high = points.min(axis=0), points.max(axis=0)
    scale = (2 * width - 1) / (high[0] - low[0])
    height = int((high[1] - low[1]) * scale) // 4 + 1
    cells = np.zeros((height, width), dtype=int)
    styles = np.full((height, width), "", dtype=object)
    for curve, style in zip(curves, SECTION_STYLES * len(curves), strict=False):
        x, z = ((curve - low) * scale).round().astype(int).T
        z = 4 * height - 1 - z
        np.bitwise_or.at(cells, (z // 4, x // 2), DOTS[z % 4, x % 2])
        styles[z // 4, x // 2] = style
    for row, row_styles in zip(cells, styles, strict=True):
        yield "".join(f"[{s}]{chr(0x2800 + c)}[/]" if s else " " for c, s in zip(row, row_styles, strict=True))


def main(folder="build/examples"):
    console = Console(width=100, highlight=False)
    arm = ar.load_robot("three-section")
    console.print(f"[bold]1. A robot is a chain of elements[/bold]\n   {arm}")
    console.print(f"   its coordinates: {', '.join(arm.coordinates[:3])}, ...")

    print("   the first run compiles the kernels, some seconds each ...", file=sys.stderr)
    console.print("\n[bold]2. Bending[/bold]: all sections from limit to limit, the last one in the opposite direction")
    curves = []
    for i, share in enumerate(np.linspace(-1, 1, 9)):
        q = np.array([share, 0, share, 0, -share, 0]) * arm.upper
        curve = arm.backbone(q, points=900)[:, [0, 2]] + [0.045 * i, 0]
        curves += np.split(curve, 3)
    for line in draw(curves):
        console.print("   " + line)

    q = np.radians([40, 30, 25, -60, 50, 90])
    x, y, z = arm.tip_pose(q)[:3, 3] * 1e3
    console.print("\n[bold]3. Forward kinematics[/bold]")
    console.print(f"   tip at bends of 40, 25 and 50 degrees: x {x:.3f}, y {y:.3f}, z {z:.3f} mm")
    step = 1e-6 * np.eye(arm.dof)
    differences = (arm.tip_pose(q + step)[:, :3, 3] - arm.tip_pose(q - step)[:, :3, 3]).T / 2e-6
    error = abs(arm.jacobian(q)[:3] - differences).max()
    console.print(f"   Jacobian and finite differences agree to {error:.0e}")

    console.print("\n[bold]4. Speed[/bold]")
    Q = arm.sample(1_000_000, seed=0)
    arm.tip_pose(Q)
    start = time.perf_counter()
    poses = arm.tip_pose(Q)
    seconds = time.perf_counter() - start
    console.print(
        f"   {len(poses):,} poses in {seconds * 1e3:.0f} ms: {len(poses) / seconds / 1e6:.0f} million per second"
    )

    console.print("\n[bold]5. Serial arms, and an arm with a bending tool[/bold]")
    for name in ("ur5", "panda", "rail-iiwa-14", "ur5-bending-tool"):
        robot = ar.load_robot(name)
        tips = robot.tip_pose(robot.sample(100_000, seed=0))[:, :3, 3]
        farthest = np.linalg.norm(tips, axis=1).max()
        console.print(
            f"   {name:17} {robot.dof:2} dof, tip sampled up to {farthest:.3f} m away, reach {robot.reach:.3f} m"
        )
    console.print("\n[bold]6. Inverse kinematics for position and axis[/bold]")
    compare_methods(console)
    save_picture(Path(folder))
    console.print("\nNext: .venv/bin/arcreach studio, .venv/bin/arcreach robots, .venv/bin/arcreach --help")


def compare_methods(console, targets=20_000):
    """Solve the same targets by four methods; `arcreach methods` lists all of them."""
    robot = ar.load_robot("fixed-sections")
    poses = robot.tip_pose(robot.sample(targets, seed=0))
    positions, axes = poses[:, :3, 3].copy(), poses[:, :3, 2].copy()
    console.print(f"   {targets:,} targets for three sections, within 1 um and 1 mrad, checked by forward kinematics:")
    for method in ("auto", "fabrikx", "chords", "lm"):
        ar.solve_batch(robot, positions[:10], axes[:10], method=method)
        start = time.perf_counter()
        found = ar.solve_batch(robot, positions, axes, method=method)
        rate = targets / (time.perf_counter() - start)
        reached = 100 * found.reached.mean()
        console.print(f"   {method:10} {reached:8.3f} % reached, {rate:10,.0f} targets per second")


def save_picture(folder):
    """Save a picture of an arm with a bending tool in two poses, if matplotlib is installed."""
    robot = ar.load_robot("ur5-bending-tool")
    hanging = np.radians([160, -95, 100, -95, -90, 0, 0, 0, 0, 0, 0, 0])
    bent = np.radians([210, -75, 90, -105, -90, 0, 80, 30, 80, -150, 80, 40])
    try:
        from arcreach.figures import TWO_COLUMNS, pose, save

        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "01_first_robot.png"
        save(pose(robot, [hanging, bent], names=False, width=TWO_COLUMNS), path)
        print(f"A picture of an arm with a bending tool: {path}")
    except ar.MissingExtraError:
        return


if __name__ == "__main__":
    main(*sys.argv[1:])
