"""Compute the pulls of a tendon-driven robot, the configurations that pulls produce, and a table for its motors."""

import sys
from pathlib import Path

import numpy as np

import arcreach as ar

ANGLES = {"rear": (0, 120, 240), "front": (60, 180, 300)}
LENGTHS = {"rear": 0.060, "front": 0.050}
COLOURS = ("#0072B2", "#E69F00", "#009E73")


def steerable():
    """Return two sections with three tendons each, which are fixed at the far end of their section."""
    sections = []
    for name, angles in ANGLES.items():
        tendons = [
            ar.Tendon(0.004, np.radians(angle), speed_max=0.03, stiffness=5000, pretension=2, name=letter)
            for letter, angle in zip("abc", angles, strict=True)
        ]
        sections.append(
            ar.Section(LENGTHS[name], np.pi / 2, radius=0.005, name=name, bending_stiffness=0.003, tendons=tendons)
        )
    return ar.Robot(sections, name="steerable")


def main(folder="build/examples"):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    robot = steerable()
    q = np.radians([45, 0, 60, 90])
    print(robot)
    for name, pull in zip(robot.tendons, robot.pulls(q), strict=True):
        print(f"  {name:8} {1e3 * pull:7.3f} mm")
    print(f"back from these pulls: {np.degrees(robot.from_pulls(robot.pulls(q)).q).round(6)} degrees")

    freed = robot.from_pulls([0.003, -0.003, -0.003, 0, 0, 0], elastic=True)
    slack = [name for name, loose in zip(robot.tendons, freed.slack, strict=True) if loose]
    print(f"\none tendon pulled, two let loose: tensions {freed.tensions.round(2)} N, slack: {', '.join(slack)}")

    angle = np.linspace(0.0, 2.0 * np.pi, 41)
    circle = np.stack([0.04 * np.cos(angle), 0.04 * np.sin(angle), np.full(41, 0.098)], axis=1)
    path = ar.follow(robot, circle, start=np.radians([40, 0, 20, 0]))
    print(f"\naround a circle: {path}")
    try:
        motion = path.timed(max_speed=1.0, max_acceleration=4.0, rate=100)
    except ar.MissingExtraError as error:
        print(error)
        return
    table = motion.motor_table()
    table.to_csv(folder / "motors.csv")
    print(f"motor table: {motion}; limits exceeded: {len(table.violations)}")
    save_picture(folder, table)


def save_picture(folder, table):
    """Draw the pulls and their speeds over time."""
    picture = folder / "10_tendon_driven_robot.png"
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        print("pictures need matplotlib: pip install 'arcreach[figures]'")
        return
    matplotlib.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False})
    figure = Figure(figsize=(7.16, 2.8), layout="constrained")
    axes = figure.subplots(1, 2)
    for k, drive in enumerate(table.drives):
        style = {"color": COLOURS[k % 3], "linestyle": "-" if k < 3 else "--", "label": drive.name}
        axes[0].plot(table.times, 1e3 * drive.values, **style)
        axes[1].plot(table.times, 1e3 * drive.speeds, **style)
    axes[0].set(xlabel="time (s)", ylabel="pull (mm)")
    axes[1].set(xlabel="time (s)", ylabel="speed (mm/s)")
    figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, loc="outside upper center", ncols=6)
    figure.savefig(picture, dpi=300)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
