"""Judge solutions by forward kinematics in plain NumPy from the URDF file, independent of arcreach and of the peers."""

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

# First and last link of the chain in every URDF of the benchmark.
BASE, TIP = "base", "tip"
# Number of additional targets, solved before the measurement.
WARM_UP = 30
# Metres and radians.
TIGHT = (1e-6, 1e-6)
LOOSE = (1e-3, 1e-2)
# Some peers store limits in single precision, so limits have the same tolerance as poses.
LIMIT_SLACK = TIGHT[1]


@dataclass
class Chain:
    """A serial chain: transform before, axis and kind of each joint, and the transform to the tip."""

    origins: list
    axes: np.ndarray
    slides: list
    lower: np.ndarray
    upper: np.ndarray
    flange: np.ndarray

    @property
    def dof(self):
        """Number of joints that are not fixed."""
        return len(self.axes)

    def tip_pose(self, q):
        """T_base_tip (4, 4)."""
        T = np.eye(4)
        for origin, axis, slides, value in zip(self.origins, self.axes, self.slides, q, strict=True):
            T = T @ origin @ (_shift(axis * value) if slides else _turn(axis, value))
        return T @ self.flange

    def within_limits(self, q):
        """Tell whether every joint is within its limits."""
        return bool(np.all(q >= self.lower - LIMIT_SLACK) and np.all(q <= self.upper + LIMIT_SLACK))

    def sample(self, n, rng):
        """Return configurations (n, dof), uniform within the limits."""
        return rng.uniform(self.lower, self.upper, (n, self.dof))


def read(path):
    """Read the chain of a URDF file whose joints are in order, the last one fixed."""
    joints = ElementTree.parse(path).getroot().findall("joint")  # noqa: S314 - a file this benchmark wrote
    moving = [joint for joint in joints if joint.get("type") != "fixed"]
    limits = np.array([[float(joint.find("limit").get(end)) for end in ("lower", "upper")] for joint in moving])
    return Chain(
        origins=[_origin(joint) for joint in moving],
        axes=np.array([_numbers(joint.find("axis").get("xyz")) for joint in moving]),
        slides=[joint.get("type") == "prismatic" for joint in moving],
        lower=limits[:, 0],
        upper=limits[:, 1],
        flange=_origin(joints[-1]),
    )


def read_problems(folder, name):
    """Return the chain of an arm, the target poses and a start for each."""
    with np.load(folder / f"{name}.npz") as data:
        return read(folder / f"{name}.urdf"), data["poses"], data["starts"]


def errors(chain, q, T_wanted):
    """Return distance (m) and angle (rad) between the tip and the target pose."""
    T = chain.tip_pose(q)
    # The chord is accurate for small angles, where the arccos of a trace is not.
    chord = np.linalg.norm(T[:3, :3] - T_wanted[:3, :3])
    angle = 2 * np.arcsin(min(1.0, chord / np.sqrt(8)))
    return float(np.linalg.norm(T[:3, 3] - T_wanted[:3, 3])), float(angle)


def verdict(chain, q, T_wanted, tolerances):
    """Tell whether q reaches the pose within limits; q may be None or contain NaN where a solver failed."""
    if q is None or not np.all(np.isfinite(q)) or not chain.within_limits(q):
        return False
    position_error, angle_error = errors(chain, q, T_wanted)
    return position_error <= tolerances[0] and angle_error <= tolerances[1]


def _numbers(text):
    return np.array([float(word) for word in text.split()])


def _origin(joint):
    node = joint.find("origin")
    roll, pitch, yaw = _numbers(node.get("rpy"))
    turns = _turn((0, 0, 1), yaw) @ _turn((0, 1, 0), pitch) @ _turn((1, 0, 0), roll)
    return _shift(_numbers(node.get("xyz"))) @ turns


def _shift(vector):
    T = np.eye(4)
    T[:3, 3] = vector
    return T


def _turn(axis, angle):
    """Return a rotation by Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T = np.eye(4)
    T[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return T
