"""Cells of the workspace, and which of them a solver finds."""

import numpy as np
import pytest

from arcreach.experiments.engine.experiment import Block, Settings


def test_cells_and_their_corners():
    from arcreach.experiments.tables.workspace import CELL, CELLS, cell_of, lower_left

    cells = np.arange(CELLS)
    middle = lower_left(cells) + 0.5 * CELL
    turned = np.stack([middle[:, 0] * np.cos(1.0), middle[:, 0] * np.sin(1.0), middle[:, 1]], axis=1)
    assert np.array_equal(cell_of(turned), cells)
    assert cell_of(np.array([[0.2, 0.0, 0.0], [0.0, 0.0, -0.2]])).tolist() == [-1, -1]


def test_cells_of_a_solver_are_compared_with_chance():
    from arcreach.experiments.tables.workspace import EXPERIMENT, MONTE_CARLO

    assert EXPERIMENT.settings(methods=["auto"]).methods == (MONTE_CARLO, "auto")


@pytest.mark.compiled
def test_auto_finds_every_cell_that_chance_finds():
    from arcreach.experiments.tables.workspace import EXPERIMENT, MONTE_CARLO, name_of

    settings = EXPERIMENT.settings(20_000, 0)
    chance = EXPERIMENT.rows(Block(name_of(3), MONTE_CARLO, 0, 10_500), settings)["reached"]
    auto = EXPERIMENT.rows(Block(name_of(3), "auto", 4200, 2100), settings)["reached"]
    assert chance.sum() > 500
    assert not (chance[4200:6300] & ~auto).any()


@pytest.mark.compiled
def test_a_cell_that_five_points_miss_is_out_of_their_reach():
    """Chance hits a corner of the cell; the tip, searched for by chance alone, comes to none of the five points."""
    from arcreach.experiments.tables.workspace import (
        CELLS,
        FINE,
        POSITION_TOL,
        SHIFTS,
        WIDE,
        _by_solver,
        lower_left,
        robot,
    )

    cell = (55 + 5) * WIDE + 75
    arm, hits = robot(2), np.full((CELLS, 2), np.nan)
    found = _by_solver(arm, Block("2 sections", "auto", cell, 1), hits, Settings())
    assert found["found_by"].tolist() == [FINE]
    assert found["asked"][0] > len(SHIFTS)
    rng, low = np.random.default_rng(0), lower_left(np.array([cell]))[0]

    def away(q, point):
        tips = arm.tip_pose(q)[:, :3, 3]
        return np.hypot(np.hypot(tips[:, 0], tips[:, 1]) - point[0], tips[:, 2] - point[1])

    for shift in SHIFTS:
        point, spread = low + shift, 0.2
        q = arm.sample(20_000, seed=0)
        for _ in range(40):
            q = q[np.argsort(away(q, point))[:200]]
            q = np.concatenate([q, *(arm.clip(q + rng.normal(0.0, spread, q.shape)) for _ in range(5))])
            spread *= 0.8
        nearest = away(q, point).min()
        assert nearest > POSITION_TOL
        assert nearest > found["nearest"][0] - 1e-8
