"""The configuration that pulls produce: rigid tendons in the least-squares sense, elastic ones in equilibrium."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach import _text
from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.errors import ConfigurationError, RobotError
from arcreach.kernels.actuation import equilibrium, pulls
from arcreach.robots.routes import are_linear

if TYPE_CHECKING:
    from arcreach.robots.robot import Robot

_TRANSMITS = {"pull": equilibrium.PULL, "push": equilibrium.PUSH, "both": equilibrium.BOTH}
# Stiffness of the sections relative to that of rigid tendons: below rounding, but above zero, so that unknowns that no
# pull determines stay at rest. If pulls are not linear, a descent to rest would follow a long curved valley: then these
# unknowns stay near their start.
_SOFT = 1e-13
# Largest residual, as a share of the reach, at which rigid pulls count as met, and number of retries otherwise.
_MET = 1e-12
_RETRIES = 12
# Rows per thread: an equilibrium takes microseconds.
_SMALLEST_PIECE = 64


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(_text.Printed):
    """The configuration that pulls produce. Arrays of a batch have a leading axis."""

    q: Array
    residual: Array  # commanded pull minus pull at q, per tendon, in metres
    tensions: Array | None  # force of each tendon in newtons, negative where it pushes; None for rigid tendons
    slack: npt.NDArray[np.bool_]  # whether a tendon transmits no force, also where it is just taut
    robot: Robot
    hint: str = ""  # possible wrong units of the pulls

    def describe(self) -> str:
        """Return `str(self)` and, for a single configuration, a line per coordinate in degrees or millimetres."""
        if self.q.ndim != 1:
            return str(self)
        lines = _text.coordinate_lines(self.robot.coordinates, self.robot.quantities, self.q.tolist())
        return "\n".join([str(self), *lines])

    def __str__(self) -> str:
        model = "rigid" if self.tensions is None else "elastic"
        text = _text.count(len(self.robot.tendons), f"{model} tendon")
        if self.q.ndim != 1:
            text += f", {_text.count(len(self.q), 'configuration')}"
        text += f"; largest residual {_text.length(float(np.abs(self.residual).max(initial=0.0)))}"
        hint = f"; {self.hint}" if self.hint else ""
        if self.tensions is None or not self.tensions.size:
            return text + hint
        low, high = (_text.number(float(value)) for value in (self.tensions.min(), self.tensions.max()))
        slack = "some" if self.q.ndim != 1 and self.slack.any() else self.slack.sum()
        return f"{text}; tensions {low} to {high} N, {slack} slack{hint}"


def springs_of(robot: Robot, elastic: bool) -> equilibrium.Springs:
    """Return the sections and tendons as springs; rigid tendons all have the stiffness 1."""
    sections: list[tuple[float, ...]] = []
    tendons: list[tuple[float, ...]] = []
    rest: list[float] = []
    unknown_of = np.zeros(robot.dof, dtype=np.int64)
    for element, k in robot.indexed_elements():
        if not isinstance(element, Section):
            continue
        varies = element.stretch > 0.0
        length = element.length + 0.5 * element.stretch
        if elastic:
            _check_elastic(robot, element)
            stiffness = element.bending_stiffness / length, element.axial_stiffness / length
        else:
            # In units of a tendon's stiffness: a bend of one radian pulls a tendon by about its radius.
            typical = max((tendon.radius for tendon in element.tendons), default=robot.reach)
            stiffness = _SOFT * typical**2, _SOFT
        unknown_of[k] = len(rest)
        sections.append((len(rest), k, varies, *stiffness, length))
        rest += [*(element.rest_bend if elastic else (0.0, 0.0)), length][: 3 if varies else 2]
        for tendon in element.tendons:
            free = tendon.pretension / tendon.stiffness - tendon.slack if elastic else 0.0
            kind = _TRANSMITS[tendon.transmits] if elastic else equilibrium.BOTH
            tendons.append((tendon.stiffness if elastic else 1.0, free, kind, len(rest)))
    # Sorted by section, then by number of discs: kernels compute values shared by successive routes once.
    routes = robot.routes[np.lexsort((robot.routes["discs"], robot.routes["coordinate"]))]
    # Read-only like the robot's own routes, so that kernels are compiled for one type.
    routes.flags.writeable = False
    return equilibrium.Springs(
        robot.packed,
        routes,
        np.array(tendons),
        np.array(sections, dtype=float),
        np.array(rest),
        unknown_of,
        elastic or are_linear(routes),
    )


def parallel_inverse(robot: Robot) -> tuple[Array, list[tuple[int, int, bool, float]]]:
    """Return `from_pulls` for rigid tendons parallel to the backbone as a matrix, and the layout of its result.

    The matrix times the pulls, minus those of slides, gives the unknowns of the sections: two bend components and, for
    variable length, the length minus that at rest. The layout lists for each section its first coordinate, its first
    unknown, whether its length varies, and its length at rest.
    """
    springs = springs_of(robot, elastic=False)
    columns = [equilibrium.COORDINATE, equilibrium.UNKNOWN, equilibrium.VARIES, equilibrium.REST]
    sections = [(int(k), int(i), bool(varies), float(rest)) for k, i, varies, rest in springs.sections[:, columns]]
    gradient = np.zeros((len(robot.tendons), len(springs.rest)))
    for route in robot.routes[robot.routes["kind"] == pulls.PARALLEL]:
        j, i = route["tendon"], springs.unknown_of[route["coordinate"]]
        gradient[j, i] = route["radius"] * math.cos(route["angle"])
        gradient[j, i + 1] = route["radius"] * math.sin(route["angle"])
        if route["varies"]:
            gradient[j, i + 2] = -1.0
    # Unknowns that no pull determines stay at rest: they minimise the energy of the sections.
    roots = np.empty(len(springs.rest))
    for row in springs.sections:
        i = int(row[equilibrium.UNKNOWN])
        roots[i : i + 2] = math.sqrt(row[equilibrium.BENDING])
        if row[equilibrium.VARIES]:
            roots[i + 2] = math.sqrt(row[equilibrium.AXIAL])
    inverse = np.linalg.pinv(gradient / roots, rcond=1e-9) / roots[:, None]
    return inverse, sections


def _check_elastic(robot: Robot, section: Section) -> None:
    name = robot.element_names[robot.elements.index(section)]
    if section.bending_stiffness == 0.0:
        raise RobotError(
            f"section '{name}': bending_stiffness = 0 is not accepted here; give EI in newton square metres"
        )
    if section.stretch > 0.0 and section.axial_stiffness == 0.0:
        raise RobotError(f"section '{name}': axial_stiffness = 0 is not accepted here; give EA in newtons")
    for tendon in section.tendons:
        if math.isinf(tendon.stiffness):
            raise RobotError(
                f"section '{name}': a tendon's stiffness = inf is not accepted here; give newtons per metre"
            )


def _retry(robot: Robot, springs: equilibrium.Springs, P: Array, Q: Array, out: Array) -> None:
    """Search from random starts where pulls are not met: with helical tendons the residual has several local minima."""
    rng = np.random.default_rng(0)
    sizes = np.abs(P - out[:, 1]).max(axis=1)
    for _ in range(_RETRIES):
        left = np.flatnonzero(sizes > _MET * robot.reach)
        if not len(left):
            return
        start = springs.rest.copy()
        for section, row in zip(robot.sections, springs.sections, strict=True):
            i = int(row[equilibrium.UNKNOWN])
            start[i : i + 2] += rng.uniform(-1.0, 1.0, 2) * min(section.bend_max, math.pi / 2.0)
            if row[equilibrium.VARIES]:
                start[i + 2] += rng.uniform(-0.5, 0.5) * section.stretch
        pulled, q, found = P[left], Q[left], out[left]
        # The rest pose of the sections is moved to the start; with the stiffness _SOFT it has no other effect.
        spread(
            equilibrium.equilibria, len(left), springs._replace(rest=start), pulled, q, found, smallest=_SMALLEST_PIECE
        )
        size = np.abs(pulled - found[:, 1]).max(axis=1)
        better = size < 0.5 * sizes[left]
        rows = left[better]
        Q[rows], out[rows], sizes[rows] = q[better], found[better], size[better]


def from_pulls(robot: Robot, given: Any, elastic: bool, q: Any) -> Equilibrium:
    """Return the configuration for pulls (tendons,) or (n, tendons); see `Robot.from_pulls`."""
    values = checks.real_array(given)
    count = len(robot.tendons)
    if values is None or values.ndim not in {1, 2} or values.shape[-1] != count or not np.isfinite(values).all():
        raise ConfigurationError(
            f"pulls = {checks.shown(given)} is not accepted; give finite numbers of shape ({count},) or (n, {count})"
        )
    # `hints` imports robots, which import this module.
    from arcreach.robots.hints import pull_hint

    springs = springs_of(robot, elastic)
    P = np.ascontiguousarray(np.atleast_2d(values))
    given_q = robot.neutral if q is None else robot.checked(q)
    if given_q.ndim == 2 and len(given_q) != len(P):
        raise ConfigurationError(
            f"q has {_text.count(len(given_q), 'row')} and pulls has {len(P)}; give one for all, or one each"
        )
    Q = np.array(np.broadcast_to(given_q, (len(P), robot.dof)), order="C")
    out = np.empty((len(P), 2, count))
    spread(equilibrium.equilibria, len(P), springs, P, Q, out, smallest=_SMALLEST_PIECE)
    if not elastic and robot.routes["turn"].any():
        _retry(robot, springs, P, Q, out)
    forces, found = out[:, 0], out[:, 1]
    slack = forces == 0.0 if elastic else np.zeros(forces.shape, dtype=bool)
    rows: Any = 0 if values.ndim == 1 else slice(None)
    tensions = forces[rows] if elastic else None
    hint = pull_hint(robot, np.abs(P).max(axis=0, initial=0.0))
    return Equilibrium(Q[rows], (P - found)[rows], tensions, slack[rows], robot, hint)
