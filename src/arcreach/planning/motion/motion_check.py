"""Straight motions of a robot in its solver variables, and their certificates.

Limits are convex in these variables, so a straight motion between two configurations inside them never leaves them;
only limits of pulls that are not linear are checked along the motion.
"""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import numpy.typing as npt

from arcreach._jit import settled
from arcreach._typing import Array, Booleans, Integers
from arcreach.elements import HeldSection, Section
from arcreach.errors import MethodError
from arcreach.ik.port import Port
from arcreach.ik.solve import Limits
from arcreach.kernels.planning import motion_check as kernels
from arcreach.kernels.planning.pairs import World
from arcreach.kernels.planning.port_check import check_port_motions
from arcreach.kernels.planning.travel import TRAVEL_SIZE, write_travels
from arcreach.kernels.planning.tree import PEAK, PULL_POINTS
from arcreach.kernels.solver.bounds import inside_limits_batch
from arcreach.robots.restricted import restricted
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import clearance, tolerance_of
from arcreach.scenes.scene import Scene

# A clearance above the margin by less than this share of the moving reach counts as a contact.
RESOLUTION = 2e-5
# Added to a margin, so that rounding errors cannot turn a contact into a free motion: shares of the moving reach, and
# of the whole reach, which bounds the positions of all points.
ROUNDING = (1e-7, 1e-14)
# Largest turn of a continuous joint between two points, in radians: from pi on, unwrapping would reverse it.
MOST_TURN = 3.0
# Least travel of a motion, as a share of the reach per radian: the roll of a tip moves no point of the body.
LEAST_TRAVEL = 0.05
# Tolerance of steps as shares of the largest ones: a step of exactly `max_step` is accepted.
STEP_ROUNDING = 1e-9
# Below this bend in radians a section counts as straight: its direction is arbitrary.
STRAIGHT = 1e-9

# `certify` and `together` of `kernels.CheckOptions`.
_DECIDE, _CERTIFY, _TOGETHER = (False, False), (True, False), (True, True)

_motions = settled(kernels.check_motions, interpretable=False)


class VariableSpace:
    """Conversion between configurations of a path and solver variables, with continuous joints unwrapped."""

    def __init__(self, robot: Robot) -> None:
        _refuse_held_sections(robot)
        self.robot = robot
        self.model = robot.model
        moving = self.model.moving[np.isinf(self.model.moving["lower"])]
        # The direction of a section with twist is an unbounded variable, but a wrapped coordinate.
        joints = moving[np.isinf(robot.lower[moving["coordinate"]])]
        self.continuous: Integers = moving["variable"]
        self._joint_variables, self._joint_coordinates = joints["variable"], joints["coordinate"]
        self._travels = np.empty((len(robot.packed), TRAVEL_SIZE))

    def variables(self, Q: npt.ArrayLike) -> Array:
        """Return variables (n, variables) of a path of configurations (n, dof), continuous joints unwrapped."""
        V = self.model.to_variables(Q)
        if len(self.continuous):
            V[:, self.continuous] = np.unwrap(V[:, self.continuous], axis=0)
        return V

    def coordinates(self, V: Array) -> Array:
        """Return configurations (n, dof), within the limits, of variables (n, variables)."""
        Q = self.model.to_coordinates(self.model.keep_pulls(V, nearest=True))
        # Continuous joints keep whole turns, so that consecutive rows do not jump.
        Q[:, self._joint_coordinates] = V[:, self._joint_variables]
        return Q

    def bounds(self, centre: Array) -> tuple[Array, Array]:
        """Return the box around the limits; continuous joints range half a turn to both sides of `centre`."""
        low, high = self.model.bounds()
        k = self.continuous
        low[k], high[k] = centre[k] - math.pi, centre[k] + math.pi
        return low, high

    def inside(self, V: Array) -> Array:
        """Return the nearest variables (n, variables) inside the limits."""
        inside = np.empty_like(V)
        inside_limits_batch(0, len(V), self.model.for_kernels(), V, inside)
        return self.model.keep_pulls(inside, nearest=True)

    def keeps_pulls(self, first: Array, last: Array) -> Booleans:
        """Return whether each straight motion from `first` to `last` (n, variables) keeps the limits of pulls.

        `kernels.planning.tree.keeps_pulls_along` is the same test for one motion.
        """
        if self.robot.pull_limits is None:
            return np.ones(len(first), np.bool_)
        pulls = self.model.pulls()
        assert pulls is not None
        # Linear pulls are largest at an end of a motion.
        shares = np.linspace(0.0, 1.0, 2 if pulls.linear else PULL_POINTS)[:, None, None]
        V = first + shares * (last - first)
        found = self.robot.pulls(self.model.to_coordinates(V.reshape(-1, V.shape[-1])))
        found = found.reshape(*V.shape[:2], -1)
        # Parabolas through three successive points: slope, half the curvature, and rise from the middle one to a peak.
        slope, curve = 0.5 * (found[2:] - found[:-2]), 0.5 * (found[2:] - 2.0 * found[1:-1] + found[:-2])
        between = np.abs(slope) < 2.0 * np.abs(curve)
        rise = np.divide(-0.25 * slope**2, curve, out=np.zeros_like(curve), where=between)
        low, high, rounding = self.robot.pull_limits
        values = np.concatenate([found, found[1:-1] + (1.0 + PEAK) * rise])
        return np.asarray(((low - rounding <= values) & (values <= high + rounding)).all(axis=(0, 2)))

    def travels(self, a: Array, b: Array) -> float:
        """Return an upper bound, in metres, of how far any point of the body moves from a to b."""
        return float(write_travels(self.robot.packed, a, b, self._travels))

    def step_shares(self, V: Array, largest: Array) -> Array:
        """Return the largest changes (n - 1,) from row to row of V (n, variables), as shares of `largest` (variables,).

        A section counts by the change of its bend vector.
        """
        steps = np.diff(V, axis=0)
        shares = np.zeros(len(steps))
        for element in self.model.moving:
            k, last = element["variable"], element["variable"] + element["width"]
            bends = last - (1 if element["stretch"] > 0.0 else 0)
            for first, end in ((k, bends), (bends, last)):
                if end > first:
                    shares = np.maximum(shares, np.linalg.norm(steps[:, first:end], axis=1) / largest[first])
        return shares

    def clearances(self, V: Array, scene: Scene) -> Array:
        """Return lower bounds (n,) of the clearances at variables (n, variables)."""
        return np.asarray(clearance(self.robot, self.coordinates(V), scene).distance - tolerance_of(self.robot))


