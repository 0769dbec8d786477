"""Files that users load into the page: read in memory, never written, their names used in messages only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcreach._checks import shown
from arcreach.errors import FileError
from arcreach.files.toml.robot_file import parse_robot
from arcreach.files.toml.scene_file import parse_scene
from arcreach.files.toml.text import parse_toml
from arcreach.files.urdf import parse_urdf, urdf_tips
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene, spatial_scene

if TYPE_CHECKING:
    from arcreach.planning.motion.path import Path

# Largest file in bytes: the catalogue's largest robot file has two thousand, a humanoid's URDF one million.
LARGEST_UPLOAD = 2_000_000
# Longest file name in a message, in characters.
LONGEST_NAME = 60
# Largest number of obstacles: each is drawn as a mesh, and in a collision each is tested by itself.
MOST_OBSTACLES = 300


def plain_name(name: str) -> str:
    """Return the printable characters of the last part of a path, to name a file in messages."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(character for character in last if character.isprintable())[-LONGEST_NAME:]
    return kept or "the file"


def text_of(name: str, content: bytes, kinds: str) -> str:
    """Return the text of a file; `kinds` names the accepted types in messages."""
    origin = plain_name(name)
    if len(content) > LARGEST_UPLOAD:
        raise FileError(too_large(name, len(content)))
    if content[:2] == b"PK":
        raise FileError(f"{origin}: is a zip archive; unpack it and send the file ({kinds}) in it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{origin}: is not UTF-8 text (byte {error.start}); send a file of type {kinds}") from None


def parse_robot_upload(name: str, content: bytes, tip: str | None = None) -> Robot:
    """Return the robot of a TOML or URDF file; the content decides which of them it is."""
    origin, text = plain_name(name), text_of(name, content, ".toml or .urdf")
    robot = parse_urdf(text, origin, tip=tip) if _is_urdf(text) else parse_robot(text, origin)
    if not isinstance(robot, Robot):
        raise FileError(f"{origin}: describes a robot by a matrix, which has no body to draw; send a chain of elements")
    if robot.dof == 0:
        raise FileError(f"{origin}: has rigid links only; send a robot with at least one joint or section")
    return robot


def upload_tips(name: str, content: bytes) -> tuple[str, ...]:
    """Return the links of a URDF that can be the tip, the likeliest first; none for other files."""
    text = text_of(name, content, ".toml or .urdf")
    return urdf_tips(text, plain_name(name)) if _is_urdf(text) else ()


def parse_scene_upload(name: str, content: bytes) -> Scene:
    """Return the scene of a file. Files that it names are not read: a client must not open files of this machine."""
    origin, text = plain_name(name), text_of(name, content, ".toml")
    entries = parse_toml(text, origin).get("obstacles")
    entries = entries if isinstance(entries, list) else []
    for i, entry in enumerate(entries):
        if isinstance(entry, dict) and "path" in entry:
            raise FileError(
                f"{origin}: obstacles[{i}].path = {shown(entry['path'])} is not accepted on the page, which reads no "
                "other files; start it by arcreach studio --scene FILE"
            )
    if len(entries) > MOST_OBSTACLES:
        raise FileError(f"{origin}: has {len(entries)} obstacles; the page takes at most {MOST_OBSTACLES}")
    return spatial_scene(parse_scene(text, origin))


def parse_path_upload(name: str, content: bytes, robot: Robot) -> Path:
    """Return the path of a CSV file, as `Path.to_csv` writes it, for a robot."""
    from arcreach.planning.motion.path_csv import parse_path

    return parse_path(text_of(name, content, ".csv"), plain_name(name), robot)


def _is_urdf(text: str) -> bool:
    return text.lstrip().startswith("<")


def too_large(name: str, size: int) -> str:
    """Return the message for a file that exceeds the size limit."""
    return f"{plain_name(name)}: has {size / 1e6:.1f} MB; at most {LARGEST_UPLOAD / 1e6:.0f} MB are accepted"
