"""Shade the tubes of a robot's body, and draw their shadow on the floor."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from arcreach._typing import Array, Booleans
from arcreach.figures.drawing.canvas import LIGHT, Canvas, Colour, circle
from arcreach.figures.drawing.theme import MM
from arcreach.robots.body_mesh import BodyPart

# Sides of a tube.
SIDES = 36
SHADOW = "#E2E2E2"


def rings_of(part: BodyPart) -> Array:
    """Return the rings (n, SIDES, 3) of a part, without its poles."""
    return part.vertices[1:-1].reshape(-1, SIDES, 3)


def radius_of(part: BodyPart) -> float:
    """Return the largest radius of a part."""
    rings = rings_of(part)
    return float(np.linalg.norm(rings - rings.mean(axis=1, keepdims=True), axis=2).max())


def _in_short_pieces(rings: Array, longest: float) -> Array:
    """Return the rings with others inserted, so that neighbours are at most `longest` metres apart."""
    pieces = [rings[:1]]
    for a, b in itertools.pairwise(rings):
        count = max(math.ceil(float(np.linalg.norm((b - a).mean(axis=0))) / longest), 1)
        share = np.arange(1, count + 1)[:, None, None] / count
        pieces.append(a + share * (b - a))
    return np.concatenate(pieces)


def shade(canvas: Canvas, part: BodyPart, colour: Colour, drums: list[BodyPart], behind: float) -> None:
    """Add the visible faces of a part outside the drums of joints, moved away from the eye by `behind` radii.

    The shift decides which of two overlapping bodies is drawn over the other.
    """
    radius = radius_of(part)
    rings = _in_short_pieces(rings_of(part), 1.5 * radius)
    bias = -behind * radius * MM
    seen = canvas.project(rings)
    after = np.roll(seen, -1, axis=1)
    quads = np.stack([seen[:-1], after[:-1], after[1:], seen[1:]], axis=2).reshape(-1, 4, 3)
    gone = np.zeros(len(quads), dtype=np.bool_)
    ends = np.zeros((2, SIDES), dtype=np.bool_)
    for drum in drums:
        hidden = _inside(drum, rings)
        both = hidden & np.roll(hidden, -1, axis=1)
        gone |= (both[:-1] & both[1:]).ravel()
        ends |= hidden[[0, -1]]
    normals = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
    for quad, normal in zip(quads[~gone], normals[~gone], strict=True):
        _add(canvas, quad, normal, colour, float(quad[:, 2].mean()) + bias)
    # The end polygon covers a flat end, or the small cap around the pole of a round one.
    for pole, ring, covered in ((0, seen[0][::-1], ends[0]), (-1, seen[-1], ends[1])):
        if not covered.all():
            normal = np.cross(ring[1] - ring[0], ring[2] - ring[1])
            _add(canvas, ring, normal, colour, float(canvas.project(part.vertices[pole])[2]) + bias)


def _add(canvas: Canvas, polygon: Array, normal: Array, colour: Colour, depth: float) -> None:
    size = float(np.linalg.norm(normal))
    if size > 0.0 and normal[2] > 0.0:
        canvas.add(depth, polygon, _lit(colour, normal / size))


def _inside(drum: BodyPart, points: Array) -> Booleans:
    """Return which points lie inside the drum of a joint."""
    axis = drum.vertices[-1] - drum.vertices[0]
    height = float(np.linalg.norm(axis))
    radius = radius_of(drum)
    from_middle = points - 0.5 * (drum.vertices[0] + drum.vertices[-1])
    along = from_middle @ (axis / height)
    away = np.linalg.norm(from_middle - along[..., None] * (axis / height), axis=-1)
    return np.asarray((np.abs(along) < 0.5 * height) & (away < radius))


def _lit(colour: Colour, normal: Array) -> Colour:
    """Return the shade of a colour on a face with this normal: diffuse light and a highlight."""
    light = np.array([*LIGHT, 0.9])
    light /= np.linalg.norm(light)
    half = np.array([light[0], light[1], light[2] + 1.0])
    half /= np.linalg.norm(half)
    soft = 0.5 + 0.5 * float(normal @ light)
    gloss = max(float(normal @ half), 0.0) ** 18
    shade = 0.42 + 0.66 * soft * soft
    r, g, b = (min(min(value * shade, 1.0) * (1.0 - 0.42 * gloss) + 0.42 * gloss, 1.0) for value in colour)
    return r, g, b


def draw_shadow(panel: Any, canvas: Canvas, mesh: tuple[BodyPart, ...], floor: float) -> None:
    """Draw the shadow of a light straight above: discs and the ribbons between them."""
    from matplotlib.collections import PolyCollection

    disc = np.column_stack([circle(), np.zeros(len(circle()))])
    polygons = []
    for part in mesh:
        rings = rings_of(part)
        centres = rings.mean(axis=1)
        radius = radius_of(part)
        centres[:, 2] = floor
        polygons += [canvas.project(centre + radius * disc)[:, :2] for centre in centres]
        for a, b in itertools.pairwise(centres):
            step = b - a
            size = float(np.linalg.norm(step))
            if size > 1e-3 * radius:
                aside = radius * np.array([-step[1], step[0], 0.0]) / size
                polygons.append(canvas.project([a + aside, b + aside, b - aside, a - aside])[:, :2])
    panel.add_collection(PolyCollection(polygons, facecolors=SHADOW, edgecolors=SHADOW, linewidths=0.3, zorder=0.3))
