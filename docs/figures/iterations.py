"""Draw docs/images/iterations.png: `hierarchical` on the three-joint arm of the article, point 2 of its line."""

from __future__ import annotations

import math
from pathlib import Path

import arcreach as ar
from arcreach.figures import iterations, save

OUTPUT = Path(__file__).parents[1] / "images" / "iterations.png"


def main() -> None:
    arm = ar.load_robot("librergm3")
    solution = ar.solve(
        arm,
        ar.Target([0.200, 0.050, 1.060]),
        method="hierarchical",
        start=[0.0, 0.0, math.pi / 4],
        order=["q0", "q2", "q1"],
        exit="largest",
        position_tol=1e-5,
        trace=True,
    )
    save(iterations(arm, solution), OUTPUT)


if __name__ == "__main__":
    main()
