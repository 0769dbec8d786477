"""`plan_contact`: reach a target behind obstacles by bending around them.

Beyond a contact, a body of one section continues as another section. From the pose at a contact two arcs touch each
ball (a corner or a disc, enlarged by the body); those free of obstacles lead to new contacts. The same contact with
another tangent is another node, so the search space is a tree. Best-first search finds the paths to the target in order
of length.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import flag, positive, whole
from arcreach._jit import settled
from arcreach._typing import Array
from arcreach.kernels.contact.arcs import ARC_COLUMNS, CURVATURE, DISC, LENGTH, SIDE, Bounds, onward_arcs, tangent_arc
from arcreach.planning.contact.contact_plan import (
    BACKWARD,
    FORWARD,
    ContactArc,
    ContactPlan,
    ContactPlans,
    touches_itself,
)
from arcreach.planning.contact.scene import (
    BASE,
    Ball,
    Body,
    Pose,
    Surroundings,
    balls_of,
    body_of,
    check_ends,
    target_point,
)
from arcreach.robots.robot import Robot
from arcreach.scenes.planar import Obstacle, Point

_onward_arcs, _tangent_arc = settled(onward_arcs), settled(tangent_arc)


def plan_contact(
    robot: Robot,
    target: Any,
    obstacles: Iterable[Obstacle],
    contacts: Iterable[npt.ArrayLike] | None = None,
    *,
    rule: bool = True,
    max_solutions: int = 10,
    max_contacts: int = 6,
    max_time: float = 5.0,
    bend_radius: float | None = None,
) -> ContactPlans:
    """Find paths of a planar robot of one extensible section to a target (x, z), bending around obstacles it touches.

    The plane is x and z, the base is at the origin and points along +z. `obstacles` are polygons and discs. `contacts`
    are the points that may be touched, corners or points of a disc's edge; by default every convex corner and every
    disc. With `rule` the arc after a contact must bend more towards the obstacle than the arc before it, so that the
    obstacle holds the body.

    The search ends after `max_solutions` or `max_time` seconds; a path has at most `max_contacts` contacts.
    `bend_radius` is the smallest radius of the bent body in metres, by default full length by largest bend.
    """
    body = body_of(robot, bend_radius)
    surroundings = Surroundings(obstacles)
    point = target_point(target)
    flag("", "rule", rule)
    limits = whole("max_solutions", max_solutions, 1), whole("max_contacts", max_contacts, 0)
    seconds = positive("max_time", max_time, "seconds")
    check_ends(surroundings, body, point)
    search = _Search(body, surroundings, balls_of(surroundings, contacts, body), point, bool(rule))
    return search.run(*limits, seconds)


@dataclass(frozen=True, slots=True)
class _Node:
    """The end of an arc: a contact, or the target (side 0 and a parent)."""

    pose: Pose
    length: float  # from the base
    parent: _Node | None
    curvature: float
    side: float
    ball: int
    contacts: int

    def chain(self) -> list[_Node]:
        """Return the nodes from the base, itself excluded, to this one."""
        nodes, node = [], self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]


class _Search:
    """Best-first search by length so far plus straight distance to the target, a lower bound of the rest."""

    def __init__(
        self, body: Body, surroundings: Surroundings, balls: tuple[Ball, ...], target: Point, rule: bool
    ) -> None:
        self.body, self.surroundings, self.balls, self.target, self.rule = body, surroundings, balls, target, rule
        self.ball_rows: Array = np.array([(*ball.centre, ball.reach) for ball in balls], dtype=float).reshape(-1, 3)
        self.arcs = np.empty((2 * max(len(balls), 1), ARC_COLUMNS))
        self.count = itertools.count()
        self.queue: list[tuple[float, int, _Node]] = []

    def run(self, max_solutions: int, max_contacts: int, max_time: float) -> ContactPlans:
        """Search until the tree is exhausted or a limit is reached."""
        base = _Node(BASE, 0.0, None, 0.0, 0.0, -1, 0)
        # Compiles the kernels before the clock starts.
        self._finish(base)
        self._grow(base)
        self.queue.clear()
        began = time.perf_counter()
        plans: list[ContactPlan] = []
        poses = 0
        complete = True
        self._push(base)
        while self.queue:
            if len(plans) == max_solutions or time.perf_counter() - began > max_time:
                complete = False
                break
            _, _, node = heapq.heappop(self.queue)
            if node.ball < 0 and node.parent is not None:
                plan = self._plan(node)
                if not touches_itself(plan.arcs, self.body.radius):
                    plans.append(plan)
                continue
            poses += 1
            self._finish(node)
            if node.contacts < max_contacts:
                self._grow(node)
            else:
                complete = complete and not self.balls
        seconds = time.perf_counter() - began
        return ContactPlans(
            tuple(plans), self.target, self.balls, self.body, self.surroundings, poses, complete, seconds
        )

    def _push(self, node: _Node) -> None:
        bound = node.length + math.dist(node.pose[:2], self.target)
        if bound <= self.body.longest * (1.0 + 1e-12):
            heapq.heappush(self.queue, (bound, next(self.count), node))

    def _grow(self, node: _Node) -> None:
        """Add every free arc from a node to another ball."""
        body = self.body
        bounds = Bounds(body.radius, body.slack, body.sharpest, body.longest - node.length, self.rule)
        arrival = (node.curvature, node.side)
        found = _onward_arcs(node.pose, arrival, self.ball_rows, self.surroundings.packed, bounds, self.arcs)
        for row in self.arcs[:found].tolist():
            end = ContactArc(node.pose, row[CURVATURE], row[LENGTH]).end
            length = node.length + row[LENGTH]
            self._push(_Node(end, length, node, row[CURVATURE], row[SIDE], int(row[DISC]), node.contacts + 1))

    def _finish(self, node: _Node) -> None:
        """Add the arc from a node to the target, if it is free."""
        x, z, angle = node.pose
        dx, dz = self.target[0] - x, self.target[1] - z
        sine, cosine = math.sin(angle), math.cos(angle)
        u, w = dx * cosine - dz * sine, dx * sine + dz * cosine
        curvature, length = _tangent_arc(u, w, 0.0, 1.0)
        total = node.length + length
        if abs(curvature) > self.body.sharpest or not self.body.shortest <= total <= self.body.longest:
            return
        if self.rule and node.side != 0.0 and node.side * (curvature - node.curvature) <= 0.0:
            return
        if self.surroundings.arc_gap(node.pose, curvature, length) >= self.body.radius - self.body.slack:
            end = ContactArc(node.pose, curvature, length).end
            self._push(_Node(end, total, node, curvature, 0.0, -1, node.contacts))

    def _plan(self, goal: _Node) -> ContactPlan:
        arcs = []
        for node in goal.chain():
            assert node.parent is not None
            arc = ContactArc(node.parent.pose, node.curvature, node.length - node.parent.length)
            arcs.append(arc if node.ball < 0 else self._touching(arc, node))
        return ContactPlan(tuple(arcs), self.target, self.body, self.surroundings)

    def _touching(self, arc: ContactArc, node: _Node) -> ContactArc:
        """Return the arc with the contact at its end."""
        ball = self.balls[node.ball]
        x, z = node.pose[:2]
        share = ball.core / ball.reach
        point = (ball.centre[0] + share * (x - ball.centre[0]), ball.centre[1] + share * (z - ball.centre[1]))
        kind = FORWARD if node.side * node.curvature >= 0.0 else BACKWARD
        name = self.surroundings.name(ball.obstacle)
        row = (*ball.centre, ball.reach)
        return ContactArc(arc.start, arc.curvature, arc.length, int(node.side), point, kind, name, row)
