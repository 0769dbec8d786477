"""`follow_the_leader`: insert a robot along a curve so that its body stays on the path of the tip.

At every depth the configuration is a least-squares fit of the body to the curve, with the tip on it; the largest
remaining distance is reported. The fit is written in NumPy: `scipy.optimize.least_squares` (trf, the same residuals and
Jacobian) took about twice as long with up to twice the deviation, and SciPy is in an extra.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import positive, real_array, shown, whole
from arcreach._typing import Array
from arcreach.elements import Link, Prismatic, Section
from arcreach.errors import MethodError, TargetError
from arcreach.ik.solution import Status
from arcreach.ik.target import Targets
from arcreach.planning.motion.path import Path
from arcreach.robots.robot import Robot

# Number of body points that are fitted, and at which the deviation is measured.
FITTED = 48
MEASURED = 200
# Weight of the tip relative to a point of the body.
TIP_WEIGHT = 300.0
# Weight of the difference from the previous configuration, in metres per share: sections of equal curvature can divide
# a length in many ways.
PULL = 1e-5
STEPS = 60
LARGEST_DAMPING = 1e6
# A step that reduces the sum of squares by less than 2 % is no progress; a few of them end the fit.
PROGRESS = 0.98
# Smallest number of segments of the curve in the search for nearest points.
SEGMENTS = 300
# Vertices before and after the expected one in that search.
WINDOW = 25
# Step of the finite differences of the Jacobian, in shares.
DIFFERENCE = 1e-6
# Shares of the stretch in the initial guesses.
TRIED = (0.1, 0.35, 0.6, 0.85)
MOST_GUESSES = 64
# Largest accepted distance of the first point of a curve from the base, as a share of its length.
AT_BASE = 1e-3


@dataclass(frozen=True, slots=True)
class LeaderPath(Path):
    """A path along a curve, with the largest distance of the body from the curve at every point."""

    depth: Array = field(default_factory=lambda: np.empty(0))  # (n,): arc length of the tip along the curve
    body_deviation: Array = field(default_factory=lambda: np.empty(0))  # (n,), in metres

    @property
    def worst_body_deviation(self) -> float:
        """Largest distance of the body from the curve in metres."""
        return float(self.body_deviation.max(initial=0.0))

    def __str__(self) -> str:
        reached = f"{int(self.reached_points.sum())} of {len(self)} points reached"
        worst = f"body off the curve by {_text.length(self.worst_body_deviation)} at most"
        return f"{reached}; {worst}; tip by {_text.length(self.deviation[0])}; {_text.seconds(self.seconds)}"


def follow_the_leader(
    robot: Robot, curve: npt.ArrayLike, *, points: int = 100, position_tol: float = 1e-5
) -> LeaderPath:
    """Move the tip along a curve (m, 3) that starts at the base, while the body stays on the path of the tip.

    The robot needs a slide along z as its first element, or sections of variable length. The curve is a polyline,
    extended straight along -z before its first point; a retracted slide lies there. The path starts at the smallest
    depth of the robot.
    """
    began = time.perf_counter()
    position_tol = positive("position_tol", position_tol, "metres")
    points = whole("points", points, 2)
    shortest, longest = _depths(robot)
    line = _Curve(_checked_curve(curve), robot.reach)
    given = f"curve is {_text.length(line.length, 4)} long; robot '{robot.name}'"
    if line.length > longest:
        raise TargetError(f"{given} enters {_text.length(longest, 4)} at most")
    if line.length < shortest:
        raise TargetError(
            f"{given} is {_text.length(shortest, 4)} long at least: give a longer curve, or the robot a slide along z "
            "as its first element"
        )
    depths = np.linspace(shortest, line.length, points)
    fit = _Fit(robot, line)
    targets = Targets(line.at(depths))
    # Insertion from the start and retraction from the end give two smooth paths; the better one is returned.
    tried = []
    for Q in (fit.run(depths), fit.run(depths[::-1])[::-1].copy()):
        errors = np.linalg.norm(robot.tip_pose(Q)[:, :3, 3] - targets.positions, axis=1)
        tried.append((Q, errors, fit.deviations(Q)))
    q, errors, deviations = min(tried, key=lambda path: (int((path[1] > position_tol).sum()), float(path[2].max())))
    status = np.where(errors <= position_tol, Status.REACHED, Status.STALLED)
    return LeaderPath(
        robot=robot,
        q=q,
        targets=targets,
        waypoint=np.arange(points),
        position_error=errors,
        angle_error=np.zeros(points),
        status=status.astype(np.int64),
        seconds=time.perf_counter() - began,
        depth=depths,
        body_deviation=deviations,
    )


def _depths(robot: Any) -> tuple[float, float]:
    """Return the smallest and the largest depth of the tip."""
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    first = robot.elements[0]
    slide = isinstance(first, Prismatic) and first.axis == (0.0, 0.0, 1.0)
    rest = robot.elements[1:] if slide else robot.elements
    accepted = all(isinstance(element, Section | Link) for element in rest)
    if not accepted or not (slide or any(isinstance(element, Section) and element.stretch > 0.0 for element in rest)):
        raise MethodError(
            f"robot '{robot.name}' cannot follow its tip; give a slide along z as the first element or sections of "
            "variable length, and no other joints"
        )
    least = sum(element.length if isinstance(element, Section) else element.reach for element in rest)
    most = sum(element.reach for element in rest)
    if isinstance(first, Prismatic):
        least, most = least + first.lower, most + first.upper
    return max(least, 0.0), most


def _checked_curve(curve: Any) -> Array:
    points = real_array(curve)
    if points is None or points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
        raise TargetError(f"curve = {shown(curve)} is not accepted; give points (m, 3), at least two")
    if not np.isfinite(points).all():
        raise TargetError("curve has numbers that are not finite; give metres")
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not steps.sum() > 0.0:
        raise TargetError("curve has no length; give points that differ")
    away = float(np.linalg.norm(points[0]))
    if away > AT_BASE * steps.sum():
        raise TargetError(f"curve begins {_text.length(away, 4)} away from the base; give 0, 0, 0 as its first point")
    return np.asarray(points[np.concatenate([[True], steps > 0.0])])


class _Curve:
    """A polyline by its arc length, extended straight along -z before its first point."""

    def __init__(self, points: Array, before: float) -> None:
        arc_lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        self.length = float(arc_lengths[-1])
        # Long segments are divided: the nearest point is searched beside the nearest vertex.
        finest = self.length / SEGMENTS
        cuts = np.unique(np.concatenate([arc_lengths, np.arange(0.0, self.length, finest)]))
        # Vertices that nearly coincide would make a segment without a direction.
        cuts = cuts[np.concatenate([[True], np.diff(cuts) > 1e-6 * finest])]
        extension = np.arange(-math.ceil(max(before, self.length) / finest), 0) * finest
        self.arc_lengths = np.concatenate([extension, cuts])
        along = np.stack([np.interp(cuts, arc_lengths, column) for column in points.T], axis=1)
        straight = np.stack([0.0 * extension, 0.0 * extension, extension], axis=1) + points[0]
        self.points = np.vstack([straight, along])
        segments = np.diff(self.points, axis=0)
        self.lengths = np.linalg.norm(segments, axis=1)
        self.directions = segments / self.lengths[:, None]
        self._squares = np.einsum("ik,ik->i", self.points, self.points)

    def at(self, depths: Array) -> Array:
        """Return points (n, 3) at arc lengths."""
        return np.stack([np.interp(depths, self.arc_lengths, column) for column in self.points.T], axis=1)

    def tangent(self, depth: float) -> Array:
        """Return the unit tangent (3,) at an arc length."""
        segment = int(np.searchsorted(self.arc_lengths, depth, side="left")) - 1
        return np.asarray(self.directions[min(max(segment, 0), len(self.directions) - 1)])

    def nearest(self, points: Array, around: Array | None = None) -> tuple[Array, Array]:
        """Return the points (n, 3) of the curve nearest to points (n, 3), and its unit tangents there (n, 3).

        With `around`, arc lengths (n,), only vertices near them are searched.
        """
        if around is None:
            # Not a matrix product: for few points its threads cost more than they save.
            products = sum(np.multiply.outer(points[:, k], self.points[:, k]) for k in range(3))
            vertex = np.argmin(self._squares - 2.0 * products, axis=1)
        else:
            first = np.clip(np.searchsorted(self.arc_lengths, around) - WINDOW, 0, len(self.arc_lengths) - 2 * WINDOW)
            window = first[:, None] + np.arange(2 * WINDOW)
            gaps = points[:, None] - self.points[window]
            vertex = first + np.argmin(np.einsum("ijk,ijk->ij", gaps, gaps), axis=1)
        segments = np.clip(np.stack([vertex - 1, vertex]), 0, len(self.directions) - 1)
        away = points - self.points[segments]
        along = np.clip(np.einsum("sik,sik->si", away, self.directions[segments]), 0.0, self.lengths[segments])
        gaps = away - along[..., None] * self.directions[segments]
        better = np.argmin(np.einsum("sik,sik->si", gaps, gaps), axis=0)
        rows = np.arange(len(points))
        return points - gaps[better, rows], self.directions[segments[better, rows]]


class _Fit:
    """Fits the body of a robot to a curve, depth after depth.

    Its variables are shares: the stroke of the slide divided by the reach, the share of a section's stretch, and the
    bend vector as a share of the largest bend at that length.
    """

    def __init__(self, robot: Robot, curve: _Curve) -> None:
        self.robot, self.curve = robot, curve
        self.sections = [(element, k) for element, k in robot.indexed_elements() if isinstance(element, Section)]
        self.slide = robot.elements[0] if isinstance(robot.elements[0], Prismatic) else None
        self.low, self.high = np.full(robot.dof, -1.0), np.ones(robot.dof)
        if self.slide is not None:
            self.low[0], self.high[0] = self.slide.lower / robot.reach, self.slide.upper / robot.reach
        for element, k in self.sections:
            if element.stretch > 0.0:
                self.low[k + 2] = 0.0

    def run(self, depths: Array) -> Array:
        """Return configurations (n, dof) for depths, each fitted from the previous one."""
        first = float(depths[0])
        x = min(self._guesses(first), key=lambda guess: self._cost(guess, first))
        X = []
        for depth in depths:
            x = self._fitted(x, float(depth))
            X.append(x)
        return np.asarray(self.robot.clip(self._coordinates(np.array(X))))

    def deviations(self, Q: Array) -> Array:
        """Return the largest distance (n,) of the body from the curve in metres."""
        bodies = self.robot.backbone(Q, MEASURED)
        return np.array([np.linalg.norm(body - self.curve.nearest(body)[0], axis=1).max() for body in bodies])

    def _coordinates(self, X: Array) -> Array:
        """Return configurations (n, dof) of shares (n, dof)."""
        Q = np.empty_like(X)
        if self.slide is not None:
            Q[:, 0] = X[:, 0] * self.robot.reach
        for element, k in self.sections:
            most = element.bend_limit(X[:, k + 2]) if element.stretch > 0.0 else element.bend_max
            Q[:, k] = most * np.hypot(X[:, k], X[:, k + 1])
            Q[:, k + 1] = np.arctan2(X[:, k + 1], X[:, k])
            if element.stretch > 0.0:
                Q[:, k + 2] = element.length + element.stretch * X[:, k + 2]
        return Q

    def _inside(self, x: Array) -> Array:
        """Return the shares moved inside the limits."""
        inside = np.clip(x, self.low, self.high)
        for _, k in self.sections:
            inside[k : k + 2] = x[k : k + 2] / max(math.hypot(x[k], x[k + 1]), 1.0)
        return np.asarray(inside)

    def _guesses(self, depth: float) -> list[Array]:
        """Return guesses for several lengths of the sections."""
        choices = [TRIED if element.stretch > 0.0 else (0.0,) for element, _ in self.sections]
        count = math.prod(len(choice) for choice in choices)
        if count > MOST_GUESSES:
            return [self._guess(np.full(len(choices), share), depth) for share in TRIED]
        shares = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(count, len(choices))
        return [self._guess(row, depth) for row in shares]

    def _guess(self, shares: Array, depth: float) -> Array:
        """Return shares whose sections end on tangents of the curve, for shares of the stretch.

        Without a slide the shares of the stretch are scaled to the depth.
        """
        spare = np.array([element.stretch for element, _ in self.sections])
        fixed = sum(element.length for element, _ in self.sections)
        fixed += sum(element.reach for element in self.robot.elements if isinstance(element, Link))
        if self.slide is None and spare @ shares > 0.0:
            shares = np.clip(shares * (depth - fixed) / (spare @ shares), 0.0, 1.0)
        x = np.zeros(self.robot.dof)
        arc_length = depth - fixed - float(spare @ shares)
        if self.slide is not None:
            arc_length = min(max(arc_length, self.slide.lower), self.slide.upper)
            x[0] = arc_length / self.robot.reach
        frame = np.eye(3)
        for (element, k), share in zip(self.sections, shares, strict=True):
            arc_length += element.length + element.stretch * share
            wanted = frame.T @ self.curve.tangent(arc_length)
            most = element.bend_limit(share)
            bend = math.acos(min(max(wanted[2], -1.0), 1.0)) / most if most > 0.0 else 0.0
            x[k : k + 2] = bend * wanted[:2] / max(math.hypot(*wanted[:2]), 1e-12)
            if element.stretch > 0.0:
                x[k + 2] = share
            x = self._inside(x)
            q = self._coordinates(x[None])[0]
            frame = frame @ Robot([element]).tip_pose(q[k : k + len(element.coordinates)])[:3, :3]
        return x

    def _bodies(self, X: Array) -> Array:
        return self.robot.backbone(self._coordinates(X), FITTED)

    def _near(self, x: Array, body: Array) -> tuple[Array, Array]:
        """Return the points of the curve nearest to the points of a body, and its tangents there."""
        q = self._coordinates(x[None])[0]
        stroke = q[0] if self.slide is not None else 0.0
        rigid = sum(element.reach for element in self.robot.elements if isinstance(element, Link))
        length = rigid + sum(q[k + 2] if element.stretch > 0.0 else element.length for element, k in self.sections)
        along = np.linspace(0.0, length + abs(stroke), FITTED)
        # The body of a retracted slide runs from the base back to the first section.
        return self.curve.nearest(body, np.where(along < -stroke, -along, along + min(2.0 * stroke, 0.0)))

    def _cost(self, x: Array, depth: float) -> float:
        body = self._bodies(x[None])[0]
        tip = body[-1] - self.curve.at(np.array([depth]))[0]
        return float(np.sum((body - self._near(x, body)[0]) ** 2) + FITTED * np.sum(tip**2))

    def _residuals(self, bodies: Array, near: Array, tangents: Array, tip: Array) -> Array:
        """Return residuals (m, rows) of bodies (m, FITTED, 3): distances from the curve, and the weighted tip error."""
        away = bodies - near
        away = away - np.einsum("mik,ik->mi", away, tangents)[..., None] * tangents
        ends = TIP_WEIGHT * (bodies[:, -1] - tip)
        return np.concatenate([away.reshape(len(bodies), -1), ends], axis=1)

    def _fitted(self, start: Array, depth: float) -> Array:
        """Return the shares near `start` whose body fits the curve best with the tip at a depth."""
        tip = self.curve.at(np.array([depth]))[0]
        n = len(start)
        x, damping, patience = start.copy(), 1e-6, 3
        steps = DIFFERENCE * np.where(start > 0.5 * (self.low + self.high), -1.0, 1.0)
        for _ in range(STEPS):
            bodies = self._bodies(np.vstack([x, x + np.diag(steps)]))
            rows = self._residuals(bodies, *self._near(x, bodies[0]), tip)
            J = np.vstack([((rows[1:] - rows[0]) / steps[:, None]).T, PULL * np.eye(n)])
            r = np.concatenate([rows[0], PULL * (x - start)])
            cost = float(r @ r)
            new, trial = cost, x
            while damping < LARGEST_DAMPING:
                trial = self._inside(x + self._step(x, J, r, damping))
                body = self._bodies(trial[None])
                there = self._residuals(body, *self._near(trial, body[0]), tip)[0]
                new = float(there @ there + PULL**2 * np.sum((trial - start) ** 2))
                if new < cost:
                    break
                damping *= 10.0
            if not new < cost:
                break
            x, damping = trial, max(0.1 * damping, 1e-12)
            patience = 3 if new < PROGRESS * cost else patience - 1
            if patience == 0:
                break
        return x

    def _step(self, x: Array, J: Array, r: Array, damping: float) -> Array:
        """Return the damped step; shares at a limit that would leave it are held."""
        free = np.ones(len(x), np.bool_)
        step = np.zeros(len(x))
        for _ in range(len(x)):
            A = J[:, free].T @ J[:, free]
            damped = A + np.diag(damping * np.diag(A) + 1e-14)
            step[:] = 0.0
            step[free] = -np.linalg.solve(damped, J[:, free].T @ r)
            leaving = free & (((x >= self.high) & (step > 0.0)) | ((x <= self.low) & (step < 0.0)))
            if not leaving.any():
                break
            free &= ~leaving
        return step
