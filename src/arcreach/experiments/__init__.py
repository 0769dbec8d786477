"""Published tables and figures, computed again: `arcreach experiment run`, and a report that sets ours beside theirs.

They need the extra `cluster` for rows, and `figures` for the report.
"""

from arcreach.experiments.catalogue import NAMES as NAMES
from arcreach.experiments.catalogue import find_experiment as find_experiment
from arcreach.experiments.engine.run import run_experiment as run_experiment
