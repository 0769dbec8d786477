import pytest

import arcreach as ar
from arcreach.errors import FileError
from arcreach.studio.state.scenes import scene_of_catalogue, spatial_scenes, summary


def test_scenes_of_the_catalogue():
    assert "clutter-20" in spatial_scenes()
    with pytest.raises(FileError, match="is not a scene of the catalogue"):
        scene_of_catalogue("/etc/passwd")
    far = ar.Scene([ar.Sphere((9.0, 0.0, 0.0), 0.1), ar.HalfSpace((0.0, 0.0, 1.0), (0.0, 0.0, -9.0))])
    assert summary(far, 1.0) == "the scene: 2 obstacles, 1 of them out of the robot's reach of 1000 mm"
