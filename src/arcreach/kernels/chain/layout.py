"""Codes and record arrays that kernels share with the layers above.

The packed robot is one record array, written by `robots._pack` and read by kernels only.

A chain is a row per element, base first. A section's row is followed by one `ARC` row per sub-arc, so a loop over
elements advances by `1 + arcs`. Besides `ROW_FIELDS` a row has the fields of all elements by their own names: numbers,
vectors (3,), matrices (3, 3), and booleans as 0 and 1. Fields that a kind does not use are zero.
"""

import numpy as np

# Mode of a target: position alone, position and z axis, or whole pose.
POSITION, AXIS, ROTATION = range(3)

# Status: how a solve ended, and GOING_ON while it has not.
REACHED, STALLED, ITERATION_LIMIT, TIME_LIMIT, OUT_OF_REACH, COLLISION, PORT_MISSED = range(7)
GOING_ON = -1

# A target is a row of twelve numbers: its rotation row by row, then its position. AXIS uses the third column only.
TARGET_SIZE = 12

# Columns of the report of `auto`: status, iterations, seconds, distance, angle, rows of the trace.
REPORT_SIZE = 6

# Kinds of rows. Further joints have the numbers after SECTION; `elements.ELEMENTS` is in this order.
LINK, REVOLUTE, PRISMATIC, PARALLELOGRAM, SECTION = range(5)
ARC = -1

# Names of fields, here and in `_MOVING_FIELDS`, must not be attributes of a NumPy record (size, shape, ...): plain
# Python would find those first.
ROW_FIELDS = [
    ("kind", np.int64),
    ("coordinate", np.int64),  # index of the element's first coordinate in q
    ("arcs", np.int64),  # sections: number of ARC rows that follow
    ("periodic", np.int64),  # joints: 1 if a full turn of the coordinate changes nothing
    ("reach", np.float64),  # upper bound of the distance between both ends
    ("largest_shift", np.float64),  # joints: largest velocity of the far end per unit of the coordinate
    ("largest_turn", np.float64),  # joints: largest angular velocity
    ("length_share", np.float64),  # arcs: share of the section's length
    ("bend_share", np.float64),  # arcs: share of the section's bend
    ("bend_before", np.float64),  # arcs: share of the bend that lies before this arc
    ("held", np.int64),  # sections: 1 if it keeps the coordinates `held_at`
    ("held_at", np.float64, (3,)),
]

# The chain as solvers see it: a row per moving element. The links after it are merged into the row, and a section with
# twist is split into a revolute joint and a bend in one plane. Solver variables replace coordinates:
# bend * (cos direction, sin direction) and the share of the stretch.
#
# TURN, SLIDE and SWING are the motions of a revolute joint, a prismatic joint and a parallelogram, JOINT that of any
# other joint. BEND is a section, PLANAR one that bends in one plane only. Solvers rely on the codes of all joints being
# below BEND.
#
# Solvers work in the frame of the first moving element, so that long links before it cost no precision. Whole poses of
# a long tool are moved to its near end: at its tip, a rotation of the tool would outweigh the motion of the chain.
JOINT, TURN, SLIDE, SWING, BEND, PLANAR = range(6)

# Axis of a TURN.
ABOUT_X, ABOUT_Y, ABOUT_Z = range(3)
COORDINATE_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

# Kind of the fixed `motion` after a moving element: none, a translation, or a whole motion.
NOTHING, SHIFT, MOTION = range(3)

# Small integers keep a row at 256 bytes, whole cache lines: at 280 bytes, whole poses of arms take 2 % longer.
_MOVING_FIELDS = np.dtype(
    [
        ("kind", np.int64),
        ("variable", np.int64),  # index of the first variable
        ("width", np.int64),  # number of variables
        ("coordinate", np.int64),  # index of the first coordinate in q
        ("row", np.int32),  # row of the element in the chain
        ("periodic", np.int16),  # joints: 1 if a full turn of the variable changes nothing
        ("stroke", np.int16),  # joints: 1 if the variable is a length
        ("about", np.int32),  # TURN: ABOUT_X, ABOUT_Y or ABOUT_Z
        ("motion_kind", np.int32),  # kind of `motion`: NOTHING, SHIFT or MOTION
        ("tip_row", np.int64),  # bends: first row of the planar tip in the table of polynomials, 0 for one arc
        ("lower", np.float64),
        ("upper", np.float64),
        ("length", np.float64),
        ("stretch", np.float64),
        ("bend_max", np.float64),
        ("unit", np.float64),  # unit of strokes and bends in a step, so that all variables have similar ranges
        ("slope", np.float64),  # bends: increase of the bend limit over the whole stretch, in that unit
        ("axis", np.float64, (3,)),  # slides and swings
        ("link", np.float64, (3,)),  # swings: link vector at 0
        ("motion", np.float64, (12,)),  # fixed motion from this moving element to the next
    ],
    align=True,
)

# As records, so that `chain[row].kind` also works where kernels run as plain Python.
MOVING = np.dtype((np.record, _MOVING_FIELDS))
