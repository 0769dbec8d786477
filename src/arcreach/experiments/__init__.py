"""Published tables and figures, recomputed, and comparisons of methods on a robot.

Runs need the extra `cluster`, reports `cluster` and `figures`.
"""

from typing import TYPE_CHECKING

from arcreach._exports import lazy

if TYPE_CHECKING:
    from arcreach.experiments.catalogue import NAMES as NAMES
    from arcreach.experiments.catalogue import find_experiment as find_experiment
    from arcreach.experiments.engine.experiment import Experiment as Experiment
    from arcreach.experiments.engine.records import Run as Run
    from arcreach.experiments.engine.run import run_experiment as run_experiment
    from arcreach.experiments.report.statistics import Summary as Summary
    from arcreach.experiments.report.write import write_report as write_report

__getattr__, __dir__ = lazy(
    __name__,
    {
        "catalogue": "NAMES find_experiment",
        "engine.experiment": "Experiment",
        "engine.records": "Run",
        "engine.run": "run_experiment",
        "report.statistics": "Summary",
        "report.write": "write_report",
    },
)
