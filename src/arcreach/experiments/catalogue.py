"""The experiments by name, in the order of the sources."""

from __future__ import annotations

import importlib
from typing import cast

from arcreach._checks import shown, suggestion
from arcreach.errors import MethodError
from arcreach.experiments.engine.experiment import Experiment

# The module of an experiment is its name with underscores.
_PUBLISHED = (
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
)
NAMES = (*_PUBLISHED, "arms", "compare")


def find_experiment(name: str) -> Experiment:
    """Return the experiment of that name."""
    if name not in NAMES:
        known = f"give one of {', '.join(NAMES)}{suggestion(name, NAMES)}"
        raise MethodError(f"experiment = {shown(name)} is not known; {known}")
    folder = "tables" if name in _PUBLISHED else "benchmarks"
    module = importlib.import_module(f"arcreach.experiments.{folder}.{name.replace('-', '_')}")
    return cast("Experiment", module.EXPERIMENT)
