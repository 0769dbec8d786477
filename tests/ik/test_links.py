"""Virtual links in the traces of the FABRIK methods, against forward kinematics."""

import numpy as np
import pytest

import arcreach as ar

CASES = [
    ("three-section", "fabrikc"),
    ("extensible-sections", "fabrikx"),
    ("inserted-three-section", "fabrikx"),
    ("three-section", "chords"),
]


def solved(name, method, **options):
    robot = ar.load_robot(name)
    pose = robot.tip_pose(robot.sample(1, seed=3)[0])
    target = ar.Target(pose[:3, 3], axis=pose[:3, 2])
    return robot, target, ar.solve(robot, target, method, max_iterations=30, **options)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_links_are_those_of_the_configuration_and_of_the_target(name, method):
    robot, target, solution = solved(name, method, trace=True)
    trace = solution.trace
    forward, backward = trace.links["forward"], trace.links["backward"]
    sections = [i for i, element in enumerate(robot.elements) if isinstance(element, ar.Section)]
    assert forward.shape == backward.shape == (len(trace), len(sections), 3, 3)
    assert len(trace) > 2
    for q, links in zip(trace.q, backward, strict=True):
        frames = robot.frames(q)
        np.testing.assert_allclose(links[:, 0], frames[sections, :3, 3], atol=1e-12)
        np.testing.assert_allclose(links[:, 2], frames[[i + 1 for i in sections], :3, 3], atol=1e-12)
        if method != "chords":
            # The joint lies on both tangents.
            for i, (start, joint, end) in zip(sections, links, strict=True):
                assert np.linalg.norm(np.cross(joint - start, frames[i][:3, 2])) < 1e-12
                assert np.linalg.norm(np.cross(end - joint, frames[i + 1][:3, 2])) < 1e-12
    # Forward reaching ends at the target, with sections joined end to end.
    np.testing.assert_allclose(forward[1:, -1, 2], np.tile(target.position, (len(trace) - 1, 1)), atol=1e-12)
    np.testing.assert_allclose(forward[1:, :-1, 2], forward[1:, 1:, 0], atol=1e-12)
    assert np.isnan(forward[0]).all()
    assert np.isnan(forward[:, :, 1]).all() == (method == "chords")


def test_chords_are_rotated_about_the_tip():
    _, _, solution = solved("three-section", "chords", trace=True)
    links = solution.trace.links
    assert list(links) == ["forward", "backward", "adjusted"]
    # No rotation follows the last iteration, which reaches the target.
    assert np.isnan(links["adjusted"][[0, -1]]).all()
    before, after = links["backward"][1:-1], links["adjusted"][1:-1]
    np.testing.assert_allclose(after[:, -1, 2], before[:, -1, 2], atol=1e-15)
    np.testing.assert_allclose(
        np.linalg.norm(after[:, -1, 0] - after[:, -1, 2], axis=1),
        np.linalg.norm(before[:, -1, 0] - before[:, -1, 2], axis=1),
        rtol=1e-12,
    )
    assert not np.allclose(after, before, equal_nan=True)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_a_trace_changes_no_answer(name, method):
    _, _, traced = solved(name, method, trace=True)
    _, _, plain = solved(name, method)
    assert np.array_equal(traced.q, plain.q)
    assert traced.iterations == plain.iterations
    assert plain.trace is None


def test_links_keep_their_positions_when_a_section_bends_beyond_half_a_turn():
    robot = ar.Robot([ar.Section(0.1, 6.0), ar.Section(0.1, 6.0)])
    solution = ar.solve(robot, [0.02, 0.01, 0.03], "fabrikx", start=[4.0, 0.3, 4.4, 1.0], trace=True, max_iterations=5)
    frames = robot.frames(solution.trace.q[0])[:, :3, 3]
    np.testing.assert_allclose(solution.trace.links["backward"][0, :, 0], frames[:2], atol=1e-12)
    np.testing.assert_allclose(solution.trace.links["backward"][0, :, 2], frames[1:], atol=1e-12)
