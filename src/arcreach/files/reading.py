"""Read a small text file that a user named, and write one so that a failure leaves the old one whole."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from arcreach.errors import FileError


def read_text(path: Path, largest: int) -> str:
    """The text of a regular UTF-8 file of at most `largest` bytes."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise FileError(f"{path}: no such file; give the path of an existing file") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read ({_reason(error)})") from None
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{path}: is a directory; give the path of a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{path}: is not a regular file; give the path of a file on disk")
    if status.st_size > largest:
        raise FileError(f"{path}: has {status.st_size / 1e6:.1f} MB; at most {largest / 1e6:.0f} MB are accepted")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({_reason(error)})") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def write_text(path: Path, text: str) -> None:
    """Write a file in one step: until the new text is complete on disk, the old file stays."""
    if path.is_dir():
        raise FileError(f"{path}: is a directory; give the path of a file in it")
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({_reason(error)})") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes a private file; a new file gets what the user's umask allows, an old one keeps its mode.
        Path(temporary).chmod(stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask())
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise FileError(f"{path}: cannot be written ({_reason(error)})") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
