"""Wrap each solver in a class: construction from a URDF, input conversion, call, and result.

Only `solve` is timed. `arguments` converts the input beforehand and `answer` unpacks the result afterwards, so that no
peer pays for conversions. Only arcreach receives the plain 4 x 4 matrix and builds its `Target` within the measured
time.
"""

import math

import numpy as np

from . import judge
from .judge import BASE, TIP

TOLERANCE = judge.TIGHT[0]
# Time limit in wall seconds for peers that need one; far more than a solve takes.
MOST_SECONDS = 0.25


class Auto:
    """arcreach `auto`, one target per call, from the same random start as every peer."""

    package, label = "arcreach", "arcreach auto"
    settings = "position_tol = angle_tol = 1e-6, the given start"

    def __init__(self, path, chain):
        import arcreach as ar

        self.ar, self.robot = ar, ar.load_robot(str(path), base=BASE, tip=TIP)

    def arguments(self, pose, start):
        return pose, start

    def solve(self, pose, start):
        return self.ar.solve(
            self.robot, self.ar.Target.from_pose(pose), start=start, position_tol=TOLERANCE, angle_tol=TOLERANCE
        )

    def answer(self, found):
        return found.q, found.reached


class AutoUnseeded(Auto):
    """arcreach `auto` without a given start, which is its default."""

    label = "arcreach auto, no start"
    settings = "position_tol = angle_tol = 1e-6"

    def solve(self, pose, start):
        return self.ar.solve(self.robot, self.ar.Target.from_pose(pose), position_tol=TOLERANCE, angle_tol=TOLERANCE)


class RtbLM:
    """The compiled Levenberg-Marquardt of the Robotics Toolbox for Python, after Chan."""

    package, label, name = "roboticstoolbox-python", "rtb ik_LM", "ik_LM"
    # k = 0.1 has the best medians between 1 and 0.01; the dampings after Sugihara and Wampler are much slower.
    settings = "tol = 5e-13 (half the squared norm of both errors), chan, k = 0.1, up to 1000 searches of 30"

    def __init__(self, path, chain):
        import roboticstoolbox as rtb

        self.dof = chain.dof
        # Call the elementary transforms directly: the robot object looks up its chain at every call.
        self.function = getattr(rtb.Robot.URDF(str(path)).ets(end=TIP), self.name)
        self.options = {"tol": 0.5 * TOLERANCE**2, "slimit": 1000, **self.more()}

    def more(self):
        return {"method": "chan", "k": 0.1}

    def arguments(self, pose, start):
        return pose, start

    def solve(self, pose, start):
        return self.function(pose, start, **self.options)

    def answer(self, found):
        return found.q, bool(found.success)


class RtbGN(RtbLM):
    """Gauss-Newton of the Robotics Toolbox; the plain inverse is faster, but needs a square Jacobian."""

    label, name = "rtb ik_GN", "ik_GN"
    settings = "tol = 5e-13, pseudo-inverse from seven joints on, up to 1000 searches of 30"

    def more(self):
        return {"pinv": self.dof > 6}


class RtbNR(RtbGN):
    """Newton-Raphson of the Robotics Toolbox."""

    label, name = "rtb ik_NR", "ik_NR"


class OptIK:
    """OptIK: SLSQP on the squared logarithm of the pose error, random restarts."""

    package, label = "optik-py", "OptIK"
    # With tol_df or tol_dx it also reports stalled searches as successful.
    settings = "tol_f = 1e-12 (the squared norm of log6), speed, one thread, restarts for up to 0.25 s"

    def __init__(self, path, chain):
        import optik

        self.robot = optik.Robot.from_urdf_file(str(path), BASE, TIP)
        self.robot.set_parallelism(1)
        self.config = optik.SolverConfig(solution_mode="speed", max_time=MOST_SECONDS, tol_f=TOLERANCE**2)

    def arguments(self, pose, start):
        return pose.tolist(), start.tolist()

    def solve(self, pose, start):
        return self.robot.ik(self.config, pose, start)

    def answer(self, found):
        return (None, False) if found is None else (np.array(found[0]), True)


class TracIK:
    """TRAC-IK: Newton steps of KDL and SLSQP in two parallel threads; the first to succeed gives the solution."""

    package, label = "pytracik", "TRAC-IK"
    settings = "eps = 1e-6 / sqrt 3 (per component; the judge uses norms), Speed, restarts for up to 0.25 s"

    def __init__(self, path, chain):
        import pytracik

        self.ik = pytracik.ik
        self.robot = pytracik.TRAC_IK(
            BASE, TIP, path.read_text(), MOST_SECONDS, TOLERANCE / math.sqrt(3), pytracik.SolveType.Speed
        )

    def arguments(self, pose, start):
        return start, *pose[:3, 3].tolist(), *_quaternion(pose[:3, :3])

    def solve(self, start, *pose):
        return self.ik(self.robot, start, *pose)

    def answer(self, found):
        return (None, False) if found[0] < 0 else (np.array(found[1:]), True)


