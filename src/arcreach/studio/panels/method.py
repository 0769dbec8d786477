"""The inputs for the method and the one it is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arcreach.robots.robot import Robot
from arcreach.studio.panels.events import from_client
from arcreach.studio.state.request import NO_METHOD, methods_for

if TYPE_CHECKING:
    from arcreach.studio.app import Studio


class MethodInputs:
    """Two lists of the methods that accept the robot and the aim."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self.method = gui.add_dropdown("Method", ("auto",), initial_value="auto")
        self.compared = gui.add_dropdown("Compare with", (NO_METHOD,), initial_value=NO_METHOD)
        self.method.on_update(from_client(lambda event: studio.change(method=event.target.value)))
        self.compared.on_update(from_client(lambda event: studio.change(compared=event.target.value)))

    def offer(self, robot: Robot, aim: str) -> tuple[str, str]:
        """List the methods for a robot and an aim; return the two that are chosen now."""
        accepted = methods_for(robot, aim)
        method, compared = self.method.value, self.compared.value
        self.method.options = accepted
        self.compared.options = (NO_METHOD, *accepted)
        self.method.value = method if method in accepted else accepted[0]
        self.compared.value = compared if compared in accepted else NO_METHOD
        return self.method.value, self.compared.value
