"""Forward and inverse kinematics of robots that bend and robots that hinge."""

from arcreach._warm_up import warm_up
from arcreach.errors import (
    ArcreachError,
    ConfigurationError,
    FileError,
    MethodError,
    MissingExtraError,
    RobotError,
    TargetError,
)
from arcreach.files.catalogue import catalogue
from arcreach.files.robots import load_robot, save_robot
from arcreach.ik.method import Method, methods
from arcreach.ik.solution import Solution, Solutions, Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.planning.follow import follow
from arcreach.planning.path import Path
from arcreach.robots.elements import Link, Parallelogram, Prismatic, Revolute, Section
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

__version__ = "0.1.0"

__all__ = [
    "ArcreachError",
    "ConfigurationError",
    "FileError",
    "Link",
    "Method",
    "MethodError",
    "MissingExtraError",
    "Parallelogram",
    "Path",
    "Prismatic",
    "Revolute",
    "Robot",
    "RobotError",
    "Section",
    "Solution",
    "Solutions",
    "Status",
    "SymbolicRobot",
    "Target",
    "TargetError",
    "catalogue",
    "follow",
    "load_robot",
    "methods",
    "save_robot",
    "solve",
    "solve_all",
    "solve_batch",
    "warm_up",
]
