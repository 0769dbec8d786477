"""Long work, as plain functions: they run in a process of their own, which can be ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.files.toml.planar_file import load_planar_scene
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.robots.robot import Robot
from arcreach.scenes.planar import Disc
from arcreach.scenes.scene import Scene
from arcreach.studio.words import millimetres

# Frames of a film: five seconds at thirty in a second.
FRAMES = 150
# Branches that are drawn: more than eight tubes in one place are a ball of wool.
MOST_BRANCHES = 8
# Branches among which those are chosen: a robot with freedom to spare has a continuum of them.
MOST_FOUND = 32
LINE_POINTS = 12
# Starts in a row that find nothing new; fewer than for a table, since somebody waits.
WITHOUT_NEW = 48


@dataclass(frozen=True, eq=False)
class Motion:
    """A planned motion: configurations (n, dof), none where there is no way, and what is said of it."""

    q: Array
    text: str


@dataclass(frozen=True, eq=False)
class ContactMotion:
    """A way around obstacles of a planar scene: the body's line (points, 3) at every moment, and what is around it."""

    name: str
    lines: list[Array]
    radius: float
    polygons: list[Array]  # corners (n, 2), x and z
    discs: list[tuple[float, float, float]]  # x, z, radius
    contacts: list[tuple[float, float]]
    target: tuple[float, float]
    text: str


def all_branches(robot: Robot, target: Target, start: Array) -> list[Array]:
    """The distinct configurations that reach a target."""
    found = [solution.q for solution in solve_all(robot, target, start=start, without_new=WITHOUT_NEW, most=MOST_FOUND)]
    return apart(robot, found, MOST_BRANCHES)


def apart(robot: Robot, configurations: list[Array], most: int) -> list[Array]:
    """Of many configurations the first, and those whose bodies are farthest from the ones already chosen."""
    if len(configurations) <= most:
        return configurations
    lines = robot.backbone(np.array(configurations), LINE_POINTS)
    chosen = [0]
    while len(chosen) < most:
        distances = np.linalg.norm(lines[:, None] - lines[chosen][None], axis=3).max(axis=2).min(axis=1)
        chosen.append(int(np.argmax(distances)))
    return [configurations[i] for i in chosen]


def plan_motion(robot: Robot, start: Array, target: Target, scene: Scene) -> Motion:
    """A motion from a configuration to a target among obstacles."""
    from arcreach.planning.motion.plan import plan

    found = plan(robot, start, target, scene)
    if not found.reached:
        return Motion(np.empty((0, robot.dof)), str(found))
    text = f"{len(found)} corners, {millimetres(found.clearance)} clear all along, found in {found.seconds:.1f} s"
    return Motion(found.sampled(FRAMES), text)


def contact_motion(name: str) -> ContactMotion:
    """The shortest way of a planar scene's robot to its target, bending around what it touches."""
    from arcreach.planning.contact.plan import plan_contact

    scene = load_planar_scene(name)
    assert scene.target is not None, "the page offers scenes with a target only"
    found = plan_contact(
        scene.robot, scene.target, scene.obstacles, scene.contacts, max_solutions=1, bend_radius=scene.bend_radius
    )
    polygons = [np.array(shape.points) for shape in scene.obstacles if not isinstance(shape, Disc)]
    discs = [(*shape.centre, shape.radius) for shape in scene.obstacles if isinstance(shape, Disc)]
    if not len(found):
        return ContactMotion(name, [], 0.0, polygons, discs, [], scene.target, "no way found")
    best = found[0]
    count = len(best.contacts)
    text = f"{millimetres(best.length)} long, leaning on {count} contact{'' if count == 1 else 's'}"
    lines = [_upright(line) for line in best.frames(FRAMES, 80)]
    return ContactMotion(name, lines, best.body.radius, polygons, discs, list(best.contacts), scene.target, text)


def _upright(line: Array) -> Array:
    """Points (n, 3) of a planar line: its plane is x and z."""
    return np.stack([line[:, 0], np.zeros(len(line)), line[:, 1]], axis=1)


TASKS: dict[str, Any] = {"branches": all_branches, "plan": plan_motion, "contact": contact_motion}
