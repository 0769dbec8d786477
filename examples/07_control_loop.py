"""A control loop at 1 kHz: every tick solved from the last configuration, timed, and what to do when one fails."""

import gc
import sys
import time
from pathlib import Path

import numpy as np

import arcreach as ar

PERIOD = 1e-3
TICKS = 5000
# No joint may turn faster than this.
MAX_SPEED = 2.0


def targets(ticks=TICKS):
    """A figure of eight in four seconds, the tool pointing down; for 100 ms out of reach, as a bad sensor has it."""
    t = np.arange(ticks) * PERIOD
    poses = np.tile(np.eye(4), (ticks, 1, 1))
    poses[:, :3, :3] = np.diag([1.0, -1.0, -1.0])
    poses[:, 0, 3] = 0.45 + 0.1 * np.sin(np.pi * t)
    poses[:, 1, 3] = 0.2 * np.sin(0.5 * np.pi * t)
    poses[:, 2, 3] = 0.35
    poses[3000:3100, 0, 3] += 2.0
    return poses


def command(solution, q, largest):
    """The next configuration to send: the answer if it is one and near, else stay: the best of a miss may be far."""
    if solution.status != ar.Status.REACHED:
        return q, solution.status.name
    if np.abs(solution.q - q).max() > largest:
        return q + np.clip(solution.q - q, -largest, largest), "SLOWED"
    return solution.q, "REACHED"


def run(robot, poses, warm=True):
    """Solve tick by tick, from where the robot is unless told otherwise.

    Gives the seconds of each tick by the clock and of the processor, the answers and what was decided.
    """
    q = ar.solve(robot, ar.Target.from_pose(poses[0])).q
    wall, own, answers, words = np.empty(len(poses)), np.empty(len(poses)), [], []
    for i, pose in enumerate(poses):
        began, worked = time.perf_counter(), time.thread_time()
        solution = ar.solve(robot, ar.Target.from_pose(pose), start=q if warm else None, max_time=0.5 * PERIOD)
        q, word = command(solution, q, MAX_SPEED * PERIOD)
        wall[i], own[i] = time.perf_counter() - began, time.thread_time() - worked
        answers.append(solution.q)
        words.append(word)
    return wall, own, np.array(answers), words


def lateness(robot, poses):
    """Run in real time for a while: by how much each tick begins late. That is the system's doing, not the solver's."""
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


def tell(name, seconds):
    median, p99, p999 = np.quantile(seconds, (0.5, 0.99, 0.999)) / PERIOD * 100.0
    over = int((seconds > PERIOD).sum())
    print(
        f"  {name:29} median {median:5.2f} %, p99 {p99:5.2f} %, p99.9 {p999:5.2f} %, "
        f"worst {seconds.max() / PERIOD * 100:6.2f} % of a tick; {over} of {len(seconds)} too late"
    )


def main(folder="build/examples"):
    robot, poses = ar.load_robot("panda"), targets()
    # Warm up with the very calls of the loop: each loads or compiles what it needs, once.
    run(robot, poses[:200])
    run(robot, poses[:200], warm=False)
    gc.collect()
    gc.disable()
    wall, own, answers, words = run(robot, poses)
    _, cold, cold_answers, _ = run(robot, poses, warm=False)
    late = lateness(robot, poses[:1000])
    gc.enable()
    print(f"{robot.name}, {TICKS} ticks of {PERIOD * 1e3:g} ms:")
    tell("warm start, by the clock", wall)
    tell("warm start, of the processor", own)
    tell("no start, of the processor", cold)
    tell("begun late", late)
    print(f"  decisions: {', '.join(f'{words.count(word)} {word}' for word in dict.fromkeys(words))}")
    for name, found in (("warm start", answers[:3000]), ("no start", cold_answers[:3000])):
        step = np.degrees(np.abs(np.diff(found, axis=0)).max())
        print(f"  largest step of a joint from answer to answer, {name}: {step:.2f}°")
    leave_picture(Path(folder), {"solve, by the clock": wall, "solve, of the processor": own, "tick begun late": late})


def leave_picture(folder, seconds):
    """Which share of the ticks took longer than a time: the tail is what a loop has to live with."""
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
    axes.set(xscale="log", yscale="log", xlabel="time (µs)", ylabel="ticks that took longer (%)")
    axes.legend(frameon=False, loc="lower left")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=300)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
