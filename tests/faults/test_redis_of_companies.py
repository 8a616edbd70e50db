"""Redis as companies have it: behind Sentinels, with TLS, with a user that may do little."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.core.errors import ConfigurationError
from bot.dev.model import ModelRequest, Reply, call, finish
from bot.dev.workspace import ADA
from bot.runs.queue.engine import EngineOptions
from bot.store import open_stores
from bot.store.embedded import find_server
from tests.support.certificates import certificate
from tests.support.deployment import deployed
from tests.support.ports import free_port
from tests.support.redis_process import RedisProcess, redis_process
from tests.support.runs import answer

SALES = "C0SALES001"
USER = (
    "on >secret ~bot:* &bot:* &bot:engine:cancel:* "
    "-@all +@read +@write +@connection +@transaction +@scripting +@pubsub +time +info"
)
"""As docs/operate.md gives it."""


def calculating(request: ModelRequest) -> Reply:
    if request.input[-1].get("type") == "function_call_output":
        return finish(answer("Two."))
    return call("calculate", {"expression": "1+1"})


async def answers_questions(url: str) -> None:
    """A bot on that Redis answers, and its second process takes writes."""
    async with deployed(calculating, url) as bot:
        await bot.answered(SALES, await bot.ask(ADA, SALES, "How many?"))


@asynccontextmanager
async def sentinel(folder: Path, primary: RedisProcess) -> AsyncGenerator[str]:
    """A Sentinel that watches `primary`; its URL for the bot."""
    port, config = free_port(), folder / "sentinel.conf"
    config.write_text(
        f"port {port}\nbind 127.0.0.1\nsentinel monitor bot 127.0.0.1 {primary.port} 1\n"
        "sentinel down-after-milliseconds bot 1000\nsentinel failover-timeout bot 3000\n"
    )
    process = await asyncio.create_subprocess_exec(
        *(find_server(), str(config), "--sentinel"), stdout=asyncio.subprocess.DEVNULL
    )
    try:
        yield f"redis+sentinel://127.0.0.1:{port}/bot/0"
    finally:
        process.kill()
        await process.wait()


async def test_a_failover_under_load_loses_no_question(tmp_path: Path) -> None:
    """(R8) The primary is killed while questions are asked: a replica takes over within seconds, and
    each question has one end. What was not yet with the replica was not acknowledged, or comes again."""
    (tmp_path / "primary").mkdir()
    (tmp_path / "replica").mkdir()
    async with (
        redis_process(tmp_path / "primary") as primary,
        redis_process(
            tmp_path / "replica", replicaof=f"127.0.0.1 {primary.port}", appendfsync="everysec"
        ) as replica,
        sentinel(tmp_path, primary) as url,
        deployed(calculating, url, engine=EngineOptions(sweep=1.0)) as bot,
    ):
        bot.ws.delivery.retry_delays = (1.0, 2.0, 4.0, 8.0)
        asked = [await bot.ask(ADA, SALES, f"How many? {n}") for n in range(6)]
        await bot.answered(SALES, asked[0])
        await is_replicated(replica)
        await asyncio.sleep(1)  # what is older than this must not be lost
        asking = [asyncio.create_task(bot.ask(ADA, SALES, f"And now? {n}")) for n in range(4)]
        await primary.kill()
        asked += await asyncio.gather(*asking)
        for ts in asked:
            await bot.answered(SALES, ts, seconds=40)
            assert len(bot.own(SALES, ts)) == 1
        assert (await replication(replica))["role"] == "master"


async def replication(server: RedisProcess) -> dict[str, str]:
    """What a server says of itself; each time on a new connection, as a failover closes them."""
    async with Redis.from_url(server.url) as client:
        return dict(await client.info("replication"))


async def is_replicated(replica: RedisProcess) -> None:
    """Wait until the replica has everything."""
    async with asyncio.timeout(10):
        while (await replication(replica))["master_link_status"] != "up":  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_user_that_may_only_what_the_docs_say(tmp_path: Path) -> None:
    """A company's Redis gives the bot its own keys and no commands for administrators."""
    async with redis_process(tmp_path) as server, Redis.from_url(server.url) as admin:
        await admin.execute_command("ACL", "SETUSER", "bot", *USER.split())  # type: ignore[no-untyped-call]
        await admin.execute_command("ACL", "SETUSER", "default", "off")  # type: ignore[no-untyped-call]
        url = server.url.replace("redis://", "redis://bot:secret@")
        await answers_questions(url)
        async with open_stores(url.replace("secret", "wrong")) as stores:
            with pytest.raises(ConfigurationError, match="refuses the password"):
                await stores.wait_reachable(5)


async def test_over_tls_with_a_certificate_of_the_company(tmp_path: Path) -> None:
    """rediss:// checks the certificate against the given authority, and refuses another one's."""
    ca, served = certificate(tmp_path, "127.0.0.1")
    other, _ = certificate(tmp_path / "other", "127.0.0.1")
    async with redis_process(tmp_path) as server, over_tls(server.port, served) as port:
        url = f"rediss://127.0.0.1:{port}/0?ssl_ca_certs="
        await answers_questions(url + str(ca))
        async with open_stores(url + str(other)) as stores:
            assert not await stores.takes_writes()


@asynccontextmanager
async def over_tls(port: int, served: ssl.SSLContext) -> AsyncGenerator[int]:
    """A port that speaks TLS and passes on to `port`, as stunnel or a managed Redis does."""
    lines: set[asyncio.Task[None]] = set()

    async def copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to, back = await asyncio.open_connection("127.0.0.1", port)
        for pair in ((reader, back), (to, writer)):
            lines.add(asyncio.create_task(copied(*pair)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=served)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for line in lines:
            line.cancel()
        await asyncio.gather(*lines, return_exceptions=True)


async def test_a_cluster_is_refused_in_one_line(tmp_path: Path) -> None:
    """Better now than at the first script over several keys."""
    with pytest.raises(ConfigurationError, match="Redis Cluster"):
        async with (
            redis_process(tmp_path, **{"cluster-enabled": "yes"}) as server,
            open_stores(server.url) as stores,
        ):
            await stores.wait_reachable(5)
