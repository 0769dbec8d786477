"""Say what is wrong with a file in the user's words: which field, what it holds, what would be accepted."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from arcreach.robots.checks import shown

# Lists whose entries are told apart by a tag, which pydantic puts into the place of an error.
_TAGGED_LISTS = ("elements", "rows")

ModelOf = Callable[[str, Any], type[BaseModel] | None]


def describe(error: ValidationError, data: Any, model_of: ModelOf) -> tuple[str, ...]:
    """One line per problem. `model_of(path, table)` is the model of the table at a path of the file."""
    return tuple(_line(detail, data, model_of) for detail in error.errors())


def suggestion(word: str, known: Iterable[str]) -> str:
    """`did you mean ...`, where something known is spelt nearly alike."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def _line(detail: Any, data: Any, model_of: ModelOf) -> str:
    path, value, table = _locate(detail["loc"], data)
    holder, _, key = path.rpartition(".")
    model = model_of(holder, table)
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            about = model.model_fields[key].description if model and key in model.model_fields else None
            return f"{path} is missing; " + (f"give the {about}" if about else "it is needed")
        case "extra_forbidden":
            known = list(model.model_fields) if model else []
            hint = suggestion(key, known) or f"; accepted here: {', '.join(known)}"
            return f"{path} = {shown(value)} is an unknown key{hint}"
        case "union_tag_invalid":
            return f"{path}.kind = '{context['tag']}' is not accepted; give one of {context['expected_tags']}"
        case "union_tag_not_found":
            return f"{path}.kind is missing; every entry says what it is"
        case "value_error":
            return f"{path} = {shown(value)} is not accepted; {context['error']}"
    return f"{path} = {shown(value)} is not accepted; it should {detail['msg'].removeprefix('Input should ')}"


def _locate(place: tuple[int | str, ...], data: Any) -> tuple[str, Any, Any]:
    """The path as a user writes it, the value there, and the table that holds it."""
    path = ""
    node = table = data
    for i, part in enumerate(place):
        if i >= 2 and isinstance(place[i - 1], int) and place[i - 2] in _TAGGED_LISTS:
            continue
        if isinstance(part, int):
            path += f"[{part}]"
            node = node[part] if isinstance(node, list) and part < len(node) else None
        else:
            path += f".{part}" if path else part
            table = node
            node = node.get(part) if isinstance(node, dict) else None
    return path or "the file", node, table
