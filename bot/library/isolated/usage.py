"""What a process uses that the kernel does not limit: files in its folder, and threads."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LOOK_SECONDS = 0.25
_BLOCK = 512  # bytes, the unit of st_blocks


@dataclass(frozen=True)
class UsageLimits:
    """What a process may use: `folder` in bytes on disk, deleted files that it holds open included."""

    folder: int = 500_000_000
    files: int = 2_000
    threads: int = 64


class Usage:
    """A process with its folder. What the bot itself writes there is not counted."""

    def __init__(self, pid: int, folder: Path, limits: UsageLimits) -> None:
        self._pid = pid
        self._folder = folder
        self._limits = limits
        self._sizes: dict[str, int] = {}

    def exclude(self, name: str, size: int) -> None:
        """Leave out the first `size` bytes of a file that the bot has written."""
        self._sizes[name] = size

    async def wait_until_exceeded(self) -> None:
        """Return as soon as the process uses more than it may."""
        while not await asyncio.to_thread(self._is_exceeded):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(_LOOK_SECONDS)

    def _is_exceeded(self) -> bool:
        tasks = Path(f"/proc/{self._pid}/task")
        with contextlib.suppress(OSError):  # not on macOS
            # A directory of tasks has a link for each, and two more.
            if tasks.stat().st_nlink - 2 > self._limits.threads:
                return True
        most_files = self._limits.files + len(self._sizes)
        size, files = -sum(self._sizes.values()), 0
        try:
            for info in self._files():
                files += 1
                size += info.st_blocks * _BLOCK
                if files > most_files or size > self._limits.folder:
                    return True
        except OSError:
            # A path is too long, or a folder cannot be listed: no job does this.
            return True
        return False

    def _files(self) -> Iterator[os.stat_result]:
        """Yield every file and folder, and each deleted file that is open."""
        waiting = [self._folder]
        while waiting:
            with contextlib.suppress(FileNotFoundError), os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # it has just been removed
                        info = entry.stat(follow_symlinks=False)
                        if stat.S_ISDIR(info.st_mode):
                            waiting.append(Path(entry.path))
                        yield info
        opened = Path(f"/proc/{self._pid}/fd")
        with contextlib.suppress(OSError):  # not on macOS, or it has just ended
            for descriptor in opened.iterdir():
                with contextlib.suppress(OSError):  # it has just been closed
                    info = descriptor.stat()
                    if stat.S_ISREG(info.st_mode) and info.st_nlink == 0:
                        yield info
