"""The judge: forward kinematics in plain NumPy from the URDF file itself, without arcreach and without any peer."""

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

# The ends of the chain in every URDF of the benchmark.
BASE, TIP = "base", "tip"
# Targets of their own, solved before the clock runs.
WARM_UP = 30
# Metres and radians.
TIGHT = (1e-6, 1e-6)
LOOSE = (1e-3, 1e-2)
# A peer keeps limits in single precision: they may be passed by as much as the pose may be missed.
LIMIT_SLACK = TIGHT[1]


@dataclass
class Chain:
    """A serial chain: a transform before each joint, the axis and the kind of each, and a transform to the tip."""

    origins: list
    axes: np.ndarray
    slides: list
    lower: np.ndarray
    upper: np.ndarray
    flange: np.ndarray

    @property
    def dof(self):
        """Number of joints that move."""
        return len(self.axes)

    def tip_pose(self, q):
        """T_base_tip (4, 4)."""
        T = np.eye(4)
        for origin, axis, slides, value in zip(self.origins, self.axes, self.slides, q, strict=True):
            T = T @ origin @ (_shift(axis * value) if slides else _turn(axis, value))
        return T @ self.flange

    def within_limits(self, q):
        """Whether every joint keeps its limits."""
        return bool(np.all(q >= self.lower - LIMIT_SLACK) and np.all(q <= self.upper + LIMIT_SLACK))

    def sample(self, n, rng):
        """Configurations (n, dof), uniform within the limits."""
        return rng.uniform(self.lower, self.upper, (n, self.dof))


def read(path):
    """The chain of a URDF file whose joints stand in order, the last of them fixed."""
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
    """The chain of an arm, the poses wanted and a start for each."""
    with np.load(folder / f"{name}.npz") as data:
        return read(folder / f"{name}.urdf"), data["poses"], data["starts"]


def errors(chain, q, T_wanted):
    """Distance (m) and angle (rad) between the tip and the wanted pose."""
    T = chain.tip_pose(q)
    # The chord keeps the digits of a small angle, which the arccos of a trace loses.
    chord = np.linalg.norm(T[:3, :3] - T_wanted[:3, :3])
    angle = 2 * np.arcsin(min(1.0, chord / np.sqrt(8)))
    return float(np.linalg.norm(T[:3, 3] - T_wanted[:3, 3])), float(angle)


def verdict(chain, q, T_wanted, tolerances):
    """Whether q reaches the pose within limits; q may be None or hold NaN where a solver gave up."""
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
    """Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T = np.eye(4)
    T[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return T
