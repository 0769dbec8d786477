"""Coordinates of every kind of robot, their names and limits, and checks of configurations."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach._checks import shown
from arcreach._jit import settled
from arcreach._text import listed
from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.elements import Coordinate
from arcreach.errors import ConfigurationError, TargetError
from arcreach.kernels.chain import limits

_finite, _all_finite = settled(limits.finite), settled(limits.finite_batch)


class ConfigurationSpace:
    """The immutable coordinates of a robot. A configuration is an array (dof,), a batch of them (n, dof)."""

    name: str
    source: str
    _coordinates: tuple[Coordinate, ...]
    _dof: int
    _lower: Array
    _upper: Array
    _neutral: Array

    def _set(self, **fields: Any) -> None:
        """Set fields while the robot is built; it is frozen afterwards."""
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def _set_name(self, owner: str, name: Any, source: Any) -> None:
        problems: list[str] = []
        with checks.gathered(problems):
            self._set(name=checks.name(owner, name))
        with checks.gathered(problems):
            self._set(source=checks.source(owner, source))
        checks.raise_any(problems)

    def _set_coordinates(self, coordinates: tuple[Coordinate, ...]) -> None:
        self._set(_coordinates=coordinates, _dof=len(coordinates))
        for field in ("lower", "upper", "neutral"):
            values = np.array([getattr(coordinate, field) for coordinate in coordinates], dtype=float)
            values.flags.writeable = False
            self._set(**{f"_{field}": values})

    def __setattr__(self, field: str, value: Any) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed; make a new one with another {field}")

    def __delattr__(self, field: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed; its {field} cannot be deleted")

    @cached_property
    def memory(self) -> dict[Any, Any]:
        """A cache for values that other modules compute from this robot, each under its own key."""
        return {}

    @property
    def dof(self) -> int:
        """Number of coordinates."""
        return self._dof

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The name of every entry of a configuration, for example `section-1.bend`."""
        return tuple(coordinate.name for coordinate in self._coordinates)

    @property
    def quantities(self) -> tuple[str, ...]:
        """`angle` (radians) or `length` (metres) for every entry of a configuration."""
        return tuple(coordinate.quantity for coordinate in self._coordinates)

    @property
    def lower(self) -> Array:
        """Lower limits (dof,); -inf for a continuous joint."""
        return self._lower

    @property
    def upper(self) -> Array:
        """Upper limits (dof,); a section's bend may be limited further by its length, see `within_limits`."""
        return self._upper

    @property
    def neutral(self) -> Array:
        """The rest configuration (dof,): sections straight at half stretch, joints at the middle of their limits."""
        return self._neutral

    def _shaped(self, q: npt.ArrayLike, field: str = "q") -> Array:
        """Return a configuration or batch as a C-contiguous, aligned and writable array, finite or not."""
        values = checks.real_array(q)
        if values is None:
            raise ConfigurationError(f"{field} = {shown(q)} is not accepted; {self._accepted()}")
        shape = values.shape
        if len(shape) not in (1, 2) or shape[-1] != self._dof:
            raise ConfigurationError(f"{field} has the shape {shape}, which is not accepted; {self._accepted()}")
        # Kernels are compiled for writable and aligned arrays.
        return values if values.flags.behaved else values.copy()

    def checked(self, q: npt.ArrayLike, field: str = "q") -> Array:
        """Return a configuration (dof,) or a batch (n, dof) as finite floats; raise ConfigurationError for other input.

        Limits are not checked. Error messages call the argument `field`.
        """
        values = self._shaped(q, field)
        if values.ndim == 1:
            finite = _finite(values)
        else:
            answer = np.ones(1, dtype=np.bool_)
            spread(_all_finite, len(values), values, answer)
            finite = answer[0]
        if not finite:
            self._refuse_non_finite(values, field)
        return values

    def _refuse_non_finite(self, q: Array, field: str = "q") -> None:
        """Raise an error that names the first number of q that is not finite."""
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(q))[0])
        raise ConfigurationError(
            f"{field}{list(index)} ({self._coordinates[index[-1]].name}) = {float(q[index])} is not accepted; "
            "give finite numbers, angles in radians and lengths in metres"
        )

    def _accepted(self) -> str:
        return f"give {self._dof} numbers ({listed(self.coordinates, 6)}) or an array of shape (n, {self._dof})"


def per_coordinate(
    robot: ConfigurationSpace, field: str, value: npt.ArrayLike, units: str, finite: bool = False
) -> Array:
    """Return limits (dof,) of all coordinates, given as one number above 0 or as one per coordinate."""
    given = checks.real_array(value)
    one, end = ("one finite number", sys.float_info.max) if finite else ("one number", np.inf)
    shapes = (), (1,), (robot.dof,)
    if given is None or given.shape not in shapes or not ((given > 0.0) & (given <= end)).all():
        raise TargetError(f"{field} = {shown(value)} is not accepted; give {one} above 0 or {robot.dof} ({units})")
    return np.broadcast_to(given, (robot.dof,)).copy()
