"""The containers of compose.yaml, driven with the commands of docs/operate.md."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.image.engine import IMAGE, ROOT, Engine, run

SERVICES = {"web": 1, "worker": 2}
_STARTING = 120.0  # seconds, on a machine with much else to do


@dataclass(frozen=True)
class Containers:
    """compose.yaml in a folder of its own, as an operator has it."""

    engine: Engine
    folder: Path

    def prepare(self) -> None:
        """Do what docs/operate.md says before the first start."""
        shutil.copy(ROOT / "compose.yaml", self.folder)
        (self.folder / "config").mkdir()
        (self.folder / "config/bot.toml").touch()
        self.folder.chmod(0o755)
        self.set_environment()

    def set_environment(self, **variables: str) -> None:
        """Write `.env`."""
        lines = [f"{name}={value}\n" for name, value in variables.items()]
        (self.folder / ".env").write_text("".join(lines))

    async def compose(self, *arguments: str, given: bytes = b"") -> bytes:
        """Return what a command of compose prints."""
        command = (*self.engine.compose, *arguments)
        environment = self.engine.environment
        return await run(*command, environment=environment, folder=self.folder, given=given)

    async def ids(self, service: str, *, stopped: bool = False) -> list[str]:
        """Return the ids of a service's containers that run, or of all."""
        labels = {"project": self.folder.name.lower(), "service": service}
        filters = [f"--filter=label=com.docker.compose.{key}={labels[key]}" for key in labels]
        every = ["--all"] if stopped else []
        return (await self.engine.run("ps", "--quiet", *every, *filters)).split()

    async def gateway(self) -> str:
        """Return this machine's address in the network of the containers."""
        [redis] = await self.ids("redis")
        form = "{{range .NetworkSettings.Networks}}{{.Gateway}}{{end}}"
        return await self.engine.run("inspect", "--format", form, redis)

    async def healthy(self) -> None:
        """Wait until the image's own health check passes in each process, and each can serve."""
        form = "{{json .Config.Healthcheck.Test}}"
        check = json.loads(await self.engine.run("image", "inspect", "--format", form, IMAGE))[1:]
        ready = [part.replace("/healthz", "/readyz") for part in check]
        async with asyncio.timeout(_STARTING):
            for service, count in SERVICES.items():
                while not await self._pass(service, count, check, ready):  # noqa: ASYNC110 - polled, as engines do
                    await asyncio.sleep(0.5)

    async def _pass(self, service: str, count: int, *checks: list[str]) -> bool:
        running = await self.ids(service)
        if len(running) != count:
            return False
        try:
            for container in running:
                for check in checks:
                    await self.engine.run("exec", container, *check)
        except AssertionError:
            return False
        return True

    async def stopped_cleanly(self, service: str) -> None:
        """Check that each process of a service ended by itself when it was told to."""
        for container in await self.ids(service, stopped=True):
            code = await self.engine.run("inspect", "--format", "{{.State.ExitCode}}", container)
            assert code == "0", f"{service} ended with {code}"

    async def logs(self) -> str:
        """Return how each container is, and its last lines."""
        services = (*SERVICES, "redis")
        ids = [each for service in services for each in await self.ids(service, stopped=True)]
        command = '"$0" ps --all; for id in "$@"; do "$0" logs --tail=15 "$id" 2>&1; done'
        shell = ("sh", "-c", command, self.engine.command, *ids)
        return (await run(*shell, environment=self.engine.environment, check=False)).decode()
