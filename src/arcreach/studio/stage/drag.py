"""`Drag`: the position of an object that a user drags by any of its points."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array


class Drag:
    """Keeps, for each client, the offset from the grabbed point to the object's centre.

    Events also hold the change since the previous event. Summing these would count a step twice whenever the object has
    not been redrawn at its new position yet.
    """

    def __init__(self) -> None:
        self._offsets: dict[int, Array] = {}

    def moved(self, event: Any, centre: npt.ArrayLike) -> Array | None:
        """Return the new centre; None for the first and the last event of a drag."""
        if event.phase == "start":
            self._offsets[event.client_id] = np.subtract(centre, event.start_position)
        elif event.phase == "end":
            self._offsets.pop(event.client_id, None)
        elif event.client_id in self._offsets:
            return np.asarray(self._offsets[event.client_id] + event.end_position)
        return None
