"""Import optional packages, or name the extra that installs them."""

from __future__ import annotations

import importlib
from types import ModuleType

from arcreach.errors import MissingExtraError

# Import name: (package name, extra that installs it, what needs it).
PACKAGES = {
    "dask": ("dask", "cluster", "--cluster"),
    "distributed": ("distributed", "cluster", "--cluster"),
    "jinja2": ("Jinja2", "cluster", "a report"),
    "matplotlib": ("matplotlib", "figures", "a figure"),
    "mujoco": ("MuJoCo", "mujoco", "an MJCF file"),
    "polars": ("polars", "cluster", "an experiment"),
    "ruckig": ("ruckig", "ruckig", "max_jerk"),
    "scipy": ("SciPy", "fit", "a fit"),
    "shapely": ("shapely", "plan", "a grasp of a polygon"),
    "sympy": ("SymPy", "symbolic", "a robot given as a symbolic matrix"),
    "trimesh": ("trimesh", "plan", "an STL or GLB file"),
    "viser": ("viser", "studio", "the studio"),
    "ziglang": ("ziglang", "web", "a page that solves by itself"),
}


def require(module: str, purpose: str = "") -> ModuleType:
    """Import an optional module; raise MissingExtraError, which names the extra, if it is not installed.

    `purpose` replaces that of `PACKAGES` in the message.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package, extra, usual = PACKAGES[module.partition(".")[0]]
        raise MissingExtraError(package, extra, purpose or usual) from None
