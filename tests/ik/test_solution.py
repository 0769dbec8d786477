"""Solutions with their robot and target."""

import numpy as np
import pytest

import arcreach as ar

ARM = ar.load_robot("three-section")
TARGETS = ar.Targets.from_poses(ARM.tip_pose(ARM.sample(5, seed=2)), "axis")


def test_every_solver_returns_the_robot_and_the_target():
    single, batch = ar.solve(ARM, TARGETS[1]), ar.solve_batch(ARM, TARGETS)
    [first, *_] = ar.solve_all(ARM, TARGETS[1])
    traced = ar.solve(ARM, TARGETS[1], "lm", trace=True)
    for solution in (single, batch[1], batch[1:][0], first, traced):
        assert solution.robot is ARM
        assert solution.target == TARGETS[1]
    assert batch.targets == TARGETS
    assert batch[batch.reached].targets == TARGETS


def test_tolerances_of_a_check_are_checked():
    found = ar.solve_batch(ARM, TARGETS)
    for one in (found, found[0]):
        for tolerances in ({"position_tol": "1 mm"}, {"position_tol": 0}, {"angle_tol": -1.0}):
            with pytest.raises(ar.TargetError, match=r"_tol = .* is not accepted"):
                one.check(**tolerances)


def test_a_solution_is_checked_again():
    found = ar.solve_batch(ARM, TARGETS)
    again, strict = found.check(), found.check(position_tol=1e-15)
    np.testing.assert_array_equal(again.position_error, found.position_error)
    assert again.reached.all()
    assert not strict.reached.any()
    solution = found[0]
    solution.q = ARM.neutral
    assert solution.check().status == ar.Status.STALLED
    distance = np.linalg.norm(ARM.tip_pose(ARM.neutral)[:3, 3] - TARGETS.positions[0])
    assert solution.check().position_error == pytest.approx(distance)
    assert solution.check(position_tol=1.0, angle_tol=4.0).reached


def test_a_collision_stays_one():
    ball = ar.Sphere(TARGETS.positions[0], 0.005)
    touching = ar.solve(ARM, TARGETS[0], scene=[ball])
    assert touching.status == ar.Status.COLLISION
    assert touching.check().status == ar.Status.COLLISION


def test_a_solution_without_a_robot_is_not_checked():
    alone = ar.Solution(ARM.neutral, ar.Status.REACHED, 0.0, 0.0, 1, 0.0, "auto")
    assert alone.describe() == str(alone)
    with pytest.raises(ar.TargetError, match="has no robot or target"):
        alone.check()


def test_coordinates_are_described_by_name_and_unit():
    rail = ar.Robot([ar.Prismatic(0.0, 0.3, name="slide"), ar.Section(0.05, 1.0, name="bending")])
    solution = ar.solve(rail, [0.02, 0.0, 0.2])
    summary, *lines = solution.describe().splitlines()
    assert summary == str(solution)
    assert [line.split()[0] for line in lines] == ["slide", "bending.bend", "bending.direction"]
    assert [line[-1] for line in lines] == ["m", "°", "°"]


def test_the_time_of_interpreted_kernels_is_marked(monkeypatch):
    from arcreach import _interpreter
    from arcreach.ik import method
    from arcreach.ik.methods import auto

    def interpreted(kernel):
        def call(*arguments):
            _interpreter.calls += 1
            return kernel(*arguments)

        return call

    arm = ar.load_robot("three-section")
    for name in ("auto", "lm"):
        compiled = ar.solve(arm, [0.02, 0.01, 0.09], name)
        assert str(compiled).endswith(f"({name}" + (", interpreted)" if compiled.interpreted else ")"))
    entry = method._entry
    monkeypatch.setattr(_interpreter, "calls", 0)
    monkeypatch.setattr(auto, "_auto_one", tuple(map(interpreted, auto._auto_one)))
    monkeypatch.setattr(method, "_entry", lambda *given: interpreted(entry(*given)))
    arm = ar.load_robot("two-section")
    for name in ("auto", "lm"):
        assert str(ar.solve(arm, [0.02, 0.01, 0.09], name)).endswith(f"({name}, interpreted)")
    assert not ar.solve_batch(arm, [[0.02, 0.01, 0.09]] * 2)[0].interpreted


def test_a_hint_belongs_to_what_is_printed():
    robot = ar.load_robot("three-section")
    missed = ar.solve(robot, [0.0, 0.0, 250.0])
    assert "millimetres" in str(missed)
    assert "hint" not in str(missed.check(position_tol=1000.0))
    found = ar.solve_batch(robot, [[0.0, 0.0, 250.0], [0.05, 0.0, 0.05]])
    assert "millimetres" in str(found)
    assert "millimetres" in str(found[0])
    assert "millimetres" in str(found[:1])
    assert "hint" not in str(found[1:])
    assert "hint" not in str(found.check(position_tol=1000.0))


def test_not_quite_all_is_not_printed_as_all():
    robot = ar.load_robot("three-section")
    points = robot.tip_pose(robot.sample(20_000, seed=1))[:, :3, 3]
    points[7] = 9.0
    assert "19999 of 20000 reached (99.99 %)" in str(ar.solve_batch(robot, points))
