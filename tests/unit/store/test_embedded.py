"""The server of our own: keeps its data, belongs to one bot, goes when we go."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import shutil
import signal
import stat
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from bot.core.errors import ConfigurationError
from bot.store import open_stores
from bot.store.embedded import embedded_redis, find_server
from tests.support.redis import asked

HOLD = """
import asyncio, pathlib, sys
from bot.store.embedded import embedded_redis
async def main():
    async with embedded_redis(pathlib.Path(sys.argv[1])) as url:
        print(url, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


def socket_of(url: str) -> Path:
    return Path(urlsplit(url).path)


def left_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def there(path: Path | str) -> bool:
    return Path(path).exists()


async def test_what_was_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    """`bot serve` may be stopped and started; threads go on."""
    for expected in (None, b"1"):
        async with embedded_redis(tmp_path) as url, Redis.from_url(url) as client:
            assert await client.get("kept") == expected
            await client.set("kept", "1")


async def test_ended_as_soon_as_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the server is starting: it ends, and nothing stays."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def held() -> None:
        async with embedded_redis(None):
            await asyncio.Event().wait()

    holding = asyncio.create_task(held())
    await asyncio.sleep(0)  # it has come to the first await
    assert left_in(tmp_path)
    holding.cancel()
    await asyncio.wait({holding}, timeout=20)
    assert holding.cancelled()
    assert left_in(tmp_path) == []


async def test_without_a_directory_nothing_stays() -> None:
    """Tests and tries leave no trace."""
    async with embedded_redis(None) as url, Redis.from_url(url) as client:
        config = await client.config_get("dir", "appendonly", "maxmemory-policy", "appendfsync")
    assert not there(str(config.pop("dir")))
    assert not there(socket_of(url).parent)
    assert config == {
        "appendonly": "yes",
        "maxmemory-policy": "noeviction",
        "appendfsync": "everysec",
    }


async def test_temporary_files_may_lie_deep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of a socket has some hundred bytes at most; TMPDIR can have more."""
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    async with embedded_redis(None) as url, Redis.from_url(url) as client:
        assert await client.ping()
    assert list(deep.iterdir()) == []


async def test_only_this_user_can_reach_it() -> None:
    """What the engine keeps is trusted when it is read back, so nobody else may write it."""
    async with embedded_redis(None) as url, Redis.from_url(url) as client:
        assert stat.S_IMODE(socket_of(url).parent.stat().st_mode) == 0o700
        assert (await client.config_get("port"))["port"] == "0"


async def test_a_second_bot_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    """Two servers would destroy each other's file."""
    async with embedded_redis(tmp_path) as url, Redis.from_url(url) as client:
        with pytest.raises(ConfigurationError, match="in use by another bot"):
            async with embedded_redis(tmp_path):
                pass
        assert await client.ping()


async def test_a_killed_bot_leaves_no_server_behind(tmp_path: Path) -> None:
    """kill -9 gives us no chance to stop it; what it was told is kept all the same."""
    bot = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOLD, str(tmp_path)), stdout=asyncio.subprocess.PIPE
    )
    assert bot.stdout is not None
    url_of_killed = (await bot.stdout.readline()).decode().strip()
    async with Redis.from_url(url_of_killed) as client:
        await client.set("kept", "1")
        bot.kill()
        await bot.wait()
        # The lock is the server's as well: this waits until it is gone, or fails.
        async with embedded_redis(tmp_path) as url, Redis.from_url(url) as successor:
            assert await successor.get("kept") == b"1"
            with pytest.raises(RedisConnectionError):
                await client.ping()
    shutil.rmtree(socket_of(url_of_killed).parent)  # its owner was killed, so it is left to us


async def test_a_server_that_does_not_start_says_where_to_look(tmp_path: Path) -> None:
    """A damaged file must not be taken for an empty one."""
    async with embedded_redis(tmp_path) as url, Redis.from_url(url) as client:
        await client.set("kept", "1")
    for file in (tmp_path / "appendonlydir").glob("*.manifest"):
        file.write_text("nonsense")
    with pytest.raises(ConfigurationError, match=r"redis\.log"):
        async with embedded_redis(tmp_path):
            pass
    assert (
        "nonsense" in (tmp_path / "redis.log").read_text() or (tmp_path / "redis.log").read_text()
    )


def test_without_any_server_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform without a wheel."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(importlib.metadata, "files", lambda _: None)
    with pytest.raises(ConfigurationError, match="set REDIS_URL, or install") as raised:
        find_server()
    assert "\n" not in str(raised.value)


async def server_pid(url: str) -> int:
    async with Redis.from_url(url) as client:
        return int((await client.info("server"))["process_id"])


async def test_a_server_that_crashes_is_started_again(tmp_path: Path) -> None:
    """On the same data and under the same address; the bot goes on by itself."""
    async with embedded_redis(tmp_path) as url, open_stores(url) as stores:
        await stores.mailbox.submit(asked(thread="1.0"), event_id="Ev1")
        async with Redis.from_url(url) as client:
            await client.waitaof(1, 0, 5_000)
        first = await server_pid(url)
        os.kill(first, signal.SIGKILL)
        await stores.wait_reachable(10)
        assert await server_pid(url) != first
        assert await stores.mailbox.waiting("T1:C1:1.0") == 1
    assert not there(socket_of(url))


async def crashing(directory: Path) -> None:
    async with embedded_redis(directory) as url, open_stores(url) as stores:
        while True:
            os.kill(await server_pid(url), signal.SIGKILL)
            await stores.wait_reachable(10)


async def test_a_server_that_crashes_again_and_again_is_given_up(tmp_path: Path) -> None:
    """Say the disk is full: the bot ends with a clear line, and its host knows."""
    with pytest.raises(ConfigurationError, match=r"redis\.log"):
        await crashing(tmp_path)


async def test_what_is_kept_is_for_the_bots_own_user_alone(tmp_path: Path) -> None:
    """S14: also in a directory and files that an older version, or a backup, left open to all."""
    data = tmp_path / "data"
    (data / "appendonlydir").mkdir(parents=True)
    data.chmod(0o755)
    (data / "redis.log").write_text("old")
    (data / "redis.log").chmod(0o644)
    before = os.umask(0o022)
    try:
        async with embedded_redis(data) as url, Redis.from_url(url) as redis:
            await redis.set("key", "value")
            paths = [data, *data.rglob("*")]
            modes = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in paths}
    finally:
        os.umask(before)
    assert any(name.endswith(".aof") for name in modes)
    assert not {name: oct(mode) for name, mode in modes.items() if mode & 0o077}


async def test_a_directory_of_everybody_is_refused(tmp_path: Path) -> None:
    """S14: what others may write to is no place for what is kept."""
    tmp_path.chmod(0o777)  # noqa: ASYNC240
    with pytest.raises(ConfigurationError, match="written by everybody"):
        async with embedded_redis(tmp_path):
            pass
