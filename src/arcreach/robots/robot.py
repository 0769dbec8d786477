"""`Robot`: a chain of elements, its configurations and its kinematics."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach import _text
from arcreach._checks import not_negative, uniform, whole
from arcreach._jit import settled
from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.elements import ELEMENTS, Element, Joint, Link, Section
from arcreach.errors import ConfigurationError, RobotError
from arcreach.kernels.actuation import batches
from arcreach.kernels.actuation import pulls as actuation
from arcreach.kernels.chain import batch as chain_batch
from arcreach.kernels.chain import kinematics as chain
from arcreach.kernels.chain import limits
from arcreach.robots._configurations import ConfigurationSpace
from arcreach.robots._pack import pack
from arcreach.robots.builders import elements_from_dh, elements_from_vectors
from arcreach.robots.equilibrium import Equilibrium, from_pulls
from arcreach.robots.manipulability import Manipulability, manipulability
from arcreach.robots.rates import Rates, rates
from arcreach.robots.routes import pack_routes, pull_limits, tendon_names
from arcreach.robots.solver_model import SolverModel

# Kernels for one configuration; their argument types never change.
_tip_pose, _frames, _backbone, _jacobian = map(settled, (chain.tip_pose, chain.frames, chain.backbone, chain.jacobian))
_pulls, _pull_jacobian = settled(actuation.pulls), settled(actuation.pull_jacobian)
_clip, _within = settled(limits.finite_clip), settled(limits.within)


class Robot(ConfigurationSpace):
    """A robot is a chain of elements, base first.

    Poses are 4 x 4 arrays T_base_tip, lengths in metres, angles in radians. A method that takes a configuration (dof,)
    also takes a batch (n, dof) and returns its result with a leading axis of n. Robots are immutable; two are equal if
    their elements and names are equal.
    """

    elements: tuple[Element, ...]
    packed: npt.NDArray[Any]  # the chain as the record array that kernels read, read-only
    routes: npt.NDArray[Any]  # the tendons as the record array that kernels read, read-only
    tendons: tuple[str, ...]  # names, in the order of the pulls

    def __init__(self, elements: Iterable[Element], name: str = "", source: str = "") -> None:
        problems: list[str] = []
        with checks.gathered(problems):
            self._set_name("robot", name, source)
        checked: tuple[Element, ...] = ()
        names: tuple[str, ...] = ()
        with checks.gathered(problems):
            checked = _checked_elements(elements)
            names = _element_names(checked)
        checks.raise_any(problems)
        checks.reach(name, sum(element.reach for element in checked))
        self._set_coordinates(
            tuple(
                replace(coordinate, name=f"{element_name}.{coordinate.name}" if coordinate.name else element_name)
                for element_name, element in zip(names, checked, strict=True)
                for coordinate in element.coordinates
            )
        )
        self._set(elements=checked, packed=pack(checked))
        # Tendons that cannot pass an element are refused here.
        self._set(routes=pack_routes(self), tendons=tendon_names(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Robot):
            return NotImplemented
        return (self.elements, self.name) == (other.elements, other.name)

    def __hash__(self) -> int:
        return hash((self.elements, self.name))

    def __reduce__(self) -> tuple[Any, ...]:
        # The receiver packs the chain again: a copied array would lose its read-only flag, which kernels require.
        return type(self), (self.elements, self.name, self.source)

    @classmethod
    def from_dh(cls, rows: Iterable[Any], convention: str = "standard", name: str = "", source: str = "") -> Robot:
        """Return a chain of joints from Denavit-Hartenberg rows.

        A row is a mapping with `a`, `alpha`, `d`, `theta` (each 0 where left out), `kind` ("revolute" or "prismatic"),
        `lower`, `upper` and `name`, or a tuple (a, alpha, d, theta). The joint's coordinate is added to `theta`, or to
        `d` for a prismatic joint. Convention "standard" (distal) or "modified" (proximal, Craig).
        """
        return cls(elements_from_dh(rows, convention), name, source)

    @classmethod
    def from_vectors(
        cls,
        vectors: npt.ArrayLike,
        axes: npt.ArrayLike,
        kinds: Sequence[str] | None = None,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        name: str = "",
        source: str = "",
    ) -> Robot:
        """Return a chain from link vectors (n, 3) and joint axes (n, 3), both in the base frame at q = 0.

        Joint i sits at the start of link i. `kinds` are "revolute" (default), "prismatic" or "parallelogram"; `lower`
        and `upper` are the limits (n,), by default a full turn; prismatic joints need them.
        """
        return cls(elements_from_vectors(vectors, axes, kinds, lower, upper), name, source)

    def with_limits(self, limits: Mapping[str, tuple[float, float]]) -> Robot:
        """Return this robot with other limits (lower, upper) of joints, by their names in `coordinates`."""
        owner = f"robot '{self.name}'"
        if not isinstance(limits, Mapping):
            raise checks.refuse(owner, "limits", limits, "a mapping from joints to (lower, upper)")
        elements = list(self.elements)
        joints = {name: i for i, name in enumerate(self.element_names) if isinstance(elements[i], Joint)}
        for name, pair in limits.items():
            if name not in joints:
                raise checks.refuse(
                    owner, "joint", name, f"one of its joints, {', '.join(joints) or 'of which it has none'}"
                )
            given = checks.real_array(pair)
            if given is None or given.shape != (2,):
                raise checks.refuse(owner, f"limits[{name!r}]", pair, "(lower, upper)")
            lower, upper = given.tolist()
            elements[joints[name]] = replace(elements[joints[name]], lower=lower, upper=upper)  # type: ignore[call-arg]
        return Robot(elements, self.name, self.source)

    def __repr__(self) -> str:
        counts = Counter(element.kind for element in self.elements)
        parts = ", ".join(_text.count(n, kind) for kind, n in counts.items())
        return f"<Robot {self.name or 'unnamed'}: {parts or 'no elements'}; {self.dof} dof, reach {self.reach:.4g} m>"

    @cached_property
    def element_names(self) -> tuple[str, ...]:
        """One name per element: the given one, or its kind and number."""
        return _element_names(self.elements)

    def unused_name(self, name: str) -> str:
        """Return a name for another element: `name`, with a number if an element has it already."""
        names = itertools.chain((name,), (f"{name}-{number}" for number in itertools.count(2)))
        return next(other for other in names if other not in self.element_names)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The elements that bend, base first."""
        return tuple(element for element in self.elements if isinstance(element, Section))

    @cached_property
    def first_section(self) -> int:
        """Index in `elements` of the first element that bends; their number if none does."""
        return next((i for i, element in enumerate(self.elements) if isinstance(element, Section)), len(self.elements))

    @cached_property
    def model(self) -> SolverModel:
        """The robot as solvers read it: solver variables, their limits, and seeds."""
        return SolverModel(self)

    @cached_property
    def reach(self) -> float:
        """Upper bound of the distance between base and tip in metres: the sum over the elements."""
        return math.fsum(element.reach for element in self.elements)

    @cached_property
    def moving_reach(self) -> float:
        """Upper bound of the distance in metres between the first moving element and the tip."""
        moving = itertools.dropwhile(lambda element: isinstance(element, Link), self.elements)
        return math.fsum(element.reach for element in moving)

    @cached_property
    def pull_limits(self) -> Array | None:
        """Smallest pulls, largest pulls and their rounding (3, tendons) in metres; None if no tendon has limits."""
        return pull_limits(self)

    def sample(self, n: int, seed: int | np.random.Generator | None = None) -> Array:
        """Draw n random configurations (n, dof) within the limits.

        Each coordinate is uniform between its limits; a section's bend is uniform up to the limit at its length, a
        continuous joint is uniform over one turn. The same seed gives the same configurations. A draw that breaks a
        limit of pulls is moved to a random point between the rest pose and the farthest point that keeps the limits.
        """
        rng = checks.generator(seed)
        continuous = np.isinf(self.lower)
        lower = np.where(continuous, -np.pi, self.lower)
        upper = np.where(continuous, np.pi, self.upper)
        # Rounding may exceed a limit by the last bit.
        q: Array = np.clip(lower + uniform(n, self.dof, rng) * (upper - lower), lower, upper)
        for element, k in self.indexed_elements():
            if isinstance(element, Section) and element.stretch > 0.0 and element.coupled:
                # The difference of two rounded lengths may exceed the stretch by the last bit.
                q[:, k] *= np.minimum((q[:, k + 2] - element.length) / element.stretch, 1.0)
        return q if self.pull_limits is None else self._towards_rest(q, rng)

    def within_limits(self, q: npt.ArrayLike, tolerance: float = 1e-9) -> Any:
        """Return whether q lies inside the limits: a bool, or (n,).

        Limits of bend coupled with length and limits of pulls are included. `tolerance` widens every limit by that
        share of its size.
        """
        values = self.checked(q)
        tolerance = not_negative("tolerance", tolerance, "a finite number", ConfigurationError)
        if values.ndim == 1:
            return bool(_within(self.packed, values, tolerance)) and bool(self.pulls_within(values, tolerance))
        inside = np.empty(len(values), dtype=np.bool_)
        spread(limits.within_batch, len(values), self.packed, values, tolerance, inside)
        return inside & self.pulls_within(values, tolerance)

    def pulls_within(self, q: npt.ArrayLike, tolerance: float = 0.0) -> Any:
        """Return whether the pulls at q keep their limits up to rounding, widened by `tolerance`: a bool, or (n,)."""
        if self.pull_limits is None:
            return True
        low, high, rounding = self.pull_limits
        sizes = np.where(np.isfinite(self.pull_limits[:2]), np.abs(self.pull_limits[:2]), 0.0)
        rounding = rounding + tolerance * sizes.max(axis=0)
        found = self.pulls(q)
        return ((low - rounding <= found) & (found <= high + rounding)).all(axis=-1)

    def clip(self, q: npt.ArrayLike) -> Array:
        """Return the nearest configuration inside the limits, including those of pulls and of bend coupled with length.

        A section is measured by its bend vector in radians and its share of the stretch, so a negative bend becomes a
        bend in the opposite direction; directions are wrapped to (-pi, pi]. With limits of helical tendons, or of
        tendons through discs, the result is inside but not always nearest.
        """
        values = self._shaped(q)
        if values.ndim == 1:
            out = np.empty(self._dof)
            if not _clip(self.packed, values, out):
                self._refuse_non_finite(values)
        else:
            out = self._run(_clip, limits.clip_batch, values, (self.dof,))
        return out if self.pull_limits is None else self._clip_pulls(values, out)

    def _clip_pulls(self, q: Array, clipped: Array) -> Array:
        """Return the nearest configurations that also keep the limits of pulls, where the clipped ones do not."""
        given, out = np.atleast_2d(q), np.atleast_2d(clipped)
        outside = ~self.pulls_within(out)
        moved = self.model.to_coordinates(self.model.keep_pulls(self.model.to_variables(given[outside]), nearest=True))
        for element, k in self.indexed_elements():
            if isinstance(element, Section):
                straight = moved[:, k] == 0.0
                moved[straight, k + 1] = out[outside][straight, k + 1]
            elif isinstance(element, Joint) and np.isinf(element.lower):
                moved[:, k] = out[outside][:, k]
        out[outside] = moved
        return out.reshape(clipped.shape)

    def _towards_rest(self, q: Array, rng: np.random.Generator) -> Array:
        """Return samples, with those that break limits of pulls redrawn nearer to the rest pose."""
        outside = ~self.pulls_within(q)
        V = self.model.to_variables(q[outside])
        edge = self.model.keep_pulls(V, nearest=False)
        rest = self.model.to_variables(self.neutral[None])
        # The radius of a uniform draw from a unit ball, in as many dimensions as variables are held back.
        held = edge != V
        share = rng.random((len(V), 1)) ** (1.0 / np.maximum(held.sum(axis=1, keepdims=True), 1))
        V = self.model.keep_pulls(np.where(held, rest + share * (edge - rest), edge), nearest=False)
        q[outside] = self.model.to_coordinates(V)
        return q

    def tip_pose(self, q: npt.ArrayLike, device: str = "cpu") -> Array:
        """Return the pose T_base_tip (4, 4) of the tip.

        With `device` "cuda" a batch is computed on a GPU; for device inputs the poses stay there.
        """
        if device != "cpu":
            return self._run_on_device("tip_pose", q, (4, 4), device)
        return self._run(_tip_pose, chain_batch.tip_poses, q, (4, 4))

    def frames(self, q: npt.ArrayLike) -> Array:
        """Return the base frame and the frame at the end of every element, T_base_element (elements + 1, 4, 4)."""
        return self._run(_frames, chain_batch.frames_batch, q, (len(self.elements) + 1, 4, 4))

    def backbone(self, q: npt.ArrayLike, points: int = 60) -> Array:
        """Return points (points, 3) on the centre line from base to tip, at equal steps of arc length."""
        return self._run(_backbone, chain_batch.backbones, q, (whole("points", points, 2, ConfigurationError), 3))

    def jacobian(self, q: npt.ArrayLike, device: str = "cpu") -> Array:
        """Return the Jacobian (6, dof): linear, then angular velocity of the tip per coordinate, in the base frame.

        For a straight section without twist the column of `direction` is zero. With `device` "cuda" a batch is computed
        on a GPU, as by `tip_pose`.
        """
        if device != "cpu":
            return self._run_on_device("jacobian", q, (6, self.dof), device)
        return self._run(_jacobian, chain_batch.jacobians, q, (6, self.dof))

    def manipulability(self, q: npt.ArrayLike) -> Manipulability:
        """Return how evenly the tip moves: volume (Yoshikawa) and inverse condition, by translation, rotation and pose.

        They are computed from the Jacobian by bend vectors, so that the straight pose is not singular by itself.
        """
        return manipulability(self, q)

    def rates(
        self,
        q: npt.ArrayLike,
        velocity: npt.ArrayLike,
        *,
        max_speed: npt.ArrayLike | None = None,
        hold: Any = (),
        damping: float = 0.02,
        keep_direction: bool = False,
    ) -> Rates:
        """Return the speeds of all coordinates for a velocity of the tip.

        `velocity` is linear (3,), or linear and angular (6,), in the base frame, in metres and radians per second.
        Configurations and velocities may each be one or a batch. The speeds are the least-squares solution within
        `max_speed`, one number or one per coordinate; for a section the bend's entry bounds the speed of its bend
        vector, both along and across the bend. With `keep_direction` the solution without speed limits is scaled down
        instead, so that the tip keeps its direction. No coordinate leaves its limits; `hold` names coordinates or
        elements that do not move, or is a mask (dof,). Motions whose singular value is below `damping` times the reach
        are damped: in their direction the tip is slower than asked.
        """
        return rates(self, q, velocity, max_speed=max_speed, hold=hold, damping=damping, keep_direction=keep_direction)

    def pulls(self, q: npt.ArrayLike) -> Array:
        """Return the pulls (tendons,) in metres: the length of each tendon inside the robot at rest minus now."""
        return self._run_tendons(_pulls, batches.pulls_batch, q, (len(self.tendons),))

    def pull_jacobian(self, q: npt.ArrayLike) -> Array:
        """Return the derivatives (tendons, dof) of the pulls by the coordinates."""
        return self._run_tendons(_pull_jacobian, batches.pull_jacobians, q, (len(self.tendons), self.dof))

    def from_pulls(self, pulls: npt.ArrayLike, elastic: bool = False, q: npt.ArrayLike | None = None) -> Equilibrium:
        """Return the configuration that pulls (tendons,) or (n, tendons) produce.

        By default tendons are rigid and the pulls are met in the least-squares sense; `residual` is the remaining
        difference. Coordinates that no pull determines stay at rest, or near it if tendons are not parallel to the
        backbone. With `elastic` the sections and tendons are springs in equilibrium: tendons that would push go slack,
        and `tensions` are the forces. `q`, one configuration or one per row of pulls, gives the joints' coordinates, by
        default `neutral`. Limits are not applied.
        """
        self._need_tendons()
        return from_pulls(self, pulls, elastic, q)

    def _need_tendons(self) -> None:
        if not self.tendons:
            raise RobotError(f"robot '{self.name}' has no tendons; give its sections some: Section(..., tendons=[...])")

    def _run_tendons(
        self, kernel: Callable[..., Any], batch: Callable[..., Any], q: npt.ArrayLike, shape: tuple[int, ...]
    ) -> Array:
        self._need_tendons()
        return self._run(kernel, batch, q, shape, self.routes)

    def _run(
        self,
        kernel: Callable[..., Any],
        batch: Callable[..., Any],
        q: npt.ArrayLike,
        shape: tuple[int, ...],
        *routes: npt.NDArray[Any],
    ) -> Array:
        """Call the kernel on one configuration, or its batch form on many."""
        values = self.checked(q)
        out = np.empty(values.shape[:-1] + shape)
        if values.ndim == 1:
            kernel(self.packed, *routes, values, out)
        else:
            spread(batch, len(values), self.packed, *routes, values, out)
        return out

    def _run_on_device(self, name: str, q: Any, shape: tuple[int, ...], device: str) -> Array:
        """Call a kernel on a GPU; on the CPU for a single host configuration, or for `device` "auto" without a GPU."""
        from arcreach.gpu.driver import chosen
        from arcreach.gpu.forward import on_device, run_rows

        there = on_device(q)
        values = q if there else self.checked(q)
        if chosen(device) == "cpu" or (not there and values.ndim == 1):
            return getattr(self, name)(q)  # type: ignore[no-any-return]
        return run_rows(name, self.packed, self.dof, values, shape)  # type: ignore[no-any-return]

    def indexed_elements(self) -> list[tuple[Element, int]]:
        """Return every element with the index of its first coordinate."""
        indices = itertools.accumulate((len(element.coordinates) for element in self.elements), initial=0)
        return list(zip(self.elements, indices, strict=False))

    def bend_vector_indices(self) -> list[int]:
        """Return the indices of the bends of all sections that bend in two planes; a direction follows each."""
        return [k for element, k in self.indexed_elements() if isinstance(element, Section) and not element.twist]


def _checked_elements(elements: Any) -> tuple[Element, ...]:
    *names, last = (element.__name__ for element in ELEMENTS)
    accepted = f"a list of {', '.join(names)} and {last}, at least one"
    if isinstance(elements, ELEMENTS) or not isinstance(elements, Iterable):
        raise checks.refuse("robot", "elements", elements, accepted)
    checked = tuple(elements)
    for i, element in enumerate(checked):
        if not isinstance(element, ELEMENTS):
            raise checks.refuse("robot", f"elements[{i}]", element, accepted)
    if not checked:
        raise checks.refuse("robot", "elements", checked, accepted)
    return checked


def _element_names(elements: Sequence[Element]) -> tuple[str, ...]:
    names = []
    counts: Counter[str] = Counter()
    for element in elements:
        counts[element.kind] += 1
        names.append(element.name or f"{element.kind}-{counts[element.kind]}")
    problems = [
        f"robot: name = {checks.shown(name)} is used by {count} elements; give every element its own name"
        for name, count in Counter(names).items()
        if count > 1
    ]
    checks.raise_any(problems)
    return tuple(names)
