"""`fit`: the parameters of a tendon-driven robot from measured pulls and tips."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach import _text
from arcreach._checks import flag, shown, suggestion, whole
from arcreach._extras import require
from arcreach._typing import Array, Booleans
from arcreach.calibration.measurements import Measurements, read_measurements
from arcreach.calibration.parameters import DEFAULT, ELASTIC, GROUPS, Parameter, Parametrisation, is_elastic
from arcreach.calibration.prediction import Prediction
from arcreach.elements import Link, Section
from arcreach.errors import Interrupted, RobotError, TargetError
from arcreach.robots.robot import Robot

# Starts: rotations of the base about z; the best REFINED are refined on about COARSE_ROWS of the rows.
TURNS, REFINED, COARSE_ROWS = 12, 4, 120
# Step budgets of a start, of the two passes over the fitted rows, and of the pass over all rows.
COARSE_STEPS, PASSES, LAST_STEPS = 12, (20, 30), 30
# A pass ends at this relative change of the cost, far below that of one standard error.
ENOUGH = 1e-6
# Assumed noise, as a share of the length, and strength of the prior, until both are estimated.
FIRST_NOISE, FIRST_PRIOR = 0.03, 0.1
# Residuals above this many standard deviations count linearly, so that outliers do not steer the fit.
ROBUST = 2.0
# Least standard deviation of residuals, as a share of the length: rounding of the data.
LEAST_NOISE = 1e-7
# Factor on the standard deviations of the prior where residuals of one command are independent: the prior then fixes
# only parameters that the data do not determine.
OPEN = 30.0
# Prior standard deviations in scales, by kind of parameter: its own error, the error that the parameters of a section
# share, and the one that all sections share. The discs of a section are drilled alike but mounted at any angle. Tendons
# are of one material, whose stiffness is rarely given, and are tightened by one procedure. A section that was built
# straight is nearly straight at rest.
SPREADS = {"angle": (0.33, 3.0, 0.0), "radius": (0.33, 1.0, 0.0), "stiffness": (1.0, 0.0, 3.0)}
SPREADS |= {"slack": (0.5, 0.0, 1.0), "rest": (0.3, 0.0, 0.0)}
OTHER_SPREADS = (1.0, 0.0, 0.0)
# A direction of the parameters that moves the tip by less than this share of the length per scale is undetermined.
NO_EFFECT = 1e-5
# Least eigenvalue of the information matrix, as a share of the largest: rounding.
LEAST_INFORMATION = 1e-14
# Parameters with at least this share in an undetermined direction are named.
NAMED = 0.3

_ELASTIC_LINE = (
    "elastic; predict with from_pulls(pulls, elastic=True), since robot.pulls and motor tables assume rigid tendons"
)


@dataclass(frozen=True, eq=False, repr=False)
class Fit(_text.Printed):
    """A calibrated robot, the standard errors of its parameters, and how well measured tips are predicted."""

    robot: Robot
    length: float  # reach of the robot as given from its first moving element, in metres
    parameters: tuple[Parameter, ...]
    values: Array
    errors: Array  # standard errors of `values`
    weak: tuple[str, ...]  # parameters whose standard error without the prior exceeds their `scale`
    data: Measurements
    held_out: Booleans  # mask of the rows of `data` that were held out (n,)
    predicted: Array  # tip positions (n, 3), for held-out rows by a fit that did not see them
    elastic: bool  # model of the tendons; `robot.from_pulls(pulls, elastic)` predicts as this fit does
    complete: bool = True  # False if it was interrupted

    @property
    def tip_errors(self) -> Array:
        """Distances (n,) between predicted and measured tips in metres."""
        return np.asarray(np.linalg.norm(self.predicted - self.data.positions, axis=1))

    @property
    def held_out_errors(self) -> Array:
        """The tip errors of the rows that were held out."""
        return self.tip_errors[self.held_out]

    @property
    def fitted_errors(self) -> Array:
        """The tip errors of the other rows."""
        return self.tip_errors[~self.held_out]

    def __str__(self) -> str:
        lines = []
        for name, errors in (("fitted", self.fitted_errors), ("held out", self.held_out_errors)):
            if len(errors):
                lines.append(
                    f"{_text.count(len(errors), 'row')} {name}: mean tip error {_text.length(float(errors.mean()))} "
                    f"({_text.number(round(100.0 * float(errors.mean()) / self.length, 4))} % of the length), "
                    f"95th percentile {_text.length(float(np.quantile(errors, 0.95)))}"
                )
        lines.append(f"tendons: {_ELASTIC_LINE if self.elastic else 'rigid'}")
        if self.weak:
            lines.append(f"poorly determined: {', '.join(self.weak)}")
        return "\n".join(lines)


def fit(
    robot: Robot,
    data: Measurements | str | os.PathLike[str],
    free: Sequence[str] = DEFAULT,
    *,
    elastic: bool | None = None,
    held_out: float = 0.5,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Fit parameters of a tendon-driven robot to measured pulls and tips.

    `data` are Measurements or a CSV file. `free` names groups of parameters: base, lengths, angles, radii, stiffness,
    pretension, rest, tip. `elastic` selects the model of the tendons, as in `Robot.from_pulls`; by default they are
    elastic if stiffness is free or every section and tendon has one, and rigid otherwise. Predict with the same model:
    `fit.robot.from_pulls(pulls, fit.elastic)`. The share `held_out` of the commands, drawn by `seed`, tests a fit of
    the others; the returned robot is then fitted to all rows. Sections and tendons without a stiffness get a typical
    one if stiffness is free. `progress` receives the number of steps done and its maximum. Raises `Interrupted`, whose
    `result` is the best fit so far, on Ctrl-C. Needs SciPy.
    """
    parametrisation = Parametrisation(*_checked(robot, free, elastic))
    if not isinstance(data, (Measurements, str, os.PathLike)):
        raise TargetError(f"data = {shown(data)} is not accepted; give Measurements or the path of a CSV file")
    rows = data if isinstance(data, Measurements) else read_measurements(data, robot)
    held = _held_out_rows(rows, held_out, seed)
    _check_rows(robot, rows, held, parametrisation)
    search = _Search(parametrisation, require("scipy.optimize"), progress or (lambda done, total: None))
    complete = True
    judged = None
    try:
        search.start(rows[~held])
        if held.any():
            judged = search.z
        # Also if no rows were held out: the last pass estimated the weights, and `errors` assumes the optimum for them.
        search.refine(rows, LAST_STEPS)
    except KeyboardInterrupt:
        complete = False
    return _result(search, rows, held, judged, complete)


