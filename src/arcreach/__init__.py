"""Forward and inverse kinematics and motion planning of continuum robots and serial arms."""

from typing import TYPE_CHECKING

from arcreach._exports import lazy
from arcreach.elements import Link, Parallelogram, Prismatic, Revolute, Section, Tendon
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
from arcreach.ik.port import Port
from arcreach.ik.solution import Solution, Solutions, Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target, Targets
from arcreach.robots.builders import free_base
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.certified_clearance import certified_clearance
from arcreach.scenes.clearance import Clearance, Clearances, clearance, clearance_gradient, self_clearance
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.planar import Disc, Polygon, Wall
from arcreach.scenes.scene import Scene
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

if TYPE_CHECKING:
    from arcreach._warm_up import warm_up
    from arcreach.calibration import Fit, Measurements, ShapeFit, TipCovariance, fit, fit_shape, tip_covariance
    from arcreach.files.catalogues import catalogue
    from arcreach.files.exports.c.binding import load_exported
    from arcreach.files.exports.c.writer import export_c
    from arcreach.files.exports.html import export_html
    from arcreach.files.exports.mjcf import export_mjcf
    from arcreach.files.load import load_robot, load_scene, save_robot, save_scene
    from arcreach.ik.reach_map import ReachMap, reach_map
    from arcreach.planning import (
        LeaderPath,
        Path,
        Plan,
        Timed,
        centre_line,
        follow,
        follow_the_leader,
        plan,
        plan_contact,
        plan_grasp,
    )

__version__ = "0.1.0"

# Imported at their first use: a program that only solves does not wait for files, planning and warm-up.
__getattr__, _ = lazy(
    __name__,
    {
        "_warm_up": "warm_up",
        "calibration": "Fit Measurements ShapeFit TipCovariance fit fit_shape tip_covariance",
        "files.catalogues": "catalogue",
        "files.exports.c.binding": "load_exported",
        "files.exports.c.writer": "export_c",
        "files.exports.html": "export_html",
        "files.exports.mjcf": "export_mjcf",
        "files.load": "load_robot load_scene save_robot save_scene",
        "ik.reach_map": "ReachMap reach_map",
        "planning": "LeaderPath Path Plan Timed centre_line follow follow_the_leader plan plan_contact plan_grasp",
    },
)

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
    "Fit",
    "HalfSpace",
    "LeaderPath",
    "Link",
    "Measurements",
    "Mesh",
    "Method",
    "MethodError",
    "MissingExtraError",
    "Parallelogram",
    "Path",
    "Plan",
    "Polygon",
    "Port",
    "Prismatic",
    "ReachMap",
    "Revolute",
    "Robot",
    "RobotError",
    "Scene",
    "SceneError",
    "Section",
    "ShapeFit",
    "Solution",
    "Solutions",
    "Sphere",
    "Status",
    "SymbolicRobot",
    "Target",
    "TargetError",
    "Targets",
    "Tendon",
    "Timed",
    "TipCovariance",
    "Wall",
    "catalogue",
    "centre_line",
    "certified_clearance",
    "clearance",
    "clearance_gradient",
    "export_c",
    "export_html",
    "export_mjcf",
    "fit",
    "fit_shape",
    "follow",
    "follow_the_leader",
    "free_base",
    "load_exported",
    "load_robot",
    "load_scene",
    "methods",
    "plan",
    "plan_contact",
    "plan_grasp",
    "reach_map",
    "save_robot",
    "save_scene",
    "self_clearance",
    "solve",
    "solve_all",
    "solve_batch",
    "tip_covariance",
    "warm_up",
]


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
