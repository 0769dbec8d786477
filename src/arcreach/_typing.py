"""Types of the arrays and tuples that functions exchange."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
# Record arrays of a packed robot or scene, and one record of them.
Records = Any
Record = Any

# A point or a direction, and a rotation matrix.
Vector = tuple[float, float, float]
Matrix3 = tuple[Vector, Vector, Vector]
# A rigid motion, see `kernels.math.transforms`.
Motion = tuple[float, float, float, float, float, float, float, float, float, float, float, float]
# Linear and angular velocity.
Velocity = tuple[float, float, float, float, float, float]
# An entry per row of the solver's residual.
Six = tuple[float, float, float, float, float, float]