class PinFree:
    """Pinocchio with the free loop of `pin_loop.py`, in Python as its users write it."""

    package, label, loop = "pin", "Pinocchio, free loop", "FreeLoop"
    settings = "log6 error, both parts within 1e-6; 500 starts of 30 steps"

    def __init__(self, path, chain):
        import pinocchio as pin

        from . import pin_loop

        loop = getattr(pin_loop, self.loop)(path, TOLERANCE)
        for q in chain.sample(20, np.random.default_rng(0)):
            if np.abs(loop.tip_pose(q) - chain.tip_pose(q)).max() > 1e-9:
                raise ValueError("its forward kinematics differ from the judge's")
        self.SE3, self.solve = pin.SE3, loop.solve

    def arguments(self, pose, start):
        return self.SE3(pose[:3, :3].copy(), pose[:3, 3].copy()), start

    def answer(self, found):
        return found, found is not None


class PinBounded(PinFree):
    """Pinocchio with the loop that stays within the limits."""

    label, loop = "Pinocchio, bounded loop", "BoundedLoop"


class Eaik:
    """EAIK: all solutions of a 6R arm in closed form; the limits are checked outside the measured time."""

    package, label, general = "eaik", "EAIK", False
    settings = "closed form: no tolerance, no start"

    def __init__(self, path, chain):
        from eaik.pybindings import EAIK

        if chain.dof != 6 or any(chain.slides):
            raise NotImplementedError("solves arms of six revolute joints only")
        self.chain, self.robot = chain, EAIK.Robot(*_axes_and_offsets(chain), [], True)

    def arguments(self, pose, start):
        return (pose,)

    def solve(self, pose):
        return pose, self.robot.calculate_IK(pose)

    def answer(self, found):
        chain, (pose, found) = self.chain, found
        candidates = []
        for q in np.atleast_2d(np.array(found.Q)) if len(found.Q) else ():
            # Shift angles by full turns to be above the lower limits.
            turned = q + 2 * np.pi * np.ceil((chain.lower - q) / (2 * np.pi) - 1e-12)
            if chain.within_limits(turned):
                candidates.append(turned)
        if not candidates:
            return None, False
        return min(candidates, key=lambda q: max(judge.errors(chain, q, pose))), True


class IKPy:
    """IKPy: SciPy's least squares with finite differences, one start."""

    package, label = "ikpy", "IKPy"
    settings = "tol = 1e-12 of SciPy's least squares, orientation all; it offers no restarts"

    def __init__(self, path, chain):
        import urllib.request

        # Prevent IKPy from reporting its use over the network on import.
        urllib.request.urlopen = None
        from ikpy.chain import Chain

        self.chain = Chain.from_urdf_file(
            str(path), base_elements=[BASE], active_links_mask=[False, *[True] * chain.dof, False]
        )

    def arguments(self, pose, start):
        return pose, np.array([0.0, *start, 0.0])

    def solve(self, pose, start):
        return self.chain.inverse_kinematics_frame(pose, initial_position=start, orientation_mode="all", tol=1e-12)

    def answer(self, found):
        return np.array(found[1:-1]), False  # IKPy does not report success


def _quaternion(R):
    """Return the quaternion x, y, z, w of a rotation matrix."""
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    return np.linalg.eigh(K)[1][:, -1].tolist()


def _axes_and_offsets(chain):
    """Return joint axes H (3, n), offsets P (3, n + 1) and the tip rotation, at q = 0 in the base frame."""
    T, points, axes = np.eye(4), [np.zeros(3)], []
    for origin, axis in zip(chain.origins, chain.axes, strict=True):
        T = T @ origin
        points.append(T[:3, 3])
        axes.append(T[:3, :3] @ axis)
    T = T @ chain.flange
    points.append(T[:3, 3])
    return np.array(axes).T, np.diff(points, axis=0).T, T[:3, :3]


SOLVERS = {
    "auto": Auto,
    "auto-no-start": AutoUnseeded,
    "optik": OptIK,
    "rtb-lm": RtbLM,
    "rtb-gn": RtbGN,
    "rtb-nr": RtbNR,
    "trac-ik": TracIK,
    "pin-free": PinFree,
    "pin-bounded": PinBounded,
    "eaik": Eaik,
    "ikpy": IKPy,
}
