"""The gradients of a port against differences, for all kinds of elements."""

import math

import numpy as np

import arcreach as ar
from arcreach.kernels.clearance.body import PIECE_SIZE, body_pieces
from arcreach.kernels.clearance.gradient import row_gradient
from arcreach.kernels.clearance.obstacle_clearance import CLEARANCE_SIZE, DISTANCE
from arcreach.kernels.clearance.port import PORT_ROWS, Port, angle_gradient, write_port_rows


def test_gradients_are_those_of_differences():
    robot = ar.Robot(
        [
            ar.Parallelogram([0.1, 0.0, 0.05], axis=[0, 1, 0], lower=-1, upper=1),
            ar.Revolute(axis=[1, 0, 0], lower=-1, upper=1),
            ar.Section(length=0.05, stretch=0.05, bend_max=2.0, length_weights=(1, 2), bend_weights=(2, 1)),
            ar.Section(length=0.05, bend_max=2.0, twist=True),
            ar.Prismatic(axis=[0, 0, 1], lower=0.01, upper=0.05),
            ar.Section(length=0.05, bend_max=2.0),
        ]
    )
    rng = np.random.default_rng(3)
    pieces = np.empty((len(robot.packed), PIECE_SIZE))
    passed = set()

    def spares(q, port):
        rows = np.empty((PORT_ROWS, CLEARANCE_SIZE))
        write_port_rows(port, pieces, body_pieces(robot.packed, q, pieces), 0.0, rows)
        return rows

    for q in robot.sample(24, seed=5):
        axis = rng.normal(size=3)
        point = robot.backbone(q, 60)[rng.integers(5, 60)] + 0.005 * rng.normal(size=3)
        element = int(rng.integers(0, 6)) if rng.random() < 0.5 else None
        first, last = (0, 5) if element is None or element == 1 else (element, element)
        port = Port(tuple(point), tuple(axis / np.linalg.norm(axis)), 0.0, 0.3, 1.0, first, last)
        rows, found = spares(q, port), np.empty((PORT_ROWS, robot.dof))
        passed.add(rows[0, 1])
        row_gradient(robot.packed, q, rows[:1], found[0])
        angle_gradient(robot.packed, q, port, rows, found[1])
        for k, step in enumerate(1e-6 * np.eye(robot.dof)):
            slopes = (spares(q + step, port) - spares(q - step, port))[:, DISTANCE] / 2e-6
            np.testing.assert_allclose(found[:, k], slopes, atol=1e-6 * (1.0 + np.abs(found).max()))
    assert len(passed) >= 4
    assert math.isinf(spares(robot.neutral.copy(), port._replace(first=9, last=9))[0, DISTANCE])
