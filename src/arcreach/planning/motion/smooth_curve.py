"""Twice differentiable curves through the points of a path, in the smooth variables.

A curve is a cubic spline through the points, parametrised by the distance between them. Where it leaves the limits of
the robot, its control points are moved onto the path: the curve then rounds the corners inside the convex hull of the
path, and the limits are convex. Where it comes too near to an obstacle, points of the straight segment are inserted,
which pull it towards the certified path. If a sixteenth of a segment is still too long, the robot stops there: the
curve ends and another one starts.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array, Booleans
from arcreach.kernels.solver.bounds import inside_limits
from arcreach.planning.motion.motion_check import MotionCheck, SmoothSpace

# Points nearer to each other than this share of the path are merged: a spline would oscillate between them.
SAME = 1e-6
# Minimum number of intervals of the grid on which a curve is checked and timed: in all, and between two knots.
INTERVALS, PER_SPAN = 800, 4
# Number of times a segment is halved: where its corners are rounded, and at most before the robot stops.
ROUNDED, FINEST = 2, 4
# Share of the path's clearance beyond the margin that a curve keeps.
KEPT = 0.9
# Tolerance of the limits in radians and shares of a stretch; smaller violations are clipped.
SLACK = 1e-9
# After this many rounds all corners are rounded, not only those outside the limits.
ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve from rest to rest: a scipy spline, and the grid (with all knots) on which it is checked and timed."""

    spline: Any
    grid: Array  # (n,)


@dataclass(slots=True)
class _Shape:
    """Parameters of the curves through a path of n points."""

    halvings: npt.NDArray[np.int64]  # (n - 1,): a segment is divided into 2 ** halvings pieces
    rounded: Booleans  # (n - 1,): segments whose corners are rounded
    stops: Booleans  # (n,)


def distinct(V: Array) -> Array:
    """Return the points without repetitions; the last point is always kept."""
    least = SAME * float(np.linalg.norm(np.diff(V, axis=0), axis=1).sum())
    kept = [0]
    for i in range(1, len(V)):
        if i == len(V) - 1:
            while len(kept) > 1 and np.linalg.norm(V[i] - V[kept[-1]]) <= least:
                kept.pop()
        if np.linalg.norm(V[i] - V[kept[-1]]) > least:
            kept.append(i)
    return np.asarray(V[kept])


def smooth_curves(space: SmoothSpace, V: Array, check: MotionCheck | None, stops: bool) -> list[Curve]:
    """Return consecutive curves through points (n, variables), inside the limits and, with a check, free."""
    segments = len(V) - 1
    wanted = 0.0 if check is None else _wanted(check, V)
    shape = _Shape(np.zeros(segments, np.int64), np.zeros(segments, np.bool_), np.full(segments + 1, stops))
    shape.stops[[0, -1]] = True
    for k in itertools.count():
        curves = [_curve(V, shape, a, b) for a, b in itertools.pairwise(np.flatnonzero(shape.stops).tolist())]
        outside = _outside(space, curves, segments) & ~shape.rounded
        if outside.any():
            shape.rounded |= outside if k < ROUNDS else True
            near = shape.rounded.copy()
            near[1:] |= shape.rounded[:-1]
            near[:-1] |= shape.rounded[1:]
            shape.halvings = np.where(near, np.maximum(shape.halvings, ROUNDED), shape.halvings)
            continue
        blocked = _blocked(check, wanted, curves, segments) & ~(shape.stops[:-1] & shape.stops[1:])
        if not blocked.any():
            return [curve for curve, _ in curves]
        spent = blocked & (shape.halvings >= FINEST)
        shape.stops[:-1] |= spent
        shape.stops[1:] |= spent
        shape.halvings += blocked & ~spent
    raise AssertionError("unreachable: every round changes at least one more segment")


