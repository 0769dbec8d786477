"""The experiments by name, in the order of the sources."""

from __future__ import annotations

import importlib
from typing import cast

from arcreach._checks import shown
from arcreach.errors import MethodError
from arcreach.experiments.engine.experiment import Experiment

# The module of each is its name with underscores.
NAMES = (
    "single-section",
    "scaling",
    "workspace",
    "jacobian",
    "tangents-chords",
    "mixed-sections",
    "variable-curvature",
    "tube",
    "contact",
    "hierarchical",
    "finite-rotation",
    "arms",
    "compare",
)


def find_experiment(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in NAMES:
        raise MethodError(f"experiment = {shown(name)} is not known; give one of {', '.join(NAMES)}")
    module = importlib.import_module(f"arcreach.experiments.tables.{name.replace('-', '_')}")
    return cast("Experiment", module.EXPERIMENT)
