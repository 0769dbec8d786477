"""Exceptions of arcreach. Input errors are also `ValueError`s and name the field, the value and what is accepted."""

from typing import Any


class ArcreachError(Exception):
    """Base class of all errors of this library."""


class _ProblemsError(ArcreachError, ValueError):
    """An error whose message is the first problem; `problems` holds all of them."""

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems or (message,)


class RobotError(_ProblemsError):
    """A robot or one of its elements is invalid.

    `problems` holds one line per invalid field.
    """


class ConfigurationError(ArcreachError, ValueError):
    """A configuration has the wrong shape or contains numbers that are not finite."""


class TargetError(ArcreachError, ValueError):
    """A target, a tolerance or a limit of a solve is invalid."""


class MethodError(ArcreachError, ValueError):
    """A method is unknown, or does not support this robot or target."""


class DeviceError(ArcreachError, ValueError):
    """A GPU was requested and cannot be used, or does not support the request."""


class SceneError(_ProblemsError):
    """An obstacle or a scene is invalid, or does not support the request.

    `problems` holds one line per invalid field.
    """


class FileError(_ProblemsError):
    """A file is missing, unreadable or has invalid content.

    `problems` holds one line per invalid field, without the file's name.
    """


class StudioError(ArcreachError, ValueError):
    """The studio cannot do what it is asked."""


class MissingExtraError(ArcreachError, ImportError):
    """An optional dependency is required and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed; run: pip install 'arcreach[{extra}]'")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a long computation; `result` holds what was computed before it.

    Not an `ArcreachError`, so that code that catches errors does not swallow it.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result = result
