import numpy as np
import pytest

import arcreach as ar
from arcreach.studio.wish import AIMS, AXIS, POSE, POSITION, Desk, Wish, methods_for

ROBOT = ar.load_robot("three-section")


@pytest.fixture
def desk():
    return Desk(Wish(ROBOT, np.eye(4)))


@pytest.mark.parametrize(("aim", "kind"), [(POSITION, "position"), (AXIS, "axis"), (POSE, "rotation")])
def test_an_aim_makes_a_target_of_the_pose(aim, kind):
    assert Wish(ROBOT, np.eye(4), aim).target.kind == kind
    assert aim in AIMS


def test_every_change_is_later(desk):
    first = desk.wish
    second = desk.change(method="dls")
    assert second.revision == first.revision + 1
    assert (second.method, first.method) == ("dls", "auto")
    assert desk.wish is second


def test_an_earlier_answer_is_not_shown_after_a_later_one(desk):
    early, late = desk.change().revision, desk.change().revision
    assert not desk.settled
    assert desk.accept(early)
    assert not desk.settled
    assert desk.accept(late)
    assert desk.settled
    assert not desk.accept(early)


def test_a_film_does_not_overrule_a_hand(desk):
    latest = desk.change(method="dls")
    assert desk.change_unless(lambda: True, method="ccd") is None
    assert desk.wish is latest


def test_methods():
    assert Wish(ROBOT, np.eye(4), compared="dls").methods == ("auto", "dls")
    assert Wish(ROBOT, np.eye(4)).methods == ("auto",)
    assert "fabrikc" in methods_for(ROBOT, AXIS)
    assert "fabrikc" not in methods_for(ROBOT, POSITION)
    assert "ccd" not in methods_for(ROBOT, AXIS)
    assert "fabrikc" not in methods_for(ar.load_robot("ur5"), AXIS)
