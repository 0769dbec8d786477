"""Say what is wrong with a file in the user's words: which field, what it holds, what would be accepted."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from arcreach._checks import shown

# Lists whose entries are told apart by a field, whose value pydantic puts into the place of an error.
_TAGGED_LISTS = {"elements": "kind", "rows": "kind", "coordinates": "quantity", "obstacles": "kind"}
# Problems that are told of one file: more would take long to write and nobody reads them.
MOST = 100
# More names than a reader would look through.
_MOST_KNOWN = 1000

# What to give where pydantic finds another type.
_REMEDIES = {
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}

Place = tuple[int | str, ...]
ModelOf = Callable[[str, Any], type[BaseModel] | None]


def describe(error: ValidationError, data: Any, model_of: ModelOf) -> list[tuple[Place, str]]:
    """Each problem: its place in the file and one line. `model_of(path, table)` is the model of the table at a path.

    Of more than `MOST` problems the first ones are told, and how many more there are.
    """
    details = error.errors(include_url=False)
    lines = [(detail["loc"], _line(detail, data, model_of)) for detail in details[:MOST]]
    if len(details) > MOST:
        lines.append(((), f"has {len(details) - MOST} more problems"))
    return lines


def suggestion(word: str, known: Iterable[str]) -> str:
    """`did you mean ...`, where something known is spelt nearly alike."""
    # Comparing takes the product of both lengths; nothing known is this long.
    near = difflib.get_close_matches(word[:100], list(itertools.islice(known, _MOST_KNOWN)), n=1, cutoff=0.6)
    return f"; did you mean {shown(near[0])}?" if near else ""


def _line(detail: Any, data: Any, model_of: ModelOf) -> str:
    path, value, table = _locate(detail, data)
    holder, _, key = path.rpartition(".")
    model = model_of(holder, table)
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            about = model.model_fields[key].description if model and key in model.model_fields else None
            return f"{path} is missing; give the {about or key}"
        case "extra_forbidden":
            known = list(model.model_fields) if model else []
            written = str(detail["loc"][-1])
            hint = suggestion(written, known) or f"; accepted here: {', '.join(known)}"
            return f"{path} = {shown(value)} is an unknown key{hint}"
        case "union_tag_invalid":
            given = shown(value.get(_tag(detail)))
            return f"{path}.{_tag(detail)} = {given} is not accepted; give one of {context['expected_tags']}"
        case "union_tag_not_found" if isinstance(value, dict):
            return f"{path}.{_tag(detail)} is missing; every entry says what it is"
        case "value_error":
            return f"{path} = {shown(value)} is not accepted; {context['error']}"
    return f"{path} = {shown(value)} is not accepted; give {_remedy(detail['type'], detail['msg'], context)}"


def _remedy(kind: str, message: str, context: Any) -> str:
    """What would be accepted, after `give`."""
    if kind == "literal_error":
        return str(context["expected"])
    if kind == "too_short":
        return f"at least {context['min_length']} entries" if context["min_length"] > 1 else "at least one entry"
    if kind == "too_long":
        return f"at most {context['max_length']} entries"
    if kind == "union_tag_not_found":
        return "a table"
    return _REMEDIES.get(kind) or message.removeprefix("Input should be ")


def _tag(detail: Any) -> str:
    """The field that tells the entries of a list apart."""
    return next(_TAGGED_LISTS[part] for part in reversed(detail["loc"]) if part in _TAGGED_LISTS)


def _locate(detail: Any, data: Any) -> tuple[str, Any, Any]:
    """The path as a user writes it, the value there, and the table that holds it."""
    place = detail["loc"]
    path = ""
    node = table = data
    for i, part in enumerate(place):
        if isinstance(part, int):
            path += f"[{part}]"
            node = node[part] if isinstance(node, list) and part < len(node) else None
            continue
        # What is neither a key of the table nor a missing one is pydantic's own: which branch of a union it tried.
        missing = detail["type"] == "missing" and i == len(place) - 1
        tagged = i >= 2 and isinstance(place[i - 1], int) and place[i - 2] in _TAGGED_LISTS
        if tagged or not isinstance(node, dict) or not (part in node or missing):
            continue
        written = part if part.isidentifier() and len(part) <= 60 else shown(part)
        path += f".{written}" if path else written
        table = node
        node = node.get(part)
    return path or "the file", node, table
