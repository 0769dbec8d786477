"""Read and write the files that a user names: the only module that opens them.

A read is bounded: a regular file of at most so many bytes. A write replaces the old file in one step, goes through
symbolic links to their target, and never renames over a device or a pipe.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from arcreach.errors import FileError

AnyPath = str | os.PathLike[str]

# A path this long still fits a message; a longer one is a mistake, of which its end says most.
LONGEST_PATH = 200
# A reason given by the system or a parser.
LONGEST_REASON = 60
# Beginning of the names of files that are not complete yet.
UNFINISHED = ".arcreach-"
# A million rows of ten columns with all their digits.
LARGEST_TABLE = 250_000_000
# Of a line of a table: more is no table of coordinates, and would be held in memory at once.
LONGEST_LINE = 1_000_000

_NO_SPACE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


def called(path: AnyPath) -> str:
    """A path as it stands in a message: on one line, printable, its beginning cut where it is very long."""
    text = str(path)
    text = text if len(text) <= LONGEST_PATH else "..." + text[3 - LONGEST_PATH :]
    return text if text.isprintable() else repr(text)


def file_error(path: AnyPath, problem: str) -> FileError:
    """The error for a file: which, and what is wrong with it."""
    return FileError(f"{called(path)}: {problem}", (problem,))


def line_error(path: AnyPath, line: int, problem: str) -> FileError:
    """The error for a line of a file."""
    return FileError(f"{called(path)}, line {line}: {problem}", (f"line {line}: {problem}",))


def may_exist(path: Path) -> bool:
    """False where there is surely no such file; what cannot be looked at may be one."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def read_bytes(path: AnyPath, largest: int) -> bytes:
    """The content of a regular file of at most `largest` bytes."""
    with _opened(path, largest) as stream:
        content = stream.read(largest + 1)
    if len(content) > largest:
        raise _too_large(path, len(content), largest)
    return content


