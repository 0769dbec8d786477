"""`fit_shape`: the configuration whose backbone passes nearest to measured points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import array_of, real_array, shown
from arcreach._typing import Array, Booleans, Integers
from arcreach.calibration.places import backbone_points, element_lengths, places_at
from arcreach.calibration.uncertainty import TipCovariance, propagated
from arcreach.calibration.variables import by_variables, to_coordinates, to_variables
from arcreach.errors import RobotError, TargetError
from arcreach.robots.robot import Robot

# Number of random starts to score, of starts to refine, and of backbone points that a score compares.
STARTS, REFINED, SCORED = 1500, 24, 40
# Least standard deviation of a point in each stage of the robust descents, as a share of the reach. By the scale of the
# residuals alone, points of distal sections lose all weight as soon as those of proximal sections fit.
STAGES = (0.1, 0.03, 0.01, 0.003, 0.0)
# Number of configurations kept after a stage; of two whose variables (rad or m) are closer than ALIKE, one is kept.
KEPT, ALIKE = 6, 1e-2
# A descent ends at a smaller step of all variables (rad or m), or after this many steps. ROUGH_* hold for all stages
# but the last, which only lead to its starts.
ENOUGH, MOST_STEPS = 1e-7, 60
ROUGH_ENOUGH, ROUGH_STEPS = 1e-3, 12
# Distances that compare configurations are capped at this share of the reach.
FAR = 0.1
# Tukey's biweight: points farther than this many standard deviations are outliers. For Gaussian noise in space its
# efficiency is 91 %, so a last descent weights all points but outliers equally.
BIWEIGHT = 4.685
# Least standard deviation of a point as a share of the reach: rounding.
LEAST_NOISE = 1e-9
# Points on the backbone from which the nearest one is refined, when arc lengths are not known.
DENSE = 200


@dataclass(frozen=True, eq=False, repr=False)
class ShapeFit(_text.Printed):
    """A configuration from measured points, and its uncertainty."""

    q: Array
    residuals: Array  # distance of each point from the backbone, in metres
    outliers: Booleans  # points that had no influence
    noise: float  # standard deviation of a point per axis, in metres
    covariance: Array  # of q (dof, dof); 0 for the direction of a straight section
    tip: TipCovariance  # position of the tip and its covariance

    def __str__(self) -> str:
        used = self.residuals[~self.outliers]
        sizes = np.linalg.norm(self.tip.axes, axis=0)
        return (
            f"{_text.count(len(used), 'point')} within {_text.length(float(used.max()))} of the backbone, "
            f"{_text.count(int(self.outliers.sum()), 'outlier')}; tip known to {_text.length(float(sizes[0]))}"
        )


def fit_shape(
    robot: Robot,
    points: npt.ArrayLike,
    arc_lengths: npt.ArrayLike | None = None,
    *,
    start: npt.ArrayLike | None = None,
) -> ShapeFit:
    """Find the configuration, within the limits, whose backbone passes nearest to points (n, 3) in the base frame.

    `arc_lengths` (n,) are the measured points' distances from the base along the backbone in metres, at rest if the
    length of the robot varies; without them the nearest point of the backbone counts. Outliers are ignored.
    `start` (dof,) is an initial guess.
    """
    if not isinstance(robot, Robot):
        raise RobotError(f"robot = {shown(robot)} is not accepted; give a Robot")
    given = array_of("points", points, (None, 3))
    if not np.isfinite(given).all():
        raise TargetError(f"points[{np.flatnonzero(~np.isfinite(given).all(axis=1))[0]}] is not finite; remove it")
    if not robot.dof:
        raise RobotError(f"robot '{robot.name}' has no coordinates to find; give one that moves")
    if 3 * len(given) <= robot.dof:
        raise TargetError(f"{_text.count(len(given), 'point')} cannot determine {robot.dof} coordinates; give more")
    # The median, because points near the base are near it in any unit.
    if np.median(np.linalg.norm(given, axis=1)) > 2.0 * robot.reach:
        raise TargetError(
            f"most points are farther from the base than twice the reach of {robot.reach:g} m; "
            "give metres, in the base frame"
        )
    search = _Search(robot, given, _checked_arcs(robot, arc_lengths, len(given)))
    guess = None if start is None else robot.clip(start)
    found = search.descend_in_stages(search.starts(guess))
    if guess is not None:
        # Early stages may leave a good start for a configuration that is nearer to the outliers.
        found = min(found, search.descend(guess), key=search.distance)
    return search.result(found)


def _checked_arcs(robot: Robot, arc_lengths: Any, count: int) -> tuple[Integers, Array] | None:
    if arc_lengths is None:
        return None
    arcs = real_array(arc_lengths)
    if arcs is None or arcs.shape != (count,) or not (np.isfinite(arcs) & (arcs >= 0.0)).all():
        raise TargetError(
            f"arc_lengths = {shown(arc_lengths)} is not accepted; give {count} lengths in metres from the base"
        )
    return places_at(robot, robot.neutral, arcs)


@dataclass(frozen=True)
class _Biweight:
    """Tukey's loss of residual vectors (n, 3) with this standard deviation per axis."""

    scale: float

    def weights(self, r: Array) -> Array:
        return np.asarray((1.0 - self._squares(r)) ** 2)

    def mean(self, r: Array) -> float:
        return float((1.0 - (1.0 - self._squares(r)) ** 3).mean())

    def _squares(self, r: Array) -> Array:
        return np.asarray(np.minimum((r**2).sum(axis=1) / (BIWEIGHT * self.scale) ** 2, 1.0))


