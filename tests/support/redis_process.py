"""A Redis server of a test's own, to be stopped, started, frozen and killed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.store.embedded import find_server
from tests.support.ports import free_port


class RedisProcess:
    """Listens on a TCP port of its own; keeps its data in `folder` over restarts."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(folder),
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
            **options,
        }
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Returns once it answers."""
        arguments = [part for name, value in self._options.items() for part in (f"--{name}", value)]
        self._process = await asyncio.create_subprocess_exec(
            *(find_server(), *arguments), stdout=asyncio.subprocess.DEVNULL
        )
        async with asyncio.timeout(10), Redis.from_url(self.url) as client:
            while True:
                try:
                    await client.ping()
                except RedisError:
                    await asyncio.sleep(0.02)
                else:
                    return

    async def kill(self) -> None:
        """kill -9, if it was started; returns once it is gone."""
        if self._process is None:
            return
        if self._process.returncode is None:
            os.kill(self._process.pid, signal.SIGCONT)
            self._process.kill()
        await self._process.wait()

    def freeze(self) -> None:
        """It keeps its connections, and answers nobody."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on where it was."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)


@asynccontextmanager
async def redis_process(folder: Path, **options: str) -> AsyncGenerator[RedisProcess]:
    """A server that runs; killed at the end."""
    server = RedisProcess(folder, **options)
    await server.start()
    try:
        yield server
    finally:
        await server.kill()
