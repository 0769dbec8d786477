"""Measure calibration: both real robots, the coverage of standard errors, and shapes from noisy points.

    python benchmarks/calibration.py [robots|coverage|shape] [--count N] [--seed S]

Run it on one core (taskset -c 0). `robots` fits the robots of examples/data with default settings for several splits by
command; `coverage` counts how often intervals of 1.96 standard errors hold the truth in synthetic data; `shape` fits
random poses from points with noise and outliers, beside the best that any unbiased fit can do.
"""

import argparse
import math
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

import arcreach as ar
from arcreach.calibration import Measurements, read_measurements
from arcreach.calibration.parameters import DEFAULT, Parametrisation
from arcreach.calibration.places import backbone_points, element_lengths, places_at
from arcreach.calibration.variables import by_variables

DATA = Path(__file__).parents[1] / "examples" / "data"
LENGTHS = {"v4": (0.06, 0.0625, 0.064), "v6": (0.1, 0.1, 0.022)}
# Synthetic data: noise of a tip position in metres per axis, rows per fit, largest pull.
NOISE, ROWS, PULL = 3e-4, 150, 4e-3
# Noise of a sensed point per axis as a share of the length, and errors drawn per pose from the bound.
SENSED, DRAWN = 0.01, 200


def nominal(lengths):
    """A robot as drawn: three tendons per section at 4.5 mm, no stiffness known."""
    angles = (0.0, 2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0)
    tendons = [ar.Tendon(0.0045, angle) for angle in angles]
    return ar.Robot([ar.Section(length, 6.2, tendons=tendons) for length in lengths])


def robots(count, seed):
    for name, lengths in LENGTHS.items():
        robot = nominal(lengths)
        data = read_measurements(DATA / f"tendon-robot-{name}.csv", robot)
        for split in range(seed, seed + count):
            began = time.process_time()
            fit = ar.fit(robot, data, seed=split)
            seconds = time.process_time() - began
            fitted, unseen = (100.0 * errors.mean() / fit.length for errors in (fit.fitted_errors, fit.held_out_errors))
            print(f"{name} split {split}: fitted {fitted:.2f} %, held out {unseen:.2f} %, {seconds:.0f} s", flush=True)


def coverage(count, seed):
    robot = nominal((0.06, 0.0625))
    model = Parametrisation(robot, DEFAULT)
    inside, total = defaultdict(int), defaultdict(int)
    spread = {
        "lengths": 0.6,
        "angles": 0.3,
        "radii": 0.5,
        "stiffness": 0.4,
        "pretension": 0.3,
        "rest": 0.5,
        "base": 1.0,
    }
    for trial in range(seed, seed + count):
        rng = np.random.default_rng(trial)
        z = rng.normal(size=len(model.parameters)) * [spread[p.group] for p in model.parameters]
        names = [p.name for p in model.parameters]
        z[names.index("base.turn_z")] = rng.uniform(-25.0, 25.0)
        truth = model.values(z)
        real = model.robot_for(truth)
        pulls = rng.uniform(-0.5 * PULL, PULL, (ROWS, len(robot.tendons)))
        tips = real.tip_pose(real.from_pulls(pulls, elastic=True).q)[:, :3, 3]
        fit = ar.fit(robot, Measurements(pulls, tips + rng.normal(size=tips.shape) * NOISE), held_out=0.0)
        held = np.abs(fit.values - truth) <= 1.96 * fit.errors
        for parameter, good in zip(model.parameters, held, strict=True):
            inside[parameter.group] += good
            total[parameter.group] += 1
        if (trial - seed + 1) % 20 == 0 or trial == seed + count - 1:
            shares = ", ".join(f"{g} {100.0 * inside[g] / total[g]:.1f} %" for g in total)
            overall = 100.0 * sum(inside.values()) / sum(total.values())
            print(f"{trial - seed + 1} trials: {overall:.1f} %; {shares}", flush=True)


def sense(robot, points, rng):
    """Return a random configuration, arc lengths, points there with noise and outliers, and which are outliers."""
    length = element_lengths(robot, robot.neutral)[1].sum()
    q = robot.sample(1, rng)[0]
    arcs = np.sort(rng.uniform(0.0, length, points))
    sensed = backbone_points(robot, q[None], *places_at(robot, q, arcs))[0][0]
    sensed += SENSED * length * rng.normal(size=sensed.shape)
    spoilt = rng.random(points) < 0.1
    sensed[spoilt] += rng.uniform(-0.5, 0.5, (spoilt.sum(), 3)) * length
    return q, arcs, sensed, spoilt


def least_errors(robot, q, arcs, known, rng):
    """Return tip errors, as shares of the length, drawn from the least covariance that an unbiased fit can have.

    That is the Cramer-Rao bound for Gaussian noise at the points given, the inliers. Without arc lengths
    every point has one unknown more, its place on the backbone, so noise along the backbone says nothing.
    """
    length = element_lengths(robot, robot.neutral)[1].sum()
    rows, shares = places_at(robot, q, arcs)
    derivative = by_variables(
        robot, lambda q: backbone_points(robot, q[None], rows, shares)[1][0].reshape(-1, len(q)), q
    )
    J = derivative.reshape(len(arcs), 3, -1)
    if not known:
        sides = [backbone_points(robot, q[None], rows, np.clip(shares + h, 0.0, 1.0))[0][0] for h in (1e-4, -1e-4)]
        along = sides[0] - sides[1]
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        J = J - along[:, :, None] * np.einsum("ni,nik->nk", along, J)[:, None]
    information = np.einsum("nik,nil->kl", J, J) / (SENSED * length) ** 2
    tip = by_variables(robot, robot.jacobian, q)[:3]
    covariance = tip @ np.linalg.solve(information, tip.T)
    return np.linalg.norm(rng.multivariate_normal(np.zeros(3), covariance, DRAWN), axis=1) / length


def shape(count, seed):
    robot = ar.load_robot("three-section")
    length = element_lengths(robot, robot.neutral)[1].sum()
    for points in (100, 200, 300):
        for known in (True, False):
            errors, least = [], []
            for trial in range(seed, seed + count):
                rng = np.random.default_rng(trial)
                q, arcs, sensed, spoilt = sense(robot, points, rng)
                found = ar.fit_shape(robot, sensed, arcs if known else None)
                errors.append(np.linalg.norm(found.tip.position - robot.tip_pose(q)[:3, 3]) / length)
                least.append(least_errors(robot, q, arcs[~spoilt], known, rng))
            places = "with arc lengths" if known else "without arc lengths"
            shares = [f"{100.0 * np.mean(np.array(e) < 0.01):.1f} %" for e in (errors, least)]
            medians = [f"{100.0 * np.median(e):.2f} %" for e in (errors, least)]
            print(
                f"{points} points {places}: tip within 1 % in {shares[0]}, bound {shares[1]}; "
                f"median {medians[0]}, bound {medians[1]}",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["robots", "coverage", "shape"], nargs="*")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    runs = {"robots": (robots, 5), "coverage": (coverage, 200), "shape": (shape, 1000)}
    for what in given.what or runs:
        run, count = runs[what]
        run(given.count or count, given.seed)


if __name__ == "__main__":
    main()
