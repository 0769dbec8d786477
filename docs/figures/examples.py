"""Run all or the named examples and update the pictures and numbers that the documentation shows.

    python docs/figures/examples.py [07_control_loop ...]

Pictures are written to docs/images under the example's name, the times of the control loop to docs/measured.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
MEASURED = ROOT / "docs" / "measured"
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
ROW = re.compile(
    r" +(.+?) +median +([\d.]+) %, p99 +([\d.]+) %, p99.9 +([\d.]+) %, worst +([\d.]+) % .*; (\d+) of (\d+)"
)


def run(example: Path, folder: Path) -> str:
    """Run an example that saves its pictures in the folder, and return its output."""
    print(example.name, flush=True)
    line = [sys.executable, str(example), str(folder)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout  # noqa: S603


def control_loop(printed: str) -> str:
    """Return the table of the page from the output of the example."""
    lines = [
        "| in per cent of a tick of 1 ms | median | p99 | p99.9 | worst | longer than a tick |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, *shares, late, count in ROW.findall(printed):
        lines.append(f"| {name} | {' | '.join(shares)} | {late} of {count} |")
    steps = re.findall(r"answer to answer, (.+): ([\d.]+)°", printed)
    decisions = re.search(r"decisions: (.+)", printed)
    lines += ["", f"Decisions: {decisions[1]}. " if decisions else ""]
    lines[-1] += "The largest step of a joint from one answer to the next, before the target leaves the reach: "
    lines[-1] += ", ".join(f"{step}° ({name})" for name, step in steps) + "."
    return "\n".join(lines) + "\n"


def main(*names: str) -> None:
    MEASURED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for example in EXAMPLES:
            if names and example.stem not in names:
                continue
            printed = run(example, Path(folder))
            if example.stem == "07_control_loop":
                (MEASURED / "control-loop.md").write_text(control_loop(printed), encoding="utf-8")
        for picture in sorted(Path(folder).glob("*.png")):
            shutil.copy(picture, IMAGES / picture.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
