"""Child processes that leave no processes of their own behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

_END_SECONDS = 5.0
"""Seconds to wait for the end of a killed process. A process that left the group may hold its pipes."""


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
    """Run `command` without a shell, in a process group that is killed on exit with all processes
    that it started. Raises OSError when there is no such program."""
    started = asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    # If the start of a process is cancelled, asyncio waits for its end forever.
    starting = asyncio.create_task(started)
    try:
        yield await asyncio.shield(starting)
    finally:
        process = await starting
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a killed process, but not for others that hold its pipes."""
    transport: asyncio.SubprocessTransport = process._transport  # type: ignore[attr-defined]
    for pipe in map(transport.get_pipe_transport, range(3)):
        if pipe is None or pipe.is_closing():
            continue
        if isinstance(pipe, asyncio.WriteTransport):
            pipe.abort()  # nobody reads what was not sent yet
        else:
            pipe.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()