def _curve(V: Array, shape: _Shape, first: int, last: int) -> tuple[Curve, npt.NDArray[np.int64]]:
    """Return the curve from one stop to the next, and the segment of every interval of its grid."""
    from scipy.interpolate import BSpline, make_interp_spline

    rows, owners = [V[first : first + 1]], []
    for i in range(first, last):
        pieces = 1 << int(shape.halvings[i]) if last - first > 1 else 1
        rows.append(V[i] + np.arange(1, pieces + 1)[:, None] / pieces * (V[i + 1] - V[i]))
        owners += [i] * pieces
    points = np.concatenate(rows)
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    spans = np.array(owners)
    spline = make_interp_spline(lengths, points, 3, bc_type="natural")
    rounded = np.flatnonzero(shape.rounded[spans])
    if len(rounded) and last - first > 1:
        # Over the span i the curve is a mean of the control points i to i + 3.
        chosen = np.unique(rounded[:, None] + np.arange(4))
        knots, control = spline.t, spline.c.copy()
        abscissae = (knots[1:-3] + knots[2:-2] + knots[3:-1])[chosen] / 3.0
        control[chosen] = np.stack([np.interp(abscissae, lengths, column) for column in points.T], axis=1)
        spline = BSpline(knots, control, 3)
    pieces = max(PER_SPAN, math.ceil(INTERVALS / len(spans)))
    steps = np.arange(pieces) / pieces
    grid = np.append((lengths[:-1, None] + steps * np.diff(lengths)[:, None]).ravel(), lengths[-1])
    return Curve(spline, grid), np.repeat(spans, pieces)


def _outside(space: SmoothSpace, curves: list[tuple[Curve, npt.NDArray[np.int64]]], segments: int) -> Booleans:
    """Return for every segment whether its curve leaves the limits."""
    outside = np.zeros(segments, np.bool_)
    for curve, owners in curves:
        V = curve.spline(curve.grid)
        inside = V.copy()
        for v, out in zip(V, inside, strict=True):
            inside_limits(space.model.kernel(), v, out)
        off = np.abs(V - space.model.keep_pulls(inside, nearest=True)).max(axis=1) > SLACK
        np.logical_or.at(outside, owners, off[:-1] | off[1:])
    return outside


def _wanted(check: MotionCheck, V: Array) -> float:
    """Return the clearance that curves keep: nearly that of the path, at least the margin."""
    free, certificates = check.certify(V)
    spare = float(certificates.min()) - check.margin if free.all() else 0.0
    return check.margin + KEPT * max(spare, 0.0)


def _blocked(
    check: MotionCheck | None, wanted: float, curves: list[tuple[Curve, npt.NDArray[np.int64]]], segments: int
) -> Booleans:
    """Return for every segment whether its curve is not certified to keep the wanted clearance."""
    blocked = np.zeros(segments, np.bool_)
    if check is None:
        return blocked
    for curve, owners in curves:
        V = np.ascontiguousarray(curve.spline(curve.grid))
        free = check.keeps(V, wanted + chord_error(check.space, curve))
        np.logical_or.at(blocked, owners, ~free)
    return blocked


def certified(check: MotionCheck, curves: list[Curve]) -> float:
    """Return the certified clearance along curves, minus infinity if a curve is not free."""
    least = math.inf
    for curve in curves:
        free, certificates = check.certify(np.ascontiguousarray(curve.spline(curve.grid)))
        least = min(least, float(certificates.min()) - chord_error(check.space, curve)) if free.all() else -math.inf
    return least


def chord_error(space: SmoothSpace, curve: Curve) -> float:
    """Return a bound in metres of the distance of body points on the curve from those on the chords of its grid.

    The second derivative is linear between knots, so its values on the grid bound it. Over an interval h a curve is
    within h² / 8 times that bound of its chord.
    """
    second = np.abs(curve.spline(curve.grid, 2))
    steps = np.diff(curve.grid)[:, None]
    off = steps**2 / 8.0 * np.maximum(second[:-1], second[1:])
    off = off.max(axis=0)
    farthest = np.abs(curve.spline(curve.grid)).max(axis=0) + off
    return space.travels(farthest, farthest + off)