def read_text(path: AnyPath, largest: int) -> str:
    """The text of a regular UTF-8 file of at most `largest` bytes."""
    try:
        return read_bytes(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise file_error(path, f"is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def read_rows(path: AnyPath, largest: int = LARGEST_TABLE) -> Iterator[tuple[int, list[str]]]:
    """The stripped cells of every line of a CSV file that is not empty, with its number; read as they are asked for."""
    with _opened(path, largest) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline=None) as text:
        yield from parse_rows(text, path)


def parse_rows(text: io.TextIOBase, origin: AnyPath) -> Iterator[tuple[int, list[str]]]:
    """As `read_rows`, of a text that is open to be read; `origin` is how messages call it."""
    reader = csv.reader(_lines(text, origin))
    try:
        for row in reader:
            if row:
                yield reader.line_num, [cell.strip() for cell in row]
    except UnicodeDecodeError:
        raise file_error(origin, "is not UTF-8 text; save it as UTF-8") from None
    except csv.Error as error:
        raise line_error(origin, reader.line_num, f"is not valid CSV ({error})") from None


def find_columns(names: Sequence[str], wanted: Sequence[str]) -> dict[str, list[int]]:
    """The columns of every wanted name in a header. Case counts only where two wanted names differ in nothing else."""
    folded = [name.casefold() for name in wanted]
    found = {}
    for name, key in zip(wanted, folded, strict=True):
        exact = folded.count(key) > 1
        found[name] = [k for k, given in enumerate(names) if (given == name if exact else given.casefold() == key)]
    return found


def is_stream(path: AnyPath) -> bool:
    """Whether a path is a device, a pipe, or what this process prints to: written into, and never replaced."""
    status = _status(path)
    return status is not None and (_printed_to(status) is not None or _is_device_or_pipe(status))


def check_ending(path: AnyPath, endings: Sequence[str]) -> str:
    """The ending of a file's name in small letters, which must be one of these."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise file_error(path, f"its ending is not known; give {', '.join(endings)}")
    return ending


def check_output(path: AnyPath, endings: Sequence[str] = ()) -> str:
    """Refuse a file that could not be written, before anything is computed for it; gives the ending to write it by.

    A stream needs no ending: without a known one it gets the first.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise FileError(f"path = {repr(path)[:LONGEST_REASON]} is not accepted; give the path of a file")
    ending = Path(path).suffix.lower()
    status = _status(path)
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise file_error(path, "is a directory; give the path of a file in it")
    if status is not None and is_stream(path):
        return ending if ending in endings or not endings else endings[0]
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise file_error(path, "cannot be written: is neither a regular file nor a device or pipe to print to")
    if endings:
        check_ending(path, endings)
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise file_error(path, "cannot be written: its folder does not exist; make it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise file_error(path, "cannot be written: its folder may not be written to; choose another")
    if status is not None and not os.access(target, os.W_OK):
        raise file_error(path, "cannot be written: the file is read-only; choose another")
    return ending


def check_folder(path: AnyPath) -> None:
    """Refuse a folder that could not be made or written to, before anything is computed for it."""
    status = _status(path)
    if status is not None and not stat.S_ISDIR(status.st_mode):
        raise file_error(path, "is not a folder; give the path of a folder")
    there = Path(os.path.realpath(path))
    while not there.is_dir():
        there = there.parent
    if not os.access(there, os.W_OK | os.X_OK):
        raise file_error(path, "the folder may not be written to; choose another")


def make_folder(path: AnyPath) -> Path:
    """Make a folder with all its parents, if it is not there."""
    check_folder(path)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise file_error(path, f"the folder cannot be made ({_reason(error)})") from None
    return Path(path)


def write_text(path: AnyPath, text: str, largest: int | None = None) -> None:
    """Write a text as `write_bytes` does.

    A text of more than `largest` bytes is refused, because it could not be read again.
    """
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise file_error(path, f"cannot be written: {error.object[error.start]!r} is no character of Unicode") from None
    if largest is not None and len(content) > largest:
        size = f"{len(content) / 1e6:.1f} MB"
        raise file_error(path, f"would have {size}; at most {largest / 1e6:.0f} MB can be read: write a smaller one")
    write_bytes(path, content)


def write_bytes(path: AnyPath, content: bytes) -> None:
    """Write a file in one step: until the new content is complete on disk, the old file stays.

    The target of a symbolic link is written. Devices, pipes and the standard output are written into.
    """
    check_output(path)
    try:
        if is_stream(path):
            _write_into(path, content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            why = "no space left on the disk; what was there is kept: free some space and run the same command again"
            raise file_error(path, why) from None
        raise file_error(path, f"cannot be written ({_reason(error)})") from None


def _write_into(path: AnyPath, content: bytes) -> None:
    status = os.stat(path)
    printed = _printed_to(status)
    sys.stdout.flush()
    # Opened anew, a file that our output goes to would be written from its beginning.
    handle = os.open(path, os.O_WRONLY) if printed is None else os.dup(printed)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)


def _replace(target: Path, content: bytes) -> None:
    temporary = target.with_name(f"{UNFINISHED}{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # A new file has the mode that the user's umask allows, an old one keeps its own.
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    finally:
        # Gone already where all went well.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _status(path: AnyPath) -> os.stat_result | None:
    """What is at a path, links followed; None where there is nothing."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise file_error(path, "cannot be written: its folder is a file; choose another") from None
    except (OSError, ValueError) as error:
        raise file_error(path, f"cannot be written ({_reason(error)})") from None


def _is_device_or_pipe(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) or stat.S_ISFIFO(status.st_mode)


def _printed_to(status: os.stat_result) -> int | None:
    """The descriptor of this process's standard output or error, where it is the same file."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), status):
                return descriptor
    return None


@contextlib.contextmanager
def _opened(path: AnyPath, largest: int) -> Iterator[io.BufferedReader]:
    """A regular file, open to be read; what is none is not even opened, since a pipe would wait for its writer."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise file_error(path, "no such file; give the path of an existing file") from None
    except (OSError, ValueError) as error:
        raise file_error(path, f"cannot be read ({_reason(error)})") from None
    if stat.S_ISDIR(status.st_mode):
        raise file_error(path, "is a directory; give the path of a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise file_error(path, "is not a regular file; give the path of a file on disk")
    if status.st_size > largest:
        raise _too_large(path, status.st_size, largest)
    try:
        with open(path, "rb") as stream:
            yield stream
    except OSError as error:
        raise file_error(path, f"cannot be read ({_reason(error)})") from None


def _lines(text: io.TextIOBase, origin: AnyPath) -> Iterator[str]:
    while line := text.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise file_error(origin, f"has a line of more than {LONGEST_LINE} characters, which is no table")
        yield line


def _too_large(path: AnyPath, size: int, largest: int) -> FileError:
    return file_error(path, f"has {size / 1e6:.1f} MB; at most {largest / 1e6:.0f} MB are accepted")


def _reason(error: Exception) -> str:
    text = (getattr(error, "strerror", None) or str(error)).lower()
    text = text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 3] + "..."
    return "".join(character if character.isprintable() else " " for character in text)
