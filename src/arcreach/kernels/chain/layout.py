"""The codes and record arrays that kernels share with the layers above.

The packed robot is one record array, written by `robots._pack` and read by kernels only.

A chain is a row per element, base first. A section's row is followed by one `ARC` row per sub-arc, so a loop over
elements advances by `1 + arcs`. Beside `ROW_FIELDS` a row has the fields of all elements by their own names: numbers,
vectors (3,), matrices (3, 3), and truths as 0 and 1. Fields that a kind does not use are zero.
"""

import numpy as np

# What a target asks of the tip: its position alone, its position and z axis, or its whole pose.
POSITION, AXIS, ROTATION = range(3)

# How a solve ended.
REACHED, STALLED, ITERATION_LIMIT, TIME_LIMIT, OUT_OF_REACH, COLLISION = range(6)

# A target is a row of twelve numbers: its rotation row by row, then its position. AXIS uses the third column only.
TARGET_SIZE = 12

# What `auto` reports of a solve: status, iterations, seconds, distance, angle, rows traced.
REPORT_SIZE = 6

# Kinds of rows. Further joints have the numbers after SECTION; `elements.ELEMENTS` is in this order.
LINK, REVOLUTE, PRISMATIC, PARALLELOGRAM, SECTION = range(5)
ARC = -1

ROW_FIELDS = [
    ("kind", np.int64),
    ("coordinate", np.int64),  # index of the element's first coordinate in q
    ("arcs", np.int64),  # sections: how many ARC rows follow
    ("periodic", np.int64),  # joints: 1 where a full turn of the coordinate changes nothing
    ("reach", np.float64),  # upper bound of the distance between both ends
    ("largest_shift", np.float64),  # joints: how far the far end moves at most per unit of the coordinate
    ("largest_turn", np.float64),  # joints: how far it turns
    ("length_share", np.float64),  # arcs: share of the section's length
    ("bend_share", np.float64),  # arcs: share of the section's bend
    ("bend_before", np.float64),  # arcs: share of the bend that lies before this arc
]

# Field names must not be attributes of a NumPy record (size, shape, ...): plain Python would find those first.
#
# The chain as the solvers see it: a row per moving element, the links after it merged into the row, a twisting section
# split into a turn and a bend in one plane, and the smooth variables in place of coordinates:
# bend * (cos direction, sin direction) and the share of the stretch. Joints come before BEND, which solvers rely on;
# JOINT is any joint that is none of the next three.
# Solvers work in the frame where the chain begins to move, so that a base far from the origin costs no digits, and take
# the poses of a long tool to where it is held: at its tip the chain's own motion would be lost beside its turns.
JOINT, TURN, SLIDE, SWING, BEND, PLANAR = range(6)

# The axis of a turn.
ABOUT_X, ABOUT_Y, ABOUT_Z = range(3)
COORDINATE_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

# What is fixed behind a move, `motion`: nothing, a translation, or a whole motion.
NOTHING, SHIFT, MOTION = range(3)

# Small integers keep it at 256 bytes, whole cache lines: with 280 bytes whole poses of arms take 2 % longer.
_MOVE_FIELDS = np.dtype(
    [
        ("kind", np.int64),
        ("variable", np.int64),  # index of the first variable
        ("width", np.int64),  # number of variables
        ("coordinate", np.int64),  # index of the first coordinate in q
        ("row", np.int32),  # its row of the chain
        ("periodic", np.int16),  # joints: 1 where a full turn of the variable changes nothing
        ("stroke", np.int16),  # joints: 1 where the variable is a length
        ("about", np.int32),  # turns: x, y or z
        ("behind", np.int32),  # what is fixed behind the move
        ("tip_row", np.int64),  # bends: first row of the planar tip in the table of polynomials, 0 for one arc
        ("lower", np.float64),
        ("upper", np.float64),
        ("length", np.float64),
        ("stretch", np.float64),
        ("bend_max", np.float64),
        ("unit", np.float64),  # what a step counts a stroke or a bend in, so that all variables range alike
        ("slope", np.float64),  # bends: bend_max in that unit
        ("axis", np.float64, (3,)),  # slides and swings
        ("link", np.float64, (3,)),  # swings: link vector at 0
        ("motion", np.float64, (12,)),  # from the move to the next one
    ],
    align=True,
)

# As records, so that `chain[row].kind` also works where kernels run as plain Python.
MOVE = np.dtype((np.record, _MOVE_FIELDS))
