"""Read a serial chain from a URDF file.

A joint becomes a `Link` for its origin, unless that is the identity, and an element for its motion; a fixed joint
becomes a `Link`. Masses, meshes, colours, and limits of velocity and effort are ignored. The `<arcreach>` elements of
`exports.urdf` are read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np

from arcreach._checks import shown, suggestion
from arcreach._text import listed
from arcreach._typing import Array
from arcreach.elements import Element, Link, Prismatic, Revolute
from arcreach.errors import ArcreachError, FileError, RobotError
from arcreach.files.rpy import rotation_from_rpy
from arcreach.files.toml import problems, sizes
from arcreach.robots.robot import Robot

XACRO = "is a xacro file; run xacro on it first and give the URDF that comes out"
# Largest difference between a rotation matrix and the one computed from its angles, which have sixteen digits.
SAME_ROTATION = 1e-12


@dataclass
class Node:
    """An XML element: its tag, attributes and children."""

    tag: str
    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)

    def child(self, tag: str) -> Node | None:
        """Return the first child with that tag."""
        return next((child for child in self.children if child.tag == tag), None)


@dataclass
class Joint:
    """A URDF joint between a parent link and a child link."""

    name: str
    kind: str
    parent: str
    child: str
    node: Node

    @property
    def owner(self) -> str:
        """The joint's name in an error message."""
        return f"joint {shown(self.name)}"


def parse_urdf(text: str, origin: str, base: str | None = None, tip: str | None = None) -> Robot:
    """Return the chain of a URDF text from link `base` (default: the root) to link `tip` (default: the only leaf).

    Error messages call the text `origin`.
    """
    try:
        root = _parse_xml(text)
        links, joints = _tree(root)
        elements = _all_elements(_chain(links, joints, base, tip))
        if not elements:
            raise FileError("base and tip are the same link; choose two links with a joint between them")
        return Robot(tuple(elements), _clean(root.attributes.get("name", "")), f"URDF {Path(origin).name}")
    except ArcreachError as error:
        raise problems.failure(origin, problems.problems_of(error)) from None


def urdf_tips(text: str, origin: str) -> tuple[str, ...]:
    """Return the links after at least one moving joint: leaves before inner links, then by most moving joints."""
    try:
        links, joints = _tree(_parse_xml(text))
        moving = _moving_joints(links, joints)
    except FileError as error:
        raise problems.failure(origin, error.problems) from None
    parents = {joint.parent for joint in joints.values()}
    return tuple(sorted((link for link in moving if moving[link]), key=lambda link: (link in parents, -moving[link])))


def _moving_joints(links: dict[str, None], joints: dict[str, Joint]) -> dict[str, int]:
    """Return, for every link but the root, the number of moving joints between the root and it."""
    moving: dict[str, int] = {}
    for link in links:
        path: list[str] = []
        at = link
        while at in joints and at not in moving:
            if len(path) > len(joints):
                raise FileError(f"{joints[at].owner}: the joints form a loop; give a tree")
            path.append(at)
            at = joints[at].parent
        count = moving.get(at, 0)
        for step in reversed(path):
            count += joints[step].kind != "fixed"
            moving[step] = count
    return moving


def _parse_xml(text: str) -> Node:
    """Return the XML tree of a text; refuse a DOCTYPE, which could define entities.

    The bounds on size, depth and entities are those that `defusedxml` would add.
    """
    top = Node("", {})
    open_nodes = [top]
    count = 0
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > sizes.MOST_NODES:
            raise FileError(f"has more than {sizes.MOST_NODES} XML elements; a URDF has fewer")
        if len(open_nodes) > sizes.DEEPEST_NODE:
            raise FileError(f"has more than {sizes.DEEPEST_NODE} XML elements inside each other; a URDF has fewer")
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
        raise FileError(f"its root is {shown(root.tag)}, not 'robot'; give a URDF file")
    if any(child.tag.startswith("xacro:") for child in root.children):
        raise FileError(XACRO)
    return root


