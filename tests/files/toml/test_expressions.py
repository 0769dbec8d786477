import pytest
import sympy as sp

import arcreach as ar
from arcreach.files.toml.expressions import parse_formula, write_formula

q0, q1 = sp.symbols("q0 q1")
SYMBOLS = {"q0": q0, "q1": q1}


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("cos(q0)*sin(q1) + 0.25", sp.cos(q0) * sp.sin(q1) + 0.25),
        ("-q0**2 / 3", -(q0**2) / 3),
        ("+pi", sp.pi),
        ("sqrt(2)*atan2(q0, q1)", sp.sqrt(2) * sp.atan2(q0, q1)),
        ("q0**-2", q0**-2),
        ("q0**(1/2)", sp.sqrt(q0)),
        (" 1 - 2 ", sp.Integer(-1)),
        ("Abs(q0) + exp(q1)", sp.Abs(q0) + sp.exp(q1)),
        ("2*(q0 + 1)*sin(q1)/3", sp.Rational(2, 3) * sp.sin(q1) * (q0 + 1)),
        ("q1 - 2*q0*(q0 + 1)", q1 - 2 * q0 * (q0 + 1)),
        ("exp(1)*q0", sp.E * q0),
        ("1e20*q0", 1e20 * q0),
    ],
)
def test_formulas_are_read_and_written(text, expression):
    assert parse_formula(text, SYMBOLS) == expression
    assert parse_formula(write_formula(expression), SYMBOLS) == expression


HOSTILE = [
    "__import__('os').system('touch /tmp/hacked')",
    "().__class__.__bases__[0].__subclasses__()",
    "q0.free_symbols",
    "(lambda: 1)()",
    "[q0 for q0 in (1, 2)]",
    "eval('1')",
    "open('/etc/passwd')",
    "exec",
    "q0; q1",
    "q0 = 1",
    "q0 if q1 else 1",
    "q0 and q1",
    "q0 < q1",
    "'text'",
    "f'{q0}'",
    "True",
    "None",
    "1j",
    "q0 % 2",
    "q0 // 2",
    "q0 @ q1",
    "q0 << 2",
    "~q0",
    "not q0",
    "sin(q0, evaluate=False)",
    "sin(*[q0])",
    "sin()",
    "atan2(q0)",
    "gamma(q0)",
    "Symbol('x')",
    "9**9**9**9",
    "q0**q1",
    "2**1000000",
    "1e400 ** 2 ** 99",
    "9999999999999999999999",
    "(" * 5000 + "q0" + ")" * 5000,
    "-" * 19000 + "q0",
    "q0" + "+q0" * 7000,
    "",
    "q0\x00",
    "q2",
    "lambda",
    "q0**(0/0)",
    "q0**atan2(0, 0)",
    "(-2)**(1/3)",
    "0*(1/0)",
    "sqrt(-1)",
    "asin(2)",
    "log(0)",
    "q0*log(-1)",
    "1e400",
    "1e300*1e300",
    "exp(exp(16))",
    "10**16",
    "q0*10**15*10",
    "q0/10**15/10",
    "((((9**16)**16)**16)**16)*q0",
    "(((((9*q0)**16)**16)**16)**16)**16",
]


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:30] for text in HOSTILE])
def test_nothing_else_is_a_formula(text):
    with pytest.raises(ar.FileError) as caught:
        parse_formula(text, SYMBOLS)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
