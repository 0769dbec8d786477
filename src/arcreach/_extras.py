"""Import optional packages, or name the extra that installs them."""

from __future__ import annotations

import importlib
from types import ModuleType

from arcreach.errors import MissingExtraError

# Import name: (package name, extra that installs it).
PACKAGES = {
    "dask": ("dask", "cluster"),
    "distributed": ("distributed", "cluster"),
    "jinja2": ("Jinja2", "cluster"),
    "matplotlib": ("matplotlib", "figures"),
    "mujoco": ("MuJoCo", "mujoco"),
    "polars": ("polars", "cluster"),
    "ruckig": ("ruckig", "ruckig"),
    "scipy": ("SciPy", "fit"),
    "shapely": ("shapely", "plan"),
    "sympy": ("SymPy", "symbolic"),
    "trimesh": ("trimesh", "plan"),
    "viser": ("viser", "studio"),
    "ziglang": ("ziglang", "web"),
}


def require(module: str, purpose: str) -> ModuleType:
    """Import an optional module; raise MissingExtraError, which names the extra, if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(*PACKAGES[module.partition(".")[0]], purpose) from None
