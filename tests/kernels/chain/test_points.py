"""Points of the backbone at places, and their derivatives."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.calibration.places import backbone_points, element_lengths, places_at

ROBOT = ar.Robot(
    [
        ar.Link((0.01, 0, 0.05)),
        ar.Revolute((0, 0, 1)),
        ar.Prismatic(0, 0.1, (0, 0, 1)),
        ar.Section(0.1, 2.0, stretch=0.05, length_weights=(1, 2), bend_weights=(2, 1)),
        ar.Parallelogram((0, 0.02, 0.01), (1, 0, 0), -1, 1),
        ar.Section(0.08, 2.5, twist=True),
    ]
)


def test_equal_steps_are_the_backbone():
    q = ROBOT.sample(1, seed=3)[0]
    total = element_lengths(ROBOT, q)[1].sum()
    places = places_at(ROBOT, q, np.linspace(0.0, total, 25))
    points, _ = backbone_points(ROBOT, q[None], *places)
    np.testing.assert_allclose(points[0], ROBOT.backbone(q, 25), atol=1e-15)


@pytest.mark.parametrize("bends", [1.0, 0.0])
def test_derivatives_are_those_of_differences(bends):
    q = ROBOT.sample(1, seed=3)[0]
    q[[2, 6]] *= bends
    places = places_at(ROBOT, q, np.linspace(0.0, element_lengths(ROBOT, q)[1].sum(), 12))
    _, J = backbone_points(ROBOT, q[None], *places)
    for k in range(ROBOT.dof):
        step = np.zeros(ROBOT.dof)
        step[k] = 1e-6
        sides = [backbone_points(ROBOT, (q + sign * step)[None], *places)[0][0] for sign in (1, -1)]
        np.testing.assert_allclose(J[0, :, :, k], (sides[0] - sides[1]) / 2e-6, atol=1e-8)


def test_beyond_the_tip_is_refused():
    with pytest.raises(ar.TargetError, match="beyond the tip"):
        places_at(ROBOT, ROBOT.neutral, np.array([1.0]))
