from dataclasses import replace

import numpy as np
import pytest
from tests.planning.motion.test_follow import planar_arm

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach.figures import joint_paths, save


@pytest.fixture(scope="module")
def paths():
    robot = planar_arm()
    points = np.array([[1.5, 0.1, 0], [1.2, 0.8, 0], [1.5, 1.0, 0]])
    return {
        "plain": ar.follow(robot, points, start=[0.5, -1.0]),
        "small steps": ar.follow(robot, points, start=[0.5, -1.0], max_step=0.1),
    }


def test_a_column_per_path_and_a_line_per_coordinate(paths, tmp_path):
    figure = joint_paths(paths)
    axes = figure.get_axes()
    assert [panel.get_title() for panel in axes[:2]] == list(paths)
    for panel, path in zip(axes[:2], paths.values(), strict=True):
        assert len(panel.get_lines()) == 2
        for k, line in enumerate(panel.get_lines()):
            np.testing.assert_allclose(line.get_ydata(), np.degrees(path.q[:, k]))
            assert line.get_xdata()[0] == 0.0
            assert line.get_xdata()[-1] == 2.0
    written = [panel.texts[0].get_text() for panel in axes[2:]]
    assert written == [str(path).split("largest step ")[1].split(",")[0] for path in paths.values()]
    save(figure, tmp_path / "paths.png")
    assert (tmp_path / "paths.png").stat().st_size > 10_000


def test_some_coordinates(paths):
    figure = joint_paths(paths, coordinates=["revolute-2"])
    assert len(figure.get_axes()[0].get_lines()) == 1
    with pytest.raises(MethodError, match="elbow"):
        joint_paths(paths, coordinates=["elbow"])
    with pytest.raises(MethodError, match="paths is empty"):
        joint_paths({})


def ring():
    """A section that turns once around, past half a turn, and bends a little more meanwhile."""
    robot = ar.Robot([ar.Section(0.1, 2.0)])
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    q = np.stack([np.linspace(0.5, 0.52, 73), np.remainder(angle + 2.0 + np.pi, 2.0 * np.pi) - np.pi], axis=1)
    return ar.follow(robot, robot.tip_pose(q)[:, :3, 3], start=q[0])


def test_a_direction_does_not_jump_at_half_a_turn():
    path = ring()
    assert np.abs(np.diff(path.q[:, 1])).max() > 6.0
    bend, direction = joint_paths({"ring": path}).get_axes()[0].get_lines()
    assert np.abs(np.diff(direction.get_ydata())).max() == pytest.approx(5.0, abs=0.1)
    np.testing.assert_allclose(bend.get_ydata(), np.degrees(path.q[:, 0]))


def test_the_step_in_the_figure_is_the_step_that_is_printed():
    path = ring()
    # A step of 5° in direction moves a section bent by half a radian as a bend by 2.5° would.
    assert path.largest_step == pytest.approx(0.52 * np.radians(5.0), rel=0.02)
    panel = joint_paths({"ring": path}).get_axes()[1]
    np.testing.assert_allclose(panel.get_lines()[0].get_ydata(), np.degrees(path.step_sizes))
    assert panel.texts[0].get_text() in str(path)


def test_a_robot_of_lengths_has_steps_of_lengths():
    robot = ar.Robot([ar.Prismatic(0.0, 0.5), ar.Prismatic(0.0, 0.5, axis=(1, 0, 0))])
    path = ar.follow(robot, [[0.1, 0.0, 0.1], [0.2, 0.0, 0.1]], start=[0.1, 0.1])
    assert path.largest_step == pytest.approx(0.1)
    panel = joint_paths({"slides": path}).get_axes()[1]
    assert panel.get_ylabel() == "largest step (mm)"
    assert panel.texts[0].get_text() == "100 mm"


def plan_among_balls():
    robot = ar.load_robot("two-section")
    return ar.plan(robot, robot.neutral, ar.Target(robot.tip_pose([0.8, 0.3, 0.5, 1.0])[:3, 3]), [])


def test_one_path_needs_no_title(paths):
    figure = joint_paths(paths["plain"])
    assert [panel.get_title() for panel in figure.get_axes()] == ["", ""]
    assert figure.get_axes()[1].get_xlabel() == "waypoint"


