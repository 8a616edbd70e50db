"""Proof that isolated processes are closed here: one tries by native code what none may do, as code
that took it over would."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.library.isolated.process import IsolatedProcess

_libc = ctypes.CDLL(None)


async def open_ways() -> list[str]:
    """Return what an isolated process can do here although it must not, in words that follow "it can";
    an empty list where the kernel refuses everything. Raises what `isolated` raises, and ProcessLost."""
    from bot.library.isolated.pool import isolated  # which the process itself does not need

    async with isolated(__name__, once=True) as process:
        return await ways_open_to(process)


async def ways_open_to(process: IsolatedProcess) -> list[str]:
    """Return the same for a process whose module of jobs has `possible`. Raises what `call` raises."""
    from bot.library.isolated.scratch import foreign_scratch_folder

    async with foreign_scratch_folder("proof-") as folder:
        outside = folder / "outside"
        outside.touch(mode=0o600)
        worked: list[str] = await process.call("possible", outside=str(outside))
        return worked


def possible(outside: str) -> list[str]:
    """Return what worked, in words that follow "it can". `outside` is a file that another process of
    this user has in a folder of its own."""
    attempts: dict[str, Callable[[], bool]] = {
        "read other files of its user": lambda: _opens(outside, os.O_RDONLY),
        "write other files of its user": lambda: _opens(outside, os.O_WRONLY),
        "change the rights of other files": lambda: _changes_mode(outside),
        "list other processes": lambda: _opens("/proc", os.O_RDONLY),
        "open sockets": lambda: _libc.socket(2, 1, 0) >= 0,
        "start processes": _forks,
        "send signals to the bot": lambda: _libc.kill(os.getppid(), 0) == 0,
        "change limits of the bot": _reaches_limits,
        "use memory beyond its limit": lambda: _libc.memfd_create(b"x", 0) >= 0,
    }
    return [words for words, works in attempts.items() if _answers(works)]


def _answers(works: Callable[[], bool]) -> bool:
    try:
        return works()
    except (OSError, AttributeError):  # refused, or unknown to this system
        return False


def _opens(path: str, flags: int) -> bool:
    return int(_libc.open(path.encode(), flags)) >= 0


def _changes_mode(path: str) -> bool:
    before = Path(path).stat().st_mode
    _libc.chmod(path.encode(), 0o400)
    return Path(path).stat().st_mode != before


def _forks() -> bool:
    process = int(_libc.fork())
    if process == 0:
        os._exit(0)
    return process > 0


def _reaches_limits() -> bool:
    if sys.platform != "linux":
        return False
    limits = ctypes.create_string_buffer(16)
    return int(_libc.prlimit(os.getppid(), 4, None, limits)) == 0
