"""Read the rows of a run and summarise them."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

from arcreach._extras import require
from arcreach.experiments.catalogue import find_experiment
from arcreach.experiments.engine.comparison import Comparison
from arcreach.experiments.engine.experiment import Experiment, Settings
from arcreach.experiments.engine.store import Store
from arcreach.experiments.report.statistics import Summary
from arcreach.experiments.report.verdicts import Verdict


class Run:
    """A run in its folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.store = Store(folder)
        self.description = self.store.description()
        self.experiment: Experiment = find_experiment(self.description["experiment"])
        self.sessions = self.store.sessions()

    @property
    def settings(self) -> Settings:
        """The settings of the run; the robot is missing, since only its description is stored."""
        known = self.description
        return Settings(known["seed"], known["targets"], tuple(known["methods"]))

    @property
    def finished(self) -> bool:
        """Whether the last session ended with all rows; an earlier one may have, before files were damaged."""
        return bool(self.sessions) and self.sessions[-1]["finished"]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of the run that are compared, in the order of the report."""
        return tuple(method for method in self.settings.methods if method not in self.experiment.apart)

    @cached_property
    def lazy(self) -> Any:
        """The rows of all methods that are compared, as a polars LazyFrame."""
        rows = self.store.rows()
        apart = self.experiment.apart
        return rows.filter(~require("polars").col("method").is_in(apart)) if apart else rows

    @cached_property
    def frame(self) -> Any:
        """The same rows as a polars DataFrame, for experiments with few rows."""
        return self.lazy.collect()

    @cached_property
    def timed(self) -> Any:
        """The rows that were timed, as a polars DataFrame."""
        polars = require("polars")
        wanted = ("case", "method", "target", "reached", "iterations", "seconds")
        return self.lazy.filter(polars.col("target") < self.experiment.timed).select(wanted).collect()

    @cached_property
    def summaries(self) -> list[Summary]:
        """One summary per case and method, in the order of the experiment."""
        found = [self._summary(row) for row in self._grouped(("case", "method"))]
        cases = {case: k for k, case in enumerate(self.case_order)}
        methods = {method: k for k, method in enumerate(self.methods)}
        return sorted(found, key=lambda one: (cases.get(one.case, len(cases)), one.case, methods.get(one.method, 99)))

    @cached_property
    def overall(self) -> list[Summary]:
        """One summary per method, over all cases."""
        found = {row["method"]: self._summary(row | {"case": ""}) for row in self._grouped(("method",))}
        return [found[method] for method in self.methods if method in found]

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The verdicts on all printed numbers."""
        return list(self.experiment.verdicts(self))

    @cached_property
    def case_order(self) -> list[str]:
        """The cases in the order of the experiment."""
        if isinstance(self.experiment, Comparison):
            return [case.name for case in self.experiment.cases(self.settings)]
        return list(dict.fromkeys(block.case for block in self.experiment.blocks(self.settings)))

    @cached_property
    def failures(self) -> list[tuple[str, int, float, float]]:
        """By method: the number of targets not reached, and their median errors in metres and radians."""
        polars = require("polars")
        rows = (
            self.lazy.filter(~polars.col("reached"))
            .group_by("method")
            .agg(polars.len(), polars.col("position_error").median(), polars.col("angle_error").median())
            .collect()
            .rows()
        )
        return sorted(rows, key=lambda row: self.methods.index(row[0]))

    @property
    def cases(self) -> list[str]:
        """The cases that have rows."""
        have = {one.case for one in self.summaries}
        return [case for case in self.case_order if case in have]

    def of_case(self, case: str) -> list[Summary]:
        """Return the summaries of a case."""
        return [one for one in self.summaries if one.case == case]

    def by_label(self, label: str, **where: Any) -> dict[str, list[tuple[float, Summary]]]:
        """Return the summaries of every method against a label of the cases; `where` selects cases by other labels."""
        assert isinstance(self.experiment, Comparison)
        value = {
            case.name: case.labels[label]
            for case in self.experiment.cases(self.settings)
            if label in case.labels and all(case.labels.get(name) == wanted for name, wanted in where.items())
        }
        polars = require("polars")
        cases = polars.LazyFrame({"case": list(value), "label": [float(one) for one in value.values()]})
        rows = self._grouped(("method", "label"), self.lazy.join(cases, on="case"))
        found: dict[str, list[tuple[float, Summary]]] = {}
        for method in self.methods:
            curve = [(row["label"], self._summary(row | {"case": ""})) for row in rows if row["method"] == method]
            if curve:
                found[method] = sorted(curve, key=lambda pair: pair[0])
        return found

    def _grouped(self, keys: tuple[str, ...], rows: Any = None) -> list[dict[str, Any]]:
        polars = require("polars")
        reached = polars.col("reached")
        # Only targets that were reached count: for times the timed ones, for iterations all.
        timed = reached & (polars.col("target") < self.experiment.timed)
        seconds, iterations = polars.col("seconds"), polars.col("iterations")
        budget = self.experiment.budget
        late = polars.lit(0) if budget is None else (reached & (seconds > budget)).sum()
        found: list[dict[str, Any]] = (
            (self.lazy if rows is None else rows)
            .group_by(keys)
            .agg(
                polars.len().alias("count"),
                reached.sum().alias("reached"),
                late.alias("late"),
                seconds.filter(timed).mean().alias("mean_time"),
                seconds.filter(timed).median().alias("median_time"),
                seconds.filter(timed).quantile(0.99).alias("p99_time"),
                iterations.filter(reached).mean().alias("mean_iterations"),
                iterations.filter(reached).median().alias("median_iterations"),
            )
            .collect()
            .to_dicts()
        )
        return found

    def _summary(self, row: dict[str, Any]) -> Summary:
        numbers = ("mean_time", "median_time", "p99_time", "mean_iterations", "median_iterations")
        values = {name: float("nan") if row[name] is None else float(row[name]) for name in numbers}
        return Summary(row["case"], row["method"], row["count"], row["reached"], row["late"], **values)
