"""Named tuples that the solver's functions pass to each other; they stay in registers, on a CPU and on a GPU."""

from typing import NamedTuple

from arcreach._typing import Array, Integers, Records, Singles


class Model(NamedTuple):
    """A robot for the solver; `robots.solver_model` builds it."""

    chain: Records  # a row per element
    moving: Records  # a row per moving element, see `layout.MOVING`
    polynomials: Array  # of the sections, a row each
    scale: float  # from a squared bend to the argument of the polynomials
    weight: float  # metres that count as much as a radian
    reach: float  # metres; upper bound of the distance from the first moving element to the tip
    symmetric: bool  # rotating or mirroring all bends about the base axis rotates or mirrors the tip
    scaled: bool  # whether any variable has a unit other than 1
    front_kind: int  # kind of the fixed motion before the first moving element: NOTHING, SHIFT or MOTION
    lever: float  # length of a long tool that is left out of the chain, else 0
    ends: Array  # (2, 12): motions from base to first moving element, and from tip to near end of the long tool


class Goal(NamedTuple):
    """The target of a descent, a row (12,) in the frame of the first moving element, and its tolerances."""

    target: Array
    mode: int
    distance2: float  # metres squared
    angle: float


class Budget(NamedTuple):
    """When a descent gives up."""

    most: int  # steps
    patience: int  # successive weak steps after which the descent stalls
    patient: bool  # do not count weak steps whose gain the linear model predicted


class Work(NamedTuple):
    """Scratch of a descent; v holds its current variables."""

    v: Array  # (variables,)
    trial: Array  # (variables,)
    J: Array  # (variables, 6)
    e: Array  # (6,)
    y: Array  # (6,)
    codes: Integers  # (moving elements,): the active set, see `bounds`


class State(NamedTuple):
    """State of a descent between two evaluations."""

    code: int  # GOING_ON until it ends
    steps: int
    best: float  # squared residual at v
    damping: float
    predicted: float  # squared residual at `trial` by the linear model
    weak: int  # successive weak steps
    rejected: int  # successive rejected steps
    again: bool  # `trial` is v again, because a rejected step overwrote its Jacobian


class Pulls(NamedTuple):
    """Tendons whose pulls have limits, and scratch arrays, which are empty until `with_scratch` allocates them."""

    routes: Records  # of these tendons through sections and slides
    low: Array  # (tendons,): smallest pulls
    high: Array  # (tendons,): largest pulls
    rounding: Array  # (tendons,): a violation up to this counts as rounding
    linear: bool  # whether pulls are linear in the variables
    rest: Array  # (variables,): the rest pose, where all pulls are 0
    units: Array  # (variables,)
    variable_of: Integers  # (dof,): first variable, by first coordinate
    slopes: Array  # (tendons, variables): derivatives of the pulls; constant if they are linear
    p: Array  # (tendons,)
    q: Array  # (dof,)
    H: Array  # (variables, variables)
    vectors: Array  # (6, variables): g, unconstrained step, step, reference of `approach`, centre of `retreat`, goal
    C: Array  # (constraints, variables)
    Y: Array  # (constraints, variables): C H^-1
    P: Array  # (constraints, constraints): C H^-1 C^T, lower triangle
    A: Array  # (constraints, constraints): Cholesky factor of P
    columns: Array  # (5, constraints): c, multipliers, next multipliers, tendons, tendons active after the last step


class Watch(NamedTuple):
    """Clock, trace and limits of pulls of a descent."""

    deadline: float
    timer: Integers  # (2,)
    trace: Array  # (capacity, dof)
    traced: Integers  # (1,): rows in use
    pulls: Pulls | None  # None if no pull has limits


class Table(NamedTuple):
    """Seeds of a robot for one mode of target."""

    keys: Singles  # (11, seeds)
    seeds: Array  # (seeds, variables)
    turn_weight: float  # square metres that count as much as half a turn
    near_rest: Singles  # (seeds,): keys[0] plus a term for the distance from rest, to choose the first seed


class Lookup(NamedTuple):
    """Scratch of a search in a table of seeds."""

    scores: Singles  # (seeds,)
    minima: Singles  # (blocks of seeds,)
    key: Array  # (10,)
    picked: Integers  # (few,)
    values: Array  # (few,)
    asked: Array  # (dof,): the caller's start


class Frame(NamedTuple):
    """The turn about the base axis and the mirror that bring a target to its canonical pose."""

    c: float
    s: float
    mirror: float


class CallerStart(NamedTuple):
    """Whether the caller gave a start, and whether it is near enough to the target for a descent."""

    given: bool
    worth: bool


class Task(NamedTuple):
    """The targets of a batch, and how to solve them."""

    targets: Array  # (n, 12)
    mode: int
    position_tol: float
    angle_tol: float
    max_starts: int
    max_steps: int
    max_time: float  # seconds per target, may be infinite
    started: bool  # the rows of the answer hold the caller's starts
    judged: bool  # compute the errors and the final status too
    trace: Array  # (capacity, dof): receives the accepted configurations; no rows in a batch


class Policy(NamedTuple):
    """When a search ends; the same for all targets of a batch."""

    fewest: int  # end only after this many starts
    enough: int  # end after this many starts that ended at the best residual
    worth_all: float  # squared residual below which every start is tried
    nearly: float  # squared residual below which a final descent with a larger budget follows
    long_steps: int  # step budget of a late start
    max_steps: int  # step budget of all starts together


class Schedule(NamedTuple):
    """The starts of one target: around the caller's, then seeds of the table, then mixtures of seeds."""

    nearby: int  # index of the first seed
    mixed: int  # index of the first mixture
    last: int  # number of starts


class Tally(NamedTuple):
    """State of a search between two starts."""

    best: float  # squared residual
    same: int  # starts that ended at this residual
    steps: int
    code: int  # GOING_ON until it ends
    improved: bool  # whether the latest start improved it
