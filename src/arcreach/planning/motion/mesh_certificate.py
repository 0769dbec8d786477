"""Certificates of the motions of `follow_the_leader` among meshes, without the distance grids that searches use.

A grid takes seconds for a new mesh and underestimates distances by up to a cell: too much inside a narrow tube.
"""

from __future__ import annotations

import numpy as np

from arcreach._typing import Array, Booleans
from arcreach.planning.motion.motion_check import VariableSpace
from arcreach.scenes.scene import Scene

# Motions are halved, at most HALVINGS times, until a certificate keeps this share of the clearance beyond the margin.
KEPT = 0.5
HALVINGS = 10


def mesh_certificates(space: VariableSpace, V: Array, scene: Scene, margin: float) -> tuple[Booleans, Array]:
    """Return whether each motion between successive variables (n, variables) keeps a margin, and its certificate.

    If the ends of a motion have the clearances a and b, and no point of the body travels farther than t between them,
    every configuration between them has at least the clearance (a + b - t) / 2.
    """
    owner = np.arange(len(V) - 1)
    first, last = V[:-1], V[1:]
    at = space.clearances(V, scene)
    ends = np.stack([at[:-1], at[1:]], axis=1)
    certificates = np.full(len(owner), np.inf)
    for halving in range(HALVINGS + 1):
        travels = np.array([space.travels(a, b) for a, b in zip(first, last, strict=True)])
        bounds, least = 0.5 * (ends.sum(axis=1) - travels), ends.min(axis=1)
        loose = (least > margin) & (bounds < margin + KEPT * (least - margin)) & (halving < HALVINGS)
        np.minimum.at(certificates, owner[~loose], np.minimum(bounds, least)[~loose])
        if not loose.any():
            break
        middle = 0.5 * (first[loose] + last[loose])
        between = space.clearances(middle, scene)
        first, last = np.concatenate([first[loose], middle]), np.concatenate([middle, last[loose]])
        halves = np.stack([ends[loose, 0], between], axis=1), np.stack([between, ends[loose, 1]], axis=1)
        ends, owner = np.concatenate(halves), np.tile(owner[loose], 2)
    return (certificates > margin) & space.keeps_pulls(V[:-1], V[1:]), certificates
