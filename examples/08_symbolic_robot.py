"""Define a robot by a symbolic matrix, and compute its pose, its Jacobian and its inverse kinematics."""

import sys
from pathlib import Path

import numpy as np

import arcreach as ar


def crane():
    """Return a loading crane with a rotating column and a boom that lifts and extends, as a manipulator matrix."""
    import sympy as sp

    turn, lift, reach = sp.symbols("turn lift reach")
    column = sp.Matrix([[sp.cos(turn), -sp.sin(turn), 0], [sp.sin(turn), sp.cos(turn), 0], [0, 0, 1]])
    boom = sp.Matrix([[sp.cos(lift), 0, -sp.sin(lift)], [0, 1, 0], [sp.sin(lift), 0, sp.cos(lift)]])
    rotation = column * boom
    tip = sp.Matrix([0, 0, 2]) + rotation * sp.Matrix([reach, 0, 0])
    matrix = rotation.row_join(tip).col_join(sp.Matrix([[0, 0, 0, 1]]))
    return ar.SymbolicRobot(
        matrix,
        (turn, lift, reach),
        lower=[-np.pi, -0.3, 3.0],
        upper=[np.pi, 1.3, 8.0],
        quantities=("angle", "angle", "length"),
        name="crane",
    )


def main(folder="build/examples"):
    try:
        robot = crane()
    except ImportError:
        print("formulas need SymPy: pip install 'arcreach[symbolic]'")
        return
    print(robot)
    q = np.array([0.5, 0.4, 5.0])
    print(f"tip at {robot.tip_pose(q)[:3, 3]} m")
    step = 1e-6 * np.eye(3)
    differences = (robot.tip_pose(q + step) - robot.tip_pose(q - step))[:, :3, 3].T / 2e-6
    print(f"Jacobian and finite differences agree to {abs(robot.jacobian(q)[:3] - differences).max():.0e}")

    target = ar.Target([3.0, -2.0, 4.0])
    solution = ar.solve(
        robot,
        target,
        "hierarchical",
        order=["turn", "lift", "reach"],
        start=[0.0, 0.0, 4.0],
        position_tol=1e-4,
        trace=True,
    )
    print(solution)
    # The crane has a closed-form solution.
    x, y, z = 3.0, -2.0, 4.0 - 2.0
    exact = [np.arctan2(y, x), np.arctan2(z, np.hypot(x, y)), np.linalg.norm([x, y, z])]
    print(f"difference from the closed-form solution: {abs(solution.q - exact).max():.0e}")
    save_picture(Path(folder), robot, solution)


def save_picture(folder, robot, solution):
    picture = folder / "08_symbolic_robot.png"
    try:
        from arcreach.figures import iterations, save

        folder.mkdir(parents=True, exist_ok=True)
        save(iterations(robot, solution), picture)
    except ar.MissingExtraError as error:
        print(error)
        return
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
