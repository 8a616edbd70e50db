"""Temporary folders that are removed after use, and by the next bot if this one is killed."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import fcntl
import itertools
import os
import stat
import tempfile
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path

_NAME = "bot-work-"
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@contextmanager
def scratch_folder(prefix: str) -> Generator[Path]:
    """Create a folder for the body. If the bot is killed, the next bot of the same user on this
    machine removes the folder."""
    folder = _create(prefix)
    try:
        yield folder
    finally:
        remove_folder(folder)


@asynccontextmanager
async def foreign_scratch_folder(prefix: str) -> AsyncGenerator[Path]:
    """Create a folder, as `scratch_folder` does, for a process that may leave anything in it: it is
    removed in a thread."""
    folder = _create(prefix)
    try:
        yield folder
    finally:
        await asyncio.to_thread(remove_folder, folder)


def remove_folder(folder: Path) -> None:
    """Remove a folder and all that is in it, however deep; what cannot be removed stays.

    Folders inside others are moved up before they are emptied: paths may be longer than the system
    accepts, and neither memory nor open files grow with the depth.
    """
    with contextlib.suppress(OSError):
        root = os.open(folder, _OPEN_FOLDER)
        try:
            _empty(root)
        finally:
            os.close(root)
        folder.rmdir()


def _empty(root: int) -> None:
    """Remove everything in the open folder `root` that can be removed."""
    unused = (f"moved-{number}" for number in itertools.count())
    stuck = set[str]()
    while names := set(os.listdir(root)) - stuck:
        free = (name for name in unused if name not in names)
        for name in names:
            try:
                if _is_folder(name, root):
                    _remove_after_moving_up(name, root, free)
                else:
                    os.unlink(name, dir_fd=root)
            except OSError:
                stuck.add(name)


def _remove_after_moving_up(name: str, root: int, free: Iterator[str]) -> None:
    """Remove a folder in `root`; the folders in it get `free` names in `root`."""
    os.chmod(name, 0o700, dir_fd=root)  # its owner may have taken these rights away
    folder = os.open(name, _OPEN_FOLDER, dir_fd=root)
    try:
        for child in os.listdir(folder):  # noqa: PTH208 - a descriptor
            if _is_folder(child, folder):
                os.chmod(child, 0o700, dir_fd=folder)
                os.rename(child, next(free), src_dir_fd=folder, dst_dir_fd=root)
            else:
                os.unlink(child, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=root)


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def remove_abandoned_folders() -> None:
    """Remove the folders of ended processes of this user: nobody holds their locks."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_NAME}*"):
        with contextlib.suppress(OSError):
            lock = _lock(folder)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    remove_folder(folder)
            finally:
                os.close(lock)


def _create(prefix: str) -> Path:
    parent = _process_folder()
    if not parent.exists():  # somebody cleaned the temporary directory
        _process_folder.cache_clear()
        parent = _process_folder()
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))


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
                atexit.register(remove_folder, folder)
                return folder
            os.close(lock)


def _lock(folder: Path) -> int:
    """Lock a folder and return the file descriptor that holds the lock. Raises OSError when another
    process holds it, or it is no folder."""
    descriptor = os.open(folder, _OPEN_FOLDER)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
