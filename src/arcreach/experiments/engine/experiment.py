"""What an experiment is: blocks of rows that can be computed one by one, anywhere, in any order.

A block is named by its case, its method and its range of targets. What it holds follows from these, the name of the
experiment and the seed alone: so a run can be interrupted, go on later, and be spread over threads and machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import shown
from arcreach.errors import MethodError
from arcreach.experiments.report.parts import Part
from arcreach.robots.robot import Robot

Columns = dict[str, Any]

FULL = "full"
# In place of a source.
OURS = "ours"
CPU = "cpu"
DEVICES = (CPU, "cuda", "auto")


@dataclass(frozen=True)
class Settings:
    """What a run is asked for beside its name; the same settings give the same rows."""

    seed: int = 0
    targets: int = 0  # of each case
    methods: tuple[str, ...] = ()  # all where empty
    robot: Robot | None = None
    # Where auto computes: no part of what a run is, since rows do not depend on it beyond their tolerance.
    device: str = field(default=CPU, compare=False)


@dataclass(frozen=True, order=True)
class Block:
    """A range of the targets of one case for one method."""

    case: str
    method: str
    first: int
    count: int

    @property
    def stem(self) -> str:
        """The name of its file: what a file system may not take is written as a dash, a digest keeps names apart."""
        text = f"{self.case} {self.method}"
        digest = hashlib.sha256(f"{self.case}\0{self.method}".encode()).hexdigest()[:8]
        words = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)[:60]
        return f"{words}-{digest}-{self.first:08d}-{self.count}"


@dataclass(frozen=True)
class Printed:
    """What the authors print for a case and a method; times in seconds, None where they print nothing."""

    case: str
    method: str
    success: float | None = None  # per cent
    mean_time: float | None = None
    median_time: float | None = None
    mean_iterations: float | None = None
    median_iterations: float | None = None
    label: str = ""  # their name of the method, where it is another
    worst: float | None = None  # success of the worst case, per cent
    table: str = ""  # where it is printed, if a source has several tables


@dataclass(frozen=True)
class Experiment:
    """A table or figure to compute again."""

    name: str
    title: str
    source: str
    small: int  # targets of each case by default: about a minute on two cores
    full: int  # the authors' number
    law: str  # how targets are drawn
    # Targets of a case that are solved by one thread while the others rest: times are taken from these.
    timed: int = 1000
    apart: tuple[str, ...] = ()  # methods that stand in no table of the comparison; the experiment reports them itself
    # By the printed name of a method why ours differs from it, and what else is known to differ from the print.
    reasons: Mapping[str, str] = field(default_factory=dict)
    differences: tuple[str, ...] = ()
    extras: Mapping[str, str] = field(default_factory=dict)  # further columns and their polars types

    def settings(
        self,
        targets: int | str | None = None,
        seed: int = 0,
        methods: Sequence[str] = (),
        robot: Robot | None = None,
        device: str = CPU,
    ) -> Settings:
        """The settings of a run, checked."""
        if targets is None:
            targets = self.small
        elif targets == FULL:
            targets = self.full
        if isinstance(targets, bool) or not isinstance(targets, int) or targets < 1:
            raise MethodError(f"targets = {shown(targets)} is not accepted; give a whole number above 0 or '{FULL}'")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise MethodError(f"seed = {shown(seed)} is not accepted; give a whole number, 0 or more")
        if robot is not None and not self.takes_robot:
            raise MethodError(f"experiment '{self.name}' has robots of its own; --robot is for 'compare'")
        if device not in DEVICES:
            raise MethodError(f"device = {shown(device)} is not accepted; give one of {', '.join(DEVICES)}")
        settings = Settings(seed, targets, (), robot)
        return Settings(seed, targets, self.chosen(settings, methods), robot, device)

    @property
    def takes_robot(self) -> bool:
        """Whether it runs on a robot of the user's."""
        return False

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Every method it can run, in the order of the report."""
        raise NotImplementedError

    def chosen(self, settings: Settings, methods: Sequence[str]) -> tuple[str, ...]:
        """The labels asked for: a method's name stands for all of its variants, `all` for everything."""
        known = self.method_labels(settings)
        if not methods or tuple(methods) == ("all",):
            return known
        wanted = []
        for name in methods:
            found = [label for label in known if label == name or label.split(" ")[0] == name]
            if not found:
                raise MethodError(
                    f"method = {shown(name)} is not one of experiment '{self.name}'; give {', '.join(known)}"
                )
            wanted += found
        return tuple(label for label in known if label in wanted)

    def blocks(self, settings: Settings) -> list[Block]:
        """All blocks of a run."""
        raise NotImplementedError

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Compute a block: a column per name, see `COLUMNS`, and the extras."""
        raise NotImplementedError

    def warm_up(self, block: Block, settings: Settings) -> None:
        """Let everything be compiled that a block needs, before times are taken."""

    def printed(self) -> list[Printed]:
        """What the authors print."""
        return []

    def verdicts(self, run: Any) -> Iterator[Any]:
        """A `verdicts.Verdict` on every printed number that the rows of a run stand beside."""
        return iter(())

    def parts(self, run: Any) -> Iterator[Part]:
        """The parts of the report that are this experiment's own; `run` is a `records.Run`."""
        return iter(())


def ranges(targets: int, timed: int, block: int) -> list[tuple[int, int]]:
    """First and count of the blocks of a case: the timed one, then blocks of this size."""
    timed = min(timed, targets)
    found = [(0, timed)]
    found += [(first, min(block, targets - first)) for first in range(timed, targets, block)]
    return found


def device_option(method: str, settings: Settings) -> dict[str, str]:
    """What `solve_batch` is told of the device: auto alone computes elsewhere than on the processor."""
    return {"device": settings.device} if method == "auto" and settings.device != CPU else {}


def generator(settings: Settings, *words: str | int) -> np.random.Generator:
    """The chance of one piece of an experiment: by the run's seed and the words that name the piece."""
    digest = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    numbers = [settings.seed, *np.frombuffer(digest[:16], np.uint32).tolist()]
    return np.random.default_rng(np.random.SeedSequence(numbers))


def columns_of(experiment: str, block: Block, settings: Settings, judged: Mapping[str, npt.NDArray[Any]]) -> Columns:
    """Whole rows from what a block computed."""
    return {
        "experiment": experiment,
        "case": block.case,
        "method": block.method,
        "target": np.arange(block.first, block.first + block.count),
        "seed": settings.seed,
        **judged,
    }
