"""A slider for each coordinate, in degrees and millimetres, in groups by section or joint."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arcreach._typing import Array
from arcreach.elements import ANGLE, Section
from arcreach.robots.robot import Robot
from arcreach.studio.panels.events import by_hand

STEP = 0.1


@dataclass(frozen=True)
class Knob:
    """What a slider is of: its words, its range and its unit."""

    coordinate: int
    label: str
    low: float
    high: float
    factor: float  # shown = factor * coordinate


def knobs_of(robot: Robot) -> list[tuple[str, list[Knob]]]:
    """The sliders of a robot in groups: one for each section, one for joints that follow each other."""
    groups: list[tuple[str, list[Knob]]] = []
    entries = list(zip(robot.elements, robot.element_names, strict=True))
    k = sections = 0
    for bends, run in itertools.groupby(entries, key=lambda entry: isinstance(entry[0], Section)):
        members: list[Knob] = []
        for element, name in run:
            coordinates = element.coordinates
            knobs = [
                _knob(robot, k + i, coordinate.name if bends else name) for i, coordinate in enumerate(coordinates)
            ]
            k += len(coordinates)
            if bends:
                sections += 1
                groups.append((element.name or f"Section {sections}", knobs))
            else:
                members += knobs
        if members:
            groups.append(("Joint" if len(members) == 1 else "Joints", members))
    return groups


def _knob(robot: Robot, k: int, name: str) -> Knob:
    angle = robot.quantities[k] == ANGLE
    factor = math.degrees(1.0) if angle else 1e3
    low, high = robot.lower[k], robot.upper[k]
    if math.isinf(low):
        # A joint without end is shown over one turn.
        low, high = -math.pi, math.pi
    return Knob(k, f"{name} {'°' if angle else 'mm'}", _round(factor * low), _round(factor * high), factor)


def _round(value: float) -> float:
    return round(float(value), 1)


def shown_value(knob: Knob, q: Array) -> float:
    """Where a slider stands for a configuration."""
    value = float(knob.factor * q[knob.coordinate])
    if knob.factor != 1e3 and not knob.low <= value <= knob.high:
        # A joint without end may have turned on; the slider shows where it points.
        value = (value + 180.0) % 360.0 - 180.0
    return min(max(_round(value), knob.low), knob.high)


class Sliders:
    """The tab with the sliders. `moved` is called with the coordinate and its value in radians or metres."""

    def __init__(self, gui: Any, tab: Any, moved: Callable[[int, float], None]) -> None:
        self._gui, self._tab, self._moved = gui, tab, moved
        self._folders: list[Any] = []
        self.knobs: list[Knob] = []
        self.handles: list[Any] = []

    def set_robot(self, robot: Robot, q: Array) -> None:
        """Make the sliders of another robot."""
        for folder in self._folders:
            folder.remove()
        self._folders, self.knobs, self.handles = [], [], []
        groups = knobs_of(robot)
        for i, (title, knobs) in enumerate(groups):
            with self._tab:
                # A long chain would fill screens: the rest is opened by a click.
                folder = self._gui.add_folder(title, expand_by_default=i < 4)
            self._folders.append(folder)
            with folder:
                for knob in knobs:
                    self._add(knob, q)

    def _add(self, knob: Knob, q: Array) -> None:
        ends = ((knob.low, f"{knob.low:g}"), (knob.high, f"{knob.high:g}"))
        handle = self._gui.add_slider(
            knob.label, knob.low, knob.high, STEP, shown_value(knob, q), marks=ends if knob.high > knob.low else None
        )

        handle.on_update(by_hand(lambda event: self._moved(knob.coordinate, event.target.value / knob.factor)))

        self.knobs.append(knob)
        self.handles.append(handle)

    def show(self, q: Array, held: int | None = None) -> None:
        """Move the sliders, but for the one that is held: it would jump under the hand."""
        for knob, handle in zip(self.knobs, self.handles, strict=True):
            if knob.coordinate != held:
                handle.value = shown_value(knob, q)
