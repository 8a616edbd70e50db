"""The container image and compose.yaml, as operators run them: `python -m tests.image`.

Builds the image, starts compose.yaml as it stands (a web process, two workers and Valkey, read-only and
without capabilities) between a local workspace and model server outside the containers, kills both workers
in the middle of their runs, loses what Redis holds and restores it from a backup, and stops everything.
`--short` asks one question only; it passes where no engine is, or the libraries are not built yet.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish, held
from bot.dev.workspace import ADA, BEN, CHLOE, Workspace
from tests.faults.conversation import answered_by, asked_in, since_result
from tests.image.containers import Containers
from tests.image.engine import (
    IMAGE,
    PYTHON,
    VALKEY,
    Engine,
    find_engine,
    libraries_image,
    provide_bases,
)
from tests.support.deployment import MODEL, Deployment
from tests.support.runs import answer

SALES = "C0SALES001"
PATIENCE = 120.0  # seconds: the lease of a killed worker runs out after 30
KEY = "Y29udGFpbmVycy1hcmUtcmVzdG9yZWQtaW4tdGVzdHM="
"""Seals the backup; it protects nothing."""
_KILL = "kill -9 -1"  # all but the container's init, which then ends


@dataclass
class Model:
    """Works out a sum, then answers with the question's tag; its answers are held until it is `free`."""

    free: asyncio.Event = field(default_factory=asyncio.Event)
    holding: list[str] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)

    def __call__(self, request: ModelRequest) -> Reply:
        self.requests.append(request)
        items = since_result(request.items)
        tags = asked_in(items)
        if not any(item.get("name") == "calculate" for item in items):
            return call("calculate", {"expression": "6 * 7"})
        reply = finish(answer(f"42 {' '.join(f'[{tag}]' for tag in tags)}"))
        if self.free.is_set():
            return reply
        self.holding += tags
        return held(reply, asyncio.Event())


@dataclass
class Story:
    """What one run of the containers goes through; `asked` has the thread of each question."""

    containers: Containers
    model: Model
    bot: Deployment
    asked: dict[str, str] = field(default_factory=dict)

    async def ask(self, user: str, tag: str, thread: str | None = None) -> None:
        """Ask a question with this tag."""
        asked = await self.bot.ask(user, SALES, f"How many? [{tag}]", thread)
        self.asked[tag] = thread or asked

    async def answered_once(self) -> None:
        """Wait until each question is answered; no question may have two answers."""
        await self.bot.ws.until(lambda: set(self._answers()) == set(self.asked), PATIENCE)
        assert sorted(self._answers()) == sorted(self.asked)

    def _answers(self) -> list[str]:
        threads = dict.fromkeys(self.asked.values())
        finals = [said for thread in threads for said in self.bot.terminals(SALES, thread)]
        return [tag for said in finals for tag in answered_by(said)]

    async def ask_first(self) -> None:
        """The image answers a question."""
        self.model.free.set()
        await self.ask(ADA, "first-1")
        await self.answered_once()

    async def kill_workers(self) -> None:
        """Both workers are killed while their questions wait for the model."""
        self.model.free.clear()
        for number, user in enumerate((ADA, BEN, CHLOE, ADA, BEN, CHLOE), start=1):
            await self.ask(user, f"kill-{number}")
        await self.bot.api.until(lambda: len(self.model.holding) == 6, PATIENCE)
        workers = await self.containers.ids("worker")
        assert len(workers) == 2
        for worker in workers:
            await self.containers.engine.run("exec", worker, "sh", "-c", _KILL, check=False)
        self.model.free.set()
        await self.answered_once()
        await self.containers.healthy()  # again: the engine has restarted them

    async def back_up_and_restore(self) -> None:
        """Redis loses everything; the restored bot knows its threads, and answers nothing twice."""
        backup = await self.containers.compose("exec", "-T", "worker", "bot", "backup", "-")
        await self.ask(CHLOE, "after-1")
        await self.answered_once()
        await self.containers.compose("stop", "web", "worker")
        await self.containers.stopped_cleanly("worker")
        await self.containers.compose("exec", "-T", "redis", "valkey-cli", "FLUSHALL")
        restore = ("run", "--rm", "-T", "worker", "bot", "restore", "-", "--replace")
        await self.containers.compose(*restore, given=backup)
        await self.containers.compose("start", "web", "worker")
        await self.containers.healthy()
        await self.ask(ADA, "first-2", self.asked["first-1"])
        await self.answered_once()
        assert "[first-1]" in self.model.requests[-1].text, "the thread was not restored"


@asynccontextmanager
async def started(engine: Engine) -> AsyncGenerator[Story]:
    """Start compose.yaml between a local workspace and model server; everything is gone at the end."""
    with tempfile.TemporaryDirectory(prefix="bot-image-") as folder:
        containers = Containers(engine, Path(folder))
        containers.prepare()
        model = Model()
        try:
            await containers.compose("up", "--detach", "redis")
            host = await containers.gateway()
            async with (
                Workspace.open(host) as ws,
                ResponsesServer.open(model, host=host) as api,
            ):
                containers.set_environment(
                    SLACK_BOT_TOKEN=ws.bot_token,
                    SLACK_SIGNING_SECRET=ws.signing_secret,
                    SLACK_API_URL=ws.api_url,
                    OPENAI_API_KEY=api.api_key,
                    OPENAI_BASE_URL=api.url,
                    OPENAI_MODEL=MODEL,
                    BOT_ENCRYPTION_KEYS=KEY,
                )
                await containers.compose("up", "--detach")
                await containers.healthy()
                await ws.listen_over_http("http://127.0.0.1:8080/slack/events")
                yield Story(containers, model, Deployment(ws, api))
        except BaseException:
            sys.stderr.write(await containers.logs())
            raise
        finally:
            await containers.compose("down", "--volumes")


async def tried(engine: Engine, *, short: bool) -> None:
    """Build and run everything; an assertion fails with what was wrong."""
    with timed("built"):
        await engine.build(libraries_image(), "--target", "libraries")
        await engine.build(IMAGE)
    whole, base = await engine.size(IMAGE), await engine.size(PYTHON)
    print(f"the image has {whole / 1e6:.0f} MB, {(whole - base) / 1e6:.0f} MB more than its base")
    begin = time.monotonic()
    async with started(engine) as story:
        print(f"started, healthy: {time.monotonic() - begin:.0f} s", flush=True)
        with timed("answered a question"):
            await story.ask_first()
        if not short:
            with timed("answered six questions once, after both workers were killed"):
                await story.kill_workers()
            with timed("lost all data, and restored it"):
                await story.back_up_and_restore()


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Print what was done and how long it took."""
    begin = time.monotonic()
    yield
    print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)


async def main() -> int:
    """Try the image on the engine of this machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    short = parser.parse_args().short
    engine = find_engine()
    if engine is None:
        print("tests/image: not run: no Docker, and no podman with podman-compose and runc")
        return 0 if short else 1
    if short and not await engine.has(PYTHON, VALKEY, libraries_image()):
        print(
            "tests/image: not run: `python -m tests.image` builds what the short form starts from"
        )
        return 0
    with timed("base images"):
        await provide_bases(engine)
    await tried(engine, short=short)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
