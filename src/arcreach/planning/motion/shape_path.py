"""Configurations that lay the body of a robot along a curve, one per depth of the tip."""

from __future__ import annotations

import math

import numpy as np

from arcreach._typing import Array
from arcreach.elements import Link, Section
from arcreach.ik.solve import solve
from arcreach.ik.target import Target
from arcreach.kernels.solver.path_step import Box
from arcreach.kernels.solver.shape_fit import fit_path
from arcreach.kernels.solver.shape_squares import Body, Curve, distances
from arcreach.planning.motion.tracker import step_box
from arcreach.robots.robot import Robot

# Number of fitted points per element, and of points of the body at which its deviation is measured.
FITTED = 10
MEASURED = 200
# With a free base, weight of the body that is not yet on the curve, relative to that on it: decides equal fits.
BEFORE = 1e-2
# Weight of a variable's change from point to point, in lengths of the body per radian: with a free base, and without.
FREE_STEP, STEP = 1e-3, 1e-4
# Largest tip error of a fit, as a share of the position tolerance.
AIM = 0.1
# Smallest number of segments of the curve in the search for nearest points.
SEGMENTS = 300
# Base configurations from which trial paths start, shares of the stretch for each of them, and points of a trial path.
STARTS = 8
TRIED = (0.1, 0.35, 0.6, 0.85)
TRIAL_POINTS = 12
# Directions of the first section that twists: while it is straight, a fit does not change its direction, and its bend
# cannot become negative.
TURNS = (0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi)
SEED = 0


class Line:
    """A polyline by its arc length, extended before its first point.

    `open` is extended along z if the robot is guided, else along the first tangent; `periodic` by laps if closed, each
    by at least `before` metres. `whole` says that the whole body has to lie on the line, not only its inserted part.
    """

    def __init__(self, polyline: Array, before: float, guided: bool, closed: bool) -> None:
        self.guided, self.whole = guided, guided or closed
        self._polyline = polyline
        self._arc_lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(polyline, axis=0), axis=1))])
        self.length = float(self._arc_lengths[-1])
        # Long segments are divided: the search for the nearest point starts at the expected one.
        finest = self.length / SEGMENTS
        cuts = np.unique(np.concatenate([self._arc_lengths, np.arange(0.0, self.length, finest)]))
        # Vertices that nearly coincide would make a segment without a direction.
        cuts = cuts[np.concatenate([[True], np.diff(cuts) > 1e-6 * finest])]
        along = self.at(cuts)
        tangent = (along[1] - along[0]) / (cuts[1] - cuts[0])
        direction = np.array([0.0, 0.0, 1.0]) if guided else tangent
        extension = np.arange(-math.ceil(max(before, self.length) / finest), 0) * finest
        straight = along[0] + extension[:, None] * direction
        self.open = _curve(np.concatenate([extension, cuts]), np.vstack([straight, along]))
        laps = np.arange(-math.ceil(before / self.length), 0) * self.length
        arcs = np.concatenate([(laps[:, None] + cuts[:-1]).ravel(), cuts])
        self.periodic = _curve(arcs, self.at(arcs % self.length)) if closed else self.open
        self.tangent = direction

    def at(self, depths: Array) -> Array:
        """Return points (n, 3) at arc lengths (n,) from the first point."""
        return np.stack([np.interp(depths, self._arc_lengths, column) for column in self._polyline.T], axis=1)


def _curve(arc_lengths: Array, points: Array) -> Curve:
    segments = np.diff(points, axis=0)
    return Curve(points, segments / np.linalg.norm(segments, axis=1)[:, None], arc_lengths)


