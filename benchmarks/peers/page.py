"""Format the results of a run for the terminal and as a page of the documentation."""

from operator import itemgetter

from .judge import WARM_UP

OWN = ("auto", "auto-no-start")
HEAD = "| solver | reached | loose | false claims | mean | median | p99 |\n|---|---:|---:|---:|---:|---:|---:|"

TOP = """\
# Peers

Inverse kinematics by `auto` and by other packages, with the same URDF files, targets and random starts, on one core and
in one run. `make peers` writes this page. The times hold for the machine named below; ratios between rows of one table
carry over to other machines.

## How it is measured

- **Arms.** The serial arms of the catalogue and a chain of 60 joints, written as URDF files; arcreach reads them back
  like every other package.
- **Targets.** Whole poses: forward kinematics of configurations drawn uniformly within the limits. Each target has a
  start drawn in the same way, for solvers that accept one. `auto` is listed twice: with that start, and without one,
  which is the default.
- **Judge.** Forward kinematics in plain NumPy from the URDF file, independent of arcreach and of the peers. *Reached*
  means within 1e-6 m and 1e-6 rad, and within the limits to 1e-6; *loose* applies 1e-3 m and 1e-2 rad to the same
  solutions. *False claims* counts solutions that the solver reports as successful and the judge rejects.
- **Time.** Microseconds of processor time per call from Python, summed over all threads of the process, failures
  included. Set-up, compilation and {warm_up} warm-up solves are excluded. Inputs are converted beforehand to the form
  that each package prefers; only arcreach builds its `Target` from a matrix within the measured time. Every row
  includes the overhead of reading the clock.
- **Isolation.** Each pair of solver and arm runs in its own process, pinned to one core.
"""

SHORT = """\
`auto` against the general peers (all but EAIK): the peer with the lowest median time, and the peer with the lowest 99th
percentile. Values above 1 mean that `auto` is better.
"""

LIMITS = """\
## Limitations

- Single calls from Python are compared. Each row includes the overhead of a Python call, which affects the fastest
  solvers most. Batches, which arcreach and EAIK offer, and calls from the peers' own languages are not measured.
- EAIK differs in kind: it handles arms of six revolute joints whose inverse kinematics has a closed form, needs no
  start, and returns *all* solutions in less time than the others need for one. Where it applies, use it. Its time does
  not include selecting a solution within the limits.
- Pinocchio has no inverse kinematics. We wrote its two loops, in Python, and much of their time is Python overhead. The
  same loops in C++ would be faster; by how much is not measured.
- TRAC-IK runs two solvers in two threads. Here both share a core and both are counted; on two free cores it returns
  sooner than its processor time suggests. It is designed for looser tolerances than these.
- OptIK's strength, many restarts on many cores, is switched off. It does not accept prismatic joints.
- IKPy computes finite differences in Python from one start and offers no restarts, so it misses every target that needs
  another start.
- Random targets with random starts are the task of a planner. Following a path, where every start is near the target,
  is easier for all solvers and is not measured. Obstacles, preferred poses and smoothness are not required.
- We chose the settings of the peers by hand, as the best found at this tolerance over all arms. Experts of a package
  may find better ones; they are in `benchmarks/peers/solvers.py`.

## Repeat the measurement

```sh
make peers                                            # creates an environment, runs the comparison, writes this page
build/peers-venv/bin/python -m benchmarks.peers --targets 300 --arms ur5 panda --peers auto rtb-lm
```
"""


def line(row):
    """Format one row for the terminal."""
    head = f"{row['arm']:13} {row['solver']:14}"
    if "missing" in row:
        return f"{head} not available: {row['missing']}"
    return (
        f"{head} {row['tight']:5}/{row['targets']:<5} mean {row['mean']:9.1f}  median {row['median']:9.1f}  "
        f"p99 {row['p99']:9.1f} us"
    )


def verdicts(results):
    """Return the table of `auto` against the best of the general peers, arm by arm."""
    lines = [
        "| arm | `auto` | reached | best peer reached | median, times faster | p99, times lower |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for arm in results["arms"]:
        rows = {row["solver"]: row for row in results["rows"] if row["arm"] == arm and "missing" not in row}
        peers = [row for name, row in rows.items() if name not in OWN and results["solvers"][name]["general"]]
        if not peers:
            continue
        most = max(_share(row) for row in peers)
        fastest, steadiest = (min(peers, key=itemgetter(figure)) for figure in ("median", "p99"))
        for name in OWN:
            if name in rows:
                own = rows[name]
                lines.append(
                    f"| {arm} | {'given start' if name == 'auto' else 'no start'} | {_percent(_share(own))} | "
                    f"{_percent(most)} | {fastest['median'] / own['median']:.1f} ({_label(results, fastest)}) | "
                    f"{steadiest['p99'] / own['p99']:.1f} ({_label(results, steadiest)}) |"
                )
    return "\n".join(lines)


def page(results):
    """Return the whole page."""
    parts = [TOP.format(warm_up=WARM_UP), "## In short\n", SHORT, verdicts(results), "", "## All figures\n"]
    for arm, facts in results["arms"].items():
        parts += [f"### {arm}, {facts['dof']} joints\n", HEAD]
        parts += [_row(results, row) for row in results["rows"] if row["arm"] == arm]
        parts.append("")
    parts += ["## Settings and versions\n", _settings(results), "", _machine(results), "", LIMITS]
    return "\n".join(parts)


def _row(results, row):
    label = _label(results, row)
    if "missing" in row:
        return f"| {label} | not available: {row['missing']} | | | | | |"
    return (
        f"| {label} | {_percent(_share(row))} | {_percent(row['loose'] / row['targets'])} | {row['false_claims']} | "
        f"{_time(row['mean'])} | {_time(row['median'])} | {_time(row['p99'])} |"
    )


def _settings(results):
    lines = ["| solver | package | settings |", "|---|---|---|"]
    for name, solver in results["solvers"].items():
        used = {row["version"] for row in results["rows"] if row["solver"] == name and "missing" not in row}
        lines.append(f"| {solver['label']} | {solver['package']} {', '.join(sorted(used))} | {solver['settings']} |")
    return "\n".join(lines)


def _machine(results):
    where = results["machine"]
    fewer = [row for row in results["rows"] if row.get("targets", results["targets"]) < results["targets"]]
    text = (
        f"{results['targets']} targets per arm (seed {results['seed']}), {where['date']}, {where['processor']}, "
        f"{where['cores']} cores, {where['system']}, Python {where['python']}, NumPy {where['numpy']}, "
        f"Numba {where['numba']}."
    )
    if fewer:
        names = ", ".join(f"{_label(results, row)} on {row['arm']} ({row['targets']})" for row in fewer)
        text += f" Stopped after {results['seconds']:.0f} s, with fewer targets: {names}."
    return text


def _label(results, row):
    return results["solvers"][row["solver"]]["label"]


def _share(row):
    return row["tight"] / row["targets"]


def _percent(share):
    return f"{100 * share:.1f} %"


def _time(microseconds):
    """Format microseconds, with one decimal below 100."""
    return f"{microseconds:.1f}" if microseconds < 100 else f"{microseconds:.0f}"
