"""Other programs, which leave nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO


@asynccontextmanager
async def process_group(
    command: tuple[str, ...],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: int = asyncio.subprocess.DEVNULL,
    stdout: int | IO[bytes] = asyncio.subprocess.DEVNULL,
    stderr: int | IO[bytes] = asyncio.subprocess.DEVNULL,
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Run `command` without a shell, at the head of a process group that is killed on the way out,
    whatever it started. Raises OSError when there is no such program."""
    started = asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    # Of a process whose beginning is cancelled asyncio would wait for the end for ever.
    starting = asyncio.create_task(started)
    try:
        yield await asyncio.shield(starting)
    finally:
        process = await starting
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
