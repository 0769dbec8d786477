"""Twice differentiable curves through the points of a path, in the solver variables.

A curve is a cubic spline through the points, parametrised by the distance between them. Where it leaves the limits of
the robot, its control points are moved inside: the curve lies in their hull, and the limits are convex. Where it then
misses a point or comes too near to an obstacle, points of the straight segments are inserted to pull it towards the
path. If a sixteenth of a segment is still too near to an obstacle, less clearance is accepted there, and if that is
not enough the robot stops: the curve ends and another one starts.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from arcreach._typing import Array, Booleans, Integers
from arcreach.planning.motion.motion_check import MotionCheck, VariableSpace
from arcreach.planning.timing.spline import Spline, control_through, from_control

# Points nearer to each other than this share of the path are merged: a spline would oscillate between them.
SAME = 1e-6
# Minimum number of intervals of the grid on which a curve is checked and timed: in all, and between two knots.
INTERVALS, PER_SPAN = 800, 4
# Largest number of halvings of a segment: where the curve misses a point, and where it is near to an obstacle.
MISSED_HALVINGS, FINEST = 2, 4
# A curve misses a point if it is farther from it than this share of an adjacent segment.
MISSED = 0.02
# Share of the path's clearance beyond the margin that a curve keeps, and where the robot would otherwise stop.
KEPT, LEAST_KEPT = 0.9, 0.5
# Tolerance of the limits (radians, metres, shares of a stretch); smaller violations are clipped.
SLACK = 1e-9
# After this many rounds all control points are clipped to the limits, not only those of segments that leave them.
ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve from rest to rest: a spline, and the grid (with all knots) on which it is checked and timed."""

    spline: Spline
    grid: Array  # (n,)
    segments: Integers  # (n - 1,): index of the path's segment that contains each interval of the grid

    def starts(self) -> Integers:
        """Return the first interval of every segment."""
        return np.flatnonzero(np.diff(self.segments, prepend=-1))


@dataclass(slots=True)
class _Refinement:
    """How the curves through a path of n points have been refined so far."""

    halvings: Integers  # (n - 1,): a segment is divided into 2 ** halvings pieces
    moved: Booleans  # (n - 1,): segments whose control points are moved inside the limits
    near: Booleans  # (n - 1,): segments that may keep less clearance (LEAST_KEPT)
    stops: Booleans  # (n,): points at which the robot stops


def distinct(V: Array) -> Array:
    """Return the points without those that nearly repeat the previous one; the last point is always kept."""
    steps = np.linalg.norm(np.diff(V, axis=0), axis=1)
    least = SAME * float(steps.sum())
    if (steps > least).all():
        return V
    kept = [0]
    for i in range(1, len(V)):
        if i == len(V) - 1:
            while len(kept) > 1 and np.linalg.norm(V[i] - V[kept[-1]]) <= least:
                kept.pop()
        if np.linalg.norm(V[i] - V[kept[-1]]) > least:
            kept.append(i)
    return np.asarray(V[kept])


def smooth_curves(space: VariableSpace, V: Array, check: MotionCheck | None, stops: bool) -> list[Curve]:
    """Return consecutive curves through points (n, variables), inside the limits and, with `check`, collision-free.

    With `stops` the robot stops at every point.
    """
    segments = len(V) - 1
    spare = 0.0 if check is None else _spare(check, V)
    moved, near = np.zeros((2, segments), np.bool_)
    refined = _Refinement(np.zeros(segments, np.int64), moved, near, np.full(segments + 1, stops))
    refined.stops[[0, -1]] = True
    for k in itertools.count():
        ends = np.flatnonzero(refined.stops).tolist()
        curves = [_curve(space, V, refined, a, b) for a, b in itertools.pairwise(ends)]
        outside = _outside(space, curves, segments) & ~refined.moved
        if outside.any():
            refined.moved |= outside if k < ROUNDS else True
            continue
        missed = _missed(V, curves) & (refined.halvings < MISSED_HALVINGS)
        if missed.any():
            refined.halvings[missed] = MISSED_HALVINGS
            continue
        spares = np.where(refined.near, LEAST_KEPT, KEPT) * spare
        blocked = _blocked(check, spares, curves) & ~(refined.stops[:-1] & refined.stops[1:])
        if not blocked.any():
            return curves
        finest = blocked & (refined.halvings >= FINEST)
        stopped = finest & refined.near
        refined.stops[:-1] |= stopped
        refined.stops[1:] |= stopped
        refined.near |= finest
        refined.halvings += blocked
        refined.halvings[finest] = 0
    raise AssertionError("unreachable: every round changes at least one more segment")