def _refuse_held_sections(robot: Robot) -> None:
    """Raise MethodError for a held section: kernels that check motions count variables for every section."""
    for name, element in zip(robot.element_names, robot.elements, strict=True):
        if isinstance(element, HeldSection):
            raise MethodError(f"hold names {name}, a section; to plan or check motions, give joints only")


class MotionCheck:
    """Checks whether motions of a robot in a scene keep a margin, and with `own` that the body stays clear of itself.

    `port`, which the body passes, is checked by `passes` alone. Motions undecided at `deadline`, a time of
    `time.perf_counter` that callers may set, are reported as not free.
    """

    def __init__(
        self, space: VariableSpace, scene: Scene, margin: float, own: bool = False, port: Port | None = None
    ) -> None:
        self.space = space
        self.scene = scene
        self.margin = margin
        self.deadline = math.inf
        self.port = port
        self.motions = 0  # that searches have checked
        robot = space.robot
        self.world = World(robot.packed, *scene.packed, *scene.bounds, tolerance_of(robot), own)

    def keeps(self, V: Array, margin: float, own_margin: float = 0.0) -> Booleans:
        """Return whether each motion between successive variables (n, variables) keeps more than the margins.

        `margin` is that from obstacles, `own_margin` that of the body from itself.
        """
        return self._check(V, margin, _DECIDE, own_margin)[0]

    def passes(self, V: Array) -> tuple[Booleans, Array]:
        """Return whether each motion between successive variables (n, variables) passes the port.

        The second array has an upper bound of the distance from the port along each motion.
        """
        assert self.port is not None
        answer = np.empty((len(V) - 1, 2))
        port = self.port.for_kernels(self.space.robot)
        check_port_motions(0, len(answer), self.space.model.for_kernels(), port, V[:-1].copy(), V[1:].copy(), answer)
        return answer[:, 0] > 0.0, answer[:, 1]

    def certify(self, V: Array, together: bool = False) -> tuple[Booleans, Array]:
        """Return whether each motion between successive variables (n, variables) is free, and its certificate.

        The certificate of a motion that is not free is no bound of its clearance, see `clearances`. A single row is
        checked as a motion that stays there. With `together`, only the smallest certificate is sharp, which takes less
        work.
        """
        return self._check(V, self.margin, _TOGETHER if together else _CERTIFY)

    def clearances(self, V: Array) -> tuple[Booleans, Array]:
        """Return whether each motion between successive variables (n, variables) is free, and a bound of its clearance.

        The lower bound, of the clearance from obstacles, also holds for motions that are not free. n is at least 2.
        """
        free, certificates = self.certify(V)
        blocked = np.flatnonzero(~free)
        if len(blocked):
            first, last = V[blocked], V[blocked + 1]
            ends = np.stack([self.space.clearances(first, self.scene), self.space.clearances(last, self.scene)])
            travels = np.array([self.space.travels(a, b) for a, b in zip(first, last, strict=True)])
            # No distance changes by more than the body travels, from either end.
            certificates[blocked] = np.minimum(0.5 * (ends.sum(axis=0) - travels), ends.min(axis=0))
        return free, certificates

    def _check(
        self, V: Array, margin: float, wanted: tuple[bool, bool], own_margin: float = 0.0
    ) -> tuple[Booleans, Array]:
        ends = np.stack([V[:-1], V[1:]] if len(V) > 1 else [V, V], axis=1)
        answer = self._run(margin, ends, wanted, own_margin)
        return (answer[:, 0] > 0.0) & self.space.keeps_pulls(ends[:, 0], ends[:, 1]), answer[:, 1].copy()

    def _run(self, margin: float, ends: Array, wanted: tuple[bool, bool], own_margin: float = 0.0) -> Array:
        left = self.deadline - time.perf_counter()
        robot = self.space.robot
        demand = kernels.Demand(
            least_margin(robot, margin), least_margin(robot, own_margin), math.inf, RESOLUTION * robot.moving_reach
        )
        answer = np.empty((len(ends), 2))
        options = kernels.CheckOptions(*wanted, left)
        _motions(0, len(ends), self.space.model.for_kernels(), self.world, demand, options, ends, answer)
        return answer


