"""Run all examples, or those named, and take what the documentation shows of them.

    python docs/figures/examples.py [07_control_loop ...]

Pictures go to docs/images under the example's name; what the control loop measured goes to docs/measured.
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
    """What an example prints; its pictures lie in the folder."""
    print(example.name, flush=True)
    line = [sys.executable, str(example), str(folder)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout  # noqa: S603


def control_loop(printed: str) -> str:
    """The table of the page, from what the example printed."""
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
