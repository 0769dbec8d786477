import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import SceneError
from arcreach.scenes.tubes import tube_mesh


def bent_line(points=20):
    angle = np.linspace(0.0, 0.5 * np.pi, points)
    return 0.06 * np.stack([1.0 - np.cos(angle), 0.0 * angle, np.sin(angle)], axis=1)


LINE = np.vstack([bent_line(), [[0.09, 0.0, 0.06]]])


@pytest.mark.compiled
def test_the_line_stays_in_the_middle_of_a_bent_tube():
    line = ar.centre_line(tube_mesh(LINE, 0.007, 0.002), [0.002, -0.001, 0.0])
    # From the arc, whose centre is known; the tube goes on straight after it.
    bent = line[line[:, 0] < 0.055]
    off = np.hypot(np.hypot(bent[:, 0] - 0.06, bent[:, 2]) - 0.06, bent[:, 1])
    assert off.max() < 2e-4
    # It ends just outside the tube.
    assert 0.09 < line[-1, 0] < 0.1
    assert np.linalg.norm(np.diff(line, axis=0), axis=1).max() < 0.003


@pytest.mark.compiled
def test_the_length_is_kept():
    line = ar.centre_line(tube_mesh(LINE, 0.007, 0.002), [0.0, 0.0, 0.0], length=0.05)
    assert np.linalg.norm(np.diff(line, axis=0), axis=1).sum() == pytest.approx(0.05, rel=1e-3)


@pytest.mark.compiled
def test_a_body_is_inserted_into_the_tube():
    tube = tube_mesh(LINE, 0.007, 0.002)
    robot = ar.Robot([ar.Prismatic(-0.15, 0.12, radius=0.002), *[ar.Section(0.04, 1.6, radius=0.002)] * 3])
    line = ar.centre_line(tube, [0, 0, 0], length=0.11)
    path = ar.follow_the_leader(robot, line, points=30, scene=tube)
    assert path.reached
    assert robot.within_limits(path.q).all()
    dense = ar.clearance(robot, path.sampled(200), tube).distance.min()
    assert 0.001 < path.clearance.min() <= dense
    tight = ar.follow_the_leader(robot, line, points=30, scene=tube, margin=0.0045)
    assert not tight.reached


def test_bad_input_is_named():
    tube = tube_mesh(LINE, 0.007, 0.002, sides=6)
    with pytest.raises(SceneError, match="mesh = 3"):
        ar.centre_line(3, [0, 0, 0])
    with pytest.raises(SceneError, match="start"):
        ar.centre_line(tube, [0, 0])
    with pytest.raises(SceneError, match="direction"):
        ar.centre_line(tube, [0, 0, 0], [0, 0, 0])
    with pytest.raises(SceneError, match="inside the mesh"):
        ar.centre_line(tube, [0, 0.008, 0.001])
    with pytest.raises(ValueError, match="length"):
        ar.centre_line(tube, [0, 0, 0], length=-1.0)
