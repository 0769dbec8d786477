"""The functions that the background process runs, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._text import count, seconds
from arcreach._typing import Array
from arcreach.files import load_planar_scene
from arcreach.ik.reach_map import reach_map
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.robots.robot import Robot
from arcreach.scenes.planar import Disc, Polygon, Wall
from arcreach.scenes.scene import Scene
from arcreach.studio.stage.contact import ContactMotion
from arcreach.studio.text import millimetres

# Thickness at which walls are drawn, as a share of the robot's reach.
WALL = 0.004
# Frames of an animation: five seconds at thirty per second.
FRAMES = 150
# Largest number of branches drawn; users cannot distinguish more.
MOST_BRANCHES = 8
# Largest number of branches searched for; the drawn ones are chosen from these.
MOST_FOUND = 32
# Points per backbone for comparing configurations.
LINE_POINTS = 12
# Points along the body in each frame of a contact plan.
BODY_POINTS = 80
# Cells of the reach map along its longest side, and directions per cell.
REACH_CELLS, REACH_DIRECTIONS = 13, 16
# Consecutive starts without a new branch after which the search ends; below the default, because a user waits.
WITHOUT_NEW = 48


def all_branches(robot: Robot, target: Target, start: Array) -> list[Array]:
    """Return up to MOST_BRANCHES clearly different configurations that reach a target."""
    found = [solution.q for solution in solve_all(robot, target, start=start, without_new=WITHOUT_NEW, most=MOST_FOUND)]
    return most_different(robot, found, MOST_BRANCHES)


def most_different(robot: Robot, configurations: list[Array], most: int) -> list[Array]:
    """Choose `most` configurations by farthest-point selection on their backbones, starting with the first."""
    if len(configurations) <= most:
        return configurations
    lines = robot.backbone(np.array(configurations), LINE_POINTS)
    chosen = [0]
    while len(chosen) < most:
        distances = np.linalg.norm(lines[:, None] - lines[chosen][None], axis=3).max(axis=2).min(axis=1)
        chosen.append(int(np.argmax(distances)))
    return [configurations[i] for i in chosen]


def map_reach(robot: Robot) -> tuple[Array, Array]:
    """Return the grid positions (m, 3) that the tip reaches, and the share (m,) of directions at each."""
    found = reach_map(robot, cells=REACH_CELLS, directions=REACH_DIRECTIONS)
    share = found.share
    return found.positions[share > 0.0], share[share > 0.0]


def plan_motion(robot: Robot, start: Array, target: Target, scene: Scene) -> tuple[Array, str]:
    """Return the configurations (n, dof) of a collision-free motion, no rows if there is none, and a summary."""
    from arcreach.planning.motion.plan import plan

    found = plan(robot, start, target, scene)
    if not found.reached:
        return np.empty((0, robot.dof)), str(found)
    text = (
        f"{len(found)} points, certified clearance {millimetres(found.clearance)}, found in {seconds(found.seconds, 2)}"
    )
    return found.sampled(FRAMES), text


def contact_motion(name: str) -> ContactMotion:
    """Return the shortest path of the robot in a planar scene to the scene's target, in contact with obstacles."""
    from arcreach.planning.contact.plan import plan_contact

    scene = load_planar_scene(name)
    assert scene.target is not None, "the page lists only scenes with a target"
    found = plan_contact(
        scene.robot, scene.target, scene.obstacles, scene.contacts, max_solutions=1, bend_radius=scene.bend_radius
    )
    polygons = [np.array(shape.points) for shape in scene.obstacles if isinstance(shape, Polygon)]
    thickness = WALL * scene.robot.reach
    polygons += [piece for shape in scene.obstacles if isinstance(shape, Wall) for piece in _pieces(shape, thickness)]
    discs = [(*shape.centre, shape.radius) for shape in scene.obstacles if isinstance(shape, Disc)]
    if not len(found):
        return ContactMotion(name, [], 0.0, polygons, discs, [], scene.target, "no path found")
    best = found[0]
    text = f"{millimetres(best.length)} long, with {count(len(best.contacts), 'contact')}"
    # The plane of the plan is x-z.
    lines = [np.insert(line, 1, 0.0, axis=1) for line in best.frames(FRAMES, BODY_POINTS)]
    return ContactMotion(name, lines, best.body.radius, polygons, discs, list(best.contacts), scene.target, text)


def _pieces(wall: Wall, thickness: float) -> list[Array]:
    """Return a rectangle (4, 2) for every straight piece of a wall, corners anticlockwise."""
    points = np.array(wall.points)
    steps = np.diff(points, axis=0)
    aside = 0.5 * thickness * steps[:, ::-1] * (-1.0, 1.0) / np.linalg.norm(steps, axis=1, keepdims=True)
    return [np.array([a - n, b - n, b + n, a + n]) for a, b, n in zip(points[:-1], points[1:], aside, strict=True)]


TASKS: dict[str, Any] = {"branches": all_branches, "reach": map_reach, "plan": plan_motion, "contact": contact_motion}
