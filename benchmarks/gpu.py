"""Measure batches on a GPU: solves per second and share reached, compared with the CPU threads of the same machine.

    python benchmarks/gpu.py                  all cases, 1e7 targets per case
    python benchmarks/gpu.py --targets 1e6    fewer targets
    python benchmarks/gpu.py --only cases     only cases, arms or mixed
    python benchmarks/gpu.py --json FILE      write the results as JSON

Kernel times are for targets on the device; end to end is from NumPy arrays to NumPy arrays. The exact forward
kinematics and the limits decide success, on the CPU. The first call compiles a robot's kernels or, from the second run
on, loads them from disk.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import arcreach as ar
from arcreach.experiments.tables import mixed_sections
from arcreach.gpu import driver
from arcreach.kernels.chain.layout import AXIS, ROTATION

if driver.unusable():
    sys.exit(driver.unusable())

from arcreach.gpu.batch import Batch, alike
from arcreach.gpu.contexts import Targets
from arcreach.gpu.streams import borrowed_slots
from arcreach.ik.device_batch import batch_of, task_of

# Timed calls; the median is reported.
REPEATS = 5


def cases() -> list[tuple[str, ar.Robot, float, float]]:
    """Return the published robots: name, robot, tolerances in metres and radians."""
    found = [("3 sections, 90°", ar.Robot([ar.Section(0.100, np.pi / 2)] * 3), 1e-6, 1e-3)]
    found += [
        (f"table 3.6, {n} sections", ar.Robot([ar.Section(0.050, np.pi / n)] * n), 1e-5, 1e-2) for n in (3, 5, 10)
    ]
    found += [
        (f"table 3.11, robot {k}", ar.load_robot(f"variable-curvature-{k}"), 1e-5, np.radians(1e-2)) for k in (1, 6)
    ]
    return found


def judged(robot: ar.Robot, q: Any, poses: Any, position_tol: float, angle_tol: float, whole: bool = False) -> int:
    """Count the configurations that are within the limits and reach their pose."""
    good = 0
    for first in range(0, len(q), 1 << 18):
        rows = slice(first, first + (1 << 18))
        found, wanted = robot.tip_pose(q[rows]), poses[rows]
        near = np.linalg.norm(found[:, :3, 3] - wanted[:, :3, 3], axis=1) <= position_tol
        if whole:
            turn = np.einsum("nji,njk->nik", found[:, :3, :3], wanted[:, :3, :3])
            sine = 0.5 * np.linalg.norm(
                np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]]),
                axis=0,
            )
            angle = np.arctan2(sine, 0.5 * (np.trace(turn, axis1=1, axis2=2) - 1.0))
        else:
            sine = np.linalg.norm(np.cross(found[:, :3, 2], wanted[:, :3, 2]), axis=1)
            angle = np.arctan2(sine, np.einsum("ni,ni->n", found[:, :3, 2], wanted[:, :3, 2]))
        good += int(np.sum(near & (angle <= angle_tol) & robot.within_limits(q[rows])))
    return good


def draw(robot: ar.Robot, n: int, seed: int = 11) -> Any:
    """Return tip poses (n, 4, 4) of random configurations."""
    return np.concatenate([robot.tip_pose(robot.sample(min(1 << 18, n - k), seed + k)) for k in range(0, n, 1 << 18)])


def timed(call: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median time of several calls, in seconds."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def kernel_seconds(batch: Batch, there: tuple[Any, Any]) -> float:
    """Return the time of all kernels for targets on the device, with preallocated outputs."""
    cuda = driver.load()
    with borrowed_slots(batch.layout, len(there[0]), 1) as slots:
        slot = slots[0]
        slot.inputs = list(there)
        batch.launch(slot, 0, len(there[0]))
        times = []
        for _ in range(REPEATS):
            marks = cuda.event(), cuda.event()
            marks[0].record(slot.stream)
            batch.launch(slot, 0, len(there[0]))
            marks[1].record(slot.stream)
            marks[1].synchronize()
            times.append(cuda.event_elapsed_time(*marks) * 1e-3)
        return float(np.median(times))


def measure(name: str, robot: ar.Robot, n: int, tolerances: tuple[float, float], whole: bool = False) -> dict[str, Any]:
    """Return success, kernel and end-to-end throughput of one robot, and the throughput of the CPU."""
    cuda = driver.load()
    poses = draw(robot, n)
    positions = np.ascontiguousarray(poses[:, :3, 3])
    turned = np.ascontiguousarray(poses[:, :3, :3] if whole else poses[:, :3, 2])
    goal = {"rotations" if whole else "axes": turned}
    asked = {"position_tol": tolerances[0], "angle_tol": tolerances[1]}

    def solve(device: str, positions: Any = positions, goal: dict[str, Any] = goal, **more: Any) -> ar.Solutions:
        return ar.solve_batch(robot, positions, **goal, **asked, device=device, **more)

    began = time.perf_counter()
    solve("cuda", specialised=True)
    first_call = time.perf_counter() - began
    answer = solve("cuda")
    good = judged(robot, answer.q, poses, *tolerances, whole)
    end_to_end = timed(lambda: solve("cuda"))
    task = task_of(ROTATION if whole else AXIS, *tolerances)
    there = cuda.to_device(positions), cuda.to_device(turned.reshape(n, -1))
    kernel, general = (kernel_seconds(batch_of([robot], task, n, specialised=own), there) for own in (True, False))
    share = min(n, 200_000)
    part = {key: array[:share] for key, array in goal.items()}
    one = share / timed(lambda: solve("cpu", positions[:share], part, threads=1), 1)
    every = share / timed(lambda: solve("cpu", positions[:share], part), 3)
    differ = np.abs(answer.q[:share] - solve("cpu", positions[:share], part).q).max(axis=1)
    row = {
        "case": name,
        "targets": n,
        "reached": good,
        "claimed": int(answer.reached.sum()),
        "kernel": n / kernel,
        "kernel, any robot": n / general,
        "end to end": n / end_to_end,
        "cpu, all threads": every,
        "cpu, one thread": one,
        "first call": first_call,
        "iterations": float(answer.iterations.mean()),
        "same as cpu": float((differ <= 1e-9).mean()),
    }
    print(
        f"{name:24s} {good}/{n}  kernel {row['kernel'] / 1e6:7.1f} M/s ({row['kernel, any robot'] / 1e6:.1f} any robot)"
        f"  end to end {row['end to end'] / 1e6:7.1f} M/s  cpu {every / 1e6:.2f} M/s, one thread {one / 1e6:.3f}"
        f"  x{row['end to end'] / one:.0f}  iterations {row['iterations']:.2f}"
        f"  as on the cpu {100 * row['same as cpu']:.4f} %  first call {first_call:.1f} s",
        flush=True,
    )
    return row


def mixed() -> dict[str, Any]:
    """Solve table 3.9: 540 robots of fixed, extensible and telescopic sections, 10 000 targets each."""
    asked = task_of(AXIS, 1e-6, 1e-3)
    families: dict[Any, list[ar.Robot]] = {}
    for case in mixed_sections.cases():
        family = alike(case.robot.model.model_and_table(AXIS, asked.max_starts))
        families.setdefault(family, []).append(case.robot)
    batches = []
    for robots in families.values():
        poses = np.concatenate([robot.tip_pose(robot.sample(10_000, 7 + k)) for k, robot in enumerate(robots)])
        targets = Targets(np.ascontiguousarray(poses[:, :3, 3]), np.ascontiguousarray(poses[:, :3, 2]), None)
        batches.append((robots, poses, targets))

    def solve(batch: tuple[Any, Any, Targets]) -> Any:
        robots, poses, targets = batch
        return batch_of(robots, asked, len(poses)).solve(targets, lambda _: None)

    def everything() -> list[Any]:
        with ThreadPoolExecutor(len(batches)) as pool:
            return list(pool.map(solve, batches))

    everything()
    answers = everything()
    seconds = timed(everything)
    good = 0
    for (robots, poses, _), answer in zip(batches, answers, strict=True):
        for k, robot in enumerate(robots):
            rows = slice(10_000 * k, 10_000 * (k + 1))
            good += judged(robot, answer.q[rows], poses[rows], 1e-6, 1e-3)
    n = sum(len(poses) for _, poses, _ in batches)
    print(
        f"mixed sections, table 3.9: {good}/{n} in {seconds:.3f} s end to end ({n / seconds / 1e6:.0f} M/s)", flush=True
    )
    return {"case": "mixed sections, table 3.9", "targets": n, "reached": good, "seconds": seconds}


def main() -> int:
    """Run the selected measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=float, default=1e7)
    parser.add_argument("--only", choices=("cases", "arms", "mixed"))
    parser.add_argument("--match", default="", help="only cases whose name contains this")
    parser.add_argument("--json")
    chosen = parser.parse_args()
    for device in driver.devices():
        print(device, "host cores:", os.cpu_count(), "numpy", np.__version__)
    rows = []
    if chosen.only in (None, "cases"):
        for name, robot, *tolerances in cases():
            if chosen.match in name:
                rows.append(measure(name, robot, int(chosen.targets), tuple(tolerances)))
    if chosen.only in (None, "mixed"):
        rows.append(mixed())
    if chosen.only in (None, "arms"):
        count = int(min(chosen.targets, 1e6))
        arms = [name for name in ("ur5", "panda", "iiwa-14") if chosen.match in name]
        rows += [measure(name, ar.load_robot(name), count, (1e-6, 1e-6), True) for name in arms]
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
