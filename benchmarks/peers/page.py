"""What a run saw, as lines for the terminal and as a page of the documentation. No figure is typed by hand."""

from operator import itemgetter

from .judge import WARM_UP

OWN = ("auto", "auto-no-start")
HEAD = "| solver | reached | loose | false claims | mean | median | p99 |\n|---|---:|---:|---:|---:|---:|---:|"

TOP = """\
# Peers

Inverse kinematics by `auto` and by other packages: the same URDF files, the same targets, the same random starts, one
core, one run. This page is written by `make peers`; the numbers are of the machine named below, and what carries over
to another machine is the ratio between two rows of one table.

## How it is measured

- **Arms.** The serial arms of the catalogue and a chain of 60 joints, written as URDF files; arcreach reads them back
  like every other package.
- **Targets.** Whole poses: forward kinematics of configurations drawn uniformly within the limits. Each has a start
  drawn in the same way, which every solver is handed that takes one. `auto` stands there twice: with that start, and
  without one, which is how it is called by default.
- **The judge.** Forward kinematics in plain NumPy from the URDF file, neither of arcreach nor of a peer. *Reached* is
  1e-6 m and 1e-6 rad with all limits kept to 1e-6; *loose* judges the same answers by 1e-3 m and 1e-2 rad. *False
  claims* are answers that a solver calls good and the judge does not. No solver's own word counts.
- **Time.** Microseconds of processor time per call from Python, all threads of the process together, failures
  included. Building, compiling and {warm_up} solves to warm up are not; input is given in the form each package likes
  best, made beforehand; only arcreach makes its `Target` from a matrix while the clock runs. What the clock itself
  costs is in every row.
- **Isolation.** Every solver runs every arm in a process of its own, held to one core.
"""

SHORT = """\
Against the general peers, all but EAIK: the one with the lowest median, and the one with the lowest 99th percentile of
time. More than 1 means that `auto` is better.
"""

LIMITS = """\
## What this does not show

- One call at a time from Python is what is compared. A part of every row is the way from Python and back, which weighs
  most on the fastest. Batches, which arcreach and EAIK offer, and calls from the peers' own languages are not measured.
- EAIK is of another kind: it knows arms of six joints whose inverse is a formula, needs no start, and gives *all*
  solutions in the time others need for one. Where it applies, it is the one to take. Choosing the solution that keeps
  the limits is not counted in its time.
- Pinocchio has no inverse kinematics. Its two loops are ours, in Python, and much of their time is Python's. The same
  loops in C++ would be faster; by how much is not measured.
- TRAC-IK runs two solvers in two threads. Here both share a core and both are counted; with two free cores its answer
  comes sooner than its processor time says. It is meant for looser tolerances than these.
- OptIK's strength, many restarts on many cores, is switched off. It does not accept joints that slide.
- IKPy works by differences in Python from a single start and offers no restarts: its misses are those of one start.
- Random targets with random starts are the task of a planner. Following a path, where every start is near, is easier
  for everyone and is not measured. Obstacles, preferred poses and smoothness are not asked for.
- Settings of the peers were chosen by hand, the best we found at this tolerance over all arms. Whoever knows a
  package better will find better ones: they stand in `benchmarks/peers/solvers.py`.

## Do it again

```sh
make peers                                            # an environment of its own, the run, this page
build/peers-venv/bin/python -m benchmarks.peers --targets 300 --arms ur5 panda --peers auto rtb-lm
```
"""


def line(row):
    """One row for the terminal."""
    head = f"{row['arm']:13} {row['solver']:14}"
    if "missing" in row:
        return f"{head} not available: {row['missing']}"
    return (
        f"{head} {row['tight']:5}/{row['targets']:<5} mean {row['mean']:9.1f}  median {row['median']:9.1f}  "
        f"p99 {row['p99']:9.1f} us"
    )


def verdicts(results):
    """`auto` against the best of the general peers, arm by arm, as a table."""
    lines = [
        "| arm | `auto` | reached | most of a peer | median, times faster | p99, times lower |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for arm in results["arms"]:
        rows = {row["solver"]: row for row in results["rows"] if row["arm"] == arm and "missing" not in row}
        peers = [row for name, row in rows.items() if name not in OWN and results["solvers"][name]["general"]]
        if not peers:
            continue
        most = max(_share(row) for row in peers)
        fastest, surest = (min(peers, key=itemgetter(figure)) for figure in ("median", "p99"))
        for name in OWN:
            if name in rows:
                own = rows[name]
                lines.append(
                    f"| {arm} | {'given start' if name == 'auto' else 'no start'} | {_percent(_share(own))} | "
                    f"{_percent(most)} | {fastest['median'] / own['median']:.1f} ({_label(results, fastest)}) | "
                    f"{surest['p99'] / own['p99']:.1f} ({_label(results, surest)}) |"
                )
    return "\n".join(lines)


def page(results):
    """The whole page."""
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
    said = (
        f"{results['targets']} targets per arm (seed {results['seed']}), {where['date']}, {where['processor']}, "
        f"{where['cores']} cores, {where['system']}, Python {where['python']}, NumPy {where['numpy']}, "
        f"Numba {where['numba']}."
    )
    if fewer:
        names = ", ".join(f"{_label(results, row)} on {row['arm']} ({row['targets']})" for row in fewer)
        said += f" Stopped after {results['seconds']:.0f} s, with fewer targets: {names}."
    return said


def _label(results, row):
    return results["solvers"][row["solver"]]["label"]


def _share(row):
    return row["tight"] / row["targets"]


def _percent(share):
    return f"{100 * share:.1f} %"


def _time(microseconds):
    """Three digits."""
    return f"{microseconds:.1f}" if microseconds < 100 else f"{microseconds:.0f}"
