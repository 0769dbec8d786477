"""Compare all methods, and methods of the user, on one robot."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from arcreach._io import read_bytes
from arcreach.experiments.benchmarks.arms import every_call
from arcreach.experiments.engine.comparison import Call, Case, Comparison, accepts
from arcreach.experiments.engine.experiment import Settings
from arcreach.experiments.engine.judge import AXIS, POSITION, ROTATION
from arcreach.experiments.report.parts import Part, Table, Text
from arcreach.files import load_chain
from arcreach.ik.own_methods import GROUP, is_own, load_method
from arcreach.robots.robot import Robot

TOLERANCES = {"loose": (1e-3, 1e-2), "fine": (1e-6, 1e-3)}
# The robot of a run that names none.
DEFAULT = "three-section"
# Largest number of targets of a user's method that is a plain function, called once per target.
SLOW = 200
# Bytes of the file of a user's method; compiled ones have some megabytes.
LARGEST_MODULE = 250_000_000


@dataclass(frozen=True)
class Compare(Comparison):
    """Every method that accepts a robot, on every kind of target that the robot has the degrees of freedom for."""

    @property
    def takes_robot(self) -> bool:
        """True: it runs on a robot of the user."""
        return True

    def cases(self, settings: Settings) -> Sequence[Case]:
        """Return position, axis and whole pose, as far as the robot has the degrees of freedom, at two tolerances."""
        robot = _robot(settings)
        kept = _cases.get(robot)
        if kept is None:
            goals = [goal for goal, least in ((POSITION, 1), (AXIS, 4), (ROTATION, 6)) if robot.dof >= least]
            kept = _cases[robot] = [
                Case(f"{goal}, {name}", robot, goal, *tolerances)
                for goal in goals
                for name, tolerances in TOLERANCES.items()
            ]
        return kept

    def calls_of(self, settings: Settings) -> tuple[Call, ...]:
        """Return all methods that accept the robot, and the methods of the user that are named."""
        served = [call for call in every_call() if any(accepts(call, case) for case in self.cases(settings))]
        return (*served, *(own_call(name) for name in _own(settings)))

    def chosen(self, settings: Settings, methods: Sequence[str]) -> tuple[str, ...]:
        """Accept `all`, names of methods, and `module:function` for a method of the user."""
        own = tuple(dict.fromkeys(name for name in methods if is_own(name)))
        for name in own:
            own_call(name)
        named = tuple(name for name in methods if name not in own)
        return (*super().chosen(settings, named if named or not own else ("all",)), *own)

    def sources(self, settings: Settings) -> dict[str, str]:
        """Return a digest of the file of every method of the user."""
        return {name: _source(name) for name in _own(settings)}

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield the robot if it is the default one, and the best method of every case."""
        if run.description["robot"] is None:
            yield Text(f"Robot: {DEFAULT} of the catalogue.")
        rows = []
        for case in run.cases:
            found = [one for one in run.of_case(case) if one.reached]
            if found:
                best = min(found, key=lambda one: (-one.share, one.median_time))
                rows.append((case, best.method, best.share_text, best.time_text))
        yield Text("The method with the largest share in each case; among equals, the fastest:")
        yield Table(("case", "best method", "reached % (95 %)", "median time"), tuple(rows))


_cases: dict[Robot, list[Case]] = {}


def _robot(settings: Settings) -> Robot:
    return settings.robot or load_chain(DEFAULT, "the experiment")


def _own(settings: Settings) -> list[str]:
    """Return the names of the user's methods in a run."""
    known = {call.label for call in every_call()}
    return [name for name in settings.methods if name not in known and is_own(name)]


def _source(name: str) -> str:
    """Return a digest of the file of a user's method, which is loaded already; empty if it has no file."""
    module = name.partition(":")[0] if ":" in name else next(iter(entry_points(group=GROUP, name=name))).module
    file = getattr(sys.modules[module], "__file__", None)
    return hashlib.sha256(read_bytes(file, LARGEST_MODULE)).hexdigest()[:16] if file else ""


def own_call(name: str) -> Call:
    """Return the call of a method of the user."""
    method = load_method(name)
    # A plain function keeps the name it was given by, and is called once per target.
    return Call(name, method.name, most=SLOW, block=100) if method.name == name else Call(name, method.name)


EXPERIMENT = Compare(
    name="compare",
    title="Which method is best for this robot",
    source="ours",
    small=1_000,
    full=100_000,
    count_printed=False,
    timed=500,
    law="each coordinate uniform between its limits, a section's bend up to the limit that its length allows; "
    "targets are positions, axes and whole poses, as far as the robot has the degrees of freedom; loosely (1 mm, "
    "0.01 rad) and finely (1 µm, 1e-3 rad)",
    differences=("Methods choose their own starts: most the rest pose, auto a seed near the target and near rest.",),
)
