"""Pack a chain of elements as the record array that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.elements import ELEMENTS, Element
from arcreach.elements.element import packed_fields
from arcreach.kernels.chain import layout

_FIELDS = {name: kind for element in ELEMENTS for name, kind in packed_fields(element).items()}
# np.record makes `chain[row].kind` work also where kernels run as plain Python.
ROW = np.dtype((np.record, np.dtype([*layout.ROW_FIELDS, *((name, *kind) for name, kind in _FIELDS.items())])))


def pack(elements: Sequence[Element]) -> npt.NDArray[Any]:
    """Return the packed chain, read-only."""
    rows: list[dict[str, Any]] = []
    coordinate = 0
    for element in elements:
        own, *arcs = element.rows()
        kind = next(code for code, known in enumerate(ELEMENTS) if isinstance(element, known))
        rows += [{**own, "kind": kind, "coordinate": coordinate}, *arcs]
        coordinate += len(element.coordinates)
    chain = records(rows, ROW)
    chain.flags.writeable = False
    return chain


def records(rows: Sequence[dict[str, Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return a record array with these fields; those that a row leaves out are 0."""
    filled = np.zeros(len(rows), dtype=dtype)
    for record, fields in zip(filled, rows, strict=True):
        for name, value in fields.items():
            record[name] = value
    return filled
