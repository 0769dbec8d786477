"""Import optional packages: the one table of which extra brings them."""

from __future__ import annotations

import importlib
from types import ModuleType

from arcreach.errors import MissingExtraError

# By the name that is imported: the name of the package and the extra that brings it.
PACKAGES = {
    "dask": ("dask", "cluster"),
    "distributed": ("distributed", "cluster"),
    "matplotlib": ("matplotlib", "figures"),
    "ompl": ("ompl", "plan"),
    "polars": ("polars", "cluster"),
    "shapely": ("shapely", "plan"),
    "sympy": ("SymPy", "symbolic"),
    "toppra": ("toppra", "plan"),
    "trimesh": ("trimesh", "plan"),
    "viser": ("viser", "studio"),
}


def require(module: str, purpose: str) -> ModuleType:
    """Import an optional module; without its package, the error says which extra to install for which purpose."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(*PACKAGES[module.partition(".")[0]], purpose) from None
