"""`Wish`: all that the page asks for at one moment, and the number that tells which of two is the later one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.ik.method import methods
from arcreach.ik.target import Target
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene

# What a target asks for, as the page calls it.
POSITION, AXIS, POSE = "position", "position and axis", "whole pose"
AIMS = (POSITION, AXIS, POSE)
NO_METHOD = "nothing"


@dataclass(frozen=True, eq=False)
class Wish:
    """What is asked for. `q` is a configuration set by hand, in place of a target to solve for."""

    robot: Robot
    pose: Array  # T_base_target (4, 4)
    aim: str = AXIS
    method: str = "auto"
    compared: str = NO_METHOD
    scene: Scene = field(default_factory=Scene)
    avoid: bool = True
    q: Array | None = None
    revision: int = 0

    @property
    def target(self) -> Target:
        """The target that the aim makes of the pose."""
        if self.aim == POSE:
            return Target.from_pose(self.pose)
        return Target(self.pose[:3, 3], axis=self.pose[:3, 2] if self.aim == AXIS else None)

    @property
    def methods(self) -> tuple[str, ...]:
        """The method, and the one it is compared with, if any."""
        return (self.method,) if self.compared == NO_METHOD else (self.method, self.compared)


class Desk:
    """Where wishes are numbered: every change makes a later wish, and answers to earlier ones are told apart."""

    def __init__(self, wish: Wish) -> None:
        self._lock = threading.Lock()
        self._wish = wish
        self._shown = -1

    @property
    def wish(self) -> Wish:
        """The latest wish."""
        return self._wish

    def change(self, **fields: Any) -> Wish:
        """The latest wish with other fields, which is the latest from now on."""
        changed = self.change_unless(lambda: False, **fields)
        assert changed is not None
        return changed

    def change_unless(self, left: Callable[[], bool], **fields: Any) -> Wish | None:
        """The same, unless that is so by now: who plays a film must not overrule a hand that has just stopped it."""
        with self._lock:
            if left():
                return None
            self._wish = replace(self._wish, revision=self._wish.revision + 1, **fields)
            return self._wish

    def accept(self, revision: int) -> bool:
        """Whether an answer to that wish may be shown: nothing later has been."""
        with self._lock:
            if revision < self._shown:
                return False
            self._shown = revision
            return True

    @property
    def settled(self) -> bool:
        """Whether what is shown answers the latest wish."""
        return self._shown >= self._wish.revision


def methods_for(robot: Robot, aim: str) -> tuple[str, ...]:
    """The methods that serve a robot and what is asked of it."""
    kind = Wish(robot, np.eye(4), aim).target.kind
    return tuple(name for name, method in methods().items() if method.refusal(robot, kind) is None)
