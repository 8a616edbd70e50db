"""`bot doctor` finds what keeps the bot from working, and says how to fix it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr
from redis.asyncio import Redis

from bot.cli.operator import pause, usage_lines
from bot.core.errors import ConfigurationError
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call
from bot.dev.workspace import Workspace
from bot.features.commands.settings import HookSettings
from bot.mcp import McpServer
from bot.ops.doctor import Check, Level, examine
from bot.runs.policy.budgets import Budgets
from bot.services.sql_databases import DatabaseConfig
from bot.settings import ChannelTable, Settings
from bot.store import open_stores
from bot.store.embedded import embedded_redis, running_redis
from bot.telemetry.health import http_server
from tests.servers.dialects import served
from tests.support.commands import start
from tests.support.deployment import configured
from tests.support.ports import free_port
from tests.support.redis_process import RedisProcess, redis_process
from tests.support.web_search import KEY, provider

KEYS = "BOT_ENCRYPTION_KEYS"
MANY = {
    "slack_bot_token": None,
    "slack_client_id": "1.2",
    "slack_client_secret": SecretStr("s"),
}


def obedient(request: ModelRequest) -> Reply:
    """A model that calls what it is told to call."""
    return call(str(request.forced), {"state": "ready"})


class Practice:
    """Everything a bot needs, in good order until a test breaks something."""

    def __init__(
        self, ws: Workspace, api: ResponsesServer, redis: RedisProcess, folder: Path
    ) -> None:
        self.ws = ws
        self.api = api
        self.redis = redis
        self.folder = folder

    def settings(self, **changes: Any) -> Settings:
        return configured(self.ws, self.api, self.redis.url).model_copy(update=changes)

    async def findings(self, **changes: Any) -> list[Check]:
        return await examine(self.settings(**changes))

    async def complaint(self, **changes: Any) -> Check:
        """The one finding that is not OK."""
        [found] = [f for f in await self.findings(**changes) if f.level is not Level.OK]
        assert found.fix
        return found


@pytest.fixture
async def practice(tmp_path: Path) -> AsyncIterator[Practice]:
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=obedient) as api,
        redis_process(tmp_path, **{"maxmemory-policy": "noeviction"}) as redis,
    ):
        yield Practice(ws, api, redis, tmp_path)


async def test_the_web_search_is_tried(practice) -> None:
    """Nothing is said of it while none is configured."""
    async with provider("brave") as there:
        config = {"web_search": there.config()}
        assert "WEB_SEARCH_API_KEY" in (await practice.complaint(**config)).text
        wrong = config | {"web_search_api_key": SecretStr("wrong")}
        assert "does not take its key" in (await practice.complaint(**wrong)).text
        right = config | {"web_search_api_key": SecretStr(KEY)}
        found = [each for each in await practice.findings(**right) if each.subject == "web search"]
        assert [each.text for each in found] == ["brave answers"]


async def test_all_is_well(practice) -> None:
    """Nothing to fix, nothing posted, nothing written; two tiny calls to the model that are not stored
    for a conversation of anybody's."""
    findings = await practice.findings()
    assert {f.level for f in findings} == {Level.OK}, findings
    assert {e.method for e in practice.ws.effects} == {"auth.test", "apps.connections.open"}
    assert [each.body["tools"][0]["name"] for each in practice.api.requests] == ["report"] * 2
    async with Redis.from_url(practice.redis.url) as redis:
        assert await redis.dbsize() == 0


