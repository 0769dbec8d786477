"""The folder of a run: a Parquet file per block, written whole or not at all.

A file appears under its name only after every byte of it is on the disk, so whatever ends a run, each file that is
there is complete. Its name ends in a checksum of its content and of what the run was begun with: a file that was
damaged, or that belongs to another run, is not taken for rows of this one, and its block is computed again.
"""

from __future__ import annotations

import contextlib
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

from arcreach._io import UNFINISHED, file_error, make_folder, read_bytes, read_text, write_bytes
from arcreach.errors import FileError
from arcreach.experiments.engine._polars import import_polars
from arcreach.experiments.engine.experiment import CPU, Block, Columns, Experiment, Settings

RUN_FILE = "run.json"
ROWS, SESSIONS = "rows", "sessions"
# Ending of a file whose checksum is not that of its content: kept, but never read again.
DAMAGED = ".damaged"
# Bytes of a description or a session, and of the rows of a block: many times what they have.
LARGEST_NOTE = 10_000_000
LARGEST_BLOCK = 1_000_000_000

# Every experiment has these columns; the types are polars'.
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
    """The robot of a run, as `run.json` describes it."""

    name: str
    elements: list[str]


class RunNote(BaseModel):
    """What `run.json` says: everything that the rows of a run follow from."""

    experiment: str
    seed: int
    targets: int
    methods: list[str]
    robot: RobotNote | None
    kernels: str


class SessionNote(BaseModel):
    """What the file of a session says: where and when its rows were computed."""

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
    """What must be the same for a run to go on: everything that its rows follow from."""
    robot = settings.robot
    return {
        "experiment": experiment.name,
        "seed": settings.seed,
        "targets": settings.targets,
        "methods": list(settings.methods),
        "robot": None if robot is None else {"name": robot.name, "elements": [repr(one) for one in robot.elements]},
        "kernels": kernels,
    }


class Store:
    """Rows, sessions and the description of one run."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @property
    def exists(self) -> bool:
        """Whether there is a run in the folder."""
        return (self.folder / RUN_FILE).is_file()

    def description(self) -> dict[str, Any]:
        """What the run was begun with."""
        if not self.exists:
            raise FileError(f"{self.folder}: holds no run; give a folder of `arcreach experiment run`")
        return _note(self.folder / RUN_FILE, RunNote, "the description of a run")

    def begin(self, description: dict[str, Any], resume: bool = True) -> None:
        """Make the folder, or check that the run in it is the same."""
        if self.exists and not resume:
            raise FileError(f"{self.folder}: holds a run already; leave --no-resume out or give another --out")
        if self.exists:
            begun = self.description()
            for name, value in description.items():
                if begun.get(name) != value:
                    raise FileError(
                        f"{self.folder}: holds a run with {name} = {_short(begun.get(name))}, this one has "
                        f"{_short(value)}; give another --out"
                    )
        elif self._files():
            raise FileError(
                f"{self.folder}: holds rows but no {RUN_FILE}, so nothing says which settings they have; give another "
                "--out"
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
        """Keep a second run out of the folder while this one writes; the system lets go when the process ends."""
        try:
            import fcntl
        except ImportError:
            # Windows has no such lock; two runs there write the same files with the same rows.
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

    def path(self, block: Block) -> Path | None:
        """Where the rows of a block are; None where there are none, or they are damaged."""
        return next((path for path in self._files().get(block.stem, ()) if self._whole(path)), None)

    def left(self, blocks: Iterable[Block]) -> list[Block]:
        """The blocks whose rows are not there yet, are damaged, or belong to another run."""
        files = self._files()
        return [block for block in blocks if not any(self._whole(path) for path in files.get(block.stem, ()))]

    def write(self, block: Block, columns: Columns, extras: dict[str, str]) -> None:
        """Write the rows of a block, all or none."""
        content = as_parquet(block, columns, extras)
        checksum = self._checksum(block.stem, content)
        write_bytes(self.folder / ROWS / f"{block.stem}-{checksum}.parquet", content)

    def write_session(self, name: str, facts: dict[str, Any]) -> None:
        """Write, or write anew, what is known of one session of the run."""
        write_bytes(self.folder / SESSIONS / f"{name}.json", json.dumps(facts, indent=1).encode())

    def sessions(self) -> list[dict[str, Any]]:
        """What is known of every session, the first one first."""
        paths = sorted((self.folder / SESSIONS).glob("*.json"))
        return [_note(path, SessionNote, "a session of a run") for path in paths]

    def rows(self) -> Any:
        """All rows that are there, as a polars LazyFrame."""
        polars = import_polars()
        files = sorted(path for paths in self._files().values() for path in paths)
        if not files:
            raise FileError(f"{self.folder}: has no rows yet; run the experiment first")
        for path in files:
            if not self._whole(path):
                raise file_error(
                    path, "is damaged, or no rows of this run; give the command of the run again to compute them anew"
                )
        return polars.scan_parquet(files)

    def _files(self) -> dict[str, list[Path]]:
        """The files of rows by the stems of their blocks."""
        found: dict[str, list[Path]] = {}
        for path in (self.folder / ROWS).glob("*.parquet"):
            found.setdefault(path.stem.rpartition("-")[0], []).append(path)
        return found

    def _whole(self, path: Path) -> bool:
        """Whether a file of rows is as it was written, and by this run."""
        stem, _, checksum = path.stem.rpartition("-")
        return checksum == self._checksum(stem, read_bytes(path, LARGEST_BLOCK))

    def _checksum(self, stem: str, content: bytes) -> str:
        return hashlib.sha256(self._signature + stem.encode() + content).hexdigest()[:16]

    @cached_property
    def _signature(self) -> bytes:
        """What the run was begun with, as bytes."""
        return json.dumps(self.description(), sort_keys=True).encode()


def _note(path: Path, model: type[BaseModel], what: str) -> dict[str, Any]:
    """The content of a JSON file of a run."""
    try:
        return model.model_validate_json(read_text(path, LARGEST_NOTE)).model_dump()
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise file_error(path, f"is not {what} ({place + ': ' if place else ''}{first['msg'].lower()})") from None


def as_parquet(block: Block, columns: Columns, extras: dict[str, str]) -> bytes:
    """The rows of a block as the content of a file."""
    polars = import_polars()
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
    """A name that sorts by time and that no other session has."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{time.time_ns() % 10**9:09d}-{os.getpid()}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
