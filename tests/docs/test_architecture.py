"""The page that follows a target through the library names functions that exist, in the order of their calls."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMES = re.findall(r"`((?:ik|kernels|robots|gpu|planning|experiments|studio|_threads)\.[\w.]+)`", PAGE)


def find(name):
    """The function of a dotted name, in the deepest module that the name begins with."""
    parts = name.split(".")
    for n in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(["arcreach", *parts[:n]]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{name} is in no module")


@pytest.mark.parametrize("name", NAMES)
def test_every_function_exists(name):
    assert callable(find(name))


def source(name):
    function = find(name)
    return inspect.getsource(getattr(function, "py_func", function))


@pytest.mark.parametrize(
    ("caller", "called"),
    [
        ("kernels.solver.search.auto", ["make_scratch", "to_front", "search", "to_coordinates", "unwind", "verdict"]),
        ("kernels.solver.search.verdict", ["tip_motion", "final_status"]),
        (
            "kernels.solver.search.search",
            ["policy_of", "schedule_of", "look_up", "write_start", "start_budget", "descend", "updated_tally"],
        ),
        ("kernels.solver.descent.step", ["judge_trial", "take_step"]),
        ("kernels.solver.descent.judge_trial", ["evaluate", "accept_or_give_up"]),
        ("kernels.solver.descent.take_step", ["solve_bounded", "project"]),
        ("kernels.solver.path_step.path_step", ["narrow", "move_inside", "descend"]),
        ("kernels.solver.descent.solve_bounded", ["find_touching", "mark_bounds", "solve_damped"]),
    ],
)
def test_calls_come_in_the_order_of_the_page(caller, called):
    assert caller in NAMES
    text = source(caller).split('"""')[-1]
    places = [text.index(f"{name}(") for name in called]
    assert places == sorted(places)
    assert all(any(known.endswith(f".{name}") for known in NAMES) for name in called)
