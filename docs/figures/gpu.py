"""Write docs/measured/gpu.md, the table of batches on a GPU, from the results of `benchmarks/gpu.py --json`."""

import json
from pathlib import Path

MEASURED = Path(__file__).parents[1] / "measured"
RATES = ("kernel", "kernel, any robot", "end to end", "cpu, all threads", "cpu, one thread")


def rate(solves):
    """Format millions of solves per second with three digits."""
    return f"{solves / 1e6:.3g}"


def main():
    rows = json.loads((MEASURED / "gpu.json").read_text(encoding="utf-8"))
    lines = [
        "| case | targets | not reached | as on the CPU, % | kernels, this robot, M/s | kernels, any robot, M/s "
        "| end to end, M/s | 16 cores, M/s | one core, M/s | first call, s |",
        "|---|" + 9 * "---:|",
    ]
    for row in rows:
        counts = [f"{row['targets']:,}", f"{row['targets'] - row['reached']:,}"]
        if "seconds" in row:
            speeds = ["", "", "", f"{rate(row['targets'] / row['seconds'])} ({row['seconds']:.3f} s)", "", "", ""]
        else:
            same = f"{100 * row['same as cpu']:.4f}"
            speeds = [same, *(rate(row[name]) for name in RATES), f"{row['first call']:.1f}"]
        lines.append("| " + " | ".join([row["case"], *counts, *speeds]) + " |")
    (MEASURED / "gpu.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
