"""The folder of a run: a Parquet file per block, written whole or not at all.

A file appears under its name only after every byte of it is on the disk, so whatever ends a run, each file that is
there is complete, and a block is computed again exactly when its file is missing.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from arcreach.errors import FileError
from arcreach.experiments._polars import import_polars
from arcreach.experiments.experiment import Block, Columns, Experiment, Settings

RUN_FILE = "run.json"
ROWS, SESSIONS = "rows", "sessions"
UNFINISHED = ".part"

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
        path = self.folder / RUN_FILE
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FileError(f"{self.folder}: holds no run; give a folder of `arcreach experiment run`") from None
        except (OSError, ValueError) as error:
            raise FileError(f"{path}: cannot be read ({error})") from None
        if not isinstance(found, dict) or "experiment" not in found:
            raise FileError(f"{path}: is not the description of a run")
        return found

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
        try:
            for folder in (ROWS, SESSIONS):
                (self.folder / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{self.folder}: cannot be made ({error})") from None
        for left in self.folder.glob(f"*/*{UNFINISHED}"):
            left.unlink(missing_ok=True)
        if not self.exists:
            self._replace(self.folder / RUN_FILE, json.dumps(description, indent=1).encode())

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second run out of the folder while this one writes; the system lets go when the process ends."""
        try:
            import fcntl
        except ImportError:
            # Windows has no such lock; two runs there write the same files with the same rows.
            yield
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise FileError(f"{self.folder}: another run is writing to it; wait for it or give --out") from None
            yield

    def path(self, block: Block) -> Path:
        """Where the rows of a block are."""
        return self.folder / ROWS / f"{block.stem}.parquet"

    def left(self, blocks: Iterable[Block]) -> list[Block]:
        """The blocks whose rows are not there yet, or cannot be read."""
        return [block for block in blocks if not self._whole(block)]

    def _whole(self, block: Block) -> bool:
        path = self.path(block)
        if not path.is_file():
            return False
        polars = import_polars()
        try:
            return bool(polars.scan_parquet(path).select(polars.len()).collect().item() == block.count)
        except (polars.exceptions.PolarsError, OSError):
            return False

    def write(self, block: Block, columns: Columns, extras: dict[str, str]) -> None:
        """Write the rows of a block, all or none."""
        self._replace(self.path(block), as_parquet(block, columns, extras))

    def write_session(self, name: str, facts: dict[str, Any]) -> None:
        """Write, or write anew, what is known of one session of the run."""
        self._replace(self.folder / SESSIONS / f"{name}.json", json.dumps(facts, indent=1).encode())

    def sessions(self) -> list[dict[str, Any]]:
        """What is known of every session, the first one first."""
        return [json.loads(path.read_text("utf-8")) for path in sorted((self.folder / SESSIONS).glob("*.json"))]

    def rows(self) -> Any:
        """All rows that are there, as a polars LazyFrame."""
        polars = import_polars()
        files = sorted((self.folder / ROWS).glob("*.parquet"))
        if not files:
            raise FileError(f"{self.folder}: has no rows yet; run the experiment first")
        return polars.scan_parquet(files)

    def _replace(self, path: Path, content: bytes) -> None:
        part = path.with_name(f"{path.name}.{os.getpid()}{UNFINISHED}")
        try:
            with part.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise FileError(
                    f"{self.folder}: no space left on the disk; what was written is kept, free some space and run the "
                    "same command again to go on"
                ) from None
            raise FileError(f"{path}: cannot be written ({error})") from None


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
