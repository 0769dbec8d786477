"""The inputs for the methods, for tolerances, and for the variant and the options of the chosen method."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from arcreach.files.option_values import ACCEPTED
from arcreach.ik.method import find_method
from arcreach.robots.robot import Robot
from arcreach.studio.panels.events import Studio, from_client
from arcreach.studio.state.request import NO_METHOD, Request, Tuning, methods_for

DEFAULT = "default"
# Options without an input: the page sets them itself, so that a trace has a row per joint step.
HIDDEN = frozenset({"joint_steps"})
# Arguments of `solve`, other than options, that only the named method accepts.
SERVED = {"auto": frozenset({"prefer"})}


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


class TuningInputs:
    """Inputs for two tolerances, the variant, and each option of the method; an empty text means the default."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._gui, self._studio = gui, studio
        self._method = ""
        self.options: dict[str, Any] = {}
        self._folder = gui.add_folder("Tolerances and options", expand_by_default=False)
        with self._folder:
            self.position = gui.add_number("Position mm", 0.0, min=0.0, step=1e-6, hint="tolerance of the position")
            self.angle = gui.add_number("Angle °", 0.0, min=0.0, step=1e-6, hint="tolerance of axis or rotation")
            self.variant = gui.add_dropdown("Variant", (DEFAULT,), initial_value=DEFAULT)
        self.position.on_update(from_client(lambda event: self._change(position_tol=1e-3 * event.target.value)))
        self.angle.on_update(from_client(lambda event: self._change(angle_tol=math.radians(event.target.value))))
        self.variant.on_update(from_client(lambda _: self._tune()))

    def _change(self, **fields: Any) -> None:
        self._studio.change(tuning=replace(self._studio.state.request.tuning, **fields))

    def _tune(self) -> None:
        """Apply the chosen variant and the typed options."""
        variant = None if self.variant.value == DEFAULT else self.variant.value
        options = {name: handle.value for name, handle in self.options.items()}
        self._change(method=self._method, variant=variant, options=options)

    def show(self, request: Request) -> None:
        """Show the tolerances of the latest request, and the variant and the options of its method."""
        tuning = request.tuning
        own = tuning if tuning.method == request.method else Tuning()
        if request.method != self._method:
            self._offer(request.method)
        self.position.value = float(f"{1e3 * tuning.position_tol:.6g}")
        self.angle.value = float(f"{math.degrees(tuning.angle_tol):.4g}")
        self.variant.value = own.variant or DEFAULT
        for name, handle in self.options.items():
            handle.value = own.options.get(name, "")

    def _offer(self, name: str) -> None:
        """Replace the inputs by those of another method."""
        self._method = name
        method = find_method(name)
        for handle in self.options.values():
            handle.remove()
        self.variant.visible = bool(method.variants)
        self.variant.options = (DEFAULT, *method.variants)
        offered = method.options - HIDDEN | SERVED.get(name, frozenset())
        with self._folder:
            self.options = {option: self._gui.add_text(option, "", hint=ACCEPTED) for option in sorted(offered)}
        for handle in self.options.values():
            handle.on_update(from_client(lambda _: self._tune()))
