"""Polars, imported where rows are read or written: the rest of the library does without it."""

from __future__ import annotations

from typing import Any

from arcreach.errors import MissingExtraError


def import_polars() -> Any:
    """Polars, or an error that names the extra it comes with."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("polars", "cluster", "an experiment") from None
    return polars