class BodyPath:
    """Fits the body of a robot, from the first section on, to a line."""

    def __init__(self, robot: Robot, line: Line, position_tol: float, largest: Array | None) -> None:
        self.robot, self.line, self.aim = robot, line, AIM * position_tol
        first = robot.first_section
        self._first, self._coordinate = first, robot.indexed_elements()[first][1]
        self._tail = Robot(robot.elements[first:])
        rows = [row for row, record in enumerate(robot.packed) if record["kind"] >= 0][first:]
        fitted = [row for row, element in zip(rows, self._tail.elements, strict=True) if element.reach > 0.0]
        scale = self._tail.reach
        moving = robot.model.moving
        units = np.ones(robot.model.variables)
        units[moving["variable"][moving["stroke"] == 1]] = scale
        self._body = Body(
            rows=np.repeat(np.array(fitted, np.int64), FITTED),
            fractions=np.tile((np.arange(FITTED) + 0.5) / FITTED, len(fitted)),
            shares=np.full(len(fitted) * FITTED, 1.0 / FITTED),
            scale=scale,
            before=1.0 if line.whole else BEFORE,
            step=STEP if line.whole else FREE_STEP,
            units=units,
        )
        self._anywhere = step_box(robot, np.full(robot.model.variables, math.inf))
        nearby = self._anywhere.largest if largest is None else robot.model.steps(largest)
        self._nearby = self._anywhere._replace(largest=nearby)

    def insertion(self, depths: Array) -> Array:
        """Return configurations (n, dof) for depths (n,), from the start whose trial path fits best."""
        trial = depths[np.linspace(0, len(depths) - 1, min(TRIAL_POINTS, len(depths))).astype(int)]
        starts = self._starts(float(depths[0]))
        if len(starts) > 1:
            starts.sort(key=lambda start: self._defects(self._fit(start, trial, self._anywhere), trial))
        # The first point may be far from the start, which is not part of the path.
        start = self._fit(starts[0], depths[:1], self._anywhere)[0]
        Q = self._fit(start, depths, self._nearby)
        # Fitting from the last depth back gives another path, sometimes a better one for sections of variable length.
        back = self._fit(Q[-1], depths[::-1], self._nearby)[::-1].copy()
        return min(Q, back, key=lambda path: self._defects(path, depths))

    def lap(self, depths: Array) -> Array:
        """Return configurations (n, dof) for one lap on a closed line; the last equals the first, up to whole turns."""
        start = self.insertion(depths)[-1]
        start = self._fit(start, depths[:1], self._anywhere, closed=True)[0]
        Q = self._fit(start, depths, self._nearby, closed=True)
        V = self.robot.model.to_variables(Q)
        continuous = np.isinf(self.robot.model.bounds()[0])
        V[:, continuous] = np.unwrap(V[:, continuous], axis=0)
        gap = V[-1] - V[0]
        gap[continuous] -= 2.0 * np.pi * np.round(gap[continuous] / (2.0 * np.pi))
        V -= np.linspace(0.0, 1.0, len(V))[:, None] * gap
        Q = self._fit(self.robot.model.to_coordinates(V), depths, self._anywhere, closed=True)
        Q[-1] = Q[0] + 2.0 * np.pi * np.where(np.isinf(self.robot.lower), np.round((Q[-1] - Q[0]) / (2.0 * np.pi)), 0.0)
        return Q

    def deviations(self, Q: Array, depths: Array) -> tuple[Array, Array]:
        """Return the largest and the mean distance (n,) of bodies from the line in metres."""
        frames = self.robot.frames(Q)[:, self._first]
        bodies = self._tail.backbone(Q[:, self._coordinate :], MEASURED)
        bodies = bodies @ frames[:, :3, :3].transpose(0, 2, 1) + frames[:, None, :3, 3]
        lengths = self._lengths(Q)
        away = np.empty(bodies.shape[:2])
        distances(0, len(Q), self.line.periodic, depths, lengths, np.ascontiguousarray(bodies), away)
        # Distance from the tip along the body. The tip always counts, so no mean is empty.
        before = np.linspace(1.0, 0.0, MEASURED) * lengths[:, None]
        counts = np.full(away.shape, True) if self.line.whole else before <= depths[:, None]
        return np.where(counts, away, 0.0).max(axis=1), np.where(counts, away, 0.0).sum(axis=1) / counts.sum(axis=1)

    def _lengths(self, Q: Array) -> Array:
        """Return the lengths (n,) of bodies from the first section to the tip."""
        total = np.zeros(len(Q))
        for element, k in self._tail.indexed_elements():
            q = Q[:, self._coordinate + k : self._coordinate + k + len(element.coordinates)]
            if isinstance(element, Section):
                total += q[:, 2] if element.stretch > 0.0 else element.length
            elif element.reach > 0.0:
                total += np.linalg.norm(Robot([element]).tip_pose(q)[:, :3, 3], axis=1)
        return total

    def _fit(self, start: Array, depths: Array, box: Box, closed: bool = False) -> Array:
        """Return configurations (n, dof) for depths (n,), from a first start (dof,) or one start per depth (n, dof)."""
        Q = np.empty((len(depths), self.robot.dof))
        Q[:] = start
        goals = np.column_stack([depths, self.line.at(depths), np.full(len(depths), self.aim)])
        curve = self.line.periodic if closed else self.line.open
        fit_path(self.robot.model.for_kernels(), box, self._body, curve, goals, start.ndim == 1, Q)
        return Q

    def _defects(self, Q: Array, depths: Array) -> tuple[int, float]:
        """Return the number of depths at which the tip is off the line, and the mean deviation."""
        off = np.linalg.norm(self.robot.tip_pose(Q)[:, :3, 3] - self.line.at(depths), axis=1)
        return int((off > self.aim / AIM).sum()), float(self.deviations(Q, depths)[1].mean())

    def _starts(self, depth: float) -> list[Array]:
        """Return configurations with a straight body whose tip is at a depth, if the base can take it there."""
        shares = TRIED if any(section.stretch > 0.0 for section in self._tail.sections) else (0.0,)
        sections = [(element, k) for element, k in self._tail.indexed_elements() if isinstance(element, Section)]
        # The direction of the first section that twists.
        twist = next((k + 1 for section, k in sections if section.twist), None)
        starts = []
        for share in shares:
            q = self._tail.neutral.copy()
            for section, k in sections:
                if section.stretch > 0.0:
                    q[k + 2] = section.length + share * section.stretch
            for turn in TURNS if twist is not None else (0.0,):
                if twist is not None:
                    q[twist] = turn
                bases = self._bases(self._tail.tip_pose(q), depth)
                # Bases after the first one are random, so they turn the section too.
                starts += [np.concatenate([base, q]) for base in (bases[:1] if turn else bases)]
        return starts

    def _bases(self, T_first_tip: Array, depth: float) -> list[Array]:
        """Return coordinates of the joints before the first section that put the tip of a rigid body at a depth."""
        if self._coordinate == 0:
            return [np.empty(0)]
        translation, rotation = T_first_tip[:3, 3].tolist(), T_first_tip[:3, :3].tolist()
        link = Link(translation, rotation, name=self.robot.unused_name("tip"))
        rigid = Robot([*self.robot.elements[: self._first], link])
        target = Target(self.line.at(np.array([depth]))[0], axis=self.line.tangent)
        others = rigid.sample(0 if self.line.guided else STARTS - 1, seed=SEED)
        return [solve(rigid, target, start=q).q for q in (rigid.neutral, *others)]
