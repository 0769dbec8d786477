"""Which optional packages the page can use: a button whose package is missing says which extra brings it."""

from __future__ import annotations

import importlib.util

from arcreach._extras import PACKAGES
from arcreach.errors import MissingExtraError


def missing_for_plans() -> str:
    """Why motions cannot be planned, or nothing where they can."""
    if importlib.util.find_spec("ompl") is not None:
        return ""
    return str(MissingExtraError(*PACKAGES["ompl"], "planning a motion"))
