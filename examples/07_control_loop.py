"""Run a control loop at 1 kHz: solve each tick from the last configuration, handle failures, and measure times."""

import gc
import sys
import time
from pathlib import Path

import numpy as np

import arcreach as ar

PERIOD = 1e-3
TICKS = 5000
# Largest joint speed, in rad/s.
MAX_SPEED = 2.0


def targets(ticks=TICKS):
    """Return poses along a figure of eight in four seconds, tool down; for 100 ms they are out of reach."""
    t = np.arange(ticks) * PERIOD
    poses = np.tile(np.eye(4), (ticks, 1, 1))
    poses[:, :3, :3] = np.diag([1.0, -1.0, -1.0])
    poses[:, 0, 3] = 0.45 + 0.1 * np.sin(np.pi * t)
    poses[:, 1, 3] = 0.2 * np.sin(0.5 * np.pi * t)
    poses[:, 2, 3] = 0.35
    poses[3000:3100, 0, 3] += 2.0
    return poses


def command(solution, q, largest):
    """Return the configuration to send and the decision: hold if not reached, else move at a limited speed."""
    if solution.status != ar.Status.REACHED:
        return q, solution.status.name
    if np.abs(solution.q - q).max() > largest:
        return q + np.clip(solution.q - q, -largest, largest), "SLOWED"
    return solution.q, "REACHED"


def run(robot, poses, warm=True):
    """Solve tick by tick, with `warm` from the last configuration.

    Return wall and CPU seconds of each tick, the solutions, and the decisions.
    """
    q = ar.solve(robot, ar.Target.from_pose(poses[0])).q
    wall, own, answers, decisions = np.empty(len(poses)), np.empty(len(poses)), [], []
    for i, pose in enumerate(poses):
        began, worked = time.perf_counter(), time.thread_time()
        solution = ar.solve(robot, ar.Target.from_pose(pose), start=q if warm else None, max_time=0.5 * PERIOD)
        q, decision = command(solution, q, MAX_SPEED * PERIOD)
        wall[i], own[i] = time.perf_counter() - began, time.thread_time() - worked
        answers.append(solution.q)
        decisions.append(decision)
    return wall, own, np.array(answers), decisions


def wake_up_latency(robot, poses):
    """Run in real time, and return the delay in seconds with which the system wakes the loop at each tick."""
    q = ar.solve(robot, ar.Target.from_pose(poses[0])).q
    late = np.empty(len(poses))
    following = time.perf_counter() + PERIOD
    for i, pose in enumerate(poses):
        time.sleep(max(0.0, following - time.perf_counter()))
        late[i] = time.perf_counter() - following
        solution = ar.solve(robot, ar.Target.from_pose(pose), start=q, max_time=0.5 * PERIOD)
        q, _ = command(solution, q, MAX_SPEED * PERIOD)
        following = max(following + PERIOD, time.perf_counter())
    return late


def print_times(name, seconds):
    median, p99, p999 = np.quantile(seconds, (0.5, 0.99, 0.999)) / PERIOD * 100.0
    over = int((seconds > PERIOD).sum())
    print(
        f"  {name:29} median {median:5.2f} %, p99 {p99:5.2f} %, p99.9 {p999:5.2f} %, "
        f"worst {seconds.max() / PERIOD * 100:6.2f} % of a tick; {over} of {len(seconds)} longer than a tick"
    )


def main(folder="build/examples"):
    robot, poses = ar.load_robot("panda"), targets()
    # Make the calls of the loop once, so that their kernels are loaded or compiled before it starts.
    run(robot, poses[:200])
    run(robot, poses[:200], warm=False)
    gc.collect()
    gc.disable()
    wall, own, answers, decisions = run(robot, poses)
    _, cold, cold_answers, _ = run(robot, poses, warm=False)
    late = wake_up_latency(robot, poses[:1000])
    gc.enable()
    print(f"{robot.name}, {TICKS} ticks of {PERIOD * 1e3:g} ms:")
    print_times("warm start, wall time", wall)
    print_times("warm start, CPU time", own)
    print_times("no start, CPU time", cold)
    print_times("wake-up latency", late)
    print(f"  decisions: {', '.join(f'{decisions.count(name)} {name}' for name in dict.fromkeys(decisions))}")
    for name, found in (("warm start", answers[:3000]), ("no start", cold_answers[:3000])):
        step = np.degrees(np.abs(np.diff(found, axis=0)).max())
        print(f"  largest step of a joint from answer to answer, {name}: {step:.2f}°")
    save_picture(Path(folder), {"solve, wall time": wall, "solve, CPU time": own, "wake-up latency": late})


def save_picture(folder, seconds):
    """Draw the share of ticks that exceed a given time."""
    picture = folder / "07_control_loop.png"
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        print("pictures need matplotlib: pip install 'arcreach[figures]'")
        return
    matplotlib.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False})
    figure = Figure(figsize=(7.16, 3.0), layout="constrained")
    axes = figure.subplots()
    for (name, values), colour, line in zip(
        seconds.items(), ("#0072B2", "#E69F00", "#666666"), ("-", "--", ":"), strict=True
    ):
        shares = 1.0 - np.arange(len(values)) / len(values)
        axes.step(np.sort(values) * 1e6, 100.0 * shares, line, color=colour, label=name, where="post")
    axes.axvline(PERIOD * 1e6, color="#D55E00", linewidth=1.0)
    axes.annotate("one tick", (PERIOD * 1e6, 60.0), (-4, 0), textcoords="offset points", ha="right", color="#D55E00")
    axes.set(xscale="log", yscale="log", xlabel="time (µs)", ylabel="ticks that exceed this time (%)")
    axes.legend(frameon=False, loc="lower left")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=300)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