def _curve(space: VariableSpace, V: Array, refined: _Refinement, first: int, last: int) -> Curve:
    """Return the curve from one stop to the next."""
    rows, segments = [V[first : first + 1]], []
    for i in range(first, last):
        pieces = 1 << int(refined.halvings[i]) if last - first > 1 else 1
        rows.append(V[i] + np.arange(1, pieces + 1)[:, None] / pieces * (V[i + 1] - V[i]))
        segments += [i] * pieces
    points = np.concatenate(rows)
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    segment_of = np.array(segments)  # by piece
    control = control_through(lengths, points)
    moved = np.flatnonzero(refined.moved[segment_of])
    if len(moved) and last - first > 1:
        chosen = np.unique(moved[:, None] + np.arange(4))
        control[chosen] = space.inside(control[chosen])
    intervals = max(PER_SPAN, math.ceil(INTERVALS / len(segments)))
    steps = np.arange(intervals) / intervals
    grid = np.append((lengths[:-1, None] + steps * np.diff(lengths)[:, None]).ravel(), lengths[-1])
    return Curve(from_control(lengths, control), grid, np.repeat(segment_of, intervals))


def _outside(space: VariableSpace, curves: list[Curve], segments: int) -> Booleans:
    """Return whether the curve leaves the limits in each segment (segments,)."""
    outside = np.zeros(segments, np.bool_)
    for curve in curves:
        V = curve.spline(curve.grid)
        off = np.abs(V - space.inside(V)).max(axis=1) > SLACK
        np.logical_or.at(outside, curve.segments, off[:-1] | off[1:])
    return outside


def _missed(V: Array, curves: list[Curve]) -> Booleans:
    """Return whether a curve misses an end of each segment (segments,)."""
    lengths = np.linalg.norm(np.diff(V, axis=0), axis=1)
    off = np.zeros(len(V))
    for curve in curves:
        ends = np.append(curve.starts(), len(curve.segments))
        points = np.arange(curve.segments[0], curve.segments[-1] + 2)
        off[points] = np.linalg.norm(curve.spline(curve.grid[ends]) - V[points], axis=1)
    return np.asarray(np.maximum(off[:-1], off[1:]) > MISSED * lengths)


def _spare(check: MotionCheck, V: Array) -> float:
    """Return the certified clearance of the path from obstacles beyond the margin."""
    free, certificates = MotionCheck(check.space, check.scene, check.margin).certify(V)
    return max(float(certificates.min()) - check.margin, 0.0) if free.all() else 0.0


def _blocked(check: MotionCheck | None, spares: Array, curves: list[Curve]) -> Booleans:
    """Return the segments whose curve is not certified, as a mask.

    A certified curve keeps the clearances `spares` beyond the margin. Its body stays clear of itself, if that is
    checked, and passes the port, if there is one.
    """
    blocked = np.zeros(len(spares), np.bool_)
    if check is None:
        return blocked
    for curve in curves:
        V = np.ascontiguousarray(curve.spline(curve.grid))
        starts = curve.starts()
        for first, end, error in zip(starts, [*starts[1:], len(V) - 1], chord_errors(check.space, curve), strict=True):
            segment, rows = curve.segments[first], V[first : end + 1]
            # Two parts of the body may both be off the chords.
            kept = check.keeps(rows, check.margin + spares[segment] + error, 2.0 * error).all()
            blocked[segment] = not (kept and _passes(check, rows, error))
    return blocked


def _passes(check: MotionCheck, V: Array, error: float) -> bool:
    """Return whether the body passes the port, even `error` metres off the straight motions between successive rows."""
    if check.port is None:
        return True
    passed, distances = check.passes(V)
    return bool(passed.all() and distances.max() + error <= check.port.radius)


def certified(check: MotionCheck, curves: list[Curve]) -> float:
    """Return the certified clearance along curves, minus infinity if a curve is not free."""
    least = math.inf
    moving = 2.0 if check.world.own else 1.0  # parts of the body that may be off the chords
    for curve in curves:
        free, certificates = check.certify(np.ascontiguousarray(curve.spline(curve.grid)))
        if not free.all():
            return -math.inf
        kept = np.minimum.reduceat(certificates, curve.starts()) - moving * chord_errors(check.space, curve)
        least = min(least, float(kept.min()))
    return least


def chord_errors(space: VariableSpace, curve: Curve) -> Array:
    """Return, per segment, a bound in metres of how far the body on the curve is from the body on the curve's chords.

    The second derivative is linear between knots, so its values on the grid bound it. Over an interval h a curve is
    within h² / 8 times that bound of its chord.
    """
    V, second = (np.abs(curve.spline(curve.grid, order)) for order in (0, 2))
    off = np.diff(curve.grid)[:, None] ** 2 / 8.0 * np.maximum(second[:-1], second[1:])
    off = np.maximum.reduceat(off, curve.starts())
    farthest = np.maximum.reduceat(np.maximum(V[:-1], V[1:]), curve.starts()) + off
    return np.array([space.travels(a, b) for a, b in zip(farthest, farthest + off, strict=True)])
