import numpy as np
import pytest
from tests.planning.test_follow import planar_arm

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
    assert written == [f"{np.degrees(path.largest_step):.3g}°" for path in paths.values()]
    save(figure, tmp_path / "paths.png")
    assert (tmp_path / "paths.png").stat().st_size > 10_000


def test_some_coordinates(paths):
    figure = joint_paths(paths, coordinates=["revolute-2"])
    assert len(figure.get_axes()[0].get_lines()) == 1
    with pytest.raises(MethodError, match="elbow"):
        joint_paths(paths, coordinates=["elbow"])
    with pytest.raises(MethodError, match="paths is empty"):
        joint_paths({})
