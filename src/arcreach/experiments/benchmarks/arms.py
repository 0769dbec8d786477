"""Serial arms of the catalogue: every method that accepts them, from one random start, at two tolerances."""

from __future__ import annotations

from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.engine.judge import ROTATION
from arcreach.files import load_chain
from arcreach.ik.method import methods

ARMS = ("puma-560", "ur5", "iiwa-14", "panda", "era-like", "rail-iiwa-14", "arm-8r")
TOLERANCES = {"loose": (1e-3, 1e-2), "tight": (1e-6, 1e-6)}
# Largest numbers of targets of slow methods: hierarchical takes thousands of steps.
SLOW = {"hierarchical": 200}


def cases() -> list[Case]:
    """Return seven arms at two tolerances."""
    found = []
    for name in ARMS:
        robot = load_chain(name, "the experiment")
        for tolerance, (position_tol, angle_tol) in TOLERANCES.items():
            labels = {"arm": name, "tolerance": tolerance}
            found.append(Case(f"{name}, {tolerance}", robot, ROTATION, position_tol, angle_tol, labels=labels))
    return found


def every_call() -> tuple[Call, ...]:
    """Return every method with every variant."""
    return tuple(
        Call(f"{name} {variant}" if variant else name, name, variant, most=SLOW.get(name))
        for name, method in methods().items()
        for variant in (method.variants or (None,))
    )


EXPERIMENT = Comparison(
    name="arms",
    title="Serial arms",
    source="ours",
    small=500,
    full=2_000,
    count_printed=False,
    law="each joint uniform between its limits; the whole pose, loosely (1 mm, 0.01 rad) and tightly (1e-6 m, 1e-6 rad)"
    "; each solve begins at a random configuration, the same for every method",
    differences=("auto restarts from seeds where the start fails; most other methods have this one start.",),
    make_cases=cases,
    calls=tuple(
        call
        for call in every_call()
        # These accept only robots with sections.
        if call.method not in ("fabrikx", "fabrikc", "chords", "portfolio", "single-section")
    ),
    random_start=True,
)
