"""Polars, imported where rows are read or written: the rest of the library does without it."""

from __future__ import annotations

from typing import Any

from arcreach._extras import require


def import_polars() -> Any:
    """Polars, or an error that names the extra it comes with."""
    return require("polars", "an experiment")
