"""`load_exported`: compile an exported solver and call it from Python."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import real_array, shown
from arcreach._io import file_error, write_bytes
from arcreach._typing import Array
from arcreach.errors import ConfigurationError, FileError, RobotError, TargetError
from arcreach.files.load import read_robot
from arcreach.ik.judge import judge
from arcreach.ik.solution import Solution, Solutions
from arcreach.ik.target import Targets, as_target, as_targets
from arcreach.robots.robot import Robot

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared")
BAD_INPUT = {-2: "target", -3: "start", -4: "tolerance or number of steps"}
MOST_STEPS = 2**31 - 1  # of an int32_t


def find_compiler() -> list[str]:
    """Return the command of the first C compiler found: $CC, cc, gcc, clang, or the one of the package ziglang."""
    given = os.environ.get("CC")
    if given:
        return shlex.split(given)
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise FileError("no C compiler was found; install gcc or clang, or run: pip install ziglang")


def load_exported(folder: str | os.PathLike[str], compiler: Sequence[str] | None = None) -> ExportedSolver:
    """Compile the sources that `export_c` wrote into a folder, and load the solver.

    `compiler` is the command of a C compiler, by default that of `find_compiler`.
    """
    return ExportedSolver(Path(folder), list(compiler) if compiler else find_compiler())


class ExportedSolver:
    """An exported robot: the solver, kinematics and pulls of its C sources, in their precision.

    The status of a solution is the one that the C solver returned; errors are computed by `robot.tip_pose`.
    """

    def __init__(self, folder: Path, compiler: list[str]) -> None:
        if not (folder / "src" / "arcreach.c").is_file():
            raise file_error(folder, "holds no exported solver; give the folder that export_c wrote")
        robot = read_robot(folder / "robot.toml")
        assert isinstance(robot, Robot)
        self.robot = robot
        self._library = _compile(folder / "src", compiler)
        self.precision = "float64" if self._library.arcreach_precision() == 8 else "float32"
        self._real: Any = np.float64 if self.precision == "float64" else np.float32

    def solve(
        self,
        target: Any,
        start: npt.ArrayLike | None = None,
        position_tol: float | None = None,
        angle_tol: float | None = None,
        max_steps: int | None = None,
    ) -> Solution:
        """Solve one target: a `Target`, a position or a pose. Omitted options have the defaults of the C sources."""
        return self._solve(as_target(target).batch, start, position_tol, angle_tol, max_steps)[0]

    def solve_batch(
        self,
        targets: Targets | npt.ArrayLike,
        axes: npt.ArrayLike | None = None,
        rotations: npt.ArrayLike | None = None,
        start: npt.ArrayLike | None = None,
        position_tol: float | None = None,
        angle_tol: float | None = None,
        max_steps: int | None = None,
    ) -> Solutions:
        """Solve many targets, given as for `arcreach.solve_batch`."""
        return self._solve(as_targets(targets, axes, rotations), start, position_tol, angle_tol, max_steps)

    def tip_pose(self, q: npt.ArrayLike) -> Array:
        """Return the pose (4, 4) of a configuration (dof,), or poses (n, 4, 4) of a batch (n, dof)."""
        poses = self._rows(self._library.arcreach_forward, q, (3, 4))
        last = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*poses.shape[:-2], 1, 4))
        return np.concatenate([poses, last], axis=-2)

    def jacobian(self, q: npt.ArrayLike) -> Array:
        """Return the Jacobian (6, dof) of a configuration (dof,), or Jacobians (n, 6, dof) of a batch (n, dof)."""
        return self._rows(self._library.arcreach_jacobian, q, (6, self.robot.dof))

    def pulls(self, q: npt.ArrayLike) -> Array:
        """Return the pulls (tendons,) of a configuration (dof,), or pulls (n, tendons) of a batch (n, dof)."""
        return self._rows(self._function("arcreach_pulls"), q, (len(self.robot.tendons),))

    def from_pulls(self, pulls: npt.ArrayLike, q: npt.ArrayLike | None = None) -> Array:
        """Return the configuration for pulls (tendons,) or (n, tendons); `q` gives the joints, by default `neutral`."""
        convert = self._function("arcreach_from_pulls")
        rows = self._checked("pulls", pulls, len(self.robot.tendons))
        out = np.empty((*rows.shape[:-1], self.robot.dof), self._real)
        out[:] = self.robot.neutral if q is None else self.robot.checked(q)
        convert(ctypes.c_long(out.size // self.robot.dof), _pointer(rows), _pointer(out))
        return out.astype(np.float64)

    def _function(self, name: str) -> Callable[..., Any]:
        """Return a C function that is exported for some robots only; raise RobotError if it is missing."""
        try:
            return getattr(self._library, name)  # type: ignore[no-any-return]
        except AttributeError:
            lacking = "tendons" if not self.robot.tendons else "tendons that all run parallel to the backbone"
            raise RobotError(
                f"robot '{self.robot.name}' has no {name.removeprefix('arcreach_')} in C; it needs {lacking}"
            ) from None

    def _checked(self, field: str, value: npt.ArrayLike, width: int) -> Any:
        """Return a row (width,) or rows (n, width) in the precision of the sources, which check no lengths."""
        given = real_array(value)
        if given is None or given.ndim not in {1, 2} or given.shape[-1] != width:
            raise ConfigurationError(
                f"{field} = {shown(value)} is not accepted; give numbers of shape ({width},) or (n, {width})"
            )
        return np.ascontiguousarray(given, self._real)

    def _rows(self, function: Callable[..., Any], q: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
        given = self._checked("q", q, self.robot.dof)
        out = np.empty((*given.shape[:-1], *shape), self._real)
        function(ctypes.c_long(given.size // self.robot.dof), _pointer(given), _pointer(out))
        return out.astype(np.float64)

    def _solve(
        self,
        wanted: Targets,
        start: npt.ArrayLike | None,
        position_tol: float | None,
        angle_tol: float | None,
        max_steps: int | None,
    ) -> Solutions:
        mode, rows = wanted.packed
        targets = np.ascontiguousarray(rows, self._real)
        n = len(targets)
        begin = None if start is None else self._checked("start", start, self.robot.dof)
        if begin is not None and begin.shape[:-1] not in {(), (n,)}:
            raise ConfigurationError(f"start has {len(begin)} rows for {n} targets; give one row, or one per target")
        starts = None if begin is None else np.ascontiguousarray(np.broadcast_to(begin, (n, self.robot.dof)))
        q = np.zeros((n, self.robot.dof), self._real)
        status, steps = np.zeros(n, np.int32), np.zeros(n, np.int32)
        # Negative values select the defaults of the C sources, which refuse 0.
        options = np.array([-1.0 if t is None else max(t, 0.0) for t in (position_tol, angle_tol)], self._real)
        most = -1 if max_steps is None else min(max(max_steps, 0), MOST_STEPS)
        began = time.perf_counter()
        self._library.arcreach_solve(
            ctypes.c_long(n),
            mode,
            _pointer(targets),
            None if starts is None else _pointer(starts),
            _pointer(options),
            ctypes.c_int32(most),
            _pointer(q),
            _pointer(status),
            _pointer(steps),
        )
        seconds = np.full(n, (time.perf_counter() - began) / max(n, 1))
        if n and status.min() < 0:
            i = int(status.argmin())
            raise TargetError(f"target {i} is refused by the exported solver: its {BAD_INPUT[int(status[i])]}")
        configurations = q.astype(np.float64)
        claimed = status.astype(np.int64)
        # `judge` corrects a copy of the status: only its errors are used.
        tolerances = (1.0, 1.0)
        seen = Targets.from_packed(mode, targets.astype(np.float64))
        errors = judge(self.robot, configurations, seen, tolerances, claimed.copy())
        return Solutions(
            configurations,
            claimed,
            *errors,
            steps.astype(np.int64),
            seconds,
            "exported",
            robot=self.robot,
            targets=seen,
        )


def _pointer(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _compile(source: Path, compiler: list[str]) -> Any:
    """Compile the sources in a folder together with loops over batches, and load the shared library."""
    loops = resources("arcreach.files.exports.c") / "kernel" / "binding.c"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        library = Path(folder) / "solver.so"
        write_bytes(Path(folder, "binding.c"), loops.read_bytes())
        command = [*compiler, *FLAGS, f"-I{source}", "-o", str(library), str(Path(folder) / "binding.c"), "-lm"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        except OSError as error:
            raise FileError(f"the C compiler {compiler[0]} cannot be run ({error})") from None
        if done.returncode:
            raise FileError(f"{shlex.join(command)} failed: {done.stderr.strip()[-500:]}")
        return ctypes.CDLL(str(library))
