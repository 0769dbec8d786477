"""Methods that users write, named `module:attribute` or by an entry point of GROUP in an installed package."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import real_array, shown
from arcreach.errors import MethodError
from arcreach.ik.method import Method, Outcome, Problem, adopt, find_method, methods
from arcreach.ik.solution import Status
from arcreach.ik.target import Target

GROUP = "arcreach.methods"
# Maps a robot and a target to a configuration.
Function = Callable[[Any, Target], npt.ArrayLike]

_loaded: dict[str, Method] = {}


def is_own(name: str) -> bool:
    """Return whether a name is that of a user's own method."""
    if ":" in name or name in _loaded:
        return True
    # Entry points come last: finding one reads a file of every installed package.
    return name not in methods() and bool(entry_points(group=GROUP, name=name))


def load_method(name: str) -> Method:
    """Return the method of that name; import it first if it is the user's own.

    The attribute is a `Method`, or a function of (robot, target) that returns a configuration.
    """
    if not is_own(name):
        return find_method(name)
    if name not in _loaded:
        found = _load(name)
        _loaded[name] = adopt(found if isinstance(found, Method) else _method_of(name, found))
    return _loaded[name]


def _load(name: str) -> Any:
    module, colon, attribute = name.partition(":")
    # Modules in the current folder can be imported, as with `python -m`.
    here = str(Path.cwd())
    if colon and here not in sys.path:
        sys.path.insert(0, here)
    try:
        if not colon:
            return next(iter(entry_points(group=GROUP, name=name))).load()
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise MethodError(f"method = {shown(name)} cannot be loaded ({error}); give module:function") from error


def _method_of(name: str, function: Any) -> Method:
    """Return a method that calls a user's function for each target, times it, and checks and clips its answers."""
    if not callable(function):
        raise MethodError(f"method = {shown(name)} is {type(function).__name__}; give a function or an arcreach.Method")

    def run(problem: Problem[Any]) -> Outcome:
        outcome = Outcome.empty(problem)
        outcome.iterations[:] = 0
        outcome.status[:] = Status.STALLED
        for i, target in enumerate(problem.targets):
            began = time.perf_counter()
            outcome.q[i] = _answer(name, function, problem.robot, i, target)
            outcome.seconds[i] = time.perf_counter() - began
        if len(problem.trace):
            problem.trace[0], outcome.traced = outcome.q[0], 1
        return outcome

    summary = next(iter((function.__doc__ or "").strip().splitlines()), "a function of the user's")
    return Method(name, summary, "derived", run, symbolic=True)


def _answer(name: str, function: Function, robot: Any, i: int, target: Target) -> npt.NDArray[np.float64]:
    """Return the configuration from a user's function, clipped to the limits; the neutral one if it is not finite."""
    try:
        answer = function(robot, target)
    except Exception as error:
        raise MethodError(f"method '{name}' failed on target {i}: {error!r}") from error
    values = real_array(answer)
    if values is None or values.shape != (robot.dof,):
        raise MethodError(f"method '{name}' gave {shown(answer)} for target {i}; give a configuration ({robot.dof},)")
    q: npt.NDArray[np.float64] = robot.clip(values if np.isfinite(values).all() else robot.neutral)
    return q
