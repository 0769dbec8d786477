"""What arcreach raises. Every error of input is a `ValueError` too and says field, value and what would be accepted."""

from typing import Any


class ArcreachError(Exception):
    """Base of all errors of this library."""


class _ProblemsError(ArcreachError, ValueError):
    """An error whose message is the first problem and whose `problems` are all of them."""

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems or (message,)


class RobotError(_ProblemsError):
    """A robot or one of its elements is not possible as described.

    `problems` holds one line per field that is wrong.
    """


class ConfigurationError(ArcreachError, ValueError):
    """A configuration has the wrong shape, or numbers that are not finite."""


class TargetError(ArcreachError, ValueError):
    """A target, a tolerance or a limit of a solve is not possible as given."""


class MethodError(ArcreachError, ValueError):
    """A method is not known, or cannot serve this robot or target."""


class DeviceError(ArcreachError, ValueError):
    """A GPU is asked for and cannot be used, or cannot do what is asked."""


class SceneError(_ProblemsError):
    """An obstacle or a scene is not possible as described, or cannot be used as asked.

    `problems` holds one line per field that is wrong.
    """


class FileError(_ProblemsError):
    """A file is missing, unreadable, or says something that is not accepted.

    `problems` holds one line per field that is wrong, without the file's name.
    """


class MissingExtraError(ArcreachError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed; run: pip install 'arcreach[{extra}]'")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a long computation; `result` is what had been computed until then.

    A `KeyboardInterrupt`, and no `ArcreachError`: code that catches errors does not swallow it.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result = result
