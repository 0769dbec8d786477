"""The folder of a run: one Parquet file per block, written atomically.

A file gets its final name once its content is on disk, so an interrupted run leaves no incomplete files. The name ends
in a checksum of the content and of the run's description: a damaged file, or one of another run, is not read, and its
block is computed again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import json
import os
import time
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from arcreach._extras import require
from arcreach._io import UNFINISHED, file_error, make_folder, read_bytes, read_text, write_bytes
from arcreach._text import coordinate, number
from arcreach.elements import Element, Tendon
from arcreach.elements.element import PLAIN
from arcreach.errors import FileError
from arcreach.experiments.engine.experiment import CPU, Block, Columns, Experiment, Settings

RUN_FILE = "run.json"
ROWS, SESSIONS = "rows", "sessions"
# Entry of the description for people. It follows from the robot, so a run that lacks it can be continued.
ROBOT_TEXT = "robot_text"
# Ending given to a file with a wrong checksum, which is kept but never read again.
DAMAGED = ".damaged"
# Largest sizes in bytes of a description or session, and of the rows of a block.
LARGEST_NOTE = 10_000_000
LARGEST_BLOCK = 1_000_000_000

# Columns of every experiment, with their polars types.
COLUMNS = {
    "experiment": "String",
    "case": "String",
    "method": "String",
    "target": "Int64",
    "seed": "Int64",
    "status": "String",
    "reached": "Boolean",
    "position_error": "Float64",
    "angle_error": "Float64",
    "iterations": "Int64",
    "seconds": "Float64",
}


class RobotNote(BaseModel):
    """The robot of a run in `run.json`."""

    name: str
    elements: list[str]


class RunNote(BaseModel):
    """The content of `run.json`: everything that the rows of a run depend on."""

    experiment: str
    seed: int
    targets: int
    methods: list[str]
    robot: RobotNote | None
    robot_text: list[str] = []  # the elements in degrees and millimetres; absent in runs of earlier versions
    kernels: str
    sources: dict[str, str] = {}  # absent in runs without methods of the user


class SessionNote(BaseModel):
    """The content of a session file: where and when rows were computed."""

    began: str
    threads: int
    cluster: str | None
    device: str = CPU
    processor: str
    cores: int | None
    system: str
    python: str
    versions: dict[str, str]
    commit: str | None
    kernels: str
    seconds: float
    rows: int
    finished: bool


def describe(experiment: Experiment, settings: Settings, kernels: str) -> dict[str, Any]:
    """Return the description of a run: everything that its rows depend on, and that a continued run must share."""
    robot, sources = settings.robot, experiment.sources(settings)
    return {
        "experiment": experiment.name,
        "seed": settings.seed,
        "targets": settings.targets,
        "methods": list(settings.methods),
        "robot": None if robot is None else {"name": robot.name, "elements": [repr(one) for one in robot.elements]},
        **({} if robot is None else {ROBOT_TEXT: [*map(_element_text, robot.element_names, robot.elements)]}),
        "kernels": kernels,
        **({"sources": sources} if sources else {}),
    }


def _element_text(name: str, element: Element) -> str:
    """Return an element in degrees and millimetres: its name and kind, and the fields that differ from defaults."""
    fields = [field for field in dataclasses.fields(element) if field.name != "name"]
    given = [(field, getattr(element, field.name)) for field in fields]
    told = [
        f"{one.name} {_value_text(value, one.metadata['quantity'])}" for one, value in given if value != one.default
    ]
    kind = "" if element.kind in name else f" ({element.kind})"
    return f"{name}{kind}: {', '.join(told)}" if told else f"{name}{kind}"


def _value_text(value: Any, quantity: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        if value and isinstance(value[0], Tendon):
            return str(len(value))
        return f"({', '.join(_value_text(one, quantity) for one in value)})"
    return number(value, 6) if quantity == PLAIN else coordinate(value, quantity)


class Store:
    """The rows, sessions and description of one run."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run."""
        return (self.folder / RUN_FILE).is_file()

    def description(self) -> dict[str, Any]:
        """Return the description that the run began with."""
        if not self.exists:
            raise FileError(f"{self.folder}: holds no run; give a folder of `arcreach experiment run`")
        return _note(self.folder / RUN_FILE, RunNote, "the description of a run")

    def begin(self, description: dict[str, Any], resume: bool = True) -> None:
        """Make the folder, or check that its run has the same description; rename files with a wrong checksum."""
        if self.exists and not resume:
            raise FileError(f"{self.folder}: holds a run already; leave --no-resume out or give another --out")
        if self.exists:
            begun = self.description()
            for name, value in description.items():
                if begun.get(name) == value or name == ROBOT_TEXT:
                    continue
                if name == "sources":
                    before = begun.get(name, {})
                    changed = ", ".join(method for method in value if before.get(method) != value[method])
                    raise FileError(
                        f"{self.folder}: holds rows of {changed} from before its file was changed; give another --out"
                    )
                raise FileError(
                    f"{self.folder}: holds a run with {name} = {_short(begun.get(name))}, this one has "
                    f"{_short(value)}; give another --out"
                )
        elif self._files():
            raise FileError(
                f"{self.folder}: holds rows but no {RUN_FILE}, so their settings are not known; give another --out"
            )
        for folder in (ROWS, SESSIONS):
            make_folder(self.folder / folder)
        for left in self.folder.glob(f"*/{UNFINISHED}*"):
            left.unlink(missing_ok=True)
        if not self.exists:
            write_bytes(self.folder / RUN_FILE, json.dumps(description, indent=1).encode())
        for path in [path for paths in self._files().values() for path in paths if not self._whole(path)]:
            path.replace(path.with_suffix(DAMAGED))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against a second run; the system releases the lock when the process ends."""
        try:
            import fcntl
        except ImportError:
            # Windows has no such lock; `rows` reads one file of a block that two runs have written.
            yield
            return
        make_folder(self.folder)
        try:
            stream = (self.folder / "lock").open("w")
        except OSError as error:
            raise file_error(self.folder / "lock", f"cannot be written ({error})") from None
        with stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise FileError(f"{self.folder}: another run is writing to it; wait for it or give --out") from None
            yield

    def left(self, blocks: Iterable[Block]) -> list[Block]:
        """Return the blocks whose rows are missing, damaged, or of another run."""
        files = self._files()
        return [block for block in blocks if not any(self._whole(path) for path in files.get(block.stem, ()))]

    def write(self, block: Block, columns: Columns, extras: dict[str, str]) -> None:
        """Write the rows of a block atomically."""
        content = as_parquet(block, columns, extras)
        checksum = self._checksum(block.stem, content)
        write_bytes(self.folder / ROWS / f"{block.stem}-{checksum}.parquet", content)

    def write_session(self, name: str, facts: dict[str, Any]) -> None:
        """Write or replace the file of a session."""
        write_bytes(self.folder / SESSIONS / f"{name}.json", json.dumps(facts, indent=1).encode())

    def sessions(self) -> list[dict[str, Any]]:
        """Return the content of all session files, the oldest first."""
        paths = sorted((self.folder / SESSIONS).glob("*.json"))
        return [_note(path, SessionNote, "a session of a run") for path in paths]

    def rows(self) -> Any:
        """Return all rows as a polars LazyFrame."""
        polars = require("polars")
        found = self._files()
        if not found:
            raise FileError(f"{self.folder}: has no rows yet; run the experiment first")
        for path in [path for paths in found.values() for path in paths]:
            if not self._whole(path):
                raise file_error(
                    path, "is damaged or from another run; run the same command again to recompute its rows"
                )
        return polars.scan_parquet([paths[0] for paths in found.values()])

    def _files(self) -> dict[str, list[Path]]:
        """Return the files of rows by the stems of their blocks."""
        found: dict[str, list[Path]] = {}
        for path in sorted((self.folder / ROWS).glob("*.parquet")):
            found.setdefault(path.stem.rpartition("-")[0], []).append(path)
        return found

    def _whole(self, path: Path) -> bool:
        """Return whether a file of rows is undamaged and was written by this run."""
        stem, _, checksum = path.stem.rpartition("-")
        return checksum == self._checksum(stem, read_bytes(path, LARGEST_BLOCK))

    def _checksum(self, stem: str, content: bytes) -> str:
        return hashlib.sha256(self._signature + stem.encode() + content).hexdigest()[:16]

    @cached_property
    def _signature(self) -> bytes:
        """The description of the run as bytes."""
        return json.dumps(self.description(), sort_keys=True).encode()


def _note(path: Path, model: type[BaseModel], what: str) -> dict[str, Any]:
    """Return the content of a JSON file of a run."""
    try:
        # Unset fields are left out: the checksums of rows include the description as it was written.
        return model.model_validate_json(read_text(path, LARGEST_NOTE)).model_dump(exclude_unset=True)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise file_error(path, f"is not {what} ({field + ': ' if field else ''}{first['msg'].lower()})") from None


def as_parquet(block: Block, columns: Columns, extras: dict[str, str]) -> bytes:
    """Return the rows of a block as the content of a Parquet file."""
    polars = require("polars")
    series = []
    for name, kind in {**COLUMNS, **extras}.items():
        values = columns.get(name)
        if not isinstance(values, np.ndarray):
            values = [values] * block.count
        elif len(values) != block.count:
            raise ValueError(f"column {name} has {len(values)} rows, the block {block.count}")
        series.append(polars.Series(name, values, dtype=getattr(polars, kind), strict=False))
    stream = io.BytesIO()
    polars.DataFrame(series).write_parquet(stream, compression="zstd")
    return stream.getvalue()


def session_name() -> str:
    """Return a unique name that sorts by time."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(seconds))}-{nanoseconds:09d}-{os.getpid()}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
