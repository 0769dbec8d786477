"""Every method on every robot of the catalogue that it accepts."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import arcreach as ar
from arcreach.ik import method as registry
from arcreach.ik import methods as registered
from arcreach.ik.conformance import check_method
from arcreach.ik.method import Method, Outcome, methods
from arcreach.kernels.chain import layout

SECTION = ar.Section(0.02, 2.0, stretch=0.05, length_weights=(1, 2), bend_weights=(2, 1))
ROBOTS = {name: ar.load_robot(name) for name in ar.catalogue() if name != "librergm3-matrix"}
ROBOTS |= {
    "one section": ar.Robot([SECTION], name="one section"),
    "inserted section": ar.Robot([ar.Prismatic(0.0, 0.05), SECTION], name="inserted section"),
    "bend at the end": ar.Robot([ar.Section(0.05, 1.0, length_weights=(1, 0), bend_weights=(0, 1))] * 2, name="end"),
}
CASES = [
    (method, name) for method in methods() for name, robot in ROBOTS.items() if methods()[method].refusal(robot) is None
]


@pytest.mark.compiled
@pytest.mark.parametrize(("method", "robot"), CASES)
def test_every_method_on_every_robot_it_accepts(method, robot):
    share = check_method(method, ROBOTS[robot])
    if method == "auto":
        assert share == 1.0


def test_every_module_of_methods_is_loaded():
    assert {path.stem for path in Path(registered.__file__).parent.glob("*.py")} == {
        "__init__",
        *registered.MODULES.values(),
    }


def test_every_method_accepts_some_robot():
    assert {method for method, _ in CASES} == set(methods())


def dishonest(change):
    """A method that answers the neutral configuration and then misbehaves."""

    def run(problem):
        outcome = Outcome.empty(problem)
        outcome.q[:] = problem.robot.neutral
        outcome.status[:] = layout.STALLED
        change(problem, outcome)
        return outcome

    return Method(name="dishonest", summary="for this test", source="derived", run=run)


CALLS = iter(range(1000))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p, o: o.q.__setitem__(slice(None), 10.0), "outside the limits"),
        (lambda p, o: o.q.__setitem__(slice(None), np.nan), "not finite"),
        (lambda p, o: o.q.__setitem__((slice(None), 0), 0.001 * next(CALLS)), "two equal calls"),
        (lambda p, o: o.q.__setitem__((slice(None), 0), 0.01 * len(p.targets)), "single and batch differ"),
    ],
)
def test_misbehaviour_is_found(change, words):
    registry.register(dishonest(change))
    robot = ar.Robot([ar.Section(0.1, 1.0)] * 2, name="two")
    try:
        with pytest.raises(AssertionError, match=words):
            check_method("dishonest", robot)
    finally:
        registry.unregister("dishonest")
    assert "dishonest" not in methods()


def test_a_name_is_taken_once():
    with pytest.raises(ar.ArcreachError, match="registered already"):
        registry.register(methods()["auto"])


def test_the_name_of_a_method_that_is_not_imported_yet_is_taken_too():
    program = "from arcreach.ik import Method, register; register(Method('lm', '', 'derived', run=print))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith("method 'lm' is registered already; give another name")


def test_every_method_stands_in_the_module_that_is_named():
    for name, module in registered.MODULES.items():
        assert getattr(registered, module)
        assert methods()[name].name == name
    assert set(methods()) == set(registered.MODULES)