AWAY = "127.0.0.1:9"
HOOK = {"tool": "*", "run": ("./check.sh",)}
BROKEN: tuple[tuple[dict[str, Any], str, str, str], ...] = (
    ({"slack_bot_token": SecretStr("xoxb-wrong")}, "SLACK_BOT_TOKEN", "invalid_auth", "xoxb-"),
    ({"slack_bot_token": None}, "SLACK_BOT_TOKEN", "not set", "Install App"),
    ({"slack_app_token": SecretStr("xapp-wrong")}, "SLACK_APP_TOKEN", "invalid_auth", "xapp-"),
    (
        {"slack_app_token": None, "slack_signing_secret": None},
        *("SLACK_SIGNING_SECRET", "no events arrive", "SLACK_APP_TOKEN"),
    ),
    ({"slack_api_url": f"http://{AWAY}/api/"}, "Slack", "cannot be reached", "network"),
    ({"redis_url": f"redis://{AWAY}/0"}, "Redis", f"{AWAY} cannot be reached", "start it"),
    ({"redis_url": "nonsense"}, "Redis", "cannot be used", "REDIS_URL"),
    ({"redis_url": None, "bot_data_dir": Path("/dev/null/x")}, "Redis", "written", "BOT_DATA_DIR"),
    ({"openai_api_key": None, "openai_base_url": None}, "OPENAI_API_KEY", "not set", "bot dev"),
    ({"openai_api_key": SecretStr("sk-\u2026")}, "model", "the check broke: Unicode", "report"),
    ({"openai_api_key": SecretStr("sk-wrong")}, "model gpt-5.4-mini", "rejects the key", "key"),
    ({"openai_base_url": f"http://{AWAY}/v1"}, "model gpt-5.4-mini", "reached", "network"),
    (
        {"openai_model": "mine", "budgets": Budgets.model_validate({"user_day": 2})},
        *("prices", "budgets.user_day: the price of mine is not known", "bot.toml"),
    ),
    (
        MANY | {"bot_encryption_keys": SecretStr("abc"), "redis_url": None},
        *(KEYS, "each must be 32 bytes", "correct it"),
    ),
    (MANY | {"slack_bot_token": SecretStr("xoxb-1")}, KEYS, "are both set", "correct it"),
    (
        {"channels": {"C0123": ChannelTable(tools=("nothing",))}},
        "channels",
        "no tool or",
        "correct",
    ),
    (
        {"databases": {"shop": DatabaseConfig(url=SecretStr("sqlite:////nowhere/x.sqlite"))}},
        *("database shop", "unable to open", "[databases.shop]"),
    ),
    (
        {"databases": {"shop": DatabaseConfig(url=SecretStr(f"postgresql://me@{AWAY}/shop"))}},
        *("database shop", "Connection refused", "start it"),
    ),
    (
        {"hooks": HookSettings.model_validate({"before_tool": [HOOK]})},
        *("hooks.before_tool", "no program ./check.sh", "PATH"),
    ),
)


async def test_what_keeps_the_bot_from_working(practice) -> None:
    """One red line for each, with its cause and the step that helps."""
    for changes, subject, says, fix in BROKEN:
        findings = await practice.findings(**changes)
        [found] = [each for each in findings if each.level is Level.PROBLEM]
        assert found.subject == subject, found
        assert says in found.text, found
        assert fix in found.fix, found


SLACK_SAYS: tuple[tuple[str | int | None, str, str, str], ...] = (
    (503, "Slack", "fails at the moment", "change nothing"),
    ("ratelimited", "Slack", "fails at the moment: ratelimited", "change nothing"),
    (None, "Slack", "cannot be reached", "network"),
    ("account_inactive", "SLACK_BOT_TOKEN", "account_inactive", "Install App"),
    ("ip_address_not_allowed", "SLACK_BOT_TOKEN", "ip_address_not_allowed", "docs.slack.dev"),
)


async def test_a_failing_slack_is_told_from_a_wrong_token(practice) -> None:
    """Nobody copies a token again because Slack is down."""
    for error, subject, says, fix in SLACK_SAYS:
        practice.ws.faults.fail("auth.test", error)
        found = await practice.complaint()
        assert (found.level, found.subject) == (Level.PROBLEM, subject)
        assert says in found.text
        assert fix in found.fix
    app = web.Application()
    app.router.add_post("/{_:.*}", _web_page)
    async with served(app) as url:
        found = await practice.complaint(slack_api_url=f"{url}/api/")
    assert (found.subject, "something else (status 200)" in found.text) == ("Slack", True)

    practice.ws.state.app_id = "A0OTHER001"
    found = await practice.complaint()
    assert (found.subject, "no event would arrive" in found.text) == ("SLACK_APP_TOKEN", True)
    http = {"slack_app_token": None, "slack_signing_secret": SecretStr(practice.ws.bot_token)}
    found = await practice.complaint(**http)
    assert (found.level, found.subject) == (Level.WARNING, "SLACK_SIGNING_SECRET")


