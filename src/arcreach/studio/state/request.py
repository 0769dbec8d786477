"""`Request`: everything that the page asks for at one time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arcreach._typing import Array, Booleans
from arcreach.files.option_values import option_value
from arcreach.ik.method import find_method, methods
from arcreach.ik.port import Port
from arcreach.ik.target import Target
from arcreach.robots.equilibrium import Equilibrium
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene

# Kinds of targets, as the page names them.
POSITION, AXIS, POSE = "position", "position and axis", "whole pose"
AIMS = (POSITION, AXIS, POSE)
NO_METHOD = "nothing"


@dataclass(frozen=True)
class Tuning:
    """Tolerances of all methods, and the variant and the options of one method; other methods keep their defaults."""

    position_tol: float = 1e-6
    angle_tol: float = 1e-3
    method: str = ""
    variant: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)  # as typed; an empty text stands for the default

    def arguments(self, method: str, trace: bool) -> dict[str, Any]:
        """Return the keyword arguments of a solve by a method; a trace has a row per joint step if the method can."""
        steps = {"joint_steps": True} if trace and "joint_steps" in find_method(method).options else {}
        given = {"position_tol": self.position_tol, "angle_tol": self.angle_tol, "trace": trace, **steps}
        if method != self.method:
            return given
        typed = {name: value.strip() for name, value in self.options.items()}
        options = {name: option_value(name, value) for name, value in typed.items() if value}
        return {"variant": self.variant, **options, **given}


@dataclass(frozen=True, eq=False)
class Request:
    """A target to solve for, or a configuration `q` to show instead."""

    robot: Robot
    pose: Array  # T_base_target (4, 4)
    aim: str = AXIS
    method: str = "auto"
    compared: str = NO_METHOD
    scene: Scene = field(default_factory=Scene)
    avoid: bool = True
    tuning: Tuning = field(default_factory=Tuning)
    port: Port | None = None
    held: frozenset[int] = frozenset()  # indices of the coordinates that keep their values
    q: Array | None = None
    pulled: Equilibrium | None = None  # equilibrium for pulls set by the user; q is then its configuration, clipped
    revision: int = 0

    @property
    def target(self) -> Target:
        """The target: the part of the pose that the aim names."""
        if self.aim == POSE:
            return Target.from_pose(self.pose)
        return Target(self.pose[:3, 3], axis=self.pose[:3, 2] if self.aim == AXIS else None)

    @property
    def hold(self) -> Booleans:
        """The coordinates that keep their values, as a mask (dof,)."""
        return np.isin(np.arange(self.robot.dof), list(self.held))

    @property
    def methods(self) -> tuple[str, ...]:
        """The method, and the one it is compared with, if any."""
        return (self.method,) if self.compared == NO_METHOD else (self.method, self.compared)


def methods_for(robot: Robot, aim: str) -> tuple[str, ...]:
    """Return the methods that accept a robot and an aim."""
    kind = Request(robot, np.eye(4), aim).target.kind
    return tuple(name for name, method in methods().items() if method.refusal(robot, kind) is None)
