import numpy as np
import pytest

import arcreach as ar
from arcreach.studio.state.request import AIMS, AXIS, POSE, POSITION, Request, methods_for

ROBOT = ar.load_robot("three-section")


@pytest.mark.parametrize(("aim", "kind"), [(POSITION, "position"), (AXIS, "axis"), (POSE, "rotation")])
def test_an_aim_makes_a_target_of_the_pose(aim, kind):
    assert Request(ROBOT, np.eye(4), aim).target.kind == kind
    assert aim in AIMS


def test_methods():
    assert Request(ROBOT, np.eye(4), compared="dls").methods == ("auto", "dls")
    assert Request(ROBOT, np.eye(4)).methods == ("auto",)
    assert "fabrikc" in methods_for(ROBOT, AXIS)
    assert "fabrikc" not in methods_for(ROBOT, POSITION)
    assert "ccd" not in methods_for(ROBOT, AXIS)
    assert "fabrikc" not in methods_for(ar.load_robot("ur5"), AXIS)
