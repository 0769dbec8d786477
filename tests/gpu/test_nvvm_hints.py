"""Loops that are unrolled on a GPU, and functions that replace others there."""

import ast
import inspect
import pkgutil
from importlib import import_module

import llvmlite.binding as llvm
import numpy as np
import pytest

import arcreach as ar
from arcreach.gpu import driver
from arcreach.gpu import nvvm_hints as hints
from arcreach.kernels import solver
from arcreach.kernels.chain.layout import AXIS, TARGET_SIZE
from arcreach.kernels.math.trigonometry import sincos, sincos_reduced
from arcreach.kernels.solver import kinematics, loops
from arcreach.kernels.solver.contexts import Goal

TEXT = """
declare i64 @"_ZN8arcreach3gpu5hints13unrolled_rowsB2v1"(i64)

define i64 @"asks"(i64 %".1")
{
"entry":
  %".2" = call i64 @"_ZN8arcreach3gpu5hints13unrolled_rowsB2v1"(i64 %".1")
  br label %"B1"
"B1":
  %".3" = phi i64 [0, %"entry"], [%".4", %"B1.if"]
  %".5" = icmp slt i64 %".3", %".2"
  br i1 %".5", label %"B1.if", label %"B2", !prof !0
"B1.if":
  %".4" = add i64 %".3", 1
  br label %"B1"
"B2":
  ret i64 %".3"
}

define i64 @"does not"(i64 %".1")
{
entry:
  br label %B1
B1:
  %".3" = phi i64 [0, %entry], [%".4", %B1]
  %".4" = add i64 %".3", 1
  %".5" = icmp slt i64 %".4", %".1"
  br i1 %".5", label %B1, label %B2
B2:
  ret i64 %".3"
}

!0 = !{!"branch_weights", i32 99, i32 1}
"""


def test_loops_are_marked_in_functions_that_call_a_trip_count():
    marked = hints.with_marked_loops(TEXT)
    lines = [line for line in marked.splitlines() if "!llvm.loop !" in line]
    assert lines == ['  br label %"B1", !llvm.loop !2']
    assert "!2 = distinct !{!2, !1}" in marked
    module = llvm.parse_assembly(marked)
    module.verify()
    assert "llvm.loop.unroll.full" in str(module)
    other = TEXT.replace(hints.MARKER, "elsewhere")
    assert hints.with_marked_loops(other) == other


def test_addresses_are_written_as_addresses():
    text = """
define double @"8arcreach"(double* %".1", i64 %".2")
{
entry:
  %".3" = ptrtoint double* %".1" to i64
  %".4" = add i64 %".3", %".2"
  %".5" = inttoptr i64 %".4" to double*
  %".6" = load double, double* %".5"
  ret double %".6"
}
"""
    written = hints.with_hints(text)
    assert "ptrtoint" not in written
    assert '%".4" = getelementptr i8, i8* %".3", i64 %".2"' in written
    assert '%".5" = bitcast i8* %".4" to double*' in written
    other = text.replace("8arcreach", "other")
    assert hints.with_hints(other) == other


def test_what_is_compiled_passes_through_the_hints():
    seen = []
    compile_ir = hints._hinting(lambda texts, **options: seen.append((texts, options)))
    compile_ir(TEXT, opt=3)
    compile_ir([TEXT, "nothing"], opt=1)
    whole = hints.with_hints(TEXT)
    assert seen == [([whole], {"opt": 3}), ([whole, "nothing"], {"opt": 1})]


def kernels_that_ask():
    """Functions of the solver whose loops are unrolled: name and source."""
    markers = {name for name, value in vars(loops).items() if getattr(value, "__module__", "") == loops.__name__}
    for module in pkgutil.iter_modules(solver.__path__):
        names = vars(import_module(f"{solver.__name__}.{module.name}"))
        for name, value in names.items():
            plain = getattr(value, "py_func", value)
            if inspect.isfunction(plain) and plain.__module__.endswith(module.name):
                called = {names.get(other) for other in plain.__code__.co_names if other in markers}
                if called & {getattr(loops, marker) for marker in markers} and module.name != "loops":
                    yield name, inspect.getsource(plain)


def test_a_loop_of_unknown_length_is_not_unrolled():
    """The compiler would unroll it up to its largest possible trip count."""
    found = dict(kernels_that_ask())
    assert {"evaluate", "take_step", "solve_damped_pair", "place_seed", "to_coordinates", "least_scores"} <= set(found)
    with_while = [
        name for name, text in found.items() if any(isinstance(n, ast.While) for n in ast.walk(ast.parse(text)))
    ]
    assert with_while == []


@pytest.mark.compiled
def test_a_function_replaces_another(monkeypatch):
    monkeypatch.setattr(driver, "device_function", lambda function: function)
    driver.with_exchanged.cache_clear()
    robot = ar.load_robot("ur5")
    model = robot.model.for_kernels(AXIS)
    goal = Goal(np.zeros(TARGET_SIZE), AXIS, 1e-12, 1e-6)
    goal.target[[8, 9]] = 1.0
    exchanged = ((sincos, sincos_reduced), (loops.rows, hints.unrolled_rows))
    other = driver.with_exchanged(kinematics.evaluate, exchanged)
    driver.with_exchanged.cache_clear()
    assert other.__globals__["rows"] is hints.unrolled_rows
    assert other.__globals__["turn_step"].__globals__["sincos"] is sincos_reduced
    # Functions that do not call it are unchanged.
    assert other.__globals__["fixed_step"] is kinematics.fixed_step
    assert kinematics.sincos is sincos
    v = robot.model.to_variables(robot.sample(1, seed=3))[0]
    found = []
    for function in (kinematics.evaluate, other):
        e, J = np.zeros(6), np.zeros((len(v), 6))
        found.append(np.hstack([*function(model, goal, v, e, J), e, J.ravel()]))
    np.testing.assert_allclose(found[0], found[1], rtol=0.0, atol=1e-12)
