"""What operators see of personal servers: `bot mcp`, `bot doctor` and the pages' port."""

from __future__ import annotations

import pytest

from bot.app.http_server import process_status
from bot.cli.operator import mcp_lines
from bot.features.accounts.pages import AccountPages
from bot.mcp import open_mcp_servers
from bot.ops.doctor.tools import examine_mcp
from bot.settings import Settings
from bot.store import Stores
from tests.support.accounts import ANNA, Connecting, service_of
from tests.support.notes_server import Browser
from tests.support.ports import free_port


def on(place: Connecting, redis_url: str) -> Settings:
    return place.settings.model_copy(update={"redis_url": redis_url})


async def test_the_operator_is_shown_a_changed_issuer_and_accepts_it(
    place: Connecting, redis_url: str
) -> None:
    """Reliability 14, for issuers: old and new are shown; nothing else makes the server go on."""
    settings = on(place, redis_url)
    [check] = await examine_mcp(settings)
    assert check.text == "lets people connect; its tools are known once an admin has"
    await place.connect(ANNA)
    place.notes.edit = lambda document: document.update(token_endpoint=f"{place.notes.url}/t2")
    lines = await mcp_lines(settings)
    assert "  CHANGED, off until `bot mcp --accept notes`: who lets people in" in lines
    assert f"    token was: {place.notes.url}/token" in lines
    assert f"    token now: {place.notes.url}/t2" in lines
    [check] = await examine_mcp(settings)
    assert check.text.startswith("off, as it names another issuer")
    assert "accepted and enabled: its issuer" in (await mcp_lines(settings, accept="notes"))[0]
    assert not [line for line in await mcp_lines(settings) if "CHANGED" in line]


@pytest.mark.parametrize(
    ("missing", "text"),
    [
        ("bot_encryption_keys", "BOT_ENCRYPTION_KEYS"),
        ("bot_public_url", "BOT_PUBLIC_URL"),
    ],
)
async def test_doctor_says_what_personal_accounts_lack(
    place: Connecting, missing: str, text: str
) -> None:
    """The bot does not start without either."""
    settings = place.settings.model_copy(update={missing: None})
    [check] = await service_of(settings).checks(None)
    assert text in check.text


async def test_doctor_says_why_nobody_can_connect(place: Connecting, redis_url: str) -> None:
    """A server without metadata, or one that takes no new clients."""
    place.notes.edit = lambda document: document.pop("registration_endpoint")
    [check] = await examine_mcp(on(place, redis_url))
    assert "it takes no new clients, so set client_id" in check.text
    place.notes.answers["/.well-known/oauth-protected-resource/mcp"] = (404, {})
    place.notes.answers["/.well-known/oauth-authorization-server"] = (404, {})
    [check] = await examine_mcp(on(place, redis_url))
    assert "nobody can connect" in check.text


async def test_without_the_feature_a_personal_server_is_off_and_doctor_says_why(
    place: Connecting, redis_url: str, stores: Stores
) -> None:
    """(architecture) Nobody is asked, and no run has its tools."""
    [check] = await examine_mcp(on(place, redis_url), features=())
    assert check.text == 'has account = "person", and this bot has no accounts of people'
    async with open_mcp_servers(place.settings.mcp_servers, stores.mcp) as servers:
        assert await servers.tools(user=ANNA.user) == ()
        assert servers.missing() == ()


@pytest.mark.parametrize("public", [True, False])
async def test_the_pages_are_served_also_in_socket_mode(place: Connecting, public: bool) -> None:
    """Row 7: on PORT behind the operator's proxy, or on loopback alone; workers serve none."""
    port = free_port()
    settings = place.settings.model_copy(
        update={
            "port": port if public else None,
            "bot_public_url": "https://bot.example" if public else f"http://127.0.0.1:{port}",
            "slack_app_token": place.settings.bot_encryption_keys,
        }
    )
    pages = AccountPages()
    async with process_status(settings, intake=True, work=True, pages=pages.routes):
        assert (
            await Browser().open(f"http://127.0.0.1:{port}/accounts/connect")
        ).status_code == 503
        with pages.served_by(place.accounts):
            page = await Browser().open(f"http://127.0.0.1:{port}/accounts/connect")
        assert page.status_code == 410