@dataclass(frozen=True, eq=False)
class _Squares:
    """Mean-square loss of the residual vectors (n, 3) of the points `kept`."""

    kept: Booleans

    def weights(self, r: Array) -> Array:
        return self.kept.astype(float)

    def mean(self, r: Array) -> float:
        return float((r[self.kept] ** 2).mean())


class _Search:
    """Descents by reweighted least squares in the variables, each step clipped to the limits."""

    def __init__(self, robot: Robot, points: Array, places: tuple[Integers, Array] | None) -> None:
        self.robot, self.points, self.places = robot, points, places

    def starts(self, start: Array | None) -> list[Array]:
        """Return the best-scored of many random configurations, the rest pose and the caller's start."""
        robot = self.robot
        Q = np.concatenate([[robot.neutral] if start is None else [start, robot.neutral], robot.sample(STARTS, seed=0)])
        chosen = slice(None, None, max(len(self.points) // SCORED, 1))
        points = self.points[chosen]
        if self.places is None:
            backbones = robot.backbone(Q, SCORED)
            squares = (points**2).sum(axis=1)[:, None] + (backbones**2).sum(axis=2)[:, None, :]
            distances = np.sqrt(np.maximum(squares - 2.0 * points @ np.swapaxes(backbones, 1, 2), 0.0))
            # In both directions: a backbone that passes all points and then bends away has no points near its end.
            score = np.minimum(distances.min(axis=2), FAR * robot.reach).mean(axis=1)
            score += np.minimum(distances.min(axis=1), FAR * robot.reach).mean(axis=1)
        else:
            there = backbone_points(robot, Q, self.places[0][chosen], self.places[1][chosen])[0]
            score = np.minimum(np.linalg.norm(there - points, axis=2), FAR * robot.reach).mean(axis=1)
        return list(Q[np.argsort(score)[:REFINED]])

    def residuals(self, q: Array) -> tuple[Array, Array]:
        """Return the vectors from points to the backbone (n, 3), and their derivatives (n, 3, dof) by the variables."""
        places = self.places or self._nearest(q)
        at = backbone_points(self.robot, q[None], *places)[0]
        flat = by_variables(
            self.robot, lambda q: backbone_points(self.robot, q[None], *places)[1][0].reshape(-1, len(q)), q
        )
        J = flat.reshape(len(self.points), 3, -1)
        r = at[0] - self.points
        if self.places is None:
            # A point may slide along the backbone: only the distance across counts.
            tangents = self._tangents(q, *places)
            J = J - tangents[:, :, None] * np.einsum("ni,nik->nk", tangents, J)[:, None, :]
            inner = (places[1] > 0.0) & (places[1] < 1.0)
            r = np.where(inner[:, None], r - tangents * np.einsum("ni,ni->n", tangents, r)[:, None], r)
        return r, J

    def _nearest(self, q: Array) -> tuple[Integers, Array]:
        """Return the places on the backbone nearest to the points, from dense points and a parabola between them."""
        total = float(element_lengths(self.robot, q)[1].sum())
        line = self.robot.backbone(q, DENSE)
        squares = ((self.points[:, None] - line) ** 2).sum(axis=2)
        best = np.clip(squares.argmin(axis=1), 1, DENSE - 2)
        rows = np.arange(len(best))
        before, here, after = squares[rows, best - 1], squares[rows, best], squares[rows, best + 1]
        curvature = before - 2.0 * here + after
        shift = np.divide(0.5 * (before - after), curvature, out=np.zeros(len(best)), where=curvature > 0.0)
        arcs = np.clip((best + np.clip(shift, -1.0, 1.0)) / (DENSE - 1), 0.0, 1.0) * total
        return places_at(self.robot, q, arcs)

    def _tangents(self, q: Array, rows: Integers, shares: Array) -> Array:
        step = 1e-4
        above = backbone_points(self.robot, q[None], rows, np.minimum(shares + step, 1.0))[0][0]
        below = backbone_points(self.robot, q[None], rows, np.maximum(shares - step, 0.0))[0][0]
        along = above - below
        return np.asarray(along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300))

    def _scale(self, r: Array) -> float:
        """Return the standard deviation per axis from the median distance, which outliers hardly change."""
        # Median of the length of a Gaussian vector: with three axes, or with two across the backbone.
        median = 1.5382 if self.places is not None else 1.1774
        return max(float(np.median(np.linalg.norm(r, axis=1))) / median, LEAST_NOISE * self.robot.reach)

    def distance(self, q: Array) -> float:
        """Return the mean distance of the points from the backbone, each capped at `FAR` of the reach."""
        r, _ = self.residuals(q)
        return float(np.minimum(np.linalg.norm(r, axis=1), FAR * self.robot.reach).mean())

    def descend_in_stages(self, starts: list[Array]) -> Array:
        """Return the best configuration of robust descents whose least scale decreases to zero."""
        found = starts
        for share in STAGES:
            found = self._best([self.descend(q, least=share * self.robot.reach, rough=share > 0.0) for q in found])
        return found[0]

    def _best(self, found: list[Array]) -> list[Array]:
        """Return the KEPT configurations nearest to the points, best first, without near duplicates."""
        best: list[Array] = []
        for q in sorted(found, key=self.distance):
            v = to_variables(self.robot, q)
            if all(np.abs(v - to_variables(self.robot, other)).max() > ALIKE for other in best):
                best.append(q)
        return best[:KEPT]

    def descend(self, q: Array, kept: Booleans | None = None, least: float = 0.0, rough: bool = False) -> Array:
        """Return the configuration at the end of a descent from q: robust, or by least squares of the points `kept`.

        `least` is the least standard deviation per axis of a robust descent; a `rough` one ends early.
        """
        enough, steps = (ROUGH_ENOUGH, ROUGH_STEPS) if rough else (ENOUGH, MOST_STEPS)
        damping = 1e-3
        r, J = self.residuals(q)
        loss = self._loss(r, kept, least)
        for _ in range(steps):
            w = loss.weights(r)
            A = np.einsum("n,nik,nil->kl", w, J, J)
            g = np.einsum("n,nik,ni->k", w, J, r)
            step = np.linalg.solve(A + damping * np.diag(np.diag(A) + 1e-9 * np.trace(A) + 1e-300), g)
            tried = self.robot.clip(to_coordinates(self.robot, to_variables(self.robot, q) - step))
            r_tried, J_tried = self.residuals(tried)
            moved = float(np.abs(to_variables(self.robot, tried) - to_variables(self.robot, q)).max())
            if loss.mean(r_tried) < loss.mean(r):
                q, r, J, damping = tried, r_tried, J_tried, max(0.2 * damping, 1e-9)
                loss = self._loss(r, kept, least)
            elif damping > 1e6:
                break
            else:
                damping *= 8.0
            if moved < enough:
                break
        return q

    def _loss(self, r: Array, kept: Booleans | None, least: float) -> _Biweight | _Squares:
        return _Biweight(max(self._scale(r), least)) if kept is None else _Squares(kept)

    def result(self, q: Array) -> ShapeFit:
        """Return the least-squares fit without the points that are outliers of the robust fit q."""
        r, _ = self.residuals(q)
        kept = _Biweight(self._scale(r)).weights(r) > 0.0
        q = self.descend(q, kept)
        r, J = self.residuals(q)
        axes = 3 if self.places is not None else 2
        freedom = max(axes * int(kept.sum()) - self.robot.dof, 1)
        noise = math.sqrt(float((r[kept] ** 2).sum()) / freedom)
        information = np.einsum("nik,nil->kl", J[kept], J[kept])
        covariance = noise**2 * np.linalg.pinv(information, rcond=1e-12, hermitian=True)
        C = _by_coordinates(self.robot, q, covariance)
        return ShapeFit(q, np.linalg.norm(r, axis=1), ~kept, noise, C, self._tip(q, covariance))

    def _tip(self, q: Array, covariance: Array) -> TipCovariance:
        robot, v = self.robot, to_variables(self.robot, q)

        def tips(errors: Array) -> Array:
            return robot.tip_pose(to_coordinates(robot, v + errors))[:, :3, 3]

        return propagated(robot, q, by_variables(robot, robot.jacobian, q), covariance, tips)


def _by_coordinates(robot: Robot, q: Array, covariance: Array) -> Array:
    """Return the covariance of the coordinates from that of the variables."""
    # by_variables of the identity is dq/dv, whose rows for a straight section's direction are zero.
    T = by_variables(robot, lambda q: np.eye(len(q)), q)
    return np.asarray(T @ covariance @ T.T)
