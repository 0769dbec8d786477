"""The packed robot: one record array, written by `robots._pack` and read by kernels only.

A chain is a row per element, base first. A section's row is followed by one `ARC` row per sub-arc, so a loop over
elements advances by `1 + arcs`. Fields that a kind does not use are zero.
"""

import numpy as np

LINK, REVOLUTE, PRISMATIC, PARALLELOGRAM, SECTION, ARC = range(6)

_FIELDS = np.dtype(
    [
        ("kind", np.int64),
        ("coordinate", np.int64),  # index of the element's first coordinate in q
        ("arcs", np.int64),  # sections: how many ARC rows follow
        ("twist", np.int64),  # sections: 1 leaves out the back-rotation
        ("lower", np.float64),  # joints: limits of the coordinate
        ("upper", np.float64),
        ("axis", np.float64, (3,)),  # joints: unit vector in the element's own frame
        ("translation", np.float64, (3,)),  # links: offset; parallelograms: link vector at q = 0
        ("rotation", np.float64, (3, 3)),  # links
        ("length", np.float64),  # sections: constant part of the length, S_C
        ("stretch", np.float64),  # sections: range of the variable part, S_delta
        ("bend_max", np.float64),  # sections
        ("length_share", np.float64),  # arcs: share of the section's length
        ("bend_share", np.float64),  # arcs: share of the section's bend
        ("bend_before", np.float64),  # arcs: share of the bend that lies before this arc
    ],
    align=True,
)

# As records, so that `chain[row].kind` also works where kernels run as plain Python.
ROW = np.dtype((np.record, _FIELDS))
