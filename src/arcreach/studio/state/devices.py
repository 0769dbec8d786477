"""`Devices`: the axes that operators hold on pages in browsers: buttons, keys, gamepads and 3-D mice."""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arcreach._typing import Array

# A page sends 20 messages a second while an axis is held; after this many seconds without one its axes are released.
SILENCE = 0.3
# Longest message in characters, and largest number of steps in the queue.
LONGEST, MOST_STEPS = 8000, 20
# 3-D mice by the names and vendor numbers that browsers report.
MOUSE = re.compile(r"3dconnexion|space ?(mouse|navigator|pilot|explorer)|vendor: (046d|256f)", re.IGNORECASE)
# Dead zones of sticks and 3-D mice: shares of an axis around its centre, to which it seldom returns exactly.
STICK_REST, MOUSE_REST = 0.12, 0.04


@dataclass
class _Held:
    """The axes that one page holds, its gamepad, and the time of its last message."""

    axes: Array
    pad: str
    time: float


@dataclass
class Devices:
    """The inputs of all pages: six axes (along x, y, z, then about them) as shares in [-1, 1] of the speed limits."""

    _held: dict[int, _Held] = field(default_factory=dict)
    _steps: deque[Array] = field(default_factory=lambda: deque(maxlen=MOST_STEPS))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hear(self, source: int, message: str | bytes) -> bool:
        """Process a message of a page; return whether it was valid. Clients may send anything."""
        parsed = parse_message(message)
        if parsed is None:
            return False
        axes, step, pad = parsed
        with self._lock:
            self._held[source] = _Held(axes, pad, time.monotonic())
            if step.any():
                self._steps.append(step)
        return True

    def forget(self, source: int) -> None:
        """Release the axes of a page that was closed."""
        with self._lock:
            self._held.pop(source, None)

    def axes(self) -> Array:
        """Return the six axes that are held now, summed over all pages."""
        now = time.monotonic()
        with self._lock:
            held = [entry.axes for entry in self._held.values() if now - entry.time < SILENCE]
        return np.asarray(np.clip(np.sum([np.zeros(6), *held], axis=0), -1.0, 1.0))

    def next_step(self) -> Array | None:
        """Return the next step that was tapped: a sign for each axis; None if there is none."""
        with self._lock:
            return self._steps.popleft() if self._steps else None

    @property
    def pads(self) -> list[str]:
        """The names of the gamepads and 3-D mice of all pages."""
        with self._lock:
            return sorted({entry.pad for entry in self._held.values() if entry.pad})


def parse_message(message: str | bytes) -> tuple[Array, Array, str] | None:
    """Return the held axes, the tapped axes and the name of the gamepad of a message; None if it is malformed."""
    if len(message) > LONGEST:
        return None
    try:
        fields = json.loads(message)
        held, step = (_numbers(fields.get(name, ()), 6) for name in ("held", "step"))
        pads = [(str(pad["id"])[:60], _pad_axes(pad)) for pad in fields.get("pads", ())]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    moved = np.sum([held, *(axes for _, axes in pads)], axis=0)
    return np.clip(moved, -1.0, 1.0), np.sign(step), pads[0][0] if pads else ""


def _numbers(values: Any, count: int) -> Array:
    """Return finite numbers as an array of this length, filled with zeros."""
    given = [float(value) for value in values][:count]
    if not all(map(math.isfinite, given)):
        raise ValueError
    return np.array(given + [0.0] * (count - len(given)))


def _pad_axes(pad: dict[str, Any]) -> Array:
    """Return the six axes of a gamepad of the standard layout, or of a 3-D mouse; other devices move nothing."""
    buttons = _numbers(pad["buttons"], 8)
    if MOUSE.search(str(pad["id"])) and len(pad["axes"]) >= 6:
        # A 3-D mouse has y towards the user and z downwards.
        x, y, z, turn_x, turn_y, turn_z = _rested(_numbers(pad["axes"], 6), MOUSE_REST)
        return np.array([x, -y, -z, turn_x, -turn_y, -turn_z])
    if pad.get("mapping") != "standard":
        return np.zeros(6)
    # Sticks are positive downwards. The triggers lift and lower, the buttons above them turn about z.
    left_x, left_y, right_x, right_y = _rested(_numbers(pad["axes"], 4), STICK_REST)
    return np.array([left_x, -left_y, buttons[7] - buttons[6], -right_y, right_x, buttons[4] - buttons[5]])


def _rested(axes: Array, rest: float) -> Array:
    """Apply the dead zone `rest` to axes, and rescale the remainder to [-1, 1]."""
    return np.asarray(np.sign(axes) * np.maximum(np.abs(axes) - rest, 0.0) / (1.0 - rest))
