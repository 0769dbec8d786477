"""Robot and scene files: TOML text checked by pydantic models."""
