"""Kinematics of robots that bend and robots that hinge."""

from arcreach._warm_up import warm_up
from arcreach.errors import ArcreachError, ConfigurationError, FileError, MissingExtraError, RobotError
from arcreach.files.catalogue import catalogue
from arcreach.files.robots import load_robot, save_robot
from arcreach.robots.elements import Link, Parallelogram, Prismatic, Revolute, Section
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

__version__ = "0.1.0"

__all__ = [
    "ArcreachError",
    "ConfigurationError",
    "FileError",
    "Link",
    "MissingExtraError",
    "Parallelogram",
    "Prismatic",
    "Revolute",
    "Robot",
    "RobotError",
    "Section",
    "SymbolicRobot",
    "catalogue",
    "load_robot",
    "save_robot",
    "warm_up",
]
