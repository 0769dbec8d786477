"""Forward and inverse kinematics of robots that bend and robots that hinge."""

import importlib
from typing import TYPE_CHECKING, Any

from arcreach.elements import Link, Parallelogram, Prismatic, Revolute, Section
from arcreach.errors import (
    ArcreachError,
    ConfigurationError,
    DeviceError,
    FileError,
    MethodError,
    MissingExtraError,
    RobotError,
    SceneError,
    TargetError,
)
from arcreach.ik.method import Method, methods
from arcreach.ik.solution import Solution, Solutions, Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.certificate import certified_clearance
from arcreach.scenes.clearance import Clearance, Clearances, clearance, clearance_gradient, self_clearance
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.planar import Disc, Polygon
from arcreach.scenes.scene import Scene
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

if TYPE_CHECKING:
    from arcreach._warm_up import warm_up
    from arcreach.files.catalogue import catalogue
    from arcreach.files.exports.c.binding import load_exported
    from arcreach.files.exports.c.writer import export_c
    from arcreach.files.robots import load_robot, save_robot
    from arcreach.files.scenes import load_scene, save_scene
    from arcreach.planning.contact.grasp import plan_grasp
    from arcreach.planning.contact.plan import plan_contact
    from arcreach.planning.motion.follow import follow
    from arcreach.planning.motion.leader import LeaderPath, follow_the_leader
    from arcreach.planning.motion.path import Path
    from arcreach.planning.motion.plan import plan
    from arcreach.planning.motion.plan_result import Plan
    from arcreach.planning.motion.timing import Timed

__version__ = "0.1.0"

# Files, planning and warm-up are imported when they are first used: a program that only solves does not wait for them.
_LAZY = {
    "LeaderPath": "planning.motion.leader",
    "Path": "planning.motion.path",
    "Plan": "planning.motion.plan_result",
    "Timed": "planning.motion.timing",
    "catalogue": "files.catalogue",
    "export_c": "files.exports.c.writer",
    "follow": "planning.motion.follow",
    "follow_the_leader": "planning.motion.leader",
    "load_exported": "files.exports.c.binding",
    "load_robot": "files.robots",
    "load_scene": "files.scenes",
    "plan": "planning.motion.plan",
    "plan_contact": "planning.contact.plan",
    "plan_grasp": "planning.contact.grasp",
    "save_robot": "files.robots",
    "save_scene": "files.scenes",
    "warm_up": "_warm_up",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'arcreach' has no attribute '{name}'")
    return getattr(importlib.import_module(f"arcreach.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    # The names above exist before they are first used: completion and help must show them.
    return sorted({*globals(), *__all__})


__all__ = [
    "ArcreachError",
    "Box",
    "Capsule",
    "Clearance",
    "Clearances",
    "ConfigurationError",
    "DeviceError",
    "Disc",
    "FileError",
    "HalfSpace",
    "LeaderPath",
    "Link",
    "Mesh",
    "Method",
    "MethodError",
    "MissingExtraError",
    "Parallelogram",
    "Path",
    "Plan",
    "Polygon",
    "Prismatic",
    "Revolute",
    "Robot",
    "RobotError",
    "Scene",
    "SceneError",
    "Section",
    "Solution",
    "Solutions",
    "Sphere",
    "Status",
    "SymbolicRobot",
    "Target",
    "TargetError",
    "Timed",
    "catalogue",
    "certified_clearance",
    "clearance",
    "clearance_gradient",
    "export_c",
    "follow",
    "follow_the_leader",
    "load_exported",
    "load_robot",
    "load_scene",
    "methods",
    "plan",
    "plan_contact",
    "plan_grasp",
    "save_robot",
    "save_scene",
    "self_clearance",
    "solve",
    "solve_all",
    "solve_batch",
    "warm_up",
]
