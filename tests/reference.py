"""Plain NumPy kinematics from 4 x 4 matrices and the library's sine and cosine, written for the tests only."""

import numpy as np

import arcreach as ar


def rot_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def rot_y(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1.0]])


def rot_x(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def rot(axis, angle):
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return matrix


def shift(vector):
    matrix = np.eye(4)
    matrix[:3, 3] = vector
    return matrix


def arc(bend, length):
    """The printed matrix of a sub-arc, its quotients written so that nothing cancels; the straight arc apart."""
    matrix = rot_y(bend)
    matrix[0, 3] = length * 2 * np.sin(bend / 2) ** 2 / bend if bend else 0.0
    matrix[2, 3] = length * np.sin(bend) / bend if bend else length
    return matrix


def section(element, bend, direction, length):
    lengths = np.array(element.length_weights) / sum(element.length_weights) * length
    bends = np.array(element.bend_weights) / sum(element.bend_weights) * bend
    matrix = rot_z(direction)
    for one_bend, one_length in zip(bends, lengths, strict=True):
        matrix = matrix @ arc(one_bend, one_length)
    return matrix if element.twist else matrix @ rot_z(-direction)


def element_pose(element, q):
    match element:
        case ar.Link():
            matrix = shift(element.translation)
            matrix[:3, :3] = element.rotation
            return matrix
        case ar.Revolute():
            return rot(element.axis, q[0])
        case ar.Prismatic():
            return shift(np.multiply(element.axis, q[0]))
        case ar.Parallelogram():
            return shift((rot(element.axis, q[0]) @ np.append(element.link, 1.0))[:3])
        case ar.Section():
            return section(element, q[0], q[1], q[2] if element.stretch else element.length)


def frames(robot, q):
    poses = [np.eye(4)]
    k = 0
    for element in robot.elements:
        n = len(element.coordinates)
        poses.append(poses[-1] @ element_pose(element, q[k : k + n]))
        k += n
    return np.array(poses)


def tip_pose(robot, q):
    return frames(robot, q)[-1]


def difference_jacobian(robot, q, step=1e-6):
    """Central differences of the reference: linear rows, then the axial vector of dR R^T."""
    columns = []
    turn = tip_pose(robot, q)[:3, :3]
    for k in range(robot.dof):
        delta = np.zeros(robot.dof)
        delta[k] = step
        slope = (tip_pose(robot, q + delta) - tip_pose(robot, q - delta)) / (2 * step)
        spin = slope[:3, :3] @ turn.T
        columns.append([*slope[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]])
    return np.array(columns).reshape(-1, 6).T


def random_rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def random_element(rng):
    kind = rng.integers(5)
    axis = rng.normal(size=3)
    if kind == 0:
        return ar.Link(rng.normal(size=3) * 0.1, random_rotation(rng))
    if kind == 1:
        low, high = np.sort(rng.uniform(-np.pi, np.pi, 2))
        return ar.Revolute(axis, low, high)
    if kind == 2:
        low, high = np.sort(rng.uniform(-0.2, 0.2, 2))
        return ar.Prismatic(low, high, axis)
    if kind == 3:
        return ar.Parallelogram(rng.normal(size=3) * 0.1, axis)
    arcs = int(rng.integers(1, 5))
    length, stretch = [(0.1, 0.0), (0.0, 0.1), (0.05, 0.08)][rng.integers(3)]
    return ar.Section(
        length,
        rng.uniform(0.1, 2 * np.pi),
        stretch,
        length_weights=tuple(rng.uniform(0.1, 5, arcs)),
        bend_weights=tuple(rng.uniform(0.001, 5, arcs)),
        twist=bool(rng.integers(2)),
    )


def random_robot(rng, largest=8):
    return ar.Robot([random_element(rng) for _ in range(rng.integers(1, largest + 1))])


def bend_indices(robot):
    return [k for k, name in enumerate(robot.coordinates) if name.endswith(".bend")]