def _tree(root: Node) -> tuple[dict[str, None], dict[str, Joint]]:
    """Return all links in the order of the file, and the joints by their child link."""
    links: dict[str, None] = {}
    for node in root.children:
        if node.tag == "link":
            name = _name(node)
            if name in links:
                raise FileError(f"link {shown(name)}: the name is used twice; give every link its own")
            links[name] = None
    joints: dict[str, Joint] = {}
    names: set[str] = set()
    for node in root.children:
        if node.tag != "joint":
            continue
        joint = _joint(node, links)
        if joint.name in names:
            raise FileError(f"{joint.owner}: the name is used twice; give every joint its own")
        if joint.child in joints:
            raise FileError(
                f"link {shown(joint.child)}: has two parent joints, {shown(joints[joint.child].name)} and "
                f"{shown(joint.name)}; give a tree"
            )
        names.add(joint.name)
        joints[joint.child] = joint
    if not links:
        raise FileError("has no links; give a URDF with links and joints")
    return links, joints


def _joint(node: Node, links: dict[str, None]) -> Joint:
    name = _name(node)
    ends = []
    for end in ("parent", "child"):
        found = node.child(end)
        link = found.attributes.get("link") if found else None
        if link not in links:
            raise FileError(
                f"joint {shown(name)}: {end} = {shown(link)} is not a link of the file; give one of its links"
            )
        ends.append(str(link))
    return Joint(name, node.attributes.get("type", ""), ends[0], ends[1], node)


def _chain(links: dict[str, None], joints: dict[str, Joint], base: str | None, tip: str | None) -> list[Joint]:
    """Return the joints from base to tip."""
    for role, link in (("base", base), ("tip", tip)):
        if link is not None and link not in links:
            hint = suggestion(link, links) or f"; the links are {listed([*map(shown, links)], 8)}"
            raise FileError(f"{role} = {shown(link)} is not a link of the file{hint}")
    if tip is None:
        tip = _only_leaf(links, joints, base)
    path: list[Joint] = []
    passed: set[str] = set()
    link = tip
    while link in joints and link != base:
        joint = joints[link]
        if joint.name in passed:
            raise FileError(f"{joint.owner}: the joints form a loop; give a tree")
        passed.add(joint.name)
        path.append(joint)
        link = joint.parent
    if base is not None and link != base:
        raise FileError(
            f"base = {shown(base)} does not carry tip = {shown(tip)}; choose a base between {shown(link)} and the tip"
        )
    return path[::-1]


def _only_leaf(links: dict[str, None], joints: dict[str, Joint], base: str | None) -> str:
    parents = {joint.parent for joint in joints.values()}
    carried = links if base is None else _carried(base, joints)
    leaves = [link for link in links if link not in parents and link in carried]
    if len(leaves) == 1:
        return leaves[0]
    if not leaves:
        raise FileError("has no last link: the joints form a loop; give a tree")
    names = listed([*map(shown, leaves)], 8)
    raise FileError(f"has {len(leaves)} last links ({names}); choose one as tip (--tip on the command line)")


def _carried(base: str, joints: dict[str, Joint]) -> set[str]:
    """Return the base and all links after it."""
    children: dict[str, list[str]] = {}
    for joint in joints.values():
        children.setdefault(joint.parent, []).append(joint.child)
    carried = {base}
    waiting = [base]
    while waiting:
        for link in children.get(waiting.pop(), ()):
            if link not in carried:
                carried.add(link)
                waiting.append(link)
    return carried


def _clean(name: str, longest: int = 64) -> str:
    """Return a name from the file as a valid name of an element or robot."""
    return "".join(c if c.isalnum() or c in " -_" else "-" for c in name[:longest]).strip()


def _unique(name: str, ending: str, used: dict[str, int]) -> str:
    """Return a name that no other element has; equal names get a number.

    `used` maps every name to the last number given.
    """
    first = wanted = (_clean(name, 64 - len(ending)) or "joint") + ending
    while wanted in used:
        used[first] += 1
        tail = f"{ending}-{used[first]}"
        wanted = (_clean(name, 64 - len(tail)) or "joint") + tail
    used[wanted] = 1
    return wanted


