"""Write a chain of elements as the record array that kernels read. Nothing else writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.kernels import layout
from arcreach.robots.elements import Element, Link, Parallelogram, Prismatic, Revolute, Section

_KINDS: dict[type[Element], int] = {
    Link: layout.LINK,
    Revolute: layout.REVOLUTE,
    Prismatic: layout.PRISMATIC,
    Parallelogram: layout.PARALLELOGRAM,
    Section: layout.SECTION,
}


def pack(elements: Sequence[Element]) -> npt.NDArray[Any]:
    """The packed chain, read-only."""
    arcs = sum(len(element.length_weights) for element in elements if isinstance(element, Section))
    chain = np.zeros(len(elements) + arcs, dtype=layout.ROW)
    row = 0
    coordinate = 0
    for element in elements:
        record = chain[row]
        record["kind"] = next(code for kind, code in _KINDS.items() if isinstance(element, kind))
        record["coordinate"] = coordinate
        if isinstance(element, Section):
            _pack_section(element, record, chain[row + 1 : row + 1 + len(element.length_weights)])
        else:
            _pack_rigid(element, record)
        row += 1 + int(record["arcs"])
        coordinate += len(element.coordinates)
    chain.flags.writeable = False
    return chain


def _pack_rigid(element: Link | Revolute | Prismatic | Parallelogram, record: Any) -> None:
    if isinstance(element, Link):
        record["translation"] = element.translation
        record["rotation"] = element.rotation
        record["radius"] = element.radius
        return
    record["axis"] = element.axis
    record["lower"] = element.lower
    record["upper"] = element.upper
    if isinstance(element, Prismatic | Parallelogram):
        record["radius"] = element.radius
    if isinstance(element, Parallelogram):
        record["translation"] = element.link


def _pack_section(section: Section, record: Any, arcs: npt.NDArray[Any]) -> None:
    for name in ("length", "stretch", "bend_max", "radius", "twist"):
        record[name] = getattr(section, name)
    record["arcs"] = len(arcs)
    arcs["kind"] = layout.ARC
    arcs["length_share"] = np.divide(section.length_weights, sum(section.length_weights))
    arcs["bend_share"] = np.divide(section.bend_weights, sum(section.bend_weights))
    arcs["bend_before"] = np.concatenate([[0.0], np.cumsum(arcs["bend_share"])[:-1]])
