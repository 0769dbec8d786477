"""Parse a TOML text within bounds, and write values so that floats are read back bit-identical.

`tomli_w` is not used: it breaks every array over several lines, and a robot file has one vector per line.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from typing import Any

from arcreach._checks import shown
from arcreach.errors import FileError
from arcreach.files.toml import problems, sizes

TOO_MANY_DIGITS = "is not valid TOML: it has a number of thousands of digits; give one that a float can hold"


def _reason(error: tomllib.TOMLDecodeError) -> str:
    """Return the message of an error, shortened if it quotes much of the file, with the line and column."""
    reason, bracket, place = str(error).rpartition(" (at ")
    return f"{shown(reason)[1:-1]} (at {place}" if bracket else shown(place)[1:-1]


def parse_toml(text: str, origin: str) -> dict[str, Any]:
    """Return the tables of a TOML text; error messages call it `origin`."""
    try:
        sizes.check_toml(text)
        data = tomllib.loads(text)
    except FileError as error:
        raise problems.failure(origin, error.problems) from None
    except tomllib.TOMLDecodeError as error:
        raise problems.failure(origin, [f"is not valid TOML: {_reason(error)}"]) from None
    except ValueError:
        raise problems.failure(origin, [TOO_MANY_DIGITS]) from None
    if _has_endless_integer(data):
        raise problems.failure(origin, [TOO_MANY_DIGITS])
    return data


def _has_endless_integer(data: Any) -> bool:
    """Return whether an integer has over 10,000 bits: Python's limit of digits does not apply to hexadecimal ones."""
    waiting = [data]
    while waiting:
        node = waiting.pop()
        if isinstance(node, int) and node.bit_length() > 10_000:
            return True
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return False


def toml_value(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        # A JSON string is a TOML string except for DEL, which TOML requires to be escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"[{', '.join(toml_value(item) for item in value)}]"


def header_lines(content: Any) -> list[str]:
    """Return the lines of the name and source of a robot or scene; empty ones are left out."""
    fields = (("name", content.name), ("source", content.source))
    return [f"{key} = {toml_value(value)}" for key, value in fields if value]


def entry_lines(table: str, kind: str, entry: Any, **replaced: Any) -> list[str]:
    """Return the lines of a dataclass as one table of a list; fields that have their default are left out.

    A field that is a list of dataclasses becomes a list of tables after the other fields.
    """
    lines = ["", f"[[{table}]]"] + ([f"kind = {toml_value(kind)}"] if kind else [])
    nested = []
    for field in dataclasses.fields(entry):
        value = replaced.get(field.name, getattr(entry, field.name))
        if value == field.default:
            continue
        if isinstance(value, tuple) and dataclasses.is_dataclass(value[0]):
            nested += [line for item in value for line in entry_lines(f"{table}.{field.name}", "", item)]
        else:
            lines.append(f"{field.name} = {toml_value(value)}")
    return lines + nested
