"""Temporary folders that are removed after use, and by the next bot if this one is killed."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_NAME = "bot-work-"


@contextmanager
def scratch_folder(prefix: str) -> Generator[Path]:
    """Create a folder for the body. If the bot is killed, the next bot of the same user on this
    machine removes the folder."""
    parent = _process_folder()
    if not parent.exists():  # somebody cleaned the temporary directory
        _process_folder.cache_clear()
        parent = _process_folder()
    with tempfile.TemporaryDirectory(
        prefix=prefix, dir=parent, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def remove_abandoned_folders() -> None:
    """Remove the folders of ended processes of this user: nobody holds their locks."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_NAME}*"):
        with contextlib.suppress(OSError):
            lock = _lock(folder)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


@cache
def _process_folder() -> Path:
    """Create the folder for all others, and hold its lock until this process ends."""
    remove_abandoned_folders()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_NAME))
        with contextlib.suppress(OSError):
            lock = _lock(folder)
            # Another process may have removed it as abandoned before the lock was taken.
            if folder.exists():
                atexit.register(shutil.rmtree, folder, ignore_errors=True)
                return folder
            os.close(lock)


def _lock(folder: Path) -> int:
    """Lock a folder and return the file descriptor that holds the lock. Raises OSError when another
    process holds it, or it is no folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
