"""The directory of compiled kernels on disk, which only this user can write to.

numba notices an edit in the file of a cached function but not in the files of the functions it calls. The name of the
cache directory is therefore a hash of all kernel sources, and an edit starts an empty cache.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba

PACKAGE = Path(__file__).parents[1]


@functools.cache
def kernel_hash() -> str:
    """Return a hash of the sources in `kernels`, `elements` and `_jit`, and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in ("_jit", "elements", "kernels"):
        for source in sorted((PACKAGE / folder).rglob("*.py")):
            digest.update(source.relative_to(PACKAGE).as_posix().encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_home() -> Path | None:
    """Return the parent of all cache folders, from the environment or the platform; None without a home directory."""
    try:
        for variable, folder in (("ARCREACH_CACHE_DIR", ""), ("NUMBA_CACHE_DIR", "arcreach")):
            if chosen := os.environ.get(variable):
                return Path(chosen).expanduser() / folder
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "arcreach"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "arcreach"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arcreach"
    except RuntimeError:
        return None


def _danger(folder: Path) -> str | None:
    """Return why it is unsafe to run code from a folder, or None if only this user and root can write to it."""
    if not hasattr(os, "getuid"):
        return None
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid not in {0, os.getuid()}:
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by others"
    return None


def _planted(folder: Path) -> str | None:
    """Return why a folder is unsafe if it holds files of another user, else None."""
    if not hasattr(os, "getuid"):
        return None
    for place, folders, files in os.walk(folder):
        if any(os.lstat(os.path.join(place, name)).st_uid not in {0, os.getuid()} for name in (*folders, *files)):
            return "holds files of another user"
    return None


def _open_cache() -> Path:
    """Create and return the cache directory of these sources, a temporary one if no folder is safe and writable."""
    shared = Path(tempfile.gettempdir()) / f"arcreach-{os.getuid() if hasattr(os, 'getuid') else ''}"
    for parent in (_cache_home(), shared):
        if parent is None:
            continue
        with contextlib.suppress(OSError, ValueError):
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = parent / kernel_hash()
            # Users who can write to the parent could replace the folder.
            reason = _danger(parent)
            if reason is None:
                folder.mkdir(mode=0o700, exist_ok=True)
                reason = _danger(folder) or _planted(folder)
            if reason is not None:
                _warn_of(parent, reason)
            elif os.access(folder, os.W_OK):
                # The folder keeps others out, whatever the modes of the files that numba writes.
                folder.chmod(0o700)
                return folder
    return Path(tempfile.mkdtemp(prefix="arcreach-"))


def _warn_of(folder: Path, reason: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(
            f"arcreach: compiled kernels are not kept in {folder}: it {reason}, and its files are run as code. "
            "Delete it, or set ARCREACH_CACHE_DIR to a folder that only you can write to.\n"
        )


CACHE_DIRECTORY = _open_cache()
_config_lock = threading.RLock()


@contextlib.contextmanager
def own_cache_directory() -> Iterator[None]:
    """Set numba's cache directory inside the block; restore it afterwards for other code in the process."""
    config: Any = numba.config
    with _config_lock:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(CACHE_DIRECTORY)
        try:
            yield
        finally:
            config.CACHE_DIR = before
