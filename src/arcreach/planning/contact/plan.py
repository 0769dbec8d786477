"""`plan_contact`: reach a target behind obstacles by bending around them.

At a contact the body's curvature changes as between two sections. From the pose at a contact two arcs touch each
ball (a corner or a disc, enlarged by the body), and up to two touch an edge; those free of obstacles lead to new
contacts. The same contact with another tangent is another node, so the search space is a tree. Best-first search finds
the paths to the target in order of length.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import flag, positive, whole
from arcreach._jit import settled
from arcreach._typing import Array
from arcreach.kernels.contact.arcs import ARC_COLUMNS, CURVATURE, DISC, LENGTH, SIDE, Bounds, onward_arcs, tangent_arc
from arcreach.planning.contact.candidates import Ball, Edge, candidates_of, tangent_arcs
from arcreach.planning.contact.contact_plan import (
    BACKWARD,
    FORWARD,
    ContactArc,
    ContactPlan,
    ContactPlans,
    SearchArc,
    touches_itself,
)
from arcreach.planning.contact.scene import (
    BASE,
    ROUNDING,
    Body,
    Pose,
    Surroundings,
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
    edges: bool = False,
    trace: bool = False,
) -> ContactPlans:
    """Find paths of a planar robot of one extensible section to a target (x, z), bending around obstacles it touches.

    The plane is x and z, the base is at the origin and points along +z. `obstacles` are polygons, discs and walls.
    `contacts` are the points that may be touched: corners, points of a disc's edge, or points inside an edge, each of
    which stands for its edge; by default every convex corner and every disc. `edges` adds the inside of every
    edge. With `rule` the arc after a contact must bend more towards the obstacle than the arc before it, so that the
    obstacle holds the body. With `trace` all arcs that were tried are kept in `ContactPlans.search`.

    The search ends after `max_solutions` or `max_time` seconds; a path has at most `max_contacts` contacts.
    `bend_radius` is the smallest radius of the bent body in metres, by default the full length divided by the
    largest bend.
    """
    body = body_of(robot, bend_radius)
    surroundings = Surroundings(obstacles)
    point = target_point(target)
    rule, edges, trace = flag("", "rule", rule), flag("", "edges", edges), flag("", "trace", trace)
    limits = whole("max_solutions", max_solutions, 1), whole("max_contacts", max_contacts, 0)
    seconds = positive("max_time", max_time, "seconds")
    check_ends(surroundings, body, point)
    candidates = candidates_of(surroundings, contacts, body, edges)
    return _Search(body, surroundings, candidates, point, rule, trace).run(*limits, seconds)


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of the search tree: the base (no parent), a contact (`touched`), or the target (nothing touched)."""

    pose: Pose
    length: float  # from the base
    parent: _Node | None
    curvature: float
    side: float
    touched: Ball | Edge | None
    contacts: int


