"""The Pose tab: a slider for each coordinate, in degrees or millimetres, grouped by sections and joints."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

from arcreach._typing import Array
from arcreach.elements import ANGLE, Section
from arcreach.robots.robot import Robot
from arcreach.studio.panels.events import Studio, from_client

# Step of the sliders in degrees or millimetres.
STEP = 0.1
# Number of folders that are expanded at first: those of a long chain would not all fit on a screen.
OPEN = 4


@dataclass(frozen=True)
class SliderSpec:
    """Label and range of a slider, in degrees or millimetres."""

    coordinate: int
    label: str
    low: float
    high: float
    factor: float  # shown = factor * coordinate


def slider_groups(robot: Robot) -> list[tuple[str, list[SliderSpec]]]:
    """Return the sliders of a robot in groups: one for each section and one for each run of consecutive joints."""
    groups: list[tuple[str, list[SliderSpec]]] = []
    entries = list(zip(robot.elements, robot.element_names, strict=True))
    k = sections = 0
    for bends, run in itertools.groupby(entries, key=lambda entry: isinstance(entry[0], Section)):
        members: list[SliderSpec] = []
        for element, name in run:
            coordinates = element.coordinates
            specs = [
                _spec(robot, k + i, coordinate.name if bends else name) for i, coordinate in enumerate(coordinates)
            ]
            k += len(coordinates)
            if bends:
                sections += 1
                groups.append((element.name or f"Section {sections}", specs))
            else:
                members += specs
        if members:
            groups.append(("Joint" if len(members) == 1 else "Joints", members))
    return groups


def _spec(robot: Robot, k: int, name: str) -> SliderSpec:
    angle = robot.quantities[k] == ANGLE
    factor = math.degrees(1.0) if angle else 1e3
    low, high = robot.lower[k], robot.upper[k]
    if math.isinf(low):
        # A continuous joint is shown over one turn.
        low, high = -math.pi, math.pi
    return SliderSpec(k, f"{name} {'°' if angle else 'mm'}", _round(factor * low), _round(factor * high), factor)


def _round(value: float) -> float:
    return round(float(value), 1)


def shown_value(spec: SliderSpec, q: Array) -> float:
    """Return the value of a slider for a configuration."""
    value = float(spec.factor * q[spec.coordinate])
    if spec.factor != 1e3 and not spec.low <= value <= spec.high:
        # A continuous joint may have made several turns; the slider shows the angle wrapped to +-180 degrees.
        value = (value + 180.0) % 360.0 - 180.0
    return min(max(_round(value), spec.low), spec.high)


class Sliders:
    """The sliders of the robot."""

    def __init__(self, gui: Any, tab: Any, studio: Studio) -> None:
        self._gui, self._tab, self._studio = gui, tab, studio
        self._folders: list[Any] = []
        self._specs: list[SliderSpec] = []
        self.handles: list[Any] = []
        self._dragged: int | None = None

    def set_robot(self, robot: Robot, q: Array) -> None:
        """Replace the sliders by those of another robot."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._specs, self.handles = [], [], []
        for i, (title, specs) in enumerate(slider_groups(robot)):
            with self._tab:
                folder = self._gui.add_folder(title, expand_by_default=i < OPEN)
            self._folders.append(folder)
            with folder:
                for spec in specs:
                    self._add(spec, q)

    def _add(self, spec: SliderSpec, q: Array) -> None:
        ends = ((spec.low, f"{spec.low:g}"), (spec.high, f"{spec.high:g}"))
        handle = self._gui.add_slider(
            spec.label, spec.low, spec.high, STEP, shown_value(spec, q), marks=ends if spec.high > spec.low else None
        )
        handle.on_update(from_client(lambda event: self._move(spec.coordinate, event.target.value / spec.factor)))
        self._specs.append(spec)
        self.handles.append(handle)

    def _move(self, coordinate: int, value: float) -> None:
        self._dragged = coordinate
        q = self._studio.state.latest_q.copy()
        q[coordinate] = value
        self._studio.pose(q)

    def show(self, q: Array, settled: bool) -> None:
        """Set the sliders to q; while a newer request is pending, skip the slider in use, which would jump back."""
        if settled:
            self._dragged = None
        for spec, handle in zip(self._specs, self.handles, strict=True):
            if spec.coordinate != self._dragged:
                handle.value = shown_value(spec, q)
