"""Write the table of batches on a GPU, docs/measured/gpu.md, from what `benchmarks/gpu.py --json` measured."""

import json
from pathlib import Path

MEASURED = Path(__file__).parents[1] / "measured"


def rate(solves):
    """Solves per second in words."""
    return f"{solves / 1e6:.3g} M/s" if solves < 1e8 else f"{solves / 1e6:.0f} M/s"


def main():
    rows = json.loads((MEASURED / "gpu.json").read_text(encoding="utf-8"))
    lines = [
        "| case | reached | as on the CPU | kernels, this robot | kernels, any robot | end to end | 16 CPU cores "
        "| one core | first call |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        reached = f"{row['reached']} of {row['targets']}"
        if "seconds" in row:
            whole = f"{row['targets'] / row['seconds'] / 1e6:.0f} M/s ({row['seconds']:.3f} s)"
            speeds = ["", "", "", whole, "", "", ""]
        else:
            names = ("kernel", "kernel, any robot", "end to end", "cpu, all threads", "cpu, one thread")
            same = f"{100 * row['same as cpu']:.4f} %"
            speeds = [same, *(rate(row[name]) for name in names), f"{row['first call']:.1f} s"]
        lines.append("| " + " | ".join([row["case"], reached, *speeds]) + " |")
    (MEASURED / "gpu.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
