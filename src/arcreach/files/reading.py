"""Read a small text file that a user named, and write one so that a failure leaves the old one whole."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from arcreach.errors import FileError
from arcreach.robots.checks import shown

# A path this long still fits a message; a longer one is a mistake, of which its end says most.
LONGEST_PATH = 200


def called(path: str | os.PathLike[str]) -> str:
    """A path as it stands in a message: on one line, printable, its beginning cut where it is very long."""
    text = str(path)
    text = text if len(text) <= LONGEST_PATH else "..." + text[3 - LONGEST_PATH :]
    return text if text.isprintable() else repr(text)


def file_error(path: str | os.PathLike[str], problem: str) -> FileError:
    """The error for a file: which, and what is wrong with it."""
    return FileError(f"{called(path)}: {problem}", (problem,))


def may_exist(path: Path) -> bool:
    """False where there is surely no such file; what cannot be looked at may be one."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def read_text(path: Path, largest: int) -> str:
    """The text of a regular UTF-8 file of at most `largest` bytes."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise file_error(path, "no such file; give the path of an existing file") from None
    except (OSError, ValueError) as error:
        raise file_error(path, f"cannot be read ({_reason(error)})") from None
    if stat.S_ISDIR(status.st_mode):
        raise file_error(path, "is a directory; give the path of a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise file_error(path, "is not a regular file; give the path of a file on disk")
    if status.st_size > largest:
        raise file_error(path, f"has {status.st_size / 1e6:.1f} MB; at most {largest / 1e6:.0f} MB are accepted")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise file_error(path, f"cannot be read ({_reason(error)})") from None
    except UnicodeDecodeError as error:
        raise file_error(path, f"is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def write_text(path: Path, text: str, largest: int | None = None) -> None:
    """Write a file in one step: until the new text is complete on disk, the old file stays.

    A text of more than `largest` bytes is refused, because it could not be read again.
    """
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise file_error(path, f"cannot be written: {error.object[error.start]!r} is no character of Unicode") from None
    if largest is not None and len(content) > largest:
        size = f"{len(content) / 1e6:.1f} MB"
        raise file_error(path, f"would have {size}; at most {largest / 1e6:.0f} MB can be read: write a smaller robot")
    write_bytes(path, content)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file in one step: until the new content is complete on disk, the old file stays."""
    if os.path.isdir(path):
        raise file_error(path, "is a directory; give the path of a file in it")
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".arcreach-")
    except (OSError, ValueError) as error:
        raise file_error(path, f"cannot be written ({_reason(error)})") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes a private file; a new file gets what the user's umask allows, an old one keeps its mode.
        Path(temporary).chmod(stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask())
        Path(temporary).replace(path)
    except (OSError, ValueError) as error:
        raise file_error(path, f"cannot be written ({_reason(error)})") from None
    finally:
        # Gone already where all went well.
        Path(temporary).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: Exception) -> str:
    return shown((getattr(error, "strerror", None) or str(error)).lower())[1:-1]
