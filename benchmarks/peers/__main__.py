"""Compare `auto` with its peers and write the results.

    python -m benchmarks.peers [--targets 500] [--arms ur5 ...] [--peers rtb-lm ...] [--seconds 60] [--page]

Each pair of solver and arm runs in its own process, so a package that is missing or crashes loses only its own rows.
Results go to `build/peers/results.json`; `--page` writes `docs/peers.md` from them, `--page-only` without a new run.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from . import arms, judge, page
from .solvers import SOLVERS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "peers"
RESULTS = FOLDER / "results.json"
PAGE = ROOT / "docs" / "peers.md"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
# Time limit for a package to import, build and warm up.
PREPARATION_SECONDS = 120


def main():
    """Parse the arguments, run the comparison, write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=500, help="targets per arm")
    parser.add_argument("--arms", nargs="+", choices=arms.ARMS, default=arms.ARMS)
    parser.add_argument("--peers", nargs="+", choices=tuple(SOLVERS), default=tuple(SOLVERS))
    parser.add_argument("--seconds", type=float, default=60.0, help="a solver leaves an arm after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="write docs/peers.md")
    parser.add_argument("--page-only", action="store_true", help="write docs/peers.md from the last results")
    given = parser.parse_args()
    if not given.page_only:
        FOLDER.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(compare(given), indent=1) + "\n")
    if given.page or given.page_only:
        PAGE.write_text(page.page(json.loads(RESULTS.read_text())))


def compare(given):
    """Return all results of one run, as written to the JSON file."""
    results = {
        "machine": machine(),
        "targets": given.targets,
        "seed": given.seed,
        "seconds": given.seconds,
        "arms": {},
        "solvers": {name: described(SOLVERS[name]) for name in given.peers},
        "rows": [],
    }
    for arm in given.arms:
        results["arms"][arm] = arms.write(arm, FOLDER, given.targets, given.seed)
        for name in given.peers:
            row = {"arm": arm, "solver": name, **measured(name, arm, given.seconds)}
            results["rows"].append(row)
            print(page.line(row), flush=True)
    print("\n" + page.verdicts(results))
    return results


def described(solver):
    """Return the description of a solver for the page."""
    return {
        "label": solver.label,
        "package": solver.package,
        "settings": solver.settings,
        "general": getattr(solver, "general", True),
    }


def measured(name, arm, seconds):
    """Run a solver on an arm and check its solutions, or give the reason why there are none."""
    answers = FOLDER / f"{arm}.{name}.npz"
    answers.unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks.peers.worker", name, arm, str(FOLDER), str(seconds)]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD},
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + PREPARATION_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {"missing": f"no end within {seconds + PREPARATION_SECONDS:.0f} s"}
    if done.returncode != 0 or not answers.exists():
        return {"missing": reason(done)}
    return judged(arm, answers)


def reason(done):
    """Return in one line why a process ended without results."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    panics = [i for i, line in enumerate(lines) if "panicked at" in line]
    said = lines[panics[0] + 1] if panics else (lines[-1] if lines else "")
    if done.returncode < 0:
        return f"ended by {signal.Signals(-done.returncode).name}: {said}"
    return said.removeprefix("NotImplementedError: ") or f"exit code {done.returncode}"


def judged(arm, answers):
    """Return the results of one solver on one arm: successes by the judge, times in microseconds, failures included."""
    chain, poses, _ = judge.read_problems(FOLDER, arm)
    with np.load(answers) as data:
        q, claimed, microseconds = data["q"], data["claimed"], data["nanoseconds"] / 1e3
        prepared, used = float(data["prepared"]), str(data["version"])
    wanted = poses[judge.WARM_UP :]
    tight = np.array([judge.verdict(chain, *pair, judge.TIGHT) for pair in zip(q, wanted, strict=False)])
    loose = np.array([judge.verdict(chain, *pair, judge.LOOSE) for pair in zip(q, wanted, strict=False)])
    return {
        "targets": len(q),
        "tight": int(tight.sum()),
        "loose": int(loose.sum()),
        "false_claims": int((claimed & ~tight).sum()),
        "mean": microseconds.mean(),
        "median": float(np.median(microseconds)),
        "p99": float(np.percentile(microseconds, 99)),
        "prepared_s": prepared,
        "version": used,
    }


def machine():
    """Describe the machine, the versions and the date."""
    names = [row.split(":", 1)[1].strip() for row in _cpuinfo() if row.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _cpuinfo():
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    main()