def _result(search: _Search, rows: Measurements, held: Booleans, judged: Array | None, complete: bool) -> Fit:
    # Held-out rows are predicted by the fit that has not seen them, unless an interrupt came before it was done.
    predicted = np.empty_like(rows.positions)
    predicted[~held] = search.prediction(rows[~held]).tips(search.z)
    if held.any():
        predicted[held] = search.prediction(rows[held]).tips(search.z if judged is None else judged)
    values, parameters = search.parametrisation.values(search.z), search.parametrisation.parameters
    errors, without_prior, lost = search.errors()
    if lost and complete:
        raise TargetError(
            f"the data do not determine {', '.join(lost)}; measure other pulls, or leave their groups out of free"
        )
    weak = tuple(p.name for p, error in zip(parameters, without_prior, strict=True) if error > p.scale)
    robot, elastic = search.parametrisation.robot_for(values), search.parametrisation.elastic
    fit = Fit(robot, search.length, tuple(parameters), values, errors, weak, rows, held, predicted, elastic, complete)
    if not complete:
        raise Interrupted(fit)
    return fit


def _checked(robot: Any, free: Any, elastic: Any) -> tuple[Robot, tuple[str, ...], bool | None]:
    if not isinstance(robot, Robot) or not robot.tendons:
        raise RobotError(f"robot = {shown(robot)} is not accepted; give a Robot whose sections have tendons")
    for name, element in zip(robot.element_names, robot.elements, strict=True):
        if not isinstance(element, Link) and not (isinstance(element, Section) and not element.twist):
            raise RobotError(f"element '{name}' is not accepted in a fit; give links, and sections without twist")
    names = tuple(free) if isinstance(free, (list, tuple, set, frozenset)) else ()
    if not names or any(name not in GROUPS for name in names):
        meant = next((suggestion(name, GROUPS) for name in names if name not in GROUPS), "")
        raise TargetError(f"free = {shown(free)} is not accepted; give a list of some of {', '.join(GROUPS)}{meant}")
    elastic = None if elastic is None else flag("", "elastic", elastic)
    only_elastic = [name for name in ELASTIC if name in names]
    if elastic is False and only_elastic:
        raise TargetError(
            f"elastic = False: rigid tendons have no {', '.join(only_elastic)}; leave these groups out of free"
        )
    if (elastic or only_elastic) and "stiffness" not in names and not is_elastic(robot):
        cause = "elastic = True needs" if elastic else "free: pretension and rest need"
        raise TargetError(f"{cause} a stiffness of every section and tendon; free it too, or give them")
    return robot, names, elastic


def _held_out_rows(data: Measurements, share: Any, seed: int) -> Booleans:
    """Return the mask of the rows that are held out: whole commands."""
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 <= share < 1.0:
        raise TargetError(f"held_out = {shown(share)} is not accepted; give a share from 0 to below 1")
    labels, command = np.unique(data.commands, return_inverse=True)
    order = np.random.default_rng(whole("seed", seed, 0)).permutation(len(labels))
    return np.asarray(np.isin(command, order[: int(share * len(labels))]))


