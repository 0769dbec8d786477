"""`Animation`: a sequence of frames from a plan, a path file, the iterations of a method, or a contact plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arcreach._text import count
from arcreach._typing import Array
from arcreach.ik.solution import Trace
from arcreach.studio.stage.contact import ContactMotion
from arcreach.studio.state.answer import Answer, Result, judge_clearance
from arcreach.studio.state.request import Request
from arcreach.studio.text import degrees, millimetres

if TYPE_CHECKING:
    from arcreach.planning.motion.path import Path

# Largest and smallest number of frames per second; between these limits an animation takes SHORTEST seconds.
RATE, SLOWEST, SHORTEST = 30.0, 2.0, 4.0
# Largest number of points of a path that are shown: twenty seconds at RATE.
MOST_POINTS = 600


@dataclass(frozen=True, eq=False)
class Animation:
    """Configurations (n, dof) of the robot and of the compared one, or a contact plan."""

    title: str
    text: str
    q: Array | None = None
    ghost: Array | None = None
    contact: ContactMotion | None = None
    hz: float | None = None  # frames per second; None derives them from the length
    traced: tuple[Result, ...] = ()  # results with traces, for a replay

    def __len__(self) -> int:
        return len(self.contact.lines) if self.contact is not None else 0 if self.q is None else len(self.q)

    @property
    def rate(self) -> float:
        """Frames per second."""
        return self.hz or float(np.clip(len(self) / SHORTEST, SLOWEST, RATE))

    def answer(self, i: int, request: Request) -> Answer:
        """Return the results to show with frame i: the errors at that iteration of a replay, or the clearance."""
        if self.traced:
            return Answer(request, tuple(_at(result, i, request) for result in self.traced))
        assert self.q is not None
        free, touched = judge_clearance(request.robot, self.q[i], request.scene)
        status = f"frame {i + 1} of {len(self)}"
        result = Result(self.title, self.q[i], status, not touched, clearance=free, touched=touched)
        return Answer(request, (result,))

    def links(self, i: int) -> dict[str, Array]:
        """Return the virtual links at frame i of a replay, by stage; empty if the method records none."""
        trace = self.traced[0].trace if self.traced else None
        if trace is None:
            return {}
        return {stage: links[min(i, len(trace) - 1)] for stage, links in trace.links.items()}


def path_animation(path: Path, name: str) -> Animation:
    """Return the animation of a path from a file, with at most `MOST_POINTS` of its points."""
    robot, n = path.robot, len(path.q)
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    text = f"{count(n, 'point')}, at most {millimetres(float(path.position_error.max()))} off"
    if float(path.angle_error.max()) > 0.0:
        text += f" and {degrees(float(path.angle_error.max()))}"
    outside = int(np.count_nonzero(~np.asarray(robot.within_limits(path.q))))
    if outside:
        text += f"; {count(outside, 'point')} outside the limits of the robot"
    return Animation(name, text, path.q[rows])


def _at(result: Result, i: int, request: Request) -> Result:
    """Return a result as it was at row i of its trace, or at the last row if it has fewer."""
    trace = result.trace
    assert trace is not None
    k = min(i, len(trace) - 1)
    if k == len(trace) - 1:
        return result
    free, touched = judge_clearance(request.robot, trace.q[k], request.scene)
    angle = None if result.angle_error is None else float(trace.angle_error[k])
    kind, iteration = ("joint step", trace.columns["macro_iteration"][k]) if is_stepwise(trace) else ("iteration", k)
    status, error = f"{kind} {k} of {len(trace) - 1}", float(trace.position_error[k])
    return Result(result.method, trace.q[k], status, False, error, angle, None, int(iteration), free, touched)


def is_stepwise(trace: Trace) -> bool:
    """Return whether a trace has a row per joint step."""
    return "macro_iteration" in trace.columns


def replay_animation(answer: Answer) -> Animation:
    """Return the animation of the recorded iterations; the method with fewer stays at its last one."""
    traced = tuple(result for result in answer.results if result.trace is not None and len(result.trace))
    untraced = [
        f"{result.method}: {result.status}" + ("" if result.refused else "; no iterations were recorded")
        for result in answer.results
        if result not in traced
    ]
    if not traced:
        return Animation("iterations", "; ".join(untraced))
    traces = [result.trace for result in traced if result.trace is not None]
    rows = np.arange(max(map(len, traces)))
    q = [trace.q[np.minimum(rows, len(trace) - 1)] for trace in traces]
    steps = [f"{result.method} {count(len(trace) - 1, 'step')}" for result, trace in zip(traced, traces, strict=True)]
    text = "; ".join([", ".join(steps), *untraced])
    return Animation("iterations", text, q[0], q[1] if len(q) > 1 else None, traced=traced)
