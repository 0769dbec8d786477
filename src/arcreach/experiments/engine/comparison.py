"""Experiments that compare methods on the same targets, drawn by forward kinematics.

Targets are drawn in chunks of 500. The random numbers of a chunk depend on the run's seed, the experiment, the case and
the number of the chunk only, so a target is the same for every method and every size of block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.experiments.engine.experiment import (
    Block,
    Columns,
    Experiment,
    Settings,
    columns_of,
    device_option,
    generator,
    ranges,
)
from arcreach.experiments.engine.judge import AXIS, Judged, judge
from arcreach.experiments.report.parts import Part
from arcreach.experiments.report.statistics import failure_table
from arcreach.experiments.report.verdicts import Verdict, on_summary
from arcreach.ik.method import find_method
from arcreach.ik.solve import solve_batch
from arcreach.ik.target import Targets
from arcreach.robots.robot import Robot

CHUNK = 500


@dataclass(frozen=True)
class Case:
    """A robot, the kind of target, and the tolerances."""

    name: str
    robot: Robot | Callable[[np.random.Generator], Robot]  # a function draws one for every chunk
    goal: str = AXIS
    position_tol: float = 1e-6
    angle_tol: float = 1e-3
    targets_of: Robot | None = None  # the robot whose poses are the targets, if it is not `robot`
    max_iterations: int | None = None
    # By label of a method: the iterations that fit into a printed time budget.
    limits: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)  # properties by which figures group the cases


@dataclass(frozen=True)
class Call:
    """A method with its options, and the label of its column."""

    label: str
    method: str
    variant: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    most: int | None = None  # largest number of targets of a case, for slow methods
    block: int = 10_000
    robot_of: Callable[[Robot], Robot] | None = None  # maps the case's robot to the one that is sampled and solved


@dataclass(frozen=True)
class Comparison(Experiment):
    """An experiment that compares methods."""

    make_cases: Callable[[], Sequence[Case]] = tuple
    calls: tuple[Call, ...] = ()
    random_start: bool = False  # start each solve at a random configuration instead of the method's own
    pictures: Callable[[Any], Iterator[Part]] | None = None
    make_printed: Callable[[], list[Any]] = list
    # By method: the printed median errors of targets that were not reached, in metres and radians.
    failed: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def cases(self, settings: Settings) -> Sequence[Case]:
        """Return the cases of a run."""
        return _cases(self.make_cases)

    def calls_of(self, settings: Settings) -> tuple[Call, ...]:
        """Return the methods of a run."""
        return self.calls

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Return the labels of all methods."""
        return tuple(call.label for call in self.calls_of(settings))

    def blocks(self, settings: Settings) -> list[Block]:
        """Return the blocks of every case and every method that accepts it."""
        found = []
        for case in self.cases(settings):
            for call in self.calls_of(settings):
                if call.label in settings.methods and accepts(call, case):
                    count = min(settings.targets, call.most or settings.targets)
                    found += [Block(case.name, call.label, *one) for one in ranges(count, self.timed, call.block)]
        return found

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Solve the targets of a block on one thread, and judge the results."""
        call = next(call for call in self.calls_of(settings) if call.label == block.method)
        case = case_of(call, next(case for case in self.cases(settings) if case.name == block.case))
        parts = [
            _solve(
                robot, case, call, poses, starts if self.random_start else None, device_option(call.method, settings)
            )
            for robot, poses, starts in self.targets(case, settings, block.first, block.count)
        ]
        judged = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return columns_of(self.name, block, settings, judged)

    def warm_up(self, block: Block, settings: Settings) -> None:
        """Compile the kernels that a block needs by solving two of its targets."""
        self.rows(replace(block, first=0, count=min(2, block.count)), settings)

    def targets(self, case: Case, settings: Settings, first: int, count: int) -> Iterator[tuple[Robot, Array, Array]]:
        """Yield robots with target poses (n, 4, 4) and starts (n, dof); a fixed robot is yielded once."""
        pieces = [self._chunk(case, settings, k) for k in range(first // CHUNK, -(-(first + count) // CHUNK))]
        skip = first % CHUNK
        if callable(case.robot):
            for k, (robot, poses, starts) in enumerate(pieces):
                low = skip if k == 0 else 0
                high = min(CHUNK, first + count - (first // CHUNK + k) * CHUNK)
                yield robot, poses[low:high], starts[low:high]
        else:
            poses = np.concatenate([piece[1] for piece in pieces])[skip : skip + count]
            starts = np.concatenate([piece[2] for piece in pieces])[skip : skip + count]
            yield case.robot, poses, starts

    def _chunk(self, case: Case, settings: Settings, k: int) -> tuple[Robot, Array, Array]:
        rng = generator(settings, self.name, case.name, k)
        robot = case.robot(rng) if callable(case.robot) else case.robot
        poses = (case.targets_of or robot).tip_pose((case.targets_of or robot).sample(CHUNK, rng))
        return robot, poses, robot.sample(CHUNK, rng)

    def printed(self) -> list[Any]:
        """Return the authors' numbers."""
        return self.make_printed()

    def verdicts(self, run: Any) -> Iterator[Verdict]:
        """Yield the verdicts on numbers printed for a case and a method, or for a method over all cases."""
        for theirs in self.printed():
            own = run.summaries if theirs.case else run.overall
            every = [one for one in run.summaries if one.method == theirs.method]
            worst = min(every, key=lambda one: one.share, default=None)
            for one in own:
                if (one.case, one.method) == (theirs.case, theirs.method):
                    yield from on_summary(theirs.table or self.source, one, theirs, worst)

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield the errors of targets that were not reached, and the figures of this experiment."""
        if run.failures:
            yield failure_table(run.failures, self.failed)
        if self.pictures is not None:
            yield from self.pictures(run)


@cache
def _cases(make: Callable[[], Sequence[Case]]) -> Sequence[Case]:
    """Return the cases; they are built once per process, because methods store precomputed data with a robot."""
    return tuple(make())


@lru_cache(maxsize=1024)
def _remade(robot: Robot, robot_of: Callable[[Robot], Robot]) -> Robot:
    return robot_of(robot)


def case_of(call: Call, case: Case) -> Case:
    """Return a case with the robot that a call samples and solves."""
    if call.robot_of is None:
        return case
    assert isinstance(case.robot, Robot), "robot_of needs a case with one robot, not a function that draws robots"
    return replace(case, robot=_remade(case.robot, call.robot_of))


def accepts(call: Call, case: Case) -> bool:
    """Return whether a method accepts a case."""
    robot = case.robot(np.random.default_rng(0)) if callable(case.robot) else case.robot
    return find_method(call.method).refusal(robot, case.goal) is None


def most_iterations(case: Case, call: Call) -> int | None:
    """Return the largest number of iterations of a method in a case; None is the method's default."""
    return case.limits.get(call.label, case.max_iterations)


def _solve(
    robot: Robot, case: Case, call: Call, poses: Array, starts: Array | None, device: Mapping[str, Any]
) -> Judged:
    tolerances = (case.position_tol, case.angle_tol)
    found = solve_batch(
        robot,
        Targets.from_poses(poses, case.goal),
        method=call.method,
        variant=call.variant,
        start=starts,
        threads=1,
        position_tol=case.position_tol,
        angle_tol=case.angle_tol,
        max_iterations=most_iterations(case, call),
        **device,
        **call.options,
    )
    return {
        **judge(robot, found.q, poses, case.goal, *tolerances, found.status),
        "iterations": found.iterations,
        "seconds": found.seconds,
    }