def _check_rows(robot: Robot, data: Measurements, held: Booleans, parametrisation: Parametrisation) -> None:
    if data.pulls.shape[1] != len(robot.tendons):
        raise TargetError(f"data has {data.pulls.shape[1]} pulls a row; the robot has {len(robot.tendons)} tendons")
    data.check_units(robot)
    rows, count = int((~held).sum()), len(parametrisation.parameters)
    if not count:
        raise TargetError(f"free = {list(parametrisation.free)} has no parameters in this robot; free further groups")
    if rows * data.width <= count:
        raise TargetError(
            f"{_text.count(rows, 'row')} to fit cannot determine {count} parameters; give more rows, hold out fewer, "
            "or free fewer groups"
        )


class _Search:
    """Robust least squares from several starts; `z` is the best vector so far.

    Residuals of one command are correlated if the model is imperfect. `inflation` is the factor by which that increases
    the variance of the estimate. It widens the standard errors and gives weight to the prior, so that an imperfect
    model does not fit its own errors. At 1 the prior has practically no weight.
    """

    def __init__(self, parametrisation: Parametrisation, optimize: Any, progress: Callable[[int, int], None]) -> None:
        self.parametrisation, self.optimize, self.progress = parametrisation, optimize, progress
        self.length = parametrisation.robot.moving_reach
        self.z = np.zeros(len(parametrisation.parameters))
        self.prior = _prior(parametrisation)
        self.noise, self.strength, self.inflation = FIRST_NOISE, FIRST_PRIOR, 1.0
        # Weight of each column of residuals by its kind of measurement.
        self.weights: Array | float = 1.0
        self.rows: Measurements | None = None
        self.done, self.total = 0, REFINED * COARSE_STEPS + sum(PASSES) + LAST_STEPS

    def prediction(self, data: Measurements) -> Prediction:
        return Prediction(self.parametrisation, data)

    def start(self, data: Measurements) -> None:
        """Choose the best of several starts on some of the rows, then fit all rows."""
        self.rows = data
        coarse = data[:: max(len(data) // COARSE_ROWS, 1)]
        found = self._starts(self.prediction(coarse))
        refined = []
        for k, z in enumerate(found):
            refined.append(self._least_squares(z, coarse, COARSE_STEPS))
            self.done = (k + 1) * COARSE_STEPS
        self.z = min(refined, key=lambda pair: pair[0])[1]
        self.done = REFINED * COARSE_STEPS
        for steps in PASSES:
            self.refine(data, steps)

    def refine(self, data: Measurements, steps: int) -> None:
        """Improve z on these rows, then estimate noise, inflation and the weights of the kinds of measurements."""
        self.rows = data
        before = self.done
        self._least_squares(self.z, data, steps)
        self.done = before + steps
        self._estimate(data)

    def _starts(self, prediction: Prediction) -> list[Array]:
        turned = [i for i, parameter in enumerate(self.parametrisation.parameters) if parameter.name == "base.turn_z"]
        if not turned:
            return [np.zeros(len(self.z))]
        starts = []
        for k in range(TURNS):
            z = np.zeros(len(self.z))
            angle = math.remainder(2.0 * math.pi * k / TURNS, 2.0 * math.pi)
            z[turned] = angle / self.parametrisation.parameters[turned[0]].scale
            starts.append(z)
        starts.sort(key=lambda z: float(np.abs(prediction.residuals(z)).sum()))
        return starts[:REFINED]

    def _weighted(self, residuals: Array) -> Array:
        """Return residuals as shares of the length, kinds of measurements weighted by their precision."""
        return residuals / self.length * self.weights

    def _jacobian(self, prediction: Prediction, z: Array) -> Array:
        """Return the derivatives of the weighted residuals, a row per measured number."""
        return self._weighted(np.moveaxis(prediction.jacobian(z), 2, 0)).reshape(len(z), -1).T

    def _least_squares(self, z: Array, data: Measurements, steps: int) -> tuple[float, Array]:
        prediction = self.prediction(data)
        count = data.width * len(data)

        def residuals(z: Array) -> Array:
            try:
                found = self._weighted(prediction.residuals(z)).ravel()
            except (RobotError, FloatingPointError, OverflowError):
                # No robot has these parameters: large residuals reject the step.
                found = np.full(count, 1e3)
            return np.concatenate([found, self.strength * self.prior @ z])

        def jacobian(z: Array) -> Array:
            self.z = z.copy()
            self.done += 1
            self.progress(min(self.done, self.total), self.total)
            return np.concatenate([self._jacobian(prediction, z), self.strength * self.prior])

        found = self.optimize.least_squares(
            residuals,
            z,
            jacobian,
            loss=lambda squares: _loss(squares, count),
            f_scale=ROBUST * self.noise,
            ftol=ENOUGH,
            max_nfev=steps,
        )
        self.z = found.x
        return float(found.cost), found.x

    def _estimate(self, data: Measurements) -> None:
        residuals = self.prediction(data).residuals(self.z) / self.length
        spreads = np.array([_spread(residuals[:, columns]) for columns in data.kinds])
        self.weights = np.concatenate(
            [np.full(c.stop - c.start, spreads[0] / s) for c, s in zip(data.kinds, spreads, strict=True)]
        )
        self.noise = spreads[0]
        influence = _psi(residuals * self.weights, ROBUST * self.noise)
        _, command = np.unique(data.commands, return_inverse=True)
        sums = np.stack([np.bincount(command, column) for column in influence.T], axis=1)
        self.inflation = max(float((sums**2).sum() / (influence**2).sum()), 1.0)
        self.strength = self.noise * max(math.sqrt(self.inflation - 1.0), 1.0 / OPEN)

    def errors(self) -> tuple[Array, Array, list[str]]:
        """Return standard errors, those without the prior, and the names of undetermined parameters."""
        assert self.rows is not None
        prediction = self.prediction(self.rows)
        J = self._jacobian(prediction, self.z)
        r = self._weighted(prediction.residuals(self.z)).ravel()
        limit = ROBUST * self.noise
        # Variance of the estimate by a robust loss: mean psi^2 over the square of mean psi'.
        slope = (1.0 + (r / limit) ** 2) ** -1.5
        variance = (_psi(r, limit) ** 2).sum() / max(len(r) - len(self.z), 1) / slope.mean() ** 2 * self.inflation
        information = J.T @ J
        free = self.strength**2 / slope.mean() * self.prior.T @ self.prior
        covariance = np.linalg.inv(information + free + 1e-12 * np.eye(len(self.z)))
        scale = self.parametrisation.slopes(self.z)
        # By eigenvectors: a pseudoinverse would state zero variance along directions that the data do not determine.
        s, V = np.linalg.eigh(information)
        alone = variance * (V**2 / np.maximum(s, LEAST_INFORMATION * s[-1])).sum(axis=1)
        with_prior = variance * np.diag(covariance)
        # The stiffness of a tendon that became rigid has no effect, yet is determined: test at the given values too.
        given = np.where([p.group == "base" for p in self.parametrisation.parameters], self.z, 0.0)
        lost = _without_effect(J) & _without_effect(self._jacobian(prediction, given))
        names = [p.name for p, is_lost in zip(self.parametrisation.parameters, lost, strict=True) if is_lost]
        return np.sqrt(with_prior) * scale, np.sqrt(alone) * scale, names


def _prior(parametrisation: Parametrisation) -> Array:
    """Return the matrix that whitens z under the prior; its rows for the base pose, which has none, are zero."""
    kinds = np.array([slot[0] for slot in parametrisation.slots])
    sections = np.array([slot[1] for slot in parametrisation.slots])
    own, section, robot = np.array([SPREADS.get(kind, OTHER_SPREADS) for kind in kinds]).T
    if "base" in parametrisation.free:
        # The first section turns with the base, and its first angle is fixed, so its other angles share that error.
        first = (kinds == "angle") & (sections == parametrisation.sections[0])
        section[first] = own[first]
    alike = kinds[:, None] == kinds
    shared = np.outer(section, section) * (sections[:, None] == sections) + np.outer(robot, robot)
    matrix = np.linalg.inv(np.linalg.cholesky(np.diag(own**2) + alike * shared))
    return np.where((kinds == "base")[:, None], 0.0, matrix)


def _loss(squares: Array, count: int) -> Array:
    """Return the loss and its first two derivatives: robust for `count` residuals, quadratic for the prior."""
    out = np.stack([squares, np.ones_like(squares), np.zeros_like(squares)])
    root = np.sqrt(1.0 + squares[:count])
    out[:, :count] = 2.0 * (root - 1.0), 1.0 / root, -0.5 / root**3
    return out


def _without_effect(J: Array) -> Booleans:
    """Return which parameters take part in a direction that changes no measurement."""
    _, s, V = np.linalg.svd(J, full_matrices=False)
    return np.asarray(np.abs(V[s < NO_EFFECT * math.sqrt(len(J))]).max(axis=0, initial=0.0) > NAMED)


def _spread(values: Array) -> float:
    """Return the standard deviation of Gaussian residuals from their median magnitude, robust against outliers."""
    return max(1.4826 * float(np.median(np.abs(values))), LEAST_NOISE)


def _psi(r: Array, limit: float) -> Array:
    """Return the influence of residuals on the loss: linear where small, at most `limit` where large."""
    return np.asarray(r / np.sqrt(1.0 + (r / limit) ** 2))
