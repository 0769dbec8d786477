"""The command `arcreach`: each command parses, calls one function of the library and prints."""

from arcreach.cli.app import main

__all__ = ["main"]
