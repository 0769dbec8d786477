"""The lists of methods."""

from tests.studio.waiting import settle, until
from tests.studio.wire import client_of

import arcreach as ar
from arcreach.ik.method import Method, register, unregister
from arcreach.studio.state.request import NO_METHOD, POSITION


def test_methods_are_compared_on_the_same_target(studio):
    with client_of(studio) as client:
        client.set(studio.panels.method.method, "dls")
        client.set(studio.panels.method.compared, "jacobian")
        until(lambda: [result.method for result in studio.answer.results] == ["dls", "jacobian"])
        settle(studio)
        assert studio.stage.ghost.visible
        assert [label.text for label in studio.stage.labels] == ["dls", "jacobian"]
        client.set(studio.panels.method.compared, NO_METHOD)
        until(lambda: len(studio.answer.results) == 1)
        settle(studio)
    assert not studio.stage.ghost.visible


def test_only_methods_that_accept_the_aim_are_offered(studio):
    with client_of(studio) as client:
        client.set(studio.panels.method.method, "fabrikc")
        until(lambda: studio.state.request.method == "fabrikc")
        client.set(studio.panels.target.aim, POSITION)
        until(lambda: studio.state.request.aim == POSITION)
        settle(studio)
    assert "fabrikc" not in studio.panels.method.method.options
    assert (studio.state.request.method, studio.panels.method.method.value) == ("auto", "auto")
    assert studio.answer.results[0].reached


def test_a_method_that_does_not_accept_the_next_robot_is_replaced(studio):
    studio.panels.method.method.value = "fabrikc"
    studio.set_robot(ar.load_robot("ur5"))
    assert studio.panels.method.method.value == "auto"


def refuse(problem):
    raise ar.MethodError("refusing serves no target")


def test_a_method_that_refuses_shows_no_ghost(studio):
    register(Method("refusing", "refuses", "derived", refuse))
    try:
        studio.change(compared="refusing")
        settle(studio)
        assert "serves no target" in studio.answer.results[1].status
        assert not studio.stage.ghost.visible
        assert not any(label.visible for label in studio.stage.labels)
    finally:
        unregister("refusing")
        studio.change(compared=NO_METHOD)
