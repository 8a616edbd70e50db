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
    of_all = _folder_of_this_process()
    if not of_all.exists():  # somebody cleaned the temporary directory
        _folder_of_this_process.cache_clear()
        of_all = _folder_of_this_process()
    with tempfile.TemporaryDirectory(
        prefix=prefix, dir=of_all, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def remove_left_behind() -> None:
    """Remove the folders of ended processes of this user: nobody holds their locks."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_NAME}*"):
        with contextlib.suppress(OSError):
            held = _held(folder)
            try:
                if os.fstat(held).st_uid == os.geteuid():
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(held)


@cache
def _folder_of_this_process() -> Path:
    """Create the folder for all others, and hold its lock until this process ends."""
    remove_left_behind()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_NAME))
        with contextlib.suppress(OSError):
            held = _held(folder)
            # Another process may have removed it as abandoned before the lock was taken.
            if folder.exists():
                atexit.register(shutil.rmtree, folder, ignore_errors=True)
                return folder
            os.close(held)


def _held(folder: Path) -> int:
    """Lock a folder and return the file descriptor that holds the lock. Raises OSError when another
    process holds it, or it is no folder."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        raise
    return opened
