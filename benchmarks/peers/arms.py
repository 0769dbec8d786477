"""Arms of the comparison, with their targets and starts."""

import numpy as np

import arcreach as ar

from . import judge, urdf

CATALOGUE = ("puma-560", "ur5", "iiwa-14", "panda", "era-like", "rail-iiwa-14", "arm-8r")
CHAIN_JOINTS = 60
LONG_CHAIN = f"chain-{CHAIN_JOINTS}"
ARMS = (*CATALOGUE, LONG_CHAIN)


def robot(name):
    """Return an arm by name: from the catalogue, or the long chain."""
    return long_chain() if name == LONG_CHAIN else ar.load_robot(name)


def long_chain(n=CHAIN_JOINTS, length=1.0, limit=np.pi / 2):
    """Return a chain of alternating z and y joints with equal links."""
    pieces = [
        (ar.Revolute((0, 0, 1) if i % 2 == 0 else (0, 1, 0), -limit, limit), ar.Link((length / n, 0, 0)))
        for i in range(n)
    ]
    return ar.Robot([piece for pair in pieces for piece in pair], name=f"chain-{n}")


def write(name, folder, targets, seed):
    """Write `<name>.urdf` and `<name>.npz`: target poses and a random start for each, those for warm-up first."""
    path = folder / f"{name}.urdf"
    path.write_text(urdf.written(robot(name)))
    chain = judge.read(path)
    rng = np.random.default_rng(seed)
    q, starts = chain.sample(judge.WARM_UP + targets, rng), chain.sample(judge.WARM_UP + targets, rng)
    np.savez(folder / f"{name}.npz", poses=np.array([chain.tip_pose(row) for row in q]), starts=starts)
    agreement = check(name, path, chain, q[:50])
    if agreement > 1e-9:
        raise SystemExit(f"{name}: the URDF differs from the robot by {agreement:.1e}")
    return {"dof": chain.dof, "agreement": agreement}


def check(name, path, chain, configurations):
    """Return the largest difference of tip poses: the robot, its URDF in arcreach, and its URDF in the judge."""
    original, loaded = robot(name), ar.load_robot(str(path), base=judge.BASE, tip=judge.TIP)
    return max(
        np.abs(chain.tip_pose(q) - other.tip_pose(q)).max() for q in configurations for other in (original, loaded)
    )