def test_a_plan_is_drawn_along_its_motion_and_a_timed_one_in_time():
    plan = plan_among_balls()
    (panel,) = joint_paths(plan).get_axes()
    assert panel.get_xlabel() == "path of the tip (mm)"
    bend = panel.get_lines()[0]
    np.testing.assert_allclose(bend.get_ydata(), np.degrees(plan.sampled(300)[:, 0]), atol=1e-9)
    tips = 1e3 * plan.robot.tip_pose(plan.q[[0, -1]])[:, :3, 3]
    assert bend.get_xdata()[-1] >= np.linalg.norm(tips[1] - tips[0])
    timed = plan.timed(1.0, 2.0)
    (panel,) = joint_paths(timed, coordinates=["section-1.bend"]).get_axes()
    assert panel.get_xlabel() == "time (s)"
    np.testing.assert_array_equal(panel.get_lines()[0].get_xdata(), timed.times)
    assert len(joint_paths({"fast": timed, "slow": plan.timed(0.5, 1.0)}).get_axes()) == 2


def test_angles_and_lengths_have_a_panel_each():
    robot = ar.Robot([ar.Prismatic(0.0, 0.5), ar.Revolute((0, 1, 0)), ar.Link((0.2, 0, 0))])
    q = np.linspace([0.1, 0.0], [0.3, 0.5], 4)
    path = ar.follow(robot, robot.tip_pose(q)[:, :3, 3], start=q[0])
    angles, lengths, _ = joint_paths(path).get_axes()
    assert (angles.get_ylabel(), lengths.get_ylabel()) == ("angles (°)", "lengths (mm)")
    np.testing.assert_allclose(angles.get_lines()[0].get_ydata(), np.degrees(path.q[:, 1]))
    np.testing.assert_allclose(lengths.get_lines()[0].get_ydata(), 1e3 * path.q[:, 0])


def test_no_two_coordinates_look_alike():
    arm = ar.Robot([ar.Revolute(), ar.Link((0.1, 0.0, 0.0))] * 14)
    Q = np.linspace(arm.neutral, np.full(14, 0.1), 3)
    lines = joint_paths(ar.follow(arm, arm.tip_pose(Q)[:, :3, 3], start=arm.neutral)).get_axes()[0].get_lines()
    assert len({(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}) == 14
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 14


def test_a_direction_has_a_gap_where_its_section_passes_the_straight_pose():
    robot = ar.Robot([ar.Section(0.1, 2.0)])
    # Bends of 12°, 9°, ... to the one side and then to the other; the middle one is below 1°.
    signed = np.radians([12.0, 8.0, 4.0, 0.5, -4.0, -8.0])
    q = np.stack([np.abs(signed), np.where(signed < 0.0, np.pi, 0.0)], axis=1)
    path = ar.follow(robot, robot.tip_pose(q)[:, :3, 3], start=q[0])
    bend, direction = joint_paths(path).get_axes()[0].get_lines()
    assert np.isfinite(bend.get_ydata()).all()
    values = direction.get_ydata()
    assert np.flatnonzero(np.isnan(values)).tolist() == [3]
    np.testing.assert_allclose(np.abs(values[[0, 1, 2, 4, 5]]), [0, 0, 0, 180, 180], atol=1e-3)
    # Also between two points that are both bent.
    path = ar.follow(robot, robot.tip_pose(q[[0, 1, 2, 4, 5]])[:, :3, 3], start=q[0])
    direction = joint_paths(path).get_axes()[0].get_lines()[1]
    assert np.flatnonzero(np.isnan(direction.get_ydata())).tolist() == [3]
    assert np.isnan(direction.get_xdata()[3])
    assert np.nanmax(direction.get_xdata()) == 4.0


def test_waypoints_are_whole_numbers(paths):
    for width in ("column", "page"):
        figure = joint_paths(paths["plain"], width=width)
        figure.draw_without_rendering()
        ticks = figure.get_axes()[-1].get_xticks()
        np.testing.assert_array_equal(ticks, np.round(ticks))


def test_a_detour_lies_between_its_waypoints(paths):
    path = replace(paths["small steps"], waypoint=np.where(paths["small steps"].waypoint < 0, -2, 0))
    path.waypoint[-1] = 1
    x = joint_paths(path).get_axes()[0].get_lines()[0].get_xdata()
    assert x.min() == 0.0
    assert x.max() == 1.0


def test_what_is_no_path_is_refused(paths):
    for wrong in (paths["plain"].q, [paths["plain"]], None, {"a": 3}):
        with pytest.raises(MethodError, match=r"give a Path, a Plan or a Timed, or several by title"):
            joint_paths(wrong)
    with pytest.raises(MethodError, match="paths differ in kind or coordinates"):
        joint_paths({"a": paths["plain"], "b": ring()})
    robot = ar.load_robot("two-section")
    with pytest.raises(MethodError, match="the path has 1 point; give at least 2"):
        joint_paths(ar.plan(robot, robot.neutral, ar.Target([0.0, 0.0, 1.0]), []))
