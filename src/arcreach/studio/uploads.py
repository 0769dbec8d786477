"""A robot from a file that somebody sent to the page: read in memory, never written, its name only repeated."""

from __future__ import annotations

from arcreach.errors import FileError
from arcreach.files.robot_file import parse_robot
from arcreach.files.urdf import parse_urdf
from arcreach.robots.robot import Robot

# Bytes. The largest robot of the catalogue has four thousand, a URDF of a humanoid one million.
LARGEST_UPLOAD = 2_000_000
# Characters of a name that are repeated in a message.
LONGEST_NAME = 60


def plain_name(name: str) -> str:
    """The last part of a path, of printable characters; a name says nothing but how messages call the file."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(character for character in last if character.isprintable())[-LONGEST_NAME:]
    return kept or "the file"


def robot_of_upload(name: str, content: bytes) -> Robot:
    """The robot of a TOML or URDF file, by its content; a bad field is named."""
    origin = plain_name(name)
    if len(content) > LARGEST_UPLOAD:
        raise FileError(too_large(origin, len(content)))
    if content[:2] == b"PK":
        raise FileError(f"{origin}: is a zip archive; unpack it and send the robot file (.toml or .urdf) in it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{origin}: is not UTF-8 text (byte {error.start}); send a .toml or .urdf file") from None
    robot = parse_urdf(text, origin) if text.lstrip().startswith("<") else parse_robot(text, origin)
    if not isinstance(robot, Robot):
        raise FileError(f"{origin}: describes a robot by a matrix, which has no body to draw; send a chain of elements")
    if robot.dof == 0:
        raise FileError(f"{origin}: elements = {len(robot.elements)} rigid links; give at least one joint or section")
    return robot


def too_large(name: str, size: int) -> str:
    """What is said of a file that is not accepted for its size."""
    return f"{plain_name(name)}: has {size / 1e6:.1f} MB; at most {LARGEST_UPLOAD / 1e6:.0f} MB are accepted"
