"""`Link`: a rigid element."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach._typing import Matrix3, Vector
from arcreach.elements.element import LENGTH, METRES, NO_ROTATION, Element, FieldChecks, about


@dataclass(frozen=True)
class Link(Element):
    """A rigid element: a fixed translation, then a fixed rotation."""

    kind: ClassVar[str] = "link"

    translation: Vector = field(default=(0.0, 0.0, 0.0), metadata=about("shift in the frame before the link", LENGTH))
    rotation: Matrix3 = field(default=NO_ROTATION, metadata=about("3 x 3 rotation matrix of the end frame"))
    radius: float = field(default=0.0, metadata=about("radius of the body around the straight line", LENGTH))
    name: str = field(default="", metadata=about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        fields.check("translation", checks.vector)
        fields.check("rotation", checks.rotation)
        fields.check("radius", checks.number, METRES, low=0.0)
        fields.finish()

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike, radius: float = 0.0, name: str = "") -> Link:
        """Return a link from a 4 x 4 transform."""
        values = checks.real_array(matrix)
        if values is None or values.shape != (4, 4) or not np.array_equal(values[3], (0.0, 0.0, 0.0, 1.0)):
            raise checks.refuse("link", "matrix", matrix, "a 4 x 4 transform whose last row is 0, 0, 0, 1")
        return cls(values[:3, 3], values[:3, :3], radius, name)  # type: ignore[arg-type]

    @property
    def reach(self) -> float:
        """Upper bound of the distance between both ends."""
        return math.hypot(*self.translation)
