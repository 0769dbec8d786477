"""`Shelf`: the robots that the page offers, those of the catalogue and those that visitors sent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from arcreach._checks import shown
from arcreach.errors import FileError, MissingExtraError, RobotError
from arcreach.files.catalogue import catalogue, catalogue_robot
from arcreach.robots.robot import Robot
from arcreach.studio.uploads import robot_of_upload, tips_of_upload

UPLOADED = "my robot"
# Each coordinate has a slider, and each element a mesh.
MOST_COORDINATES, MOST_ELEMENTS = 100, 500
# Links of a URDF that are offered as tips, and those that are tried unasked.
MOST_TIPS, TRIED = 200, 8


@dataclass(frozen=True, eq=False)
class Known:
    """A robot under its name; of a URDF that was sent also the links that can be its tip."""

    robot: Robot
    tips: tuple[str, ...] = ()
    tip: str = ""
    file: tuple[str, bytes] = ("", b"")


class Shelf:
    """Robots by the names that the page shows."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}

    def put(self, robot: Robot, name: str = "") -> str:
        """Keep a robot, and say its name: its own where none is given."""
        name = name or robot.name or UPLOADED
        if name not in self._known or self._known[name].robot is not robot:
            self._known[name] = Known(robot)
        return name

    def put_back(self, name: str, known: Known) -> None:
        """Keep what was under a name before."""
        self._known[name] = known

    def __contains__(self, name: str) -> bool:
        return name in self._known or name in catalogue()

    def __getitem__(self, name: str) -> Known:
        if name not in self._known:
            self._known[name] = Known(drawable(catalogue_robot(name)))
        return self._known[name]

    def receive(self, file: str, content: bytes) -> str:
        """Keep the robot of a file that was sent, and say its name."""
        tips = tips_of_upload(file, content)[:MOST_TIPS]
        robot, tip = _first_possible(file, content, tips) if tips else (robot_of_upload(file, content), "")
        # A robot of the catalogue keeps its name, whatever somebody else's is called.
        name = robot.name if robot.name and robot.name not in catalogue() else UPLOADED
        self._known[name] = Known(drawable(robot), tips, tip, (file, content))
        return name

    def set_tip(self, name: str, tip: str) -> None:
        """Let a robot that was sent as URDF end at another link."""
        known = self[name]
        if tip not in known.tips:
            raise FileError(f"tip = {shown(tip)} is no link of {shown(name)}; choose one of the list")
        self._known[name] = Known(drawable(robot_of_upload(*known.file, tip)), known.tips, tip, known.file)


def _first_possible(file: str, content: bytes, tips: tuple[str, ...]) -> tuple[Robot, str]:
    """The robot of a URDF with the likeliest tip to which a chain can be read, and that tip."""
    refused = None
    for tip in tips[:TRIED]:
        try:
            return robot_of_upload(file, content, tip), tip
        except FileError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def has_body(name: str) -> bool:
    """Whether a robot of the catalogue is a chain of elements; one given as a matrix needs a package of its own."""
    try:
        return isinstance(catalogue_robot(name), Robot)
    except MissingExtraError:
        return False


def drawable(robot: Any) -> Robot:
    """A robot with a body to draw and something to move, of a size that a page can show."""
    if not isinstance(robot, Robot):
        raise RobotError(f"robot = {shown(robot)} has no body to draw; give a chain of elements")
    if robot.dof == 0:
        raise RobotError(f"robot '{robot.name}' has nothing to move; give at least one joint or section")
    if not 0.0 < robot.reach < math.inf:
        raise RobotError(f"robot '{robot.name}' has a reach of {robot.reach:g} m; give it a link or a section to draw")
    if robot.dof > MOST_COORDINATES or len(robot.elements) > MOST_ELEMENTS:
        raise RobotError(
            f"robot '{robot.name}' has {robot.dof} coordinates and {len(robot.elements)} elements; the page shows at "
            f"most {MOST_COORDINATES} and {MOST_ELEMENTS}"
        )
    return robot
