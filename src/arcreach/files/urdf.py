"""Read a serial chain from a URDF file.

A joint becomes a `Link` for its origin and an element for its motion; a fixed joint becomes a `Link` alone. Masses,
meshes and colours are not read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np

from arcreach.errors import ArcreachError, FileError
from arcreach.files import problems
from arcreach.files.reading import read_text
from arcreach.files.robot_file import rotation_from_rpy
from arcreach.robots.elements import Element, Link, Prismatic, Revolute
from arcreach.robots.robot import Robot

# The largest descriptions of humanoids have about a megabyte; meshes lie in files of their own.
LARGEST_FILE = 10_000_000


@dataclass
class Node:
    """An XML element: its tag, attributes and children."""

    tag: str
    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)

    def child(self, tag: str) -> Node | None:
        """The first child of that tag."""
        return next((child for child in self.children if child.tag == tag), None)


@dataclass
class Joint:
    """A URDF joint: what moves between its parent link and its child link."""

    name: str
    kind: str
    parent: str
    child: str
    node: Node


def read_urdf(path: Path, base: str | None, tip: str | None) -> Robot:
    """The chain of a URDF file from link `base` (default: the root) to link `tip` (default: the only leaf)."""
    return parse_urdf(read_text(path, LARGEST_FILE), str(path), base, tip)


def parse_urdf(text: str, origin: str, base: str | None = None, tip: str | None = None) -> Robot:
    """The chain of a URDF text; `origin` is how messages call it."""
    try:
        root = _parse_xml(text)
        links, joints = _tree(root)
        elements = [element for joint in _chain(links, joints, base, tip) for element in _elements(joint)]
        if not elements:
            raise FileError("base and tip are the same link; choose two links with a joint between them")
        name = "".join(c if c.isalnum() or c in " -_" else "-" for c in root.attributes.get("name", ""))
        return Robot(tuple(elements), name.strip()[:64], f"URDF {Path(origin).name}")
    except ArcreachError as error:
        raise FileError(f"{origin}: {error}") from None


def _parse_xml(text: str) -> Node:
    """The XML tree. A document type is refused: only attacks define entities in a URDF."""
    top = Node("", {})
    open_nodes = [top]
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        node = Node(tag, attributes)
        open_nodes[-1].children.append(node)
        open_nodes.append(node)

    def refuse(*_: object) -> None:
        raise FileError("has a DOCTYPE; a URDF needs none, and its entities are not expanded: remove it")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_nodes.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FileError(f"is not valid XML: {error}") from None
    root = top.children[0]
    if root.tag != "robot":
        raise FileError(f"its root is <{root.tag}>, not <robot>; give a URDF file")
    if any(":" in child.tag for child in root.children):
        raise FileError("is a xacro file; run xacro on it first and give the URDF that comes out")
    return root


def _tree(root: Node) -> tuple[list[str], dict[str, Joint]]:
    """All links, and the joints by their child link."""
    links = [_attribute(node, "name", "link") for node in root.children if node.tag == "link"]
    joints: dict[str, Joint] = {}
    names: set[str] = set()
    for node in root.children:
        if node.tag != "joint":
            continue
        name = _attribute(node, "name", "joint")
        ends = []
        for end in ("parent", "child"):
            found = node.child(end)
            link = found.attributes.get("link") if found else None
            if link not in links:
                raise FileError(f"joint '{name}': {end} = {link!r} is no link of the file")
            ends.append(str(link))
        joint = Joint(name, node.attributes.get("type", ""), ends[0], ends[1], node)
        if name in names:
            raise FileError(f"joint '{name}': the name is used twice; give every joint its own")
        if joint.child in joints:
            raise FileError(f"link '{joint.child}': has two parent joints, '{joints[joint.child].name}' and '{name}'")
        names.add(name)
        joints[joint.child] = joint
    if not links:
        raise FileError("has no links; give a URDF with links and joints")
    return links, joints


def _chain(links: list[str], joints: dict[str, Joint], base: str | None, tip: str | None) -> list[Joint]:
    """The joints from base to tip, in this order."""
    for role, link in (("base", base), ("tip", tip)):
        if link is not None and link not in links:
            hint = problems.suggestion(link, links) or f"; the links are {', '.join(links[:12])}"
            raise FileError(f"{role} = '{link}' is no link of the file{hint}")
    if tip is None:
        tip = _only_leaf(links, joints, base)
    path: list[Joint] = []
    link = tip
    while link in joints and link != base:
        joint = joints[link]
        if joint in path:
            raise FileError(f"joint '{joint.name}': the joints form a loop; give a tree")
        path.insert(0, joint)
        link = joint.parent
    if base is not None and link != base:
        raise FileError(f"base = '{base}' does not carry tip = '{tip}'; choose a base between '{link}' and the tip")
    return path


def _only_leaf(links: list[str], joints: dict[str, Joint], base: str | None) -> str:
    parents = {joint.parent for joint in joints.values()}
    leaves = [link for link in links if link not in parents and (base is None or _carries(base, link, joints))]
    if len(leaves) == 1:
        return leaves[0]
    if not leaves:
        raise FileError("has no last link: the joints form a loop; give a tree")
    shown = ", ".join(leaves[:8]) + (", ..." if len(leaves) > 8 else "")
    raise FileError(f"has {len(leaves)} last links ({shown}); choose one as tip")


def _carries(base: str, link: str, joints: dict[str, Joint]) -> bool:
    for _ in range(len(joints) + 1):
        if link == base:
            return True
        if link not in joints:
            return False
        link = joints[link].parent
    return False


def _elements(joint: Joint) -> list[Element]:
    owner = f"joint '{joint.name}'"
    if joint.node.child("mimic") is not None:
        raise FileError(
            f"{owner}: mimics another joint, which a chain of independent joints cannot do; end the chain before it "
            "(tip), or remove <mimic> to move it on its own"
        )
    name = "".join(c if c.isalnum() or c in " -_" else "-" for c in joint.name).strip()[:64]
    origin = joint.node.child("origin")
    shift = _vector(origin, "xyz", owner)
    turn = rotation_from_rpy(*_vector(origin, "rpy", owner))
    moved = any(shift) or not np.array_equal(turn, np.eye(3))
    fixed = joint.kind == "fixed"
    placed: list[Element] = []
    if moved or fixed:
        placed = [Link(shift, turn, name=name if fixed else f"{name}-origin"[:64])]  # type: ignore[arg-type]
    if fixed:
        return placed
    axis = _vector(joint.node.child("axis"), "xyz", owner, (1.0, 0.0, 0.0))
    if joint.kind == "continuous":
        return [*placed, Revolute(axis, -math.inf, math.inf, name)]
    if joint.kind == "revolute":
        return [*placed, Revolute(axis, *_limits(joint, owner), name)]
    if joint.kind == "prismatic":
        return [*placed, Prismatic(*_limits(joint, owner), axis, name)]
    raise FileError(
        f"{owner}: type = '{joint.kind}' is not accepted; a chain has revolute, continuous, prismatic and fixed joints"
    )


def _limits(joint: Joint, owner: str) -> tuple[float, float]:
    node = joint.node.child("limit")
    if node is None:
        raise FileError(f"{owner}: limit is missing; give <limit lower=... upper=.../>, or type continuous")
    # URDF: a limit that is left out is 0.
    return (
        _number(node.attributes.get("lower", "0"), "limit lower", owner),
        _number(node.attributes.get("upper", "0"), "limit upper", owner),
    )


def _vector(
    node: Node | None, key: str, owner: str, default: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> tuple[float, float, float]:
    if node is None or key not in node.attributes:
        return default
    parts = node.attributes[key].split()
    if len(parts) != 3:
        raise FileError(
            f"{owner}: {node.tag} {key} = '{node.attributes[key][:40]}' is not accepted; give three numbers"
        )
    x, y, z = (_number(part, f"{node.tag} {key}", owner) for part in parts)
    return x, y, z


def _number(text: str, field_name: str, owner: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FileError(f"{owner}: {field_name} = '{text[:40]}' is not accepted; give a finite number")
    return value


def _attribute(node: Node, key: str, owner: str) -> str:
    value = node.attributes.get(key, "")
    if not value:
        raise FileError(f"a <{owner}> has no {key}; give every {owner} its own")
    return value
