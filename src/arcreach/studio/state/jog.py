"""`jogged`: move the tip by a small motion along the axes of the base or of the tool."""

from __future__ import annotations

import numpy as np

from arcreach._geometry import rotation_from_vector, rotation_vector
from arcreach._typing import Array, Booleans
from arcreach.ik.port import Port
from arcreach.robots.robot import Robot
from arcreach.studio.state.request import POSE, POSITION

BASE, TOOL = "base", "tool"
# Gauss-Newton steps per motion; motions are small.
STEPS = 3
# Step of the finite differences, in solver variables; damping factors to try in this order, as shares of the reach.
DIFFERENCE, DAMPINGS = 1e-6, (1e-3, 1e-2, 1e-1)
# Metres that count as much as a radian, as a share of the reach: below a half, so that a robot that cannot keep both
# position and orientation keeps its position.
LEVER = 0.2
# Corrections of a step that would leave the port, tried in order: the distance from the port to aim at, as a share of
# its radius, and whether to constrain the nearest point of the body in the outward direction only.
CORRECTIONS = ((0.9, True), (0.5, True), (0.5, False), (0.1, False))
# With a port, a motion is refused if less than this share of it is possible.
SMALLEST_SHARE = 0.1


def jogged(
    robot: Robot, q: Array, motion: Array, frame: str, aim: str, held: Booleans, port: Port | None = None
) -> Array:
    """Return q after a motion (6,): metres along x, y and z, then radians about them, in the axes of `frame`.

    Where limits or held coordinates block the motion, the tip goes as near as they allow. The aim `position` leaves all
    rotations free, `position and axis` the rotation about the axis, unless they are part of the motion.

    With a port the body stays within its radius or, if it is outside, moves nearer to it. If less than SMALLEST_SHARE
    of the motion is then possible, the motion is refused: the result is `q` itself.
    """
    pose = robot.tip_pose(q)
    axes = pose[:3, :3] if frame == TOOL else np.eye(3)
    turn = axes @ motion[3:]
    goal = pose.copy()
    goal[:3, 3] += axes @ motion[:3]
    goal[:3, :3] = rotation_from_vector(turn) @ pose[:3, :3]
    # Rows of the error: along x, y, z of the tip, then about them.
    spins = abs(pose[:3, 2] @ turn) > 1e-3 * np.linalg.norm(turn)
    rows = 3 if aim == POSITION and not turn.any() else 6 if aim == POSE or spins else 5
    moved = q
    for _ in range(STEPS):
        moved = _nearer(robot, moved, goal, rows, held, port)
    if port is None:
        return moved
    asked, left = (np.linalg.norm(_difference(robot, T, goal, pose)[:rows]) for T in (pose, robot.tip_pose(moved)))
    return moved if left <= (1.0 - SMALLEST_SHARE) * asked else q


def _nearer(robot: Robot, q: Array, goal: Array, rows: int, held: Booleans, port: Port | None) -> Array:
    """Return q after one step that reduces the distance to a goal pose; q itself if no damping gives such a step.

    The Jacobian is computed by finite differences in solver variables, in which a straight section is not singular.
    """
    model = robot.model
    v = model.to_variables(q[None])[0]
    n = len(v)
    Q = _kept(robot, np.concatenate([v + DIFFERENCE * np.eye(n), v - DIFFERENCE * np.eye(n)]), q, held)
    T = robot.tip_pose(Q)
    pose = robot.tip_pose(q)
    error = _difference(robot, pose, goal, pose)[:rows]
    J = np.stack([_difference(robot, T[n + i], T[i], pose)[:rows] for i in range(n)], axis=1) / (2.0 * DIFFERENCE)
    # Increase the damping until a step leads nearer: a robot that is fully extended is singular.
    for damping in DAMPINGS:
        moved = _step(robot, q, J.copy(), error, (damping * robot.reach) ** 2, held)
        for share, alone in CORRECTIONS:
            if port is None or _passes(robot, moved, port, q):
                break
            extra, miss = _port_rows(robot, q, moved, Q, port, share, alone)
            both = np.vstack([J, extra]), np.append(error, miss)
            moved = _step(robot, q, *both, (damping * robot.reach) ** 2, held)
        if port is not None and not _passes(robot, moved, port, q):
            continue
        left = _difference(robot, robot.tip_pose(moved), goal, pose)[:rows]
        if np.linalg.norm(left) < np.linalg.norm(error):
            return moved
    return q


def _passes(robot: Robot, q: Array, port: Port, before: Array) -> bool:
    """Return whether the body at q is within a port's radius, or nearer to the port than it was at `before`."""
    distance, last = port.passage(robot, np.stack([q, before])).distance
    return bool(distance <= port.radius or distance < last)


def _port_rows(
    robot: Robot, q: Array, missing: Array, Q: Array, port: Port, share: float, alone: bool
) -> tuple[Array, Array]:
    """Return rows of the Jacobian, and their errors, that keep the body in a port, which it has left at `missing`.

    They move the nearest point of the body to a share of the radius, in the direction in which the body left the port;
    `alone` leaves the other directions free. `Q` holds the configurations of the finite differences.
    """
    out = port.passage(robot, missing).point[0] - port.point
    out /= np.linalg.norm(out)
    axes = out[None] if alone else np.eye(3)
    n = len(Q) // 2
    points = port.passage(robot, np.concatenate([Q, q[None]])).point - port.point
    return axes @ (points[:n] - points[n:-1]).T / (2.0 * DIFFERENCE), axes @ (share * port.radius * out - points[-1])


def _step(robot: Robot, q: Array, J: Array, error: Array, damping: float, held: Booleans) -> Array:
    """Return q after a damped step; if limits stop some variables, the step is repeated with the others."""
    model = robot.model
    v = model.to_variables(q[None])[0]
    moved = q
    for _ in range(len(v)):
        step = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(J)), error)
        moved = _kept(robot, (v + step)[None], q, held)[0]
        stopped = np.abs(model.to_variables(moved[None])[0] - v) < 0.5 * np.abs(step)
        if held.any() or not stopped.any():
            break
        J[:, stopped] = 0.0
    return moved


def _kept(robot: Robot, V: Array, q: Array, held: Booleans) -> Array:
    """Return the configurations of solver variables, clipped to the limits, with held coordinates as in q."""
    Q = robot.model.to_coordinates(V)
    for k in np.flatnonzero(held):
        if robot.coordinates[k].endswith(".direction") and not held[k - 1]:
            # Project the bend vector onto the held direction.
            Q[:, k - 1] *= np.maximum(np.cos(Q[:, k] - q[k]), 0.0)
    Q[:, held] = q[held]
    return robot.clip(Q)


def _difference(robot: Robot, first: Array, second: Array, pose: Array) -> Array:
    """Return the motion (6,) from pose `first` to pose `second`, in the axes of `pose`: all in metres, see LEVER."""
    turn = LEVER * robot.reach * rotation_vector(second[:3, :3] @ first[:3, :3].T)
    R = pose[:3, :3]
    return np.concatenate([R.T @ (second[:3, 3] - first[:3, 3]), R.T @ turn])