class _Search:
    """Best-first search by length so far plus straight distance to the target, a lower bound of the rest."""

    def __init__(
        self,
        body: Body,
        surroundings: Surroundings,
        candidates: tuple[tuple[Ball, ...], tuple[Edge, ...]],
        target: Point,
        rule: bool,
        trace: bool,
    ) -> None:
        self.body, self.surroundings, self.target, self.rule, self.trace = body, surroundings, target, rule, trace
        self.balls, self.edges = candidates
        self.tried: list[SearchArc] = []
        rows = [(*ball.centre, ball.reach) for ball in self.balls]
        self.ball_rows: Array = np.array(rows, dtype=float).reshape(-1, 3)
        self.arcs = np.empty((2 * max(len(rows), 1), ARC_COLUMNS))
        self.count = itertools.count()
        self.queue: list[tuple[float, int, _Node]] = []

    def run(self, max_solutions: int, max_contacts: int, max_time: float) -> ContactPlans:
        """Search until the tree is exhausted or a limit is reached."""
        base = _Node(BASE, 0.0, None, 0.0, 0.0, None, 0)
        # Compile the kernels before the clock starts.
        self._finish(base)
        self._grow(base)
        self.queue.clear()
        self.tried.clear()
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
            if node.touched is None and node.parent is not None:
                plan = self._plan(node)
                if not touches_itself(plan.arcs, self.body.radius):
                    plans.append(plan)
                continue
            poses += 1
            self._finish(node)
            if node.contacts < max_contacts:
                self._grow(node)
            else:
                complete = complete and not self.balls and not self.edges
        seconds = time.perf_counter() - began
        return ContactPlans(
            tuple(plans),
            self.target,
            self.balls,
            self.body,
            self.surroundings,
            poses,
            complete,
            seconds,
            self.edges,
            tuple(self.tried),
        )

    def _push(self, node: _Node) -> None:
        bound = node.length + math.dist(node.pose[:2], self.target)
        if bound <= self.body.longest * ROUNDING:
            heapq.heappush(self.queue, (bound, next(self.count), node))

    def _grow(self, node: _Node) -> None:
        """Add every free arc from a node to another ball or to an edge."""
        body = self.body
        bounds = Bounds(body.radius, body.slack, body.sharpest, body.longest - node.length, self.rule)
        arrival = (node.curvature, node.side)
        found = _onward_arcs(node.pose, arrival, self.ball_rows, self.surroundings.packed, bounds, self.arcs)
        for row in self.arcs[:found].tolist():
            self._touch(node, row[CURVATURE], row[LENGTH], row[SIDE], self.balls[int(row[DISC])])
        for edge in self.edges:
            for side, curvature, length in tangent_arcs(node.pose, edge, body):
                outcome = self._outcome(node, curvature, length)
                if outcome == SearchArc.KEPT:
                    self._touch(node, curvature, length, side, edge)
                self._note(node, curvature, length, outcome)
        if self.trace:
            self._note_balls(node)

    def _touch(self, node: _Node, curvature: float, length: float, side: float, touched: Ball | Edge) -> None:
        end = ContactArc(node.pose, curvature, length).end
        self._push(_Node(end, node.length + length, node, curvature, side, touched, node.contacts + 1))

    def _outcome(self, node: _Node, curvature: float, length: float) -> str:
        """Return why an arc from a node is discarded, or that it is kept, by the tests of the kernel `onward_arcs`."""
        body = self.body
        if not abs(curvature) <= body.sharpest:
            return SearchArc.BEND
        if not length <= body.longest - node.length:
            return SearchArc.LENGTH
        if self.rule and node.side != 0.0 and node.side * (curvature - node.curvature) <= 0.0:
            return SearchArc.RULE
        if self.surroundings.arc_gap(node.pose, curvature, length) < body.radius - body.slack:
            return SearchArc.OBSTACLE
        return SearchArc.KEPT

    def _note(self, node: _Node, curvature: float, length: float, outcome: str) -> None:
        if self.trace and math.isfinite(length):
            self.tried.append(SearchArc(node.pose, curvature, length, node.contacts + 1, outcome))

    def _note_balls(self, node: _Node) -> None:
        """Note the arcs from a node to all balls but the one it touches."""
        for ball in self.balls:
            u, w = _in_pose_frame(node.pose, ball.centre)
            if u * u + w * w - ball.reach**2 <= self.body.slack * ball.reach:
                continue
            for side in (1.0, -1.0):
                curvature, length = _tangent_arc(u, w, ball.reach, side)
                self._note(node, curvature, length, self._outcome(node, curvature, length))

    def _finish(self, node: _Node) -> None:
        """Add the arc from a node to the target, if it is free."""
        curvature, length = _tangent_arc(*_in_pose_frame(node.pose, self.target), 0.0, 1.0)
        total = node.length + length
        outcome = SearchArc.LENGTH if total < self.body.shortest else self._outcome(node, curvature, length)
        self._note(node, curvature, length, outcome)
        if outcome == SearchArc.KEPT:
            end = ContactArc(node.pose, curvature, length).end
            self._push(_Node(end, total, node, curvature, 0.0, None, node.contacts))

    def _plan(self, node: _Node) -> ContactPlan:
        arcs: list[ContactArc] = []
        while node.parent is not None:
            arc = ContactArc(node.parent.pose, node.curvature, node.length - node.parent.length)
            if node.touched is not None:
                arc = replace(
                    arc,
                    side=int(node.side),
                    contact=node.touched.contact(node.pose, self.body),
                    kind=FORWARD if node.side * node.curvature >= 0.0 else BACKWARD,
                    obstacle=self.surroundings.name(node.touched.obstacle),
                    ball=node.touched.ball(node.pose, self.body),
                )
            arcs.append(arc)
            node = node.parent
        return ContactPlan(tuple(reversed(arcs)), self.target, self.body, self.surroundings)


def _in_pose_frame(pose: Pose, point: Point) -> tuple[float, float]:
    """Return a point along the normal and along the tangent of a pose."""
    dx, dz = point[0] - pose[0], point[1] - pose[1]
    sine, cosine = math.sin(pose[2]), math.cos(pose[2])
    return dx * cosine - dz * sine, dx * sine + dz * cosine
