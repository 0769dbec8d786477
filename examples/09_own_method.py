"""Write a method with the pseudo-inverse of the Jacobian, register it, check it and compare it with others."""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import arcreach as ar
from arcreach.ik import Outcome, check_method, register

LARGEST_STEP = 0.3
ITERATIONS = 100


def task(robot, q, target):
    """Return the error of the tip and the rows of the Jacobian that belong to it."""
    pose, jacobian = robot.tip_pose(q), robot.jacobian(q)
    shift = target.position - pose[:3, 3]
    if target.kind == "position":
        return shift, jacobian[:3]
    if target.kind == "axis":
        # The z axis changes by the cross product of angular velocity and z; the roll about z is free.
        swing = np.cross(jacobian[3:].T, pose[:3, 2]).T
        return np.concatenate([shift, target.axis - pose[:3, 2]]), np.vstack([jacobian[:3], swing])
    return np.concatenate([shift, 0.5 * np.cross(pose[:3, :3], target.rotation, axis=0).sum(axis=1)]), jacobian


def descend(robot, q, target, problem):
    """Take steps of the pseudo-inverse from q within the limits; return the best configuration and all iterates."""
    best, least, iterates = q, np.inf, []
    for _ in range(problem.max_iterations or ITERATIONS):
        error, rows = task(robot, q, target)
        size = np.linalg.norm(error)
        iterates.append(q)
        if size < least:
            best, least = q, size
        if np.linalg.norm(error[:3]) < problem.position_tol and np.linalg.norm(error[3:]) < problem.angle_tol:
            break
        step = np.linalg.pinv(rows, rcond=1e-3) @ error
        q = robot.clip(q + step * min(1.0, LARGEST_STEP / max(np.abs(step).max(), 1e-300)))
    return best, iterates


def run(problem):
    """Solve every target from its start, or from the random configuration of the problem's seed."""
    robot, outcome = problem.robot, Outcome.empty(problem)
    for i, target in enumerate(problem.targets):
        began = time.perf_counter()
        first = robot.sample(1, problem.seed)[0] if problem.start is None else problem.start[i]
        outcome.q[i], iterates = descend(robot, first, target, problem)
        outcome.iterations[i] = len(iterates)
        outcome.seconds[i] = time.perf_counter() - began
        # `solve` recomputes the errors of q and sets the status REACHED where they are within the tolerances.
        outcome.status[i] = ar.Status.STALLED
        if len(problem.trace):
            outcome.traced = min(len(iterates), len(problem.trace))
            problem.trace[: outcome.traced] = iterates[: outcome.traced]
    return outcome


METHOD = ar.Method(
    name="pseudo-inverse",
    summary="steps of the pseudo-inverse of the Jacobian, one random start; an example",
    source="derived",
    run=run,
)


def main(folder="build/examples"):
    register(METHOD)
    for name in ("ur5", "three-section"):
        share = check_method(METHOD.name, ar.load_robot(name))
        print(f"{name}: checks passed; reached {100 * share:.0f} % of the targets of the check")

    arm = ar.load_robot("ur5")
    target = ar.Target.from_pose(arm.tip_pose(arm.sample(1, seed=4)[0]))
    print(ar.solve(arm, target, METHOD.name))
    compare(arm)
    save_picture(Path(folder), arm)


def compare(robot, targets=100):
    """Compare with other methods; the experiment `compare` accepts every registered method."""
    try:
        from arcreach.experiments import Run, find_experiment, run_experiment

        with tempfile.TemporaryDirectory() as rows:
            settings = find_experiment("compare").settings(targets, methods=("auto", "lm", METHOD.name), robot=robot)
            run_experiment("compare", settings, rows)
            summaries = Run(rows).of_case("rotation, loose")
    except ar.MissingExtraError as error:
        print(error)
        return
    print("\nwhole poses within 1 mm and 0.01 rad:")
    for one in summaries:
        print(f"  {one.method:15} reached % (95 %): {one.share_text:21} median {one.time_text}")


def save_picture(folder, robot, targets=60):
    """Draw the median distance from the target over the iterations, each method from its default start."""
    picture = folder / "09_own_method.png"
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        print("pictures need matplotlib: pip install 'arcreach[figures]'")
        return
    matplotlib.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False})
    figure = Figure(figsize=(7.16, 3.0), layout="constrained")
    axes = figure.subplots()
    poses = robot.tip_pose(robot.sample(targets, seed=1))
    styles = zip(("auto", "lm", METHOD.name), ("#0072B2", "#D55E00", "#009E73"), ("o", "s", "^"), strict=True)
    for method, colour, marker in styles:
        errors = np.empty((targets, ITERATIONS))
        for i, pose in enumerate(poses):
            solution = ar.solve(robot, ar.Target.from_pose(pose), method, trace=True)
            # The error of every iterate, then of the solution, which is repeated after the solve has ended.
            path = np.append(solution.trace.position_error, solution.position_error)
            errors[i] = np.pad(path[:ITERATIONS], (0, max(0, ITERATIONS - len(path))), mode="edge")
        median = 1e3 * np.median(errors, axis=0)
        axes.plot(median, color=colour, marker=marker, markevery=10, markersize=4, label=method)
    axes.set(yscale="log", xlabel="iteration", ylabel="median distance (mm)", xlim=(0, ITERATIONS - 1))
    axes.legend(frameon=False, loc="upper right")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=300)
    print(f"\npicture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
