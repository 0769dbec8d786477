"""`Panels`: all panels of the page."""

from __future__ import annotations

from typing import Any

from arcreach._typing import Array
from arcreach.studio.panels.analysis import AnalysisTab
from arcreach.studio.panels.events import Studio, from_client
from arcreach.studio.panels.jog import JogTab
from arcreach.studio.panels.obstacles import ObstaclesTab
from arcreach.studio.panels.results import Chart, ResultTable
from arcreach.studio.panels.robot import RobotInputs
from arcreach.studio.panels.sliders import Sliders
from arcreach.studio.panels.target import TargetInputs
from arcreach.studio.panels.tendons import TendonsTab
from arcreach.studio.panels.trajectory import TrajectoryTab
from arcreach.studio.panels.tuning import MethodInputs, TuningInputs
from arcreach.studio.panels.view import ViewInputs
from arcreach.studio.state.answer import Answer
from arcreach.studio.state.request import AXIS, NO_METHOD, Request
from arcreach.studio.state.robots import RobotEntry

# Widths of the panels in pixels; the left one has up to four tabs in a row.
WIDTH, LEFT_WIDTH = 310.0, 345.0
# Darker than the blue of the first section: viser derives lighter shades from it.
BRAND = (0, 84, 140)
HINT = (
    '<div style="padding:6px 12px 2px;font-size:0.875em"><b>Drag the orange target</b> – the robot follows.<br>'
    "Grey obstacles can be dragged too.</div>"
)
UNDO, RESET = "Undo", "Reset"


class Panels:
    """The panel on the right, and two panels with tabs on the left."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
        left, below = gui.add_panel(), gui.add_panel()
        self.sliders = Sliders(gui, left.add_tab("Pose", "adjustments"), studio)
        with left.add_tab("Jog", "device-gamepad-2"):
            self.jog = JogTab(gui, studio)
        with left.add_tab("Obstacles", "sphere"):
            self.obstacles = ObstaclesTab(gui, studio)
        self.tendons = TendonsTab(gui, left, studio)
        with below.add_tab("Chart", "chart-line"):
            self.chart = Chart(gui)
        with below.add_tab("Trajectory", "route"):
            self.trajectory = TrajectoryTab(gui, studio)
        with below.add_tab("Analysis", "list-numbers"):
            self.analysis = AnalysisTab(gui, studio)
        self._studio = studio
        gui.add_html(HINT)
        self.robot = RobotInputs(gui, studio)
        self.target = TargetInputs(gui, studio)
        self.method = MethodInputs(gui, studio)
        self.tuning = TuningInputs(gui, studio)
        self.results = ResultTable(gui)
        self.steps = gui.add_button_group("Change", (UNDO, RESET))
        self.view = ViewInputs(gui, studio)
        steps = {UNDO: studio.undo, RESET: studio.reset}
        self.steps.on_click(from_client(lambda event: steps[event.target.value]()))
        left.dock_left()
        left.set_width(LEFT_WIDTH)
        below.dock_below(left)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(WIDTH)

    def set_robot(self, entry: RobotEntry, q: Array) -> dict[str, Any]:
        """Show another robot; return the request fields that the inputs now hold."""
        self.robot.show(entry)
        self.sliders.set_robot(entry.robot, q)
        operated = self.jog.set_robot(entry.robot)
        self.tendons.set_robot(entry.robot)
        self.view.boxes["tendons"].visible = len(entry.robot.tendons) > 0
        self.chart.clear()
        aim = self.target.aim.value
        method, compared = self.method.offer(entry.robot, aim)
        return {"method": method, "compared": compared, "aim": aim, "avoid": self.obstacles.avoid.value, **operated}

    def show_request(self, request: Request) -> None:
        """Set the inputs to a request."""
        self.target.aim.value = request.aim
        self.method.offer(request.robot, request.aim)
        self.method.method.value, self.method.compared.value = request.method, request.compared
        self.obstacles.avoid.value = request.avoid
        self.jog.show(request)

    def reset(self) -> None:
        """Set the inputs to the defaults of a request."""
        self.target.aim.value, self.obstacles.avoid.value = AXIS, True
        self.method.method.value, self.method.compared.value = "auto", NO_METHOD

    def show(self, answer: Answer, settled: bool, repeated: bool) -> None:
        """Show an answer; `settled` says that it is the latest, `repeated` that it replaces one to the same request."""
        request = answer.request
        self.sliders.show(answer.q, settled)
        self.tendons.show(answer, settled)
        self.obstacles.show(request.scene, request.robot.reach)
        self.target.show(request)
        self.results.show(answer)
        if settled:
            # An outdated answer would overwrite text that is being typed.
            self.tuning.show(request)
        self.analysis.show(self._studio.player.animation, self._studio.player.frame)
        self.chart.add(answer, draw=settled, replace=repeated)
