"""The codes and record arrays that kernels share with the layers above.

The packed robot is one record array, written by `robots._pack` and read by kernels only.

A chain is a row per element, base first. A section's row is followed by one `ARC` row per sub-arc, so a loop over
elements advances by `1 + arcs`. Fields that a kind does not use are zero.
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
        ("radius", np.float64),  # of the body around the line: sections, links, slides and parallelograms
        ("length_share", np.float64),  # arcs: share of the section's length
        ("bend_share", np.float64),  # arcs: share of the section's bend
        ("bend_before", np.float64),  # arcs: share of the bend that lies before this arc
    ],
    align=True,
)

# Field names must not be attributes of a NumPy record (size, shape, ...): plain Python would find those first.
#
# The chain as the solvers see it: a row per moving element, the links after it merged into the row, a twisting section
# split into a turn and a bend in one plane, and the smooth variables in place of coordinates:
# bend * (cos direction, sin direction) and the share of the stretch. Joints come before BEND, which solvers rely on.
# Solvers work in the frame where the chain begins to move, so that a base far from the origin costs no digits, and take
# the poses of a long tool to where it is held: at its tip the chain's own motion would be lost beside its turns.
TURN, SLIDE, SWING, BEND, PLANAR = range(1, 6)

# The axis of a turn.
ABOUT_X, ABOUT_Y, ABOUT_Z = range(3)

# What is fixed behind a move, `motion`: nothing, a translation, or a whole motion.
NOTHING, SHIFT, MOTION = range(3)

_MOVE_FIELDS = np.dtype(
    [
        ("kind", np.int64),
        ("variable", np.int64),  # index of the first variable
        ("width", np.int64),  # number of variables
        ("coordinate", np.int64),  # index of the first coordinate in q
        ("about", np.int64),  # turns: x, y or z
        ("behind", np.int64),  # what is fixed behind the move
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
ROW = np.dtype((np.record, _FIELDS))
MOVE = np.dtype((np.record, _MOVE_FIELDS))