def _all_elements(path: list[Joint]) -> list[Element]:
    """Return the elements of all joints, or raise an error with all their problems."""
    sizes.check_count("the chain from base to tip", len(path), sizes.MOST_ELEMENTS)
    elements: list[Element] = []
    names: dict[str, int] = {}
    found: list[str] = []
    for joint in path:
        try:
            elements += _elements(joint, names)
        except (FileError, RobotError) as error:
            found += error.problems
    if found:
        raise FileError(found[0], tuple(found))
    return elements


def _elements(joint: Joint, names: dict[str, int]) -> list[Element]:
    owner = joint.owner
    if joint.node.child("mimic") is not None:
        raise FileError(
            f"{owner}: mimics another joint, which a chain of independent joints cannot do; end the chain before it "
            "(tip), or remove <mimic> to move it on its own"
        )
    name = _unique(joint.name, "", names)
    origin = joint.node.child("origin")
    shift = _vector(origin, "xyz", owner)
    turn = rotation_from_rpy(*_vector(origin, "rpy", owner))
    turn, radius = _extension(joint, turn)
    moved = any(shift) or not np.array_equal(turn, np.eye(3))
    fixed = joint.kind == "fixed"
    placed: list[Element] = []
    if moved or fixed:
        label = name if fixed else _unique(name, "-origin", names)
        placed = [Link(shift, turn, radius if fixed else 0.0, label)]  # type: ignore[arg-type]
    if fixed:
        return placed
    axis = _vector(joint.node.child("axis"), "xyz", owner, (1.0, 0.0, 0.0))
    if joint.kind == "continuous":
        return [*placed, Revolute(axis, -math.inf, math.inf, name)]
    if joint.kind == "revolute":
        return [*placed, Revolute(axis, *_limits(joint), name)]
    if joint.kind == "prismatic":
        return [*placed, Prismatic(*_limits(joint), axis, radius, name)]
    raise FileError(
        f"{owner}: type = {shown(joint.kind)} is not accepted; give revolute, continuous, prismatic or fixed"
    )


def _extension(joint: Joint, turn: Array) -> tuple[Array, float]:
    """Return the exact rotation and the body radius from the `<arcreach>` element of a joint.

    A rotation that contradicts the angles is ignored: the file was edited.
    """
    node = joint.node.child("arcreach")
    if node is None:
        return turn, 0.0
    radius = _number(node.attributes.get("radius", "0"), "arcreach radius", joint.owner)
    numbers = node.attributes.get("rotation", "").split()
    if len(numbers) != 9:
        return turn, radius
    exact = np.array([_number(text, "arcreach rotation", joint.owner) for text in numbers]).reshape(3, 3)
    return (exact if np.abs(exact - turn).max() < SAME_ROTATION else turn), radius


def _limits(joint: Joint) -> tuple[float, float]:
    node = joint.node.child("limit")
    if node is None:
        raise FileError(f"{joint.owner}: limit is missing; give <limit lower=... upper=.../>, or type continuous")
    # URDF defines a missing limit as 0.
    return (
        _number(node.attributes.get("lower", "0"), "limit lower", joint.owner),
        _number(node.attributes.get("upper", "0"), "limit upper", joint.owner),
    )


def _vector(
    node: Node | None, key: str, owner: str, default: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> tuple[float, float, float]:
    if node is None or key not in node.attributes:
        return default
    parts = node.attributes[key].split()
    if len(parts) != 3:
        raise FileError(
            f"{owner}: {node.tag} {key} = {shown(node.attributes[key])} is not accepted; give three numbers"
        )
    x, y, z = (_number(part, f"{node.tag} {key}", owner) for part in parts)
    return x, y, z


def _number(text: str, field_name: str, owner: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FileError(f"{owner}: {field_name} = {shown(text)} is not accepted; give a finite number")
    return value


def _name(node: Node) -> str:
    name = node.attributes.get("name", "")
    if not name:
        raise FileError(f"a <{node.tag}> has no name; give every {node.tag} its own")
    return name
