"""Check a contact plan with an elastic rod: its equilibrium and its contact forces.

In a plan of arcs the curvature jumps at a contact. A frictionless contact exerts a force but no moment, so the
curvature of an elastic body is continuous. The rod has a uniform stiffness, does not stretch, is clamped at the base
and actuated by one curvature along its whole length. Its equilibrium is found by continuation: with every piece
actuated as planned, the plan is an equilibrium without forces; then the actuation is changed step by step to the
curvature of the last arc, and Newton's method tracks the equilibrium. Contacts that would have to pull are released,
and corners or discs that the rod would penetrate become contacts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arcreach import _text
from arcreach._jit import settled
from arcreach._typing import Array
from arcreach.kernels.contact.rod import STATE, Contacts, rod_shape
from arcreach.planning.contact.candidates import FLAT, every_ball
from arcreach.planning.contact.scene import Body, Surroundings
from arcreach.scenes.planar import Point

if TYPE_CHECKING:
    from arcreach.planning.contact.contact_plan import ContactArc

Residual = Callable[[Array], Array]

# Runge-Kutta steps between two contacts: for pieces that turn by up to pi the error is about 1e-7 of the length.
STEPS = 32
# Newton's method: tolerance and difference step in units of the plan's length, and iteration limit.
RESIDUAL_TOL = 1e-10
DIFFERENCE = 1e-7
ITERATIONS = 25
# Steps of the continuation, as shares of it: the first one, and the smallest before giving up.
FIRST_SHARE, LEAST_SHARE = 0.125, 1e-3
# A contact is released if its push, in units of stiffness and length, is below this.
LEAST_PUSH = -1e-8
# Depth from which a penetrated obstacle becomes a contact, in units of the plan's length.
DEPTH = 1e-4
# Largest number of contact changes in one continuation, so that two contacts cannot alternate forever.
MOST_CHANGES = 24

_shape = settled(rod_shape)


@dataclass(frozen=True)
class RodShape:
    """An equilibrium of the rod, or the last one before the continuation failed."""

    actuation: float  # curvature of the actuation, per metre
    length: float
    tip: Point
    touched: tuple[Point, ...]  # centres of the touched corners and discs, or touched points of edges
    pushes: tuple[float, ...]  # contact forces divided by bending stiffness (1/m^2)
    share: float  # completed share of the continuation, 1 for all of it
    clearance: float  # smallest signed distance to obstacles in metres, at the points of `line`
    line: Array  # (n, 2)
    within_limits: bool

    @property
    def converged(self) -> bool:
        """Whether this is the requested equilibrium."""
        return self.share == 1.0

    def deviation(self, target: Point) -> float:
        """Return the distance of the tip from a target, in metres."""
        return math.dist(self.tip, target)

    def text(self, target: Point) -> str:
        """Return a summary in one line."""
        if not self.converged:
            return f"no equilibrium beyond {100 * self.share:.0f} % of the loading"
        parts = [
            f"tip {_text.length(self.deviation(target), 4)} from the target",
            f"actuation {self.actuation:.3f} /m",
            f"length {_text.length(self.length, 4)}",
            _text.count(len(self.touched), "contact"),
        ]
        if self.clearance < -DEPTH * self.length:
            parts.append(f"{_text.length(-self.clearance, 2)} inside an obstacle")
        return ", ".join(parts) + ("" if self.within_limits else "; outside the robot's limits")


def load_rod(
    arcs: Sequence[ContactArc], surroundings: Surroundings, body: Body, target: Point | None = None
) -> RodShape:
    """Return the equilibrium with the actuation of the last arc and the length of the plan.

    With a target, it has the actuation and length that bring the tip there. If the continuation among all obstacles
    fails, only the planned contacts count; the rod may then penetrate an obstacle, and its clearance is negative.
    """
    shape = _Rod(arcs, surroundings, body, target, touching=True).load()
    if shape.converged:
        return shape
    planned = _Rod(arcs, surroundings, body, target, touching=False).load()
    return planned if planned.share > shape.share else shape


class _Rod:
    """Unknowns and equations of an equilibrium, in units of the plan's length and the rod's stiffness.

    With a target, actuation and length are unknowns too. `touching`: penetrated corners and discs become contacts.
    """

    def __init__(
        self, arcs: Sequence[ContactArc], surroundings: Surroundings, body: Body, target: Point | None, touching: bool
    ) -> None:
        self.surroundings, self.body, self.touching = surroundings, body, touching
        self.unit = sum(arc.length for arc in arcs)
        planned = arcs[:-1]
        k = len(planned)
        self.balls: Array = np.array([arc.ball for arc in planned], dtype=float).reshape(k, 3) / self.unit
        self.sides = np.array([float(arc.side) for arc in planned])
        self.planned = np.array([arc.curvature for arc in arcs]) * self.unit
        self.active = np.ones(k, dtype=bool)
        self.goal = None if target is None else np.array(target) / self.unit
        self.base = np.array([0.0, 0.0, 0.0])
        self.arc_lengths = np.cumsum([arc.length for arc in planned]) / self.unit
        self.pushes = np.zeros(k)
        self.actuation, self.length = float(self.planned[-1]), 1.0
        self.changes = 0
        self._allocate()

    def _allocate(self) -> None:
        k = len(self.arc_lengths)
        self.states = np.empty(((k + 1) * STEPS + 1, STATE))
        self.rows = np.empty(3 + 2 * k)

    def pack(self) -> Array:
        """Return the unknowns as one vector."""
        parts = [self.base, self.arc_lengths[self.active], self.pushes[self.active]]
        return np.concatenate([*parts, [self.actuation, self.length] if self.goal is not None else []])

    def unpack(self, v: Array) -> None:
        """Set the unknowns from a vector."""
        n = int(self.active.sum())
        self.base = v[:3].copy()
        self.arc_lengths[self.active], self.pushes[self.active] = v[3 : 3 + n], v[3 + n : 3 + 2 * n]
        if self.goal is not None:
            self.actuation, self.length = float(v[-2]), float(v[-1])

    def equations(self, curvatures: Array) -> Array:
        """Return the residuals of the shape with these actuated curvatures between contacts."""
        contacts = Contacts(self.arc_lengths, self.balls, self.sides, self.pushes)
        _shape(self.base, curvatures, contacts, self.length, STEPS, self.states, self.rows)
        for i in np.flatnonzero(self.balls[:, 2] >= FLAT):
            # Angle and distance in place of components: the disc of an edge is so large that a small angle between
            # rod and edge would dominate both.
            reach, (along, across) = self.balls[i, 2], self.rows[3 + 2 * i : 5 + 2 * i]
            self.rows[3 + 2 * i : 5 + 2 * i] = along / reach, math.hypot(along, across + reach) - reach
        kept = np.concatenate([[True] * 3, np.repeat(self.active, 2)])
        return np.asarray(self.rows[kept])

    def loaded(self, share: float) -> Residual:
        """Return the equations at a share of the change from the planned curvatures to one.

        With a target the tip is held there, so that it cannot run into an obstacle.
        """

        def residual(v: Array) -> Array:
            self.unpack(v)
            last = self.planned[-1]
            rows = self.equations(self.planned + share * (last - self.planned) + (self.actuation - last))
            return rows if self.goal is None else np.concatenate([rows, self.states[-1, :2] - self.goal])

        return residual

    def load(self) -> RodShape:
        """Track the equilibrium from share 0 to 1 and return the last one."""
        share, step = 0.0, FIRST_SHARE
        while share < 1.0:
            kept = self.pack()
            trial = min(share + step, 1.0)
            if not self._newton(self.loaded(trial), kept):
                self.unpack(kept)
                step *= 0.5
                if step < LEAST_SHARE:
                    break
            elif self.changes < MOST_CHANGES and (self._release(kept) or self._touch(kept)):
                # Repeat with the changed contacts and a smaller step.
                self.changes += 1
                step = max(0.5 * step, LEAST_SHARE)
            else:
                share, step = trial, 1.5 * step
        self.loaded(share)(self.pack())
        return self.result(share)

    def _release(self, kept: Array) -> bool:
        """Release the contact that pulls most, if any, and restore the unknowns."""
        if self.pushes.min(initial=0.0) >= LEAST_PUSH:
            return False
        worst = int(np.argmin(self.pushes))
        self.unpack(kept)
        self.active[worst], self.pushes[worst] = False, 0.0
        return True

    def _touch(self, kept: Array) -> bool:
        """Make the corner or disc that the rod penetrates most deeply a contact, and restore the unknowns.

        Flat edges, and obstacles at the tip, cannot become contacts.
        """
        if not self.touching:
            return False
        gaps, which = self.surroundings.line_gaps(self.states[:, :2] * self.unit)
        depths = self.body.radius - gaps
        touched = {tuple(ball) for ball, active in zip(self.balls.tolist(), self.active, strict=True) if active}
        best = None
        for ball in every_ball(self.surroundings, self.body):
            row = tuple(value / self.unit for value in (*ball.centre, ball.reach))
            away = np.hypot(self.states[:, 0] - row[0], self.states[:, 1] - row[1])
            at = int(np.argmin(away))
            entered = which[at] == ball.obstacle and 0 < at < len(away) - 1 and depths[at] > DEPTH * self.unit
            # A corner farther away is not the penetrated one.
            entered = entered and away[at] * self.unit <= ball.reach + 2.0 * depths[at]
            if entered and row not in touched and (best is None or depths[at] > best[0]):
                best = float(depths[at]), at, row
        if best is None:
            return False
        _, at, row = best
        side, arc_length = self._side(row, at, int(which[at])), self._arc_length(at)
        self.unpack(kept)
        known = [i for i, ball in enumerate(self.balls.tolist()) if tuple(ball) == row]
        if known:
            # It was released before.
            self.active[known[0]] = True
        else:
            self._insert(row, side, arc_length)
        return True

    def _arc_length(self, at: int) -> float:
        """Return the arc length at a row of the states."""
        ends = np.concatenate([[0.0], self.arc_lengths, [self.length]])
        piece, step = divmod(at, STEPS)
        return float(ends[piece] + (ends[min(piece + 1, len(ends) - 1)] - ends[piece]) * step / STEPS)

    def _side(self, row: Sequence[float], at: int, obstacle: int) -> float:
        """Return the side of the rod on which the middle of the polygon or the centre of the disc lies."""
        x, z, angle = self.states[at, :3]
        shape = self.surroundings.obstacles[obstacle]
        corners = np.array(getattr(shape, "points", ())).reshape(-1, 2) / self.unit
        inward = corners.mean(axis=0) - row[:2] if len(corners) else np.array(row[:2]) - (x, z)
        return 1.0 if inward[0] * math.cos(angle) - inward[1] * math.sin(angle) > 0.0 else -1.0

    def _insert(self, row: Sequence[float], side: float, arc_length: float) -> None:
        """Add a contact without force; both parts of the divided piece keep its curvature."""
        i = int(np.searchsorted(self.arc_lengths, arc_length))
        self.balls = np.insert(self.balls, i, row, axis=0)
        self.sides, self.arc_lengths = np.insert(self.sides, i, side), np.insert(self.arc_lengths, i, arc_length)
        self.pushes, self.active = np.insert(self.pushes, i, 0.0), np.insert(self.active, i, True)
        self.planned = np.insert(self.planned, i, self.planned[i])
        self._allocate()

    def _newton(self, residual: Residual, v: Array) -> bool:
        """Solve by Newton's method with finite differences; the unknowns are left where it ends."""
        rows = residual(v)
        for _ in range(ITERATIONS):
            if not np.isfinite(rows).all():
                return False
            if np.abs(rows).max() <= RESIDUAL_TOL:
                return True
            slopes = np.empty((len(rows), len(v)))
            for j in range(len(v)):
                moved = v.copy()
                moved[j] += DIFFERENCE
                slopes[:, j] = (residual(moved) - rows) / DIFFERENCE
            try:
                step = np.linalg.solve(slopes, -rows)
            except np.linalg.LinAlgError:
                return False
            share = 1.0
            while True:
                trial = v + share * step
                after = residual(trial) if self._ordered(trial) else np.array([math.nan])
                if np.isfinite(after).all() and np.linalg.norm(after) < np.linalg.norm(rows):
                    break
                share *= 0.5
                if share < 1.0 / 64.0:
                    return False
            v, rows = trial, after
        return False

    def _ordered(self, v: Array) -> bool:
        """Return whether the contacts are in order along the rod."""
        arc_lengths = self.arc_lengths.copy()
        arc_lengths[self.active] = v[3 : 3 + int(self.active.sum())]
        ends = np.concatenate([[0.0], arc_lengths, [self.length if self.goal is None else v[-1]]])
        return bool((np.diff(ends) > 0.0).all())

    def _touched(self, ball: Array, line: Array) -> Point:
        """Return the centre of a corner or disc, or the point of an edge that the rod touches."""
        x, z = float(ball[0]), float(ball[1])
        if ball[2] < FLAT * self.unit:
            return x, z
        away = np.hypot(*(line - ball[:2]).T)
        nearest, k = line[int(np.argmin(away))], self.body.radius / float(away.min())
        return float(nearest[0] + k * (x - nearest[0])), float(nearest[1] + k * (z - nearest[1]))

    def result(self, share: float) -> RodShape:
        """Return the equilibrium in metres; `share` is the completed share of the continuation."""
        body = self.body
        line = self.states[:, :2] * self.unit
        actuation, length = self.actuation / self.unit, self.length * self.unit
        gaps, _ = self.surroundings.line_gaps(line)
        within = abs(actuation) <= body.sharpest * (1.0 + 1e-9) and body.shortest <= length <= body.longest
        return RodShape(
            actuation,
            length,
            (float(line[-1, 0]), float(line[-1, 1])),
            tuple(self._touched(ball * self.unit, line) for ball in self.balls[self.active]),
            tuple((self.pushes[self.active] / self.unit**2).tolist()),
            share,
            float(gaps.min(initial=math.inf)) - body.radius,
            line,
            within,
        )
