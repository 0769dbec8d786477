"""Find the method of `--method`, and parse `--option name=value`, its options.

`Method.check_options` reports a name that the method does not have; typer reports unknown options of a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from arcreach._checks import shown
from arcreach.errors import MethodError
from arcreach.files.option_values import option_value
from arcreach.ik.method import Method
from arcreach.ik.methods import MODULES
from arcreach.ik.own_methods import load_method

_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def chosen_method(name: str) -> Method:
    """Return the method of that name, or a user's own; the error for `LM` suggests `lm`."""
    try:
        return load_method(name)
    except MethodError as error:
        if name.lower() not in MODULES:
            raise
        refused = str(error).partition("; did you mean")[0]
        raise MethodError(f"{refused}; did you mean {shown(name.lower())}?") from None


def parse_options(given: Iterable[str]) -> dict[str, Any]:
    """Return the options of a method by name."""
    options: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not _NAME.fullmatch(name):
            raise MethodError(f"--option {shown(text)} is not accepted; give name=value, as divisions=100")
        if name in options:
            raise MethodError(f"--option {name} is given twice; give it once")
        options[name] = option_value(name, value.strip())
    return options
