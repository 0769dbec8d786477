"""What arcreach raises. Every error of input is a `ValueError` too and says field, value and what would be accepted."""


class ArcreachError(Exception):
    """Base of all errors of this library."""


class RobotError(ArcreachError, ValueError):
    """A robot or one of its elements is not possible as described."""


class ConfigurationError(ArcreachError, ValueError):
    """A configuration has the wrong shape, or numbers that are not finite."""


class FileError(ArcreachError, ValueError):
    """A file is missing, unreadable, or says something that is not accepted.

    `problems` holds one line per field that is wrong.
    """

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems or (message,)


class MissingExtraError(ArcreachError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed; run: pip install 'arcreach[{extra}]'")
