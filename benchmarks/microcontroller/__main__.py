"""Measure exported solvers: emulated, under sanitizers, judged in double precision, and against Python's verdicts.

python -m benchmarks.microcontroller emulate     # writes docs/measured/microcontroller.md
python -m benchmarks.microcontroller sanitize    # 10,000 targets, hostile ones among them
python -m benchmarks.microcontroller failures    # 100,000 targets per robot, single precision
python -m benchmarks.microcontroller verdicts    # 10,000 targets per robot of the catalogue, double precision
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.microcontroller import harness

import arcreach as ar
from arcreach.experiments.tables.finite_rotation import chain
from arcreach.kernels.chain.layout import AXIS, POSITION, ROTATION

PAGE = Path(__file__).parents[2] / "docs" / "measured" / "microcontroller.md"
KINDS = {POSITION: "position", AXIS: "axis", ROTATION: "rotation"}
# Times printed in the source, on an STM32F407 at 144 MHz.
PRINTED = {"8 joints": "9 ms", "60 joints": "235 ms"}
MEGAHERTZ = 144.0
# A model of the pipeline and of flash with four wait states gives 1.7 to 1.9 on these programs.
CYCLES_PER_INSTRUCTION = 1.9
ARC_SECONDS = math.radians(2.0 / 3600.0)


def sections(count: int) -> ar.Robot:
    """Sections of 50 mm that bend by a quarter turn."""
    return ar.Robot([ar.Section(0.05, math.pi / 2)] * count, name=f"{count} sections")


def emulate(folder: Path) -> None:
    """Write the table of instructions, flash and memory."""
    arm, rail = ar.load_robot("arm-8r"), ar.load_robot("rail-iiwa-14")
    cases = [
        ("8 joints", arm, "auto", ROTATION, 1e-3),
        ("60 joints", chain(60), "auto", ROTATION, 1e-3),
        ("rail and 7 joints", rail, "auto", ROTATION, 1e-3),
        ("3 sections", sections(3), "auto", AXIS, 1e-4),
        ("3 extensible sections", ar.load_robot("extensible-sections"), "auto", AXIS, 1e-4),
        ("10 sections", sections(10), "auto", AXIS, 1e-4),
        ("8 joints", arm, "finite-rotation", ROTATION, 1e-3),
        ("60 joints", chain(60), "finite-rotation", ROTATION, 1e-3),
        ("8 joints", arm, "ccd", ROTATION, 1e-3),
        ("8 joints", arm, "hierarchical", POSITION, 1e-3),
    ]
    lines = [
        "| robot | method | target | reached | instructions, median / p95 | modelled ms | printed | flash | RAM |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for label, robot, method, mode, tolerance in cases:
        ar.export_c(robot, folder, "float32", method)
        targets = folder / "targets.h"
        # Methods of single joints take a hundred times as long.
        poses = robot.tip_pose(robot.sample(1000 if method == "auto" else 50, seed=7))
        harness.write_targets(targets, harness.target_rows(poses), mode, tolerance, 1e-3)
        solver, program = harness.build_m4(folder, targets)
        found = harness.emulate(program)
        assert found.bits == harness.run_host(harness.build_host(folder, targets)).bits
        assert not harness.forbidden_symbols(program)
        flash, memory = harness.sizes(solver, program)
        median, slow = np.median(found.instructions), np.percentile(found.instructions, 95)
        modelled = CYCLES_PER_INSTRUCTION * median / MEGAHERTZ / 1e3
        share = 100.0 * (found.status == ar.Status.REACHED).mean()
        cells = (
            label,
            method,
            f"{KINDS[mode]}, {1e3 * tolerance:g} mm",
            f"{share:g} %",
            f"{median / 1e3:.1f} k / {slow / 1e3:.0f} k",
            f"{modelled:.2f}",
            PRINTED.get(label, "") if method in ("auto", "finite-rotation") else "",
            f"{flash / 1e3:.1f} KB",
            f"{(memory + found.stack) / 1e3:.1f} KB",
        )
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def sanitize(folder: Path) -> None:
    """Compare optimised and checked builds on 10,000 targets, in steps of a budget."""
    for precision in ("float32", "float64"):
        for robot, mode in ((ar.load_robot("ur5-bending-tool"), ROTATION), (ar.load_robot("mixed-sections"), AXIS)):
            ar.export_c(robot, folder, precision)
            targets = folder / "targets.h"
            rows = harness.target_rows(robot.tip_pose(robot.sample(9_900, seed=8)))
            hostile = harness.hostile_rows(rows)
            harness.write_targets(targets, np.concatenate([rows, hostile]), mode, 1e-4, 1e-3, 5000)
            plain = harness.run_host(harness.build_host(folder, targets))
            checked = harness.build_host(folder, targets, flags=("-O1", "-DBUDGET=5", *harness.SANITIZERS))
            assert harness.run_host(checked).bits == plain.bits
            refused = int((plain.status < 0).sum())
            reached = int((plain.status[:9_900] == ar.Status.REACHED).sum())
            print(
                f"{robot.name}, {precision}: {len(plain.status)} targets, {reached} of 9900 reached, {refused} refused"
            )


def failures(folder: Path, count: int = 100_000) -> None:
    """Count in single precision what is not reached, and what is claimed and is not so in double precision."""
    names = ("arm-8r", "rail-iiwa-14", "three-section", "extensible-sections", "ur5-bending-tool")
    for name in names:
        robot = ar.load_robot(name)
        ar.export_c(robot, folder)
        solver = ar.load_exported(folder)
        mode = AXIS if "section" in name else ROTATION
        poses = robot.tip_pose(robot.sample(count, seed=9)).astype(np.float32).astype(float)
        for tolerances in ((1e-3, 1e-3), (1e-5, ARC_SECONDS)):
            found = solver.solve_batch(
                ar.Targets.from_poses(poses, KINDS[mode]), position_tol=tolerances[0], angle_tol=tolerances[1]
            )
            true = (found.position_error <= tolerances[0]) & (found.angle_error <= tolerances[1])
            outside = int((~robot.within_limits(found.q, 0.0)).sum())
            print(
                f"{name}, {tolerances[0]:g} m, {tolerances[1]:.1e} rad: {int((~found.reached).sum())} of {count} not "
                f"reached, {int((found.reached & ~true).sum())} claimed wrongly, {outside} outside the limits",
                flush=True,
            )


def verdicts(folder: Path, count: int = 10_000) -> None:
    """Compare the status in double precision with Python's, a tenth of the targets moved and often out of reach."""
    for name in ar.catalogue():
        robot = ar.load_robot(name)
        if not isinstance(robot, ar.Robot):
            print(f"{name}: no chain of elements")
            continue
        ar.export_c(robot, folder, "float64")
        solver = ar.load_exported(folder)
        mode = AXIS if robot.model.for_kernels().symmetric else ROTATION
        poses = robot.tip_pose(robot.sample(count, seed=10))
        poses[::10, :3, 3] += robot.moving_reach * np.random.default_rng(11).normal(0.0, 0.5, (len(poses[::10]), 3))
        targets = ar.Targets.from_poses(poses, KINDS[mode])
        options = {"position_tol": 1e-6, "angle_tol": 1e-3}
        ours, theirs = solver.solve_batch(targets, **options), ar.solve_batch(robot, targets, **options)
        other = np.flatnonzero(ours.status != theirs.status)
        pairs = [f"{ar.Status(theirs.status[i]).name} in Python, {ar.Status(ours.status[i]).name} in C" for i in other]
        print(
            f"{name}: {len(other)} of {count} differ, {int(theirs.reached.sum())} reached in Python, "
            f"{int(ours.reached.sum())} in C {pairs or ''}",
            flush=True,
        )


if __name__ == "__main__":
    commands = {command.__name__: command for command in (emulate, sanitize, failures, verdicts)}
    with tempfile.TemporaryDirectory() as place:
        for word in sys.argv[1:] or commands:
            commands[word](Path(place))
