"""Parse `--option name=value`, the options of a method.

`Method.check_options` reports a name that the method does not have; typer reports unknown options of a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from arcreach._checks import shown
from arcreach.errors import MethodError
from arcreach.files.option_values import option_value

_NAME = re.compile(r"[a-z_][a-z0-9_]*")


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
