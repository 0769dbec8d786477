"""Straight motions of a robot in its smooth variables, and their certificates.

Between two configurations a robot moves straight in the variables bend * (cos direction, sin direction), share of the
stretch, and the joints' own coordinates: there the limits are convex, so a motion between two configurations inside
them never leaves them.
"""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import numpy.typing as npt

from arcreach._jit import settled
from arcreach._typing import Array, Booleans
from arcreach.elements import Section
from arcreach.kernels.clearance import motion as kernels
from arcreach.kernels.clearance.scene import Obstacles
from arcreach.kernels.solver.bounds import inside_limits
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import tolerance_of
from arcreach.scenes.scene import Scene

# The shortest step of a check, as a share of the motion: what comes nearer to an obstacle counts as touching it.
FINEST = 1e-5
# Share of the longest step that the last certificate takes: it then lacks at most a fortieth of the clearance.
SHARP = 0.05
# An endless joint may turn by less than half a turn between two points: beyond it the other way would be the shorter.
MOST_TURN = 3.0
# A section that is bent by less than this, in radians, has no direction of its own.
STRAIGHT = 1e-9

_motions = settled(kernels.motions)


class SmoothSpace:
    """The smooth variables of a robot, to and from configurations."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.model = robot.model
        endless = [move for move in self.model.moves if np.isinf(move["lower"])]
        self.endless = np.array([int(move["variable"]) for move in endless], dtype=np.int64)
        # The direction of a twisting section is a turn to solvers, and a wrapped coordinate to everybody else.
        joints = [move for move in endless if np.isinf(robot.lower[move["coordinate"]])]
        self._joint_variables = np.array([int(move["variable"]) for move in joints], dtype=np.int64)
        self._joint_coordinates = np.array([int(move["coordinate"]) for move in joints], dtype=np.int64)

    def variables(self, Q: npt.ArrayLike) -> Array:
        """Variables (n, variables) of a path of configurations (n, dof); endless joints go the shorter way round."""
        V = self.model.to_variables(Q)
        V[:, self.endless] = np.unwrap(V[:, self.endless], axis=0)
        return V

    def coordinates(self, V: Array) -> Array:
        """Configurations (n, dof) of variables (n, variables)."""
        Q = self.model.to_coordinates(V)
        # Without a jump of a whole turn from one row to the next.
        Q[:, self._joint_coordinates] = V[:, self._joint_variables]
        return Q

    def bounds(self, centre: Array) -> tuple[Array, Array]:
        """The box around the limits; an endless joint may turn once around from `centre` (variables,)."""
        low, high = self.model.bounds()
        low[self.endless], high[self.endless] = centre[self.endless] - math.pi, centre[self.endless] + math.pi
        return low, high

    def travels(self, a: Array, b: Array) -> float:
        """How far a point of the body moves at most on the way from a to b in metres."""
        reached = np.empty(len(self.robot.elements))
        kernels.element_travels(self.robot.packed, a, b, reached)
        return float(reached.max())


class MotionCheck:
    """Asks whether motions of a robot in a scene keep a margin.

    Motions not settled at `deadline`, a time of `time.perf_counter`, are reported as not free.
    """

    def __init__(self, space: SmoothSpace, scene: Scene, margin: float, deadline: float = math.inf) -> None:
        self.space = space
        self.scene = scene
        self.margin = margin
        self.deadline = deadline
        self.tolerance = tolerance_of(space.robot)
        self.motions = 0
        self._answer = np.empty((1, 3))

    def free(self, a: Array, b: Array) -> bool:
        """Whether the motion from a to b (1, variables) keeps more than the margin all along."""
        self.motions += 1
        self._run(self.margin, 1.0, a, b, self._answer)
        return bool(self._answer[0, 0])

    def inside(self, v: Array) -> Array:
        """The nearest variables inside the limits."""
        out = v.copy()
        inside_limits(self.space.model.kernel(), v, out)
        return out

    def keeps(self, V: Array, margin: float) -> Booleans:
        """For every motion along variables (n, variables) whether it keeps more than a margin all along."""
        return self._walk(V, margin, 1.0)[0]

    def certify(self, V: Array) -> tuple[Booleans, Array]:
        """For every motion along variables (n, variables) whether it keeps the margin, and its certified clearance."""
        free, certificates = self._walk(V, self.margin, 1.0)
        whole, sharp = self._walk(V, 0.0, SHARP)
        # Both are certified, where they came to the end of the motion; only the first one knows the margin.
        return free, np.where(free & whole, np.maximum(certificates, sharp), certificates)

    def _walk(self, V: Array, margin: float, spacing: float) -> tuple[Booleans, Array]:
        first, last = (V[:-1].copy(), V[1:].copy()) if len(V) > 1 else (V.copy(), V.copy())
        answer = np.empty((len(first), 3))
        self._run(margin, spacing, first, last, answer)
        return answer[:, 0] > 0.0, answer[:, 1].copy()

    def _run(self, margin: float, spacing: float, first: Array, last: Array, answer: Array) -> None:
        shapes, field = self.scene.packed
        left = self.deadline - time.perf_counter() if self.deadline < math.inf else math.inf
        obstacles = Obstacles(shapes, field, self.tolerance, margin)
        pace = kernels.Pace(spacing, FINEST, left)
        _motions(0, len(answer), self.space.model.kernel(), obstacles, pace, first, last, answer)


def unwrapped(robot: Robot, Q: Array) -> Array:
    """Configurations (n, dof) one after another, the directions of sections without jumps of a whole turn.

    A straight section has no direction: it is given that of the next row in which it is bent.
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


def motion_between(robot: Robot, Q: npt.ArrayLike, points: int) -> Array:
    """Configurations (points, dof) along a path of configurations (n, dof), at equal steps of the body's travel."""
    space = SmoothSpace(robot)
    V = space.variables(Q)
    if len(V) < 2:
        return np.repeat(space.coordinates(V), points, axis=0)
    ways = np.array([space.travels(a, b) for a, b in itertools.pairwise(V)])
    places = np.concatenate([[0.0], np.cumsum(ways)])
    wanted = np.linspace(0.0, places[-1], points)
    dense = np.stack([np.interp(wanted, places, column) for column in V.T], axis=1)
    return space.coordinates(dense)


def without_long_turns(space: SmoothSpace, V: Array) -> Array:
    """The same path with points added where an endless joint turns so far that its way back would be the shorter."""
    rows = [V[:1]]
    for a, b in itertools.pairwise(V):
        far = np.abs(b - a)[space.endless].max(initial=0.0)
        pieces = max(math.ceil(far / MOST_TURN), 1)
        shares = np.arange(1, pieces + 1)[:, None] / pieces
        rows.append(a + shares * (b - a))
    return np.concatenate(rows)
