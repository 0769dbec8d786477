"""The interface of an experiment: blocks of rows that can be computed independently, anywhere and in any order.

A block is identified by its case, its method and its range of targets. Its rows depend only on these, the name of the
experiment and the seed, so a run can be interrupted, continued, and distributed over threads and machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import choice, shown, suggestion
from arcreach.errors import MethodError
from arcreach.experiments.report.parts import Part
from arcreach.robots.robot import Robot

Columns = dict[str, Any]

FULL = "full"
# `source` of an experiment that does not come from a publication.
OURS = "ours"
CPU = "cpu"
DEVICES = (CPU, "cuda", "auto")


@dataclass(frozen=True)
class Settings:
    """The settings of a run; equal settings give equal rows."""

    seed: int = 0
    targets: int = 0  # of each case
    methods: tuple[str, ...] = ()  # all if empty
    robot: Robot | None = None
    # Device on which `auto` runs. It is not compared, because the rows of all devices agree within the tolerance.
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
        """The file name without ending: unsafe characters become dashes, and a digest keeps names unique."""
        text = f"{self.case} {self.method}"
        digest = hashlib.sha256(f"{self.case}\0{self.method}".encode()).hexdigest()[:8]
        words = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)[:60]
        return f"{words}-{digest}-{self.first:08d}-{self.count}"


@dataclass(frozen=True)
class Printed:
    """The authors' numbers for a case and a method; times in seconds, None if not printed."""

    case: str
    method: str
    success: float | None = None  # per cent
    mean_time: float | None = None
    median_time: float | None = None
    mean_iterations: float | None = None
    median_iterations: float | None = None
    label: str = ""  # the authors' name of the method, if it differs
    worst: float | None = None  # success of the worst case, per cent
    table: str = ""  # the printed table, if a source has several


@dataclass(frozen=True)
class Reading:
    """An assumption about what the authors ran for a printed method, computed under a label of its own."""

    of: str  # the printed name of the method
    label: str
    text: str  # the assumed settings, as a phrase that follows "explained by"
    printed_in: str = ""  # where the source prints these settings
    table: str = ""  # the printed table, if the source has several
    remains: str = ""  # a sentence on differences that the reading does not explain


@dataclass(frozen=True)
class Experiment:
    """A table or figure that can be computed."""

    name: str
    title: str
    source: str
    small: int  # default number of targets of a case: about a minute on two cores
    full: int  # the authors' number, or one for a full run if they print none
    law: str  # how the targets are drawn, as text for the report
    # Number of targets of a case that are timed, on one thread while nothing else runs.
    timed: int = 1000
    apart: tuple[str, ...] = ()  # methods that the experiment reports itself, outside the tables of the comparison
    # `reasons`: why our numbers differ, by printed name of the method. `differences`: other known differences.
    reasons: Mapping[str, str] = field(default_factory=dict)
    differences: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    count_printed: bool = True  # whether the source prints how many targets it has
    extras: Mapping[str, str] = field(default_factory=dict)  # further columns and their polars types
    budget: float | None = None  # the authors' seconds per solve; rows beyond it are counted as late

    def settings(
        self,
        targets: int | str | None = None,
        seed: int = 0,
        methods: Sequence[str] = (),
        robot: Robot | None = None,
        device: str = CPU,
    ) -> Settings:
        """Check the arguments and return the settings of a run."""
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
        choice("device", device, DEVICES, MethodError)
        settings = Settings(seed, targets, (), robot)
        return Settings(seed, targets, self.chosen(settings, methods), robot, device)

    @property
    def takes_robot(self) -> bool:
        """Whether the experiment runs on a robot that the user gives."""
        return False

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Return the labels of all methods, in the order of the report."""
        raise NotImplementedError

    def chosen(self, settings: Settings, methods: Sequence[str]) -> tuple[str, ...]:
        """Return the chosen labels: the name of a method chooses all its variants, `all` chooses everything."""
        known = self.method_labels(settings)
        if not methods or "all" in methods:
            return known
        wanted = []
        for name in methods:
            found = [label for label in known if label == name or label.split(" ")[0] == name]
            if not found:
                raise MethodError(
                    f"method = {shown(name)} is not one of experiment '{self.name}'; give {', '.join(known)}"
                    + suggestion(name, known)
                )
            wanted += found
        return tuple(label for label in known if label in wanted)

    def sources(self, settings: Settings) -> dict[str, str]:
        """Return, by label, a digest of the file of each user-defined method; stored rows belong to that version."""
        return {}

    def blocks(self, settings: Settings) -> list[Block]:
        """Return all blocks of a run."""
        raise NotImplementedError

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Compute the columns of a block: those of `store.COLUMNS`, and the extras."""
        raise NotImplementedError

    def warm_up(self, block: Block, settings: Settings) -> None:
        """Compile everything that a block needs, before times are taken."""

    def printed(self) -> list[Printed]:
        """Return the authors' numbers."""
        return []

    def verdicts(self, run: Any) -> Iterator[Any]:
        """Yield a `verdicts.Verdict` on every printed number that a run has rows for."""
        return iter(())

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield the parts of the report that are specific to this experiment; `run` is a `records.Run`."""
        return iter(())


def ranges(targets: int, timed: int, block: int) -> list[tuple[int, int]]:
    """Return first target and count of every block of a case: the timed block, then blocks of at most `block`."""
    timed = min(timed, targets)
    found = [(0, timed)]
    found += [(first, min(block, targets - first)) for first in range(timed, targets, block)]
    return found


def device_option(method: str, settings: Settings) -> dict[str, str]:
    """Return the keyword argument `device` of `solve_batch`, or none: only `auto` can run elsewhere than on the CPU."""
    return {"device": settings.device} if method == "auto" and settings.device != CPU else {}


def generator(settings: Settings, *words: str | int) -> np.random.Generator:
    """Return the random generator of a part of an experiment, seeded by the run's seed and the name of the part."""
    digest = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    numbers = [settings.seed, *np.frombuffer(digest[:16], np.uint32).tolist()]
    return np.random.default_rng(np.random.SeedSequence(numbers))


def columns_of(experiment: str, block: Block, settings: Settings, judged: Mapping[str, npt.NDArray[Any]]) -> Columns:
    """Return the complete columns of a block from the computed ones."""
    return {
        "experiment": experiment,
        "case": block.case,
        "method": block.method,
        "target": np.arange(block.first, block.first + block.count),
        "seed": settings.seed,
        **judged,
    }
