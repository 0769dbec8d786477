"""Build an exported solver for the host and for a Cortex-M4F, run it on targets, and read what it prints."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).parent
STRICT = [
    "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wconversion", "-Wdouble-promotion",
    "-Wfloat-conversion", "-Wvla",
]  # fmt: skip
SANITIZERS = ("-g", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
M4 = [
    "-mcpu=cortex-m4",
    "-mthumb",
    "-mfloat-abi=hard",
    "-mfpu=fpv4-sp-d16",
    "-Os",
    "-fno-math-errno",
    "-ffunction-sections",
]
QEMU = [
    "qemu-system-arm", "-M", "netduinoplus2", "-nographic", "-monitor", "none", "-serial", "none",
    "-semihosting-config", "enable=on,target=native", "-icount", "shift=0", "-kernel",
]  # fmt: skip
# Symbols that a program without a heap and in single precision must not contain.
FORBIDDEN = ("malloc", "free", "printf", "sinf", "cosf", "atan2f", "sqrtf")
SOFT_DOUBLE = ("__aeabi_d", "__aeabi_f2d")


@dataclass(frozen=True)
class Run:
    """The output of a build, a row per target."""

    instructions: npt.NDArray[np.int64]
    status: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    bits: tuple[str, ...]  # of status, steps and coordinates
    stack: int = 0


def missing_tools() -> str:
    """The programs that emulation needs and that are not installed."""
    needed = ("arm-none-eabi-gcc", "arm-none-eabi-nm", "qemu-system-arm")
    return ", ".join(name for name in needed if not shutil.which(name))


def target_rows(poses: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """The rows (n, 12) of poses (n, 4, 4): rotation, then position."""
    return np.concatenate([poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]], axis=1).astype(np.float32)


def hostile_rows(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Rows with numbers that a solver must refuse or survive: not finite, huge, tiny, zero rotations, out of reach."""
    found = []
    for value in (np.nan, np.inf, -np.inf, 1e38, -1e38, 1e-45, 1e12):
        for column in range(12):
            row = rows[column % len(rows)].copy()
            row[column] = value
            found.append(row)
    far = rows[:32].copy()
    far[:, 9:] *= np.geomspace(1.01, 1e9, len(far), dtype=np.float32)[:, None]
    return np.concatenate([np.array(found), np.zeros((1, 12), np.float32), far])


def write_targets(
    path: Path,
    rows: npt.NDArray[np.float32],
    mode: int,
    position_tol: float,
    angle_tol: float,
    max_steps: int | str = "AR_MAX_STEPS",
) -> None:
    """Write targets and tolerances as a header, numbers bit by bit."""
    bits = np.ascontiguousarray(rows, np.float32).view(np.uint32)
    table = ",\n".join("{" + ",".join(f"{number}u" for number in row) + "}" for row in bits)
    path.write_text(
        f"enum {{ TARGET_COUNT = {len(rows)}, MODE = {mode} }};\n"
        f"static const ar_options OPTIONS = {{(ar_real){position_tol!r}, (ar_real){angle_tol!r}, {max_steps}}};\n"
        f"static const uint32_t TARGETS[TARGET_COUNT][12] = {{\n{table}\n}};\n"
    )


def build_host(
    folder: Path, targets: Path, compiler: Sequence[str] = ("gcc",), flags: Sequence[str] = ("-O2",)
) -> Path:
    """Build the exported sources in a folder with every warning an error."""
    program = targets.with_suffix(".host")
    _run(
        [
            *compiler,
            *STRICT,
            *flags,
            *_includes(folder, targets),
            _kernel(folder),
            _file("main.c"),
            "-lm",
            "-o",
            program,
        ]
    )
    return program


def build_m4(folder: Path, targets: Path) -> tuple[Path, Path]:
    """Build for a Cortex-M4F; returns the object of the solver and the program."""
    solver, program = targets.with_suffix(".o"), targets.with_suffix(".elf")
    common = ["arm-none-eabi-gcc", *M4, *STRICT, *_includes(folder, targets)]
    _run([*common, "-c", _kernel(folder), "-o", solver])
    rest = ["-w", "-Wl,--gc-sections", "-nostartfiles", "-T", _file("link.ld"), _file("start.c"), _file("main.c")]
    _run([*common, *rest, solver, "-o", program])
    return solver, program


def forbidden_symbols(program: Path) -> list[str]:
    """Symbols of a program that it should do without."""
    names = _run(["arm-none-eabi-nm", program]).split()
    return [name for name in names if name in FORBIDDEN or name.startswith(SOFT_DOUBLE)]


def sizes(solver: Path, program: Path) -> tuple[int, int]:
    """Bytes of flash of the solver with forward kinematics and Jacobian, and of memory of one `ar_solver`."""
    flash = int(_run(["arm-none-eabi-size", solver]).splitlines()[1].split()[0])
    symbols = (line.split() for line in _run(["arm-none-eabi-nm", "-S", program]).splitlines())
    memory = next(int(entry[1], 16) for entry in symbols if entry[-1] == "solver")
    return flash, memory


def run_host(program: Path) -> Run:
    """Run a build for the host."""
    return _read(_run([program]))


def emulate(program: Path) -> Run:
    """Run a build for the Cortex-M4F in QEMU, which counts instructions."""
    lines = subprocess.run([*QEMU, program], capture_output=True, text=True, check=True, timeout=600).stderr
    *rows, stack = lines.strip().splitlines()
    found = _read("\n".join(rows))
    return Run(found.instructions, found.status, found.steps, found.bits, int(stack, 16))


def _read(text: str) -> Run:
    rows = text.splitlines()
    words = [row.split(maxsplit=3) for row in rows]
    numbers = np.array([[int(word, 16) for word in row[:3]] for row in words], np.uint32).astype(np.int32)
    return Run(*numbers.astype(np.int64).T, tuple(row.split(maxsplit=1)[1] for row in rows))


def _includes(folder: Path, targets: Path) -> list[str]:
    return [f"-I{folder / 'src'}", f'-DTARGETS_H="{targets}"']


def _kernel(folder: Path) -> str:
    return str(folder / "src" / "arcreach.c")


def _file(name: str) -> str:
    return str(HERE / name)


def _run(command: Sequence[str | Path]) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