async def _web_page(_request: web.Request) -> web.Response:
    return web.Response(text="<html>Sign in to the guest network</html>", content_type="text/html")


async def test_scopes_that_were_not_granted(practice) -> None:
    """Somebody added a scope to the manifest and did not install the app again."""
    for scope, level in (("files:read", Level.WARNING), ("chat:write", Level.PROBLEM)):
        practice.ws.state.missing_scopes.add(scope)
        found = await practice.complaint()
        assert (found.level, found.subject) == (level, "scopes")
        assert scope in found.text


REDIS_SAYS = (
    ("maxmemory-policy", "allkeys-lru", "noeviction", Level.WARNING, "maxmemory-policy"),
    ("appendonly", "no", "yes", Level.WARNING, "appendonly"),
    ("maxmemory", "1", "0", Level.PROBLEM, "memory"),
    ("min-replicas-to-write", "1", "0", Level.PROBLEM, "Redis"),
)


async def test_a_redis_that_loses_or_refuses_something(practice) -> None:
    """O2: a Redis that takes no question is no Redis that can work, whatever it refuses."""
    async with Redis.from_url(practice.redis.url) as redis:
        for option, value, before, level, subject in REDIS_SAYS:
            await redis.config_set(option, value)
            found = await practice.complaint()
            assert (found.level, found.subject) == (level, subject)
            await redis.config_set(option, before)
        execute: Any = redis.execute_command  # which has no types
        for rights, says in (
            ("nopass ~* &* +@all -@scripting", "too few rights"),
            (">secret ~* &* +@all", "wants a password"),
        ):
            await redis.acl_setuser("default", enabled=True, reset_passwords=True)
            await execute("ACL", "SETUSER", "default", *rights.split())
            assert says in (await practice.complaint()).text
            await execute("ACL", "SETUSER", "default", "nopass", "+@all")
        await redis.set("bot:v1:format", "999")
        assert "A newer version" in (await practice.complaint()).text
        await redis.replicaof("127.0.0.1", free_port())
        assert "role" in {each.subject for each in await practice.findings()}


async def test_a_clock_that_is_wrong(practice) -> None:
    """By Slack's time, which comes with every answer of its."""
    practice.ws.clock.advance(600)
    found = await practice.complaint()
    assert (found.level, found.subject) == (Level.WARNING, "Slack")
    assert "behind" in found.text


async def test_a_model_that_does_not_do(practice) -> None:
    """An unknown price is only a warning; an address without its path is not "choose another model"; and
    where nothing in the settings is wrong, the fix points to the service."""
    found = await practice.complaint(openai_fallback_models=("my-own-model",))
    assert (found.level, found.subject) == (Level.WARNING, "prices")
    assert "my-own-model" in found.text
    found = await practice.complaint(openai_base_url=practice.api.url.removesuffix("/v1"))
    assert found.level is Level.PROBLEM
    assert "/v1" in found.fix, found
    practice.api.faults.fail("server_error", times=10)
    found = await practice.complaint()
    assert (found.level, found.subject) == (Level.PROBLEM, "model gpt-5.4-mini")
    assert "status page" in found.fix


async def test_a_port_that_is_taken_names_its_settings() -> None:
    """O2: several processes on one machine read one .env; the last line says what to change."""
    async with http_server((), port=0, host="127.0.0.1") as port:
        with pytest.raises(ConfigurationError, match=f"Port {port} .* BOT_METRICS_PORT"):
            async with http_server((), port=port, host="127.0.0.1"):
                pass