def least_margin(robot: Robot, margin: float) -> float:
    """Return a margin with the rounding errors of a check added."""
    return margin + ROUNDING[0] * robot.moving_reach + ROUNDING[1] * robot.reach


def unwrapped(robot: Robot, Q: Array) -> Array:
    """Return a path (n, dof) in which the directions of sections do not jump by whole turns.

    A straight section without twist gets the direction of the next row in which it is bent, or else of the last one.
    """
    Q = Q.copy()
    for element, k in robot.indexed_elements():
        if not isinstance(element, Section):
            continue
        rows = np.arange(len(Q))
        if not element.twist:
            bent = np.flatnonzero(Q[:, k] > STRAIGHT)
            rows = bent[np.minimum(np.searchsorted(bent, rows), len(bent) - 1)] if len(bent) else np.zeros_like(rows)
        Q[:, k + 1] = np.unwrap(Q[rows, k + 1])
    return Q


def wrapped(robot: Robot, Q: Array) -> Array:
    """Return configurations (n, dof) with the directions of sections wrapped to (-pi, pi]."""
    Q = Q.copy()
    for element, k in robot.indexed_elements():
        if isinstance(element, Section):
            turns = np.ceil((Q[:, k + 1] - math.pi) / (2.0 * math.pi))
            Q[:, k + 1] -= 2.0 * math.pi * turns
    return Q


def motion_between(robot: Robot, Q: npt.ArrayLike, points: int, limits: Limits | None = None) -> Array:
    """Return configurations (points, dof) along a path (n, dof), at equal steps of the body's travel.

    `limits` are narrower limits that the path keeps.
    """
    space = VariableSpace(restricted(robot, None, limits))
    V = space.variables(Q)
    if len(V) < 2:
        return np.repeat(space.coordinates(V), points, axis=0)
    least = LEAST_TRAVEL * robot.reach * np.abs(np.diff(V, axis=0)).max(axis=1, initial=0.0)
    travels = [space.travels(a, b) for a, b in itertools.pairwise(V)]
    lengths = np.concatenate([[0.0], np.cumsum(np.maximum(travels, least))])
    wanted = np.linspace(0.0, lengths[-1], points)
    dense = np.stack([np.interp(wanted, lengths, column) for column in V.T], axis=1)
    return space.coordinates(dense)


def without_long_turns(space: VariableSpace, V: Array) -> Array:
    """Return the path with points inserted where a continuous joint turns so far that unwrapping would reverse it."""
    if not len(space.continuous):
        return V.copy()
    rows = [V[:1]]
    for a, b in itertools.pairwise(V):
        far = np.abs(b - a)[space.continuous].max()
        pieces = max(math.ceil(far / MOST_TURN), 1)
        shares = np.arange(1, pieces + 1)[:, None] / pieces
        rows.append(a + shares * (b - a))
    return np.concatenate(rows)
