"""One bot in many workspaces, installed from a browser; each with its own token and its own data."""

from __future__ import annotations

import asyncio
import gc
import re
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from redis.asyncio import Redis

from bot.app.features import all_features
from bot.app.oauth import reseal
from bot.app.process import bot
from bot.core import failpoints
from bot.core.audit import audit_keys
from bot.core.errors import ConfigurationError, CorruptValue, SlackUnavailable
from bot.dev.model import ResponsesServer, finish
from bot.dev.workspace import ADA, Workspace
from bot.ops.doctor import Level
from bot.ops.doctor.redis import examine_encryption
from bot.ops.doctor.slack import examine_slack
from bot.settings import Settings
from bot.slack.edge.client import DeadlineClient
from bot.slack.edge.installs import AppKeys, InstalledWorkspaces, Tokens, Uninstaller
from bot.slack.edge.workspaces import PerWorkspace
from bot.store import Retention, Stores, open_stores
from bot.store.sealed import box_of
from bot.store.workspaces.installs import Install, InstallStore
from tests.support.deployment import configured, is_terminal
from tests.support.ports import free_port
from tests.support.runs import answer

SALES = "C0SALES001"
KEY, NEW_KEY = Fernet.generate_key().decode(), Fernet.generate_key().decode()


@dataclass(frozen=True)
class Browser:
    """Somebody who installs the app; `jar` holds the cookies."""

    session: aiohttp.ClientSession
    base: str

    async def begin(self) -> tuple[str, dict[str, str]]:
        """Slack's page behind the button, and the cookie."""
        async with self.session.get(f"{self.base}/slack/install") as page:
            assert page.status == 200
            [url] = re.findall(r'href="(http[^"]*authorize[^"]*)"', await page.text())
            return unescape(url), {name: each.value for name, each in page.cookies.items()}

    async def come_back(self, url: str, cookies: dict[str, str]) -> tuple[int, str]:
        header = "; ".join(f"{name}={value}" for name, value in cookies.items())
        async with self.session.get(url, headers={"Cookie": header}) as page:
            assert page.headers["Cache-Control"] == "no-store"
            return page.status, await page.text()

    async def install(self, ws: Workspace, **where: Any) -> str:
        url, cookies = await self.begin()
        status, text = await self.come_back(ws.allow(url, ADA, **where), cookies)
        assert status == 200, text
        return text


@dataclass(frozen=True)
class Place:
    first: Workspace
    second: Workspace
    browser: Browser
    settings: Settings
    api: ResponsesServer

    async def ask(self, ws: Workspace, text: str = "How many?") -> str:
        said = await ws.say(ADA, SALES, f"<@{ws.bot_user_id}> {text}")
        return str(said["ts"])

    async def answered(self, ws: Workspace, ts: str) -> dict[str, Any]:
        def found() -> dict[str, Any] | None:
            return next((m for m in ws.messages(SALES, ts) if is_terminal(m)), None)

        message = await ws.until(found, 20)
        assert message is not None
        return message


def settings_of(ws: Workspace, api: ResponsesServer, redis_url: str, **more: Any) -> Settings:
    many = {
        "slack_bot_token": None,
        "slack_app_token": None,
        "slack_client_id": ws.oauth.client_id,
        "slack_client_secret": SecretStr(ws.oauth.client_secret),
        "bot_encryption_keys": SecretStr(KEY),
    }
    return configured(ws, api, redis_url, **(many | more))