async def test_the_embedded_redis_needs_a_place_to_write(practice, tmp_path) -> None:
    findings = await practice.findings(redis_url=None, bot_data_dir=tmp_path / "data")
    assert {f.level for f in findings} == {Level.OK}


async def run(practice: Practice, **environment: str) -> tuple[int, str]:
    settings = {
        "PATH": os.environ["PATH"],
        "COLUMNS": "100",
        "SLACK_BOT_TOKEN": practice.ws.bot_token,
        "SLACK_APP_TOKEN": practice.ws.app_token,
        "SLACK_API_URL": practice.ws.api_url,
        "OPENAI_API_KEY": practice.api.api_key,
        "OPENAI_BASE_URL": practice.api.url,
        "OPENAI_MODEL": "gpt-5.4-mini",
        "REDIS_URL": practice.redis.url,
    }
    out, err = practice.folder / "out", practice.folder / "err"
    out.unlink(missing_ok=True)
    command = start(
        "doctor", environment=settings | environment, folder=practice.folder, out=out, err=err
    )
    return await command.wait(), out.read_text()


async def test_the_command(practice) -> None:
    """Exit code 0 when the bot can work, 1 when it cannot; secrets are not printed."""
    code, said = await run(practice)
    assert code == 0
    assert "Everything is fine." in said
    wrong = "xoxb-wrong-token"
    code, said = await run(practice, SLACK_BOT_TOKEN=wrong)
    assert code == 1
    assert "→ copy the Bot User OAuth Token" in said
    assert wrong not in said
    assert practice.redis.url not in said


async def _fails(_request: web.Request) -> web.Response:
    return web.Response(status=503, text="<html>", content_type="text/html")


async def test_mcp_servers_are_asked(practice) -> None:
    """One that answers, one that does not start, and one that fails: the bot works without them."""
    clock = McpServer(command=sys.executable, args=("-m", "mcp_server_time"))
    app = web.Application()
    app.router.add_route("*", "/mcp", _fails)
    async with served(app) as url:
        ill = McpServer(url=f"{url}/mcp")
        servers = {"clock": clock, "gone": McpServer(command="/nowhere/at-all"), "ill": ill}
        found = {f.subject: f for f in await practice.findings(mcp_servers=servers)}
    assert "fails at the moment (503)" in found["MCP server ill"].text
    assert found["MCP server clock"].level is Level.OK
    assert found["MCP server gone"].level is Level.WARNING
    assert "mcpServers.gone" in found["MCP server gone"].fix


async def test_a_slip_in_the_env_file(practice, tmp_path, monkeypatch) -> None:
    """A name that nothing reads is said, when it is nearly one of ours; others are left alone."""
    (tmp_path / ".env").write_text("SLACK_SIGNING_SECERT=x\nEDITOR=vi\n")
    monkeypatch.chdir(tmp_path)
    found = await practice.complaint()
    assert (found.level, found.subject) == (Level.WARNING, ".env SLACK_SIGNING_SECERT")
    assert found.fix == "did you mean SLACK_SIGNING_SECRET?"


async def test_it_says_that_somebody_has_paused_the_bot(practice: Practice) -> None:
    """All else may be well; nobody is answered all the same."""
    await pause(practice.settings())
    found = await practice.complaint()
    assert "nobody is answered" in found.text
    assert "bot resume" in found.fix


async def test_operators_work_beside_a_bot_with_a_redis_of_its_own(tmp_path: Path) -> None:
    """`bot pause` reaches a running `bot serve` without REDIS_URL, and what it did outlives that."""
    settings = Settings(bot_data_dir=tmp_path)
    async with embedded_redis(tmp_path / "redis") as url, open_stores(url) as stores:
        assert await pause(settings) == str(tmp_path)
        assert await stores.pause.get() is not None
    assert running_redis(tmp_path / "redis") is None
    assert (await usage_lines(settings))[0].startswith("Paused by the operator")
    assert "where no bot runs" in await pause(settings)


async def test_a_data_directory_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="cannot be used"):
        async with embedded_redis(tmp_path / "file" / "redis"):
            pass
