"""Solve inverse kinematics with Pinocchio, which has no solver of its own, by damped least squares with restarts.

Both loops follow good practice: the error is the logarithm of the pose error, the linear system is the dual one of six
rows, the damping grows with the error, steps are bounded, a stalled descent is given up early, and the next start is
drawn within the limits. One pass over the joints gives pose and Jacobian, and Pinocchio's binding of Eigen solves the
system. Every constant was chosen as the best of several over all arms of the benchmark.
"""

import eigenpy
import numpy as np
import pinocchio as pin

from .judge import TIP

MOST_STARTS = 500
STEPS_PER_START = 30
LARGEST_STEP = 2.0
LEAST_DAMPING = 1e-12
TURN = 2 * np.pi


class PinLoop:
    """Base class of both loops."""

    def __init__(self, path, tolerance, seed=0):
        self.model = pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.tip = self.model.getFrameId(TIP)
        self.lower, self.upper = self.model.lowerPositionLimit.copy(), self.model.upperPositionLimit.copy()
        self.turning = np.array([joint.shortname().startswith("JointModelR") for joint in self.model.joints[1:]])
        self.squared_tolerance = tolerance**2
        self.random = np.random.default_rng(seed)

    def tip_pose(self, q):
        """T_base_tip (4, 4)."""
        pin.forwardKinematics(self.model, self.data, q)
        return pin.updateFramePlacement(self.model, self.data, self.tip).homogeneous

    def solve(self, wanted, start):
        """Return a configuration that reaches the target pose within the limits, or None."""
        q = start
        for _ in range(MOST_STARTS):
            q = self.descend(wanted, q)
            if q is not None:
                return q
            q = self.random.uniform(self.lower, self.upper)
        return None

    def error(self, q, wanted):
        """Return the pose error in the tip frame as a twist (6,); Jacobians are stored in the data."""
        pin.computeJointJacobians(self.model, self.data, q)
        return pin.log6(pin.updateFramePlacement(self.model, self.data, self.tip).actInv(wanted)).vector

    def arrived(self, e, squared):
        """Tell whether position and angle are both within the tolerance."""
        most = self.squared_tolerance
        return squared <= 2 * most and e[:3] @ e[:3] <= most and e[3:] @ e[3:] <= most


class FreeLoop(PinLoop):
    """Takes steps without limits; full turns then bring the result within the limits, or another start follows."""

    damping = 0.05
    # Consecutive steps that do not reduce the error.
    most_weak = 5

    def descend(self, wanted, q):
        """Return the configuration that one start leads to, or None if it fails."""
        e = self.error(q, wanted)
        squared, weak = e @ e, 0
        for _ in range(STEPS_PER_START):
            if self.arrived(e, squared):
                return self.turned(q)
            J = pin.getFrameJacobian(self.model, self.data, self.tip, pin.LOCAL)
            q = q + bounded(damped_step(J, J @ J.T, e, self.damping * squared))
            e = self.error(q, wanted)
            before, squared = squared, e @ e
            weak = weak + 1 if squared > before else 0
            if weak >= self.most_weak:
                return None
        return None

    def turned(self, q):
        """Return q with full turns added to be within the limits, or None."""
        full_turns = np.ceil((self.lower - q) / TURN - 1e-12)
        q = np.where(self.turning, q + TURN * full_turns, q)
        return q if (q >= self.lower).all() and (q <= self.upper).all() else None


class BoundedLoop(PinLoop):
    """Takes steps within the limits; a step that does not reduce the error is rejected and damped more."""

    first_damping, raised = 0.005, 3.0
    # Consecutive steps that reduce the error by less than a third.
    most_weak = 3

    def descend(self, wanted, q):
        """Return the configuration that one start leads to, or None if it fails."""
        lower, upper = self.lower, self.upper
        e = self.error(q, wanted)
        squared, damping, weak, limited = e @ e, self.first_damping, 0, False
        J = gram = None
        for _ in range(STEPS_PER_START):
            if self.arrived(e, squared):
                return q
            if J is None:
                J = pin.getFrameJacobian(self.model, self.data, self.tip, pin.LOCAL)
                J = self.without_pushing(J, q, e) if limited else J
                gram = J @ J.T
            free = q + bounded(damped_step(J, gram, e, damping * squared))
            trial = np.minimum(np.maximum(free, lower), upper)
            e_trial = self.error(trial, wanted)
            squared_trial = e_trial @ e_trial
            weak = weak + 1 if squared_trial > 0.7 * squared else 0
            if weak >= self.most_weak:
                return None
            if squared_trial < squared:
                limited = limited or not np.array_equal(trial, free)
                q, e, squared, J = trial, e_trial, squared_trial, None
            else:
                damping *= self.raised
        return None

    def without_pushing(self, J, q, e):
        """Return the Jacobian without the joints at a limit that the step would violate."""
        downhill = e @ J
        return J * ~(((q <= self.lower) & (downhill < 0)) | ((q >= self.upper) & (downhill > 0)))


def damped_step(J, gram, e, damping):
    """Return Jᵀ(JJᵀ + damping)⁻¹e."""
    damped = gram.copy()
    damped.flat[::7] += damping + LEAST_DAMPING
    return eigenpy.LDLT(damped).solve(e) @ J


def bounded(step):
    """Return the step, scaled down if a joint would move too far."""
    longest = max(step.max(), -step.min())
    return step * (LARGEST_STEP / longest) if longest > LARGEST_STEP else step
