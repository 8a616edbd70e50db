"""Tokens of removed accounts are revoked, if need be later; nothing else can be done with them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from bot.cli.operator import erase_lines
from bot.core.audit import AuditEntry
from bot.features.accounts import ending
from bot.features.accounts.account import AccountState, Revoked
from bot.store import Stores
from tests.support.accounts import ANNA, BEN, Connecting, connecting

DOWN: dict[str, tuple[int, Any]] = {"/revoke": (503, {})}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything stored is due."""
    monkeypatch.setattr(ending, "_FIRST_PAUSE", 0.0)


def on_record(entries: list[str]) -> ending.Record:
    async def record(found: Sequence[AuditEntry]) -> None:
        entries.extend(f"{each.who} {each.what} {each.ok}" for each in found)

    return record


async def kept(stores: Stores) -> list[str]:
    found = await stores.redis.call("KEYS", "*account-revocation:*")
    return [each.decode().partition("account-revocation:")[2] for each in found]


@pytest.mark.usefixtures("at_once")
async def test_a_server_that_is_down_is_asked_again_by_another_process(
    place: Connecting, stores: Stores
) -> None:
    """R3, S7: the account is gone at once; its tokens wait, encrypted, until the server has revoked
    them, also after a restart. The audit log says so."""
    await place.connect(ANNA)
    place.notes.answers = DOWN
    assert await place.accounts.ending.disconnect(ANNA, "notes") is Revoked.LATER
    assert (await place.accounts.view(ANNA, "notes")).state is AccountState.NONE
    [name] = await kept(stores)
    sealed = await stores.redis.call("GET", stores.redis.key("account-revocation", name))
    assert not [token for token in place.notes.tokens if token.encode() in sealed]
    entries: list[str] = []
    async with connecting(stores, place.notes) as restarted:
        again = restarted.accounts.revocations
        await again.try_again(on_record(entries))
        assert entries == []
        assert not place.notes.revoked
        place.notes.answers = {}
        await again.try_again(on_record(entries))
    assert len(place.notes.revoked) == 2
    assert entries == ["UANNA revoked notes True"]
    assert await kept(stores) == []
    assert await stores.redis.call("KEYS", "*account-revocations") == []


async def test_attempts_grow_rare_and_end_after_a_day(
    place: Connecting, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds: about thirty attempts; then the tokens are deleted, and the audit log says that they were
    not revoked. So it does when no process ran that day, as Redis deletes them by itself."""
    await place.connect(ANNA)
    place.notes.answers = DOWN
    await place.accounts.ending.disconnect(ANNA, "notes")
    [name] = await kept(stores)
    key = stores.redis.key("account-revocation", name)
    assert 86_000 < await stores.redis.call("TTL", key) <= 86_400
    entries: list[str] = []
    now, asked = time.time(), place.notes.asked["/revoke"]
    passed = 0
    while not entries:
        passed += 900
        monkeypatch.setattr(time, "time", partial(float, now + passed))
        await place.accounts.revocations.try_again(on_record(entries))
    monkeypatch.undo()
    assert passed <= 86_400
    assert 20 < place.notes.asked["/revoke"] - asked < 40
    assert entries == ["UANNA not revoked notes False"]
    assert await kept(stores) == []
    await place.connect(BEN)
    place.notes.answers = DOWN
    await place.accounts.ending.disconnect(BEN, "notes")
    await stores.redis.call("DEL", *await stores.redis.call("KEYS", "*account-revocation:*"))
    await place.accounts.revocations.try_again(on_record(entries))
    assert entries[1:] == ["UBEN not revoked notes False"]


@pytest.mark.usefixtures("at_once")
async def test_a_crash_while_disconnecting_leaves_no_token_alive(
    place: Connecting, stores: Stores
) -> None:
    """R3: the tokens are stored before their account is removed."""
    await place.connect(ANNA)
    place.notes.slowly = 5.0
    disconnecting = asyncio.create_task(place.accounts.ending.disconnect(ANNA, "notes"))
    while not place.notes.asked["/revoke"]:  # noqa: ASYNC110 - a counter has no event
        await asyncio.sleep(0.01)
    disconnecting.cancel()
    await asyncio.gather(disconnecting, return_exceptions=True)
    place.notes.slowly = 0.0
    assert (await place.accounts.view(ANNA, "notes")).state is AccountState.NONE
    await place.accounts.revocations.try_again(on_record([]))
    assert (place.notes.access, place.notes.refresh) == ({}, {})


@pytest.mark.usefixtures("at_once")
async def test_what_was_revoked_meanwhile_is_not_on_record_as_failed(
    place: Connecting, stores: Stores
) -> None:
    """S7: two processes look at one time; the audit log tells what became of it, once."""
    await place.connect(ANNA)
    place.notes.answers = DOWN
    await place.accounts.ending.disconnect(ANNA, "notes")
    place.notes.answers = {}
    [name] = await place.accounts.revocations.storage.revocations.names()
    entries: list[str] = []
    again = place.accounts.revocations
    await again.try_again(on_record(entries))
    await again._try_one(name, on_record(entries), set())
    assert entries == ["UANNA revoked notes True"]


async def test_a_server_that_refuses_is_not_asked_again(place: Connecting, stores: Stores) -> None:
    """It has forgotten the bot, so that its tokens are worth nothing there."""
    await place.connect(ANNA)
    place.notes.answers = {"/revoke": (401, {"error": "invalid_client"})}
    assert await place.accounts.ending.disconnect(ANNA, "notes") is Revoked.NEVER
    assert await kept(stores) == []


@pytest.mark.usefixtures("at_once")
async def test_erased_people_are_not_named_while_their_tokens_wait(
    place: Connecting, stores: Stores, redis_url: str
) -> None:
    """S7: not in a key, nor later in the audit log. `bot erase` says that something waits."""
    await place.connect(BEN)
    await place.connect(ANNA)
    place.notes.answers = DOWN
    await place.accounts.ending.disconnect(BEN, "notes")
    settings = place.settings.model_copy(update={"redis_url": redis_url})
    for user in (BEN.user, ANNA.user, ANNA.user):
        lines = await erase_lines(settings, user=user)
        assert [each for each in lines if each.startswith("! The servers of")]
    assert not [key for key in await stores.redis.call("KEYS", "*") if b"UANNA" in key]
    assert {name[:2] for name in await kept(stores)} == {"::"}
    place.notes.answers = {}
    entries: list[str] = []
    await place.accounts.revocations.try_again(on_record(entries))
    assert (place.notes.access, place.notes.refresh) == ({}, {})
    assert entries == []
    assert not [each for each in await erase_lines(settings, user=ANNA.user) if each[0] == "!"]


async def test_a_removed_workspace_waits_for_no_server(place: Connecting, stores: Stores) -> None:
    """S7: however many people had accounts there: the bot forgets them, and revokes them later. A
    server that does not answer is asked once for all of them."""
    await place.connect(ANNA)
    await place.connect(BEN)
    assert await place.accounts.ending.erase_team("T1") == 2
    assert place.notes.asked["/revoke"] == 0
    place.notes.answers = DOWN
    await place.accounts.revocations.try_again(on_record([]))
    assert place.notes.asked["/revoke"] == 1
    assert len(await kept(stores)) == 2
