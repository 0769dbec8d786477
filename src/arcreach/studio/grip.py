"""`Grip`: where something is that a visitor holds by some point of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array


class Grip:
    """Remembers, for every visitor, how far from the centre a thing was taken.

    Each event also says how far the pointer went since the last one. Adding that up would count a step twice whenever
    the thing has not been drawn at its new place yet.
    """

    def __init__(self) -> None:
        self._offsets: dict[int, Array] = {}

    def place(self, event: Any, position: npt.ArrayLike) -> Array | None:
        """The new centre of a thing whose centre is at `position`; None where a drag begins or ends."""
        if event.phase == "start":
            self._offsets[event.client_id] = np.subtract(position, event.start_position)
        elif event.phase == "end":
            self._offsets.pop(event.client_id, None)
        elif event.client_id in self._offsets:
            return np.asarray(self._offsets[event.client_id] + event.end_position)
        return None
