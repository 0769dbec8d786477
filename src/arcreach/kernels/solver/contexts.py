"""Named tuples that the solver's functions pass to each other; they stay in registers, on a CPU and on a GPU."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Singles: TypeAlias = npt.NDArray[np.float32]
Integers: TypeAlias = npt.NDArray[np.int64]
# Record arrays of rows and moves, see `layout`, and one record of them.
Records: TypeAlias = Any
Record: TypeAlias = Any
# Twelve numbers, see `transforms`.
Motion: TypeAlias = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float
]  # fmt: skip

# Linear and angular velocity.
Velocity: TypeAlias = tuple[float, float, float, float, float, float]


class Model(NamedTuple):
    """A robot as the solver sees it; `robots.model` builds it."""

    chain: Records  # a row per element
    moves: Records  # a row per moving element
    shapes: Floats  # polynomials of the sections, a row each
    scale: float  # from a squared bend to the argument of the polynomials
    weight: float  # metres that count as much as a radian
    reach: float  # metres, from where the chain begins to move
    symmetric: bool  # turning or mirroring all bends about the base axis turns or mirrors the tip
    scaled: bool  # whether any variable has a unit other than 1
    ahead: int  # what is fixed before the chain begins to move: NOTHING, SHIFT or MOTION
    lever: float  # length of a long tool that is left out, else 0
    ends: Floats  # (2, 12): the motion from the base to the first move, that from the tip back over the long tool


class Goal(NamedTuple):
    """What a descent is asked: a target row (12,) in the frame of the first move, and when it has arrived."""

    target: Floats
    mode: int
    distance2: float  # metres squared
    angle: float


class Budget(NamedTuple):
    """What a descent may spend."""

    most: int  # steps
    patience: int  # weak steps in a row
    patient: bool  # weak steps that went as foreseen do not count


class Work(NamedTuple):
    """Scratch of a descent; v is where it stands."""

    v: Floats  # (variables,)
    trial: Floats  # (variables,)
    J: Floats  # (variables, 6)
    e: Floats  # (6,)
    y: Floats  # (6,)
    codes: Integers  # (moves,)


class State(NamedTuple):
    """A descent between two evaluations."""

    code: int  # GOING_ON until it ends
    steps: int
    best: float  # squared residual at v
    damping: float
    predicted: float  # what the linear model leaves of it at `trial`
    weak: int
    rejected: int
    again: bool  # `trial` is v again: its Jacobian was lost to a rejected step


class Watch(NamedTuple):
    """Clock and trace of a descent."""

    deadline: float
    timer: Integers  # (2,)
    trace: Floats  # (capacity, dof)
    traced: Integers  # (1,): rows in use


class Table(NamedTuple):
    """Known poses of a robot, its seeds, for one mode of target."""

    keys: Singles  # (11, seeds)
    seeds: Floats  # (seeds, variables)
    turn_weight: float  # square metres that count as much as half a turn


class Lookup(NamedTuple):
    """Scratch of a search in a table of seeds."""

    scores: Singles  # (seeds,)
    minima: Singles  # (blocks of seeds,)
    key: Floats  # (10,)
    picked: Integers  # (few,)
    values: Floats  # (few,)
    asked: Floats  # (dof,): the caller's start


class Frame(NamedTuple):
    """The turn about the base axis and the mirror that bring a target to its canonical pose."""

    c: float
    s: float
    mirror: float


class Origin(NamedTuple):
    """The caller's start."""

    given: bool
    away: float  # squared distance of its tip from the target, in the measure of the scores
    worth: bool  # near enough to descend from


class Task(NamedTuple):
    """What is asked of a batch."""

    targets: Floats  # (n, 12)
    mode: int
    position_tol: float
    angle_tol: float
    max_starts: int
    max_steps: int
    max_time: float  # seconds per target, may be infinite
    started: bool  # the answer's rows hold the caller's starts
    judged: bool  # errors and the final status are wanted too
    trace: Floats  # (capacity, dof): receives the accepted configurations; no rows in a batch


class Policy(NamedTuple):
    """When a search ends, the same for all targets of a batch."""

    fewest: int  # starts before it may be given up
    enough: int  # starts that ended at the same residual
    worth_all: float  # squared residual below which every start is tried
    nearly: float  # squared residual below which a last, patient descent is made
    long_steps: int  # of a late start
    max_steps: int  # of all starts together


class Schedule(NamedTuple):
    """The starts of one target: around the caller's, then seeds of the table, then mixtures of seeds."""

    nearby: int  # the first that is a seed
    mixed: int  # the first that is a mixture
    last: int


class Tally(NamedTuple):
    """A search between two starts."""

    best: float  # squared residual
    same: int  # starts that ended there
    steps: int
    code: int  # GOING_ON until it ends
    improved: bool  # by the latest start
