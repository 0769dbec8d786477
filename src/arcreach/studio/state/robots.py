"""The robots that the page offers: those of the catalogue and those that users loaded from files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from arcreach._checks import shown
from arcreach.errors import FileError, MissingExtraError, RobotError
from arcreach.files import catalogue, catalogue_robot
from arcreach.robots.robot import Robot
from arcreach.studio.state.uploads import parse_robot_upload, upload_tips

UPLOADED = "my robot"
# Limits of the page, since each coordinate has a slider, and each element a mesh.
MOST_COORDINATES, MOST_ELEMENTS = 100, 500
# Largest numbers of links of a URDF that are offered as tips, and that are tried as the initial tip.
MOST_TIPS, TRIED = 200, 8


@dataclass(frozen=True, eq=False)
class RobotEntry:
    """A robot and its name on the page; one loaded from a URDF also has its file and the links that can be its tip."""

    name: str
    robot: Robot
    tips: tuple[str, ...] = ()
    tip: str = ""
    file: tuple[str, bytes] = ("", b"")


class RobotList:
    """Robots by the names that the page shows."""

    def __init__(self) -> None:
        self._entries: dict[str, RobotEntry] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._entries or name in catalogue()

    def __getitem__(self, name: str) -> RobotEntry:
        return self._entries[name] if name in self._entries else self.put(drawable(catalogue_robot(name)), name)

    def put(self, robot: Robot, name: str = "") -> RobotEntry:
        """Add a robot under a name, by default its own."""
        name = name or robot.name or UPLOADED
        known = self._entries.get(name)
        return known if known is not None and known.robot is robot else self.restore(RobotEntry(name, robot))

    def restore(self, entry: RobotEntry) -> RobotEntry:
        """Add an entry, replacing the one of the same name."""
        self._entries[entry.name] = entry
        return entry

    def add_file(self, file: str, content: bytes) -> RobotEntry:
        """Add the robot of a file."""
        tips = upload_tips(file, content)[:MOST_TIPS]
        robot, tip = _first_readable(file, content, tips) if tips else (parse_robot_upload(file, content), "")
        # The robots of the catalogue keep their names.
        name = robot.name if robot.name and robot.name not in catalogue() else UPLOADED
        return self.restore(RobotEntry(name, drawable(robot), tips, tip, (file, content)))

    def set_tip(self, name: str, tip: str) -> RobotEntry:
        """Replace a robot from a URDF by its chain to another tip link."""
        entry = self[name]
        if tip not in entry.tips:
            raise FileError(f"tip = {shown(tip)} is not a link of {shown(name)}; choose one of the list")
        robot = drawable(parse_robot_upload(*entry.file, tip))
        return self.restore(RobotEntry(name, robot, entry.tips, tip, entry.file))


def _first_readable(file: str, content: bytes, tips: tuple[str, ...]) -> tuple[Robot, str]:
    """Return the robot of a URDF up to the first tip whose chain can be read, and that tip."""
    refused = None
    for tip in tips[:TRIED]:
        try:
            return parse_robot_upload(file, content, tip), tip
        except FileError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def has_body(name: str) -> bool:
    """Return whether a robot of the catalogue is a chain of elements that can be loaded without further extras."""
    try:
        return isinstance(catalogue_robot(name), Robot)
    except MissingExtraError:
        return False


def drawable(robot: Any) -> Robot:
    """Return a robot that the page can show; raise a `RobotError` for others."""
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
