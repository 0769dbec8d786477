"""Describe the problems of a file: which field, what it holds, what is accepted; and collect all of them."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from arcreach._checks import shown, suggestion, warn
from arcreach._text import count
from arcreach.errors import ArcreachError, FileError

# Lists of tagged unions, with the field that holds the tag. Pydantic puts the tag into the location of an error.
_TAGGED_LISTS = {"elements": "kind", "rows": "kind", "coordinates": "quantity", "obstacles": "kind"}
# Largest number of problems reported for one file.
MOST = 100
# Held while warnings are recorded, which affects all threads; entries of a list are built inside one another.
_recording = threading.RLock()

# The accepted type for each of pydantic's type errors.
_REMEDIES = {
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "greater_than": "a number above 0",
}

Location = tuple[int | str, ...]
ModelOf = Callable[[str, Any], type[BaseModel] | None]


def validated(model: type[BaseModel], data: Any, model_of: ModelOf) -> tuple[Any, list[tuple[Location, str]]]:
    """Return the content of a file, or None and the problems of its form: the location of each, and a line about it.

    `model_of(path, table)` returns the model of the table at a path. Beyond `MOST` problems the last line counts the
    rest.
    """
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        details = error.errors(include_url=False)
    lines = [(detail["loc"], _line(detail, data, model_of)) for detail in details[:MOST]]
    if len(details) > MOST:
        lines.append(((), f"has {count(len(details) - MOST, 'more problem')}"))
    return None, lines


def failure(origin: str, found: Sequence[str]) -> FileError:
    """Return the error for a file called `origin`: its first problem, and how many more there are."""
    more = f" (and {len(found) - 1} more: arcreach check lists them)" if len(found) > 1 else ""
    return FileError(f"{origin}: {found[0]}{more}", tuple(found))


def problems_of(error: ArcreachError) -> Sequence[str]:
    """Return all problems that an error names."""
    return getattr(error, "problems", (str(error),))


def build_located(place: str, build: Callable[..., Any], *arguments: Any) -> Any:
    """Return `build(*arguments)`; hints during it begin with the place in a file."""
    caught: Sequence[warnings.WarningMessage] = ()
    try:
        with _recording, warnings.catch_warnings(record=True, action="always", category=UserWarning) as caught:
            return build(*arguments)
    finally:
        for one in caught:
            if one.category is UserWarning:
                warn(f"{place}: {one.message}")
            else:
                # Of another package: passed on as it is.
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def build_entries(
    origin: str,
    key: str,
    data: Mapping[str, Any],
    invalid: Sequence[tuple[Location, str]],
    build: Callable[[int, Any], Any],
    entry_problems: Callable[[Any, list[Location]], list[str]],
    file_problems: Sequence[str] = (),
    caught: type[ArcreachError] | tuple[type[ArcreachError], ...] = ArcreachError,
) -> tuple[list[Any], list[str]]:
    """Build all entries of the list `key` of a file called `origin`, and collect the problems of the file.

    `invalid` are the problems that `validated` returns. An entry that fails validation is not built; `entry_problems`
    checks the values of its remaining fields. `file_problems` are problems outside the entries. Errors of the types
    `caught` become problems.
    """
    found = [line for location, line in invalid if location[:1] != (key,) or len(location) == 1]
    found += file_problems
    invalid_entries: dict[Any, list[tuple[Location, str]]] = {}
    for location, line in invalid:
        if location[:1] == (key,) and len(location) > 1:
            invalid_entries.setdefault(location[1], []).append((location[3:], line))
    # If the list itself is refused, for its type or its length, its entries have not been validated.
    entries = [] if any(location == (key,) for location, _ in invalid) else data.get(key, [])
    built = []
    for i, entry in enumerate(entries):
        if i in invalid_entries:
            found += [line for _, line in invalid_entries[i]]
            bad = [at for at, _ in invalid_entries[i]]
            values = build_located(f"{origin}: {key}[{i}]", entry_problems, entry, bad)
            found += [f"{key}[{i}]: {line}" for line in values]
            continue
        try:
            built.append(build_located(f"{origin}: {key}[{i}]", build, i, entry))
        except caught as error:
            found += [f"{key}[{i}]: {line}" for line in problems_of(error)]
    return built, found


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
            given = value.get(_tag(detail))
            tags = context["expected_tags"]
            hint = suggestion(str(given), [tag.strip().strip("'") for tag in tags.split(",")])
            return f"{path}.{_tag(detail)} = {shown(given)} is not accepted; give one of {tags}{hint}"
        case "union_tag_not_found" if isinstance(value, dict):
            return f"{path}.{_tag(detail)} is missing; give it in every entry"
        case "value_error":
            return f"{path} = {shown(value)} is not accepted; {context['error']}"
    return f"{path} = {shown(value)} is not accepted; give {_remedy(detail['type'], detail['msg'], context)}"


def _remedy(kind: str, message: str, context: Any) -> str:
    """Return the accepted input, worded to follow `give`."""
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
    """Return the field that holds the tag of the entry."""
    return next(_TAGGED_LISTS[part] for part in reversed(detail["loc"]) if part in _TAGGED_LISTS)


def _locate(detail: Any, data: Any) -> tuple[str, Any, Any]:
    """Return the path as a user writes it, the value there, and the table that holds it."""
    location = detail["loc"]
    path = ""
    node = table = data
    for i, part in enumerate(location):
        if isinstance(part, int):
            path += f"[{part}]"
            node = node[part] if isinstance(node, list) and part < len(node) else None
            continue
        # Pydantic also puts the branch of a union into the location; the file has no such key.
        missing = detail["type"] == "missing" and i == len(location) - 1
        tagged = i >= 2 and isinstance(location[i - 1], int) and location[i - 2] in _TAGGED_LISTS
        if tagged or not isinstance(node, dict) or not (part in node or missing):
            continue
        written = part if part.isidentifier() and len(part) <= 60 else shown(part)
        path += f".{written}" if path else written
        table = node
        node = node.get(part)
    return path or "the file", node, table