@asynccontextmanager
async def place(
    redis_url: str, brain: Callable[..., Any] = lambda _: finish(answer()), **more: Any
) -> AsyncGenerator[Place]:
    """A bot that takes in and one that works, as processes do, in front of two workspaces."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(Workspace.open())
        second = await stack.enter_async_context(Workspace.open(beside=first))
        first.oauth.redirect_url = f"{base}/slack/oauth_redirect"
        api = await stack.enter_async_context(ResponsesServer.open(brain=brain))
        settings = settings_of(first, api, redis_url, port=port, **more)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        await stack.enter_async_context(bot(settings, work=False))
        await stack.enter_async_context(bot(settings, intake=False))
        await first.listen_over_http(f"{base}/slack/events")
        yield Place(first, second, Browser(session, base), settings, api)


async def test_two_workspaces_are_answered_each_with_its_own_token_until_one_leaves(
    redis_url: str, redis: Redis
) -> None:
    async with place(redis_url) as at:
        ts = await at.ask(at.first)
        await at.first.until(lambda: at.first.delivery.under_way == 0)
        assert len(at.first.messages(SALES, ts)) == 1  # nobody installed it, nobody is answered
        assert at.first.delivery.lost == []

        assert "The bot is in Local." in await at.browser.install(at.first)
        assert "The bot is in Local 2." in await at.browser.install(at.second)
        for ws in (at.first, at.second):
            await at.answered(ws, await at.ask(ws))
            assert ws.state.bot_token not in str([await redis.dump(k) for k in await redis.keys()])
        for ws in (at.first, at.second):
            assert {e.error for e in ws.effects if e.error} == set()
            assert len([m for m in ws.messages(SALES) if m.get("reply_count")]) == 1

        findings = [f for f in await examine_slack(at.settings) if f.level is not Level.OK]
        assert findings == [], "the doctor finds both in order"
        other = at.settings.model_copy(update={"bot_encryption_keys": SecretStr(NEW_KEY)})
        lines = [f.text for f in await examine_slack(other) if f.level is Level.PROBLEM]
        assert [at.first.team_id in lines[0], at.second.team_id in lines[1]] == [True, True]

        at.second.uninstall()
        await at.second.until(lambda: at.second.delivery.under_way == 0)
        left = [str(k) for k in await redis.keys("bot:v1:*") if at.second.team_id in str(k)]
        assert {key.split(":")[2] for key in left} <= {"lease", "install-lock", "audit-head"}, left
        ts = await at.ask(at.second)
        await at.second.until(lambda: at.second.delivery.under_way == 0)
        assert len(at.second.messages(SALES, ts)) == 1
        assert at.second.delivery.lost == []
        await at.answered(at.first, await at.ask(at.first))


@pytest.mark.parametrize("failpoint", ["erase-noting", "erase-swept", "erase-removing"])
async def test_an_erase_after_a_removal_is_finished_when_slack_says_it_again(
    redis_url: str, redis: Redis, tmp_path: Path, failpoint: str
) -> None:
    """(O1) Where it broke off, nothing was acknowledged, and the next delivery leaves nothing, at the
    model service neither."""
    async with place(redis_url) as at:
        at.first.delivery.retry_delays = at.second.delivery.retry_delays = (0.5, 1.0, 2.0)
        await at.browser.install(at.second)
        await at.answered(at.second, await at.ask(at.second))
        (tmp_path / failpoint).write_text("raise")
        failpoints.arm(tmp_path)
        try:
            at.second.uninstall()
            await at.second.until(lambda: at.second.delivery.under_way == 0)
        finally:
            failpoints._orders = None
        assert (tmp_path / f"{failpoint}.taken").exists()
        left = [str(k) for k in await redis.keys("bot:v1:*") if at.second.team_id in str(k)]
        assert {key.split(":")[2] for key in left} <= {"lease", "install-lock", "audit-head"}, left
        await at.second.until(
            lambda: not any(node.kept for node in at.api.chains.responses.values())
        )


async def test_an_organisation_installs_once_for_all_its_workspaces(redis_url: str) -> None:
    async with place(redis_url) as at:
        assert "Organisation" in await at.browser.install(at.first, organisation="E0ORG00001")
        for ws in (at.first, at.second):
            await at.answered(ws, await at.ask(ws))
            posted = [e.args for e in ws.effects if e.method.startswith("chat.")]
            assert {args["team_id"] for args in posted} == {ws.team_id}


async def test_what_goes_wrong_in_the_browser_is_said_plainly(redis_url: str, redis: Redis) -> None:
    async with place(redis_url) as at:
        browser, first = at.browser, at.first
        url, cookies = await browser.begin()
        status, text = await browser.come_back(first.oauth.refusal(url), cookies)
        assert (status, "were not granted" in text) == (200, True)

        back = first.allow(url, ADA)
        status, text = await browser.come_back(back, {})
        assert (status, "another browser" in text) == (400, True)
        forged = {"slack-app-oauth-state": "x"}
        status, text = await browser.come_back(re.sub("state=[^&]*", "state=x", back), forged)
        assert (status, "used before" in text) == (401, True)
        assert [k async for k in redis.scan_iter("bot:v1:install:*")] == []

        assert (await browser.come_back(back, cookies))[0] == 200
        status, text = await browser.come_back(back, cookies)
        assert (status, "used before" in text) == (401, True)
        url, cookies = await browser.begin()
        code = re.sub("state=[^&]*", f"state={cookies['slack-app-oauth-state']}", back)
        status, text = await browser.come_back(code, cookies)
        assert (status, "Slack did not accept" in text) == (401, True)
        assert first.effects[-1].error == "code_already_used"


async def test_who_only_opens_the_page_leaves_nothing_behind(
    redis_url: str, redis: Redis, stores: Stores
) -> None:
    """However often: anybody may, without being anybody. Of states that were used so many are known."""
    async with place(redis_url) as at:
        for _ in range(3):
            url, cookies = await at.browser.begin()
        assert await redis.keys("*oauth*") == []
        assert (await at.browser.come_back(at.first.allow(url, ADA), cookies))[0] == 200
    installs = InstallStore(stores.redis, Retention(), box_of([KEY]))
    states = [installs.new_state() for _ in range(3)]
    taken = [await installs.use_state(each) for each in (*states, *states)]
    assert taken == [True] * 3 + [False] * 3
    for spelling in (f"{states[0]}!", f"é{states[0]}"):  # base64 leaves out what is none
        assert not await installs.use_state(spelling)
    await redis.zadd("bot:v1:oauth-states-used", {str(n): 9e9 + n for n in range(10_010)})
    assert await installs.use_state(installs.new_state())
    assert await redis.zcard("bot:v1:oauth-states-used") == 10_000


async def test_nothing_is_kept_in_mind_of_a_workspace_that_has_gone(stores: Stores) -> None:
    """Nor by a process that hears nothing of its going: what was made for it goes with the next."""

    class Made:
        """What a process has for one workspace."""

    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(Workspace.open())
        second = await stack.enter_async_context(Workspace.open(beside=first))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        installs = InstallStore(stores.redis, Retention(), box_of([KEY]))
        tokens = Tokens(installs, AppKeys("", ""), DeadlineClient(deadline=10))
        there = InstalledWorkspaces(installs, tokens, session, first.api_url)
        each = PerWorkspace(there, lambda slack: (slack.clients.reads, Made()))
        made = []
        for ws in (first, second):
            who = {"bot": "B", "bot_user": ws.bot_user_id, "token": ws.bot_token}
            await installs.save(Install(holder=ws.team_id, **who))
            if found := await each.of(ws.team_id):
                made.append([weakref.ref(part) for part in found])
                del found
            await installs.forget(first.team_id)
    gc.collect()
    assert [[bool(part()) for part in parts] for parts in made] == [[False] * 2, [True] * 2]


async def test_nothing_is_erased_unless_slack_says_that_the_token_is_gone(stores: Stores) -> None:
    """While a workspace is moved into an organisation Slack refuses calls for a while."""
    gone = list[str]()

    async def forget(team: str) -> None:
        gone.append(team)

    async with Workspace.open() as ws, aiohttp.ClientSession() as session:
        installs = InstallStore(stores.redis, Retention(), box_of([KEY]))
        who = {"bot": "B", "bot_user": ws.bot_user_id, "token": ws.bot_token}
        await installs.save(Install(holder=ws.team_id, **who))
        client = DeadlineClient(deadline=10, base_url=ws.api_url, session=session)
        uninstaller = Uninstaller(
            installs, Tokens(installs, AppKeys("", ""), client), client, forget
        )
        for code in ("team_added_to_org", "service_unavailable"):
            ws.faults.fail("auth.test", code)
            with pytest.raises(SlackUnavailable):
                await uninstaller.uninstalled(ws.team_id, None)
        assert (gone, await installs.teams()) == ([], [ws.team_id])
        ws.faults.fail("auth.test", "account_inactive")
        await uninstaller.uninstalled(ws.team_id, None)
        assert (gone, await installs.teams()) == ([ws.team_id], [])


INSTALL = Install(holder="T1", bot="B1", bot_user="U1", token="xoxb-1")


async def test_two_processes_refresh_a_token_once(redis_url: str) -> None:
    """And both go on with the new one."""
    async with AsyncExitStack() as stack:
        ws = await stack.enter_async_context(Workspace.open())
        ws.oauth.rotates, ws.oauth.lifetime, ws.oauth.redirect_url = True, 60, "http://x/"
        url = f"{ws.url}oauth/v2/authorize?client_id={ws.oauth.client_id}&scope=chat:write&state=s"
        code = ws.allow(url, ADA).partition("code=")[2].partition("&")[0]
        granted = ws.oauth.exchange(code)
        ws.oauth.lifetime = 43_200
        keys = AppKeys(ws.oauth.client_id, ws.oauth.client_secret)
        processes = []
        for _ in range(2):
            stores = await stack.enter_async_context(open_stores(redis_url))
            installs = InstallStore(stores.redis, Retention(), box_of([KEY]))
            client = DeadlineClient(deadline=10, base_url=ws.api_url)
            processes.append(Tokens(installs, keys, client))
        due = {"token": granted["access_token"], "refresh_token": granted["refresh_token"]}
        await installs.save(INSTALL.model_copy(update=due | {"expires_at": 1}))
        tokens = await asyncio.gather(*(each.of("T1") for each in processes * 5))
        assert set(tokens) == {ws.bot_token} != {granted["access_token"]}
        assert len([e for e in ws.effects if e.method == "oauth.v2.access"]) == 1


async def test_an_installation_that_cannot_be_opened_keeps_the_others_working(
    redis_url: str, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """Its events are not acknowledged, so that they come again when the key is back."""
    async with place(redis_url) as at:
        await at.browser.install(at.first)
        await at.browser.install(at.second)
        kept = await redis.get(f"bot:v1:install:{at.second.team_id}")
        assert kept
        await redis.set(f"bot:v1:install:{at.second.team_id}", "damaged", ex=1000)
        await at.ask(at.second)
        await at.second.until(lambda: "cannot be opened: it is damaged" in caplog.text)
        await at.answered(at.first, await at.ask(at.first))
        await redis.set(f"bot:v1:install:{at.second.team_id}", kept, ex=1000)
        await at.answered(at.second, await at.ask(at.second))


async def test_a_wrong_key_is_one_clear_line_and_an_old_key_still_opens(stores) -> None:
    old = InstallStore(stores.redis, Retention(), box_of([KEY]))
    await old.save(INSTALL)
    with pytest.raises(CorruptValue, match="BOT_ENCRYPTION_KEYS"):
        await InstallStore(stores.redis, Retention(), box_of([NEW_KEY])).load("T1")
    assert await old.load("T1") == INSTALL  # nothing was thrown away
    assert (
        await InstallStore(stores.redis, Retention(), box_of([NEW_KEY, KEY])).load("T1") == INSTALL
    )
    with pytest.raises(ConfigurationError, match="BOT_ENCRYPTION_KEYS: each must be"):
        box_of(["short"])


async def test_questions_are_answered_while_processes_get_new_keys(redis_url: str) -> None:
    """O11: a worker with `new,old` started beside processes that have the old key leaves what they read
    as it is, and doctor says who is missing; once they are gone everything is on the new key."""
    async with place(redis_url) as at, open_stores(redis_url) as stores:
        await at.browser.install(at.first)
        first = await at.answered(at.first, await at.ask(at.first))
        changed = at.settings.model_copy(
            update={"bot_encryption_keys": SecretStr(f"{NEW_KEY},{KEY}"), "redis_url": redis_url}
        )
        async with bot(changed, intake=False):
            for _ in range(3):
                later = await at.answered(at.first, await at.ask(at.first))
                assert later["text"].split("\n")[0] == first["text"].split("\n")[0]
            [found] = await examine_encryption(changed)
            stated = (
                r"running processes without the first key \((\w{8})\): 2; not encrypted with it: "
            )
            missing = re.match(stated, found.text)
            assert missing
            old = InstallStore(stores.redis, Retention(), box_of([KEY]))
            assert (await old.load(at.first.team_id)) is not None
    async with open_stores(redis_url, audit_keys=audit_keys(f"{NEW_KEY},{KEY}")) as stores:
        await reseal(changed, stores, all_features(changed))
        [found] = await examine_encryption(changed)
        assert found.level is Level.OK
        assert f"all use the first key ({missing[1]}); if that is the new one, remove" in found.text
        assert [e.problem async for e in stores.audit.read(at.first.team_id) if e.problem] == []


async def test_an_old_key_can_be_retired_once_everything_was_sealed_again(stores, redis_url):
    """(O6) Loading an installation, or the start of a process, seals it with the first key; doctor
    counts what is still on old ones, per kind; then the old key may go."""
    install = Install(holder="T1", bot="B1", bot_user="U1", token="xoxb-1")
    for holder in ("T1", "T2"):
        await InstallStore(stores.redis, Retention(), box_of([KEY])).save(
            install.model_copy(update={"holder": holder})
        )
    values = {
        "redis_url": redis_url,
        "slack_client_id": "1.2",
        "slack_client_secret": SecretStr("s"),
        "bot_encryption_keys": SecretStr(f"{NEW_KEY},{KEY}"),
    }
    settings = Settings(**values)
    both = InstallStore(stores.redis, Retention(), box_of([NEW_KEY, KEY]))
    [found] = await examine_encryption(settings)
    assert (found.level, "2 installations" in found.text) == (Level.WARNING, True)
    await both.load("T1")
    assert await both.on_old_keys() == ["T2"]
    await reseal(settings, stores, all_features(settings))
    [found] = await examine_encryption(settings)
    assert found.level is Level.OK
    new = InstallStore(stores.redis, Retention(), box_of([NEW_KEY]))
    loaded = [await new.load(each) for each in ("T1", "T2")]
    assert [each and each.token for each in loaded] == ["xoxb-1"] * 2
