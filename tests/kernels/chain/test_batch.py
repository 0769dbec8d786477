"""A batch equals a loop of single calls bit by bit."""

import numpy as np
import pytest
from tests import reference

from arcreach import _threads
from arcreach.kernels.chain import batch as chain_batch

# One lane less than a block, a block, one more, and several blocks with a remainder.
SIZES = [0, 1, chain_batch.LANES - 1, chain_batch.LANES, chain_batch.LANES + 1, 3 * chain_batch.LANES + 5]


@pytest.fixture(params=[0, 1, *(pytest.param(k, marks=pytest.mark.compiled) for k in range(2, 6))])
def robot(request):
    return reference.random_robot(np.random.default_rng(request.param))


@pytest.mark.parametrize("question", ["tip_pose", "frames", "backbone", "jacobian", "clip", "within_limits"])
def test_batch_equals_a_loop_of_singles(robot, question):
    ask = getattr(robot, question)
    for size in SIZES:
        Q = robot.sample(size, seed=size)
        batch = ask(Q)
        assert len(batch) == size
        for q, row in zip(Q, batch, strict=True):
            np.testing.assert_array_equal(row, ask(q))


def test_angles_too_large_for_the_lanes_are_computed_singly(robot):
    Q = robot.sample(100, seed=0)
    Q[40] *= 1e8
    poses = robot.tip_pose(Q)
    for q, pose in zip(Q, poses, strict=True):
        np.testing.assert_array_equal(pose, robot.tip_pose(q))


@pytest.mark.compiled
def test_the_answer_does_not_depend_on_the_number_of_threads(robot, monkeypatch):
    Q = robot.sample(20_000, seed=1)
    answers = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("ARCREACH_THREADS", threads)
        answers.append(robot.tip_pose(Q))
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
    assert set(_threads._pools) >= {2, 5}
