"""A token is refreshed by one process at a time; otherwise servers take it for theft."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from bot.features.accounts.account import AccountProblem, AccountState, EndReason, Outcome
from bot.store import Stores
from tests.support.accounts import ANNA, KEY, Connecting


async def refreshing(place: Connecting, what: str = "refresh") -> None:
    """Wait until the issuer was asked to refresh, or has `rotated` the tokens."""
    async with asyncio.timeout(10):
        while not place.notes.asked[what]:  # noqa: ASYNC110 - a counter has no event
            await asyncio.sleep(0.01)


async def token_of(place: Connecting) -> str:
    return (await place.accounts.calls.access(ANNA, "notes")).token


async def test_two_workers_refresh_once(place: Connecting, stores: Stores, redis_url: str) -> None:
    """Row 6: one expired token, two processes at one time, slow rotation with reuse detection:
    both get the same new token, and the account lives. One of the two is the test's own."""
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.slowly = 0.5
    pipe = asyncio.subprocess.PIPE
    other = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.support.account_worker", redis_url, place.notes.mcp, stale),
        env={**os.environ, "ACCOUNT_KEY": KEY, "PYTHONPATH": str(Path(__file__).parents[3])},
        stdin=pipe,
        stdout=pipe,
    )
    assert other.stdout is not None
    assert await other.stdout.readline() == b"ready\n"
    (said, _), own = await asyncio.gather(
        other.communicate(b"go\n"), place.accounts.calls.access(ANNA, "notes", stale=stale)
    )
    tokens = {said.decode().split()[-1], own.token}
    assert tokens == {await token_of(place)}
    assert stale not in tokens
    assert place.notes.asked["refresh"] == 1
    assert (await place.accounts.view(ANNA, "notes")).usable


async def test_many_calls_of_one_process_refresh_once(place: Connecting) -> None:
    """The lock holds within a process, too."""
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.slowly = 0.2
    calls = place.accounts.calls
    got = await asyncio.gather(*(calls.access(ANNA, "notes", stale=stale) for _ in range(20)))
    assert len({each.token for each in got}) == 1
    assert place.notes.asked["refresh"] == 1


async def test_a_stop_during_a_refresh_loses_no_token(place: Connecting) -> None:
    """The issuer has rotated by then: the new token is stored though nobody waits for it."""
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.slowly = 0.3
    waiting = asyncio.create_task(place.accounts.calls.access(ANNA, "notes", stale=stale))
    await refreshing(place)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await place.accounts.close()
    assert await token_of(place) != stale
    assert place.notes.asked["refresh"] == 1


async def test_a_wish_for_more_rights_during_a_refresh_loses_no_token(place: Connecting) -> None:
    """Another call stores it while the issuer rotates: the only token that still works is kept, too."""
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.answers_late = 0.3
    waiting = asyncio.create_task(place.accounts.calls.access(ANNA, "notes", stale=stale))
    await refreshing(place, "rotated")
    await place.accounts.calls.want(ANNA, "notes", "notes:write", "notes__add")
    assert (await waiting).token in place.notes.access
    view = await place.accounts.view(ANNA, "notes")
    assert (view.state, view.wanted) == (AccountState.NEEDS_MORE, "notes:write")


async def test_a_disconnection_during_a_refresh_leaves_no_token_alive(place: Connecting) -> None:
    """Row 7: Disconnect revokes the tokens that it knows; those just on their way are revoked, too."""
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.answers_late = 0.3
    waiting = asyncio.create_task(place.accounts.calls.access(ANNA, "notes", stale=stale))
    await refreshing(place, "rotated")
    place.notes.spent.clear()  # it takes the use of a spent token for nothing bad
    await place.accounts.ending.disconnect(ANNA, "notes")
    with pytest.raises(AccountProblem):
        await waiting
    assert (place.notes.access, place.notes.refresh) == ({}, {})
    assert (await place.accounts.view(ANNA, "notes")).state is AccountState.NONE


async def test_tokens_are_refreshed_shortly_before_they_end(place: Connecting) -> None:
    """So that a call does not meet the end; far from it nothing is asked."""
    place.notes.lifetime = 300
    await place.connect(ANNA)
    first = await token_of(place)
    assert await token_of(place) == first
    place.notes.lifetime = 1
    await place.accounts.calls.access(ANNA, "notes", stale=first)
    await asyncio.sleep(1.0)
    await token_of(place)
    assert place.notes.asked["refresh"] == 2


async def test_an_issuer_that_gives_useless_tokens_is_not_asked_without_end(
    place: Connecting,
) -> None:
    """Tokens that end at once, and the one that the server has just refused: each is used as it is, and
    the server decides."""
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.asked.clear()
    for n, given in enumerate(("t" * 20, "t" * 20, stale), start=1):
        tokens = {"access_token": given, "token_type": "bearer", "expires_in": 1e-6}
        place.notes.answers["/token"] = (200, tokens)
        async with asyncio.timeout(5):
            access = await place.accounts.calls.access(ANNA, "notes", stale=stale)
        assert access.token == given
        assert place.notes.asked["/token"] == n


async def test_without_a_refresh_token_the_account_ends_with_its_token(
    place: Connecting,
) -> None:
    """As Slack's own server does it: the owner is told, and connects again."""
    place.notes.gives_refresh = False
    place.notes.lifetime = 1
    await place.connect(ANNA)
    await token_of(place)
    await asyncio.sleep(1.0)
    with pytest.raises(AccountProblem) as caught:
        await token_of(place)
    assert caught.value.state is AccountState.ENDED
    assert (await place.accounts.view(ANNA, "notes")).reason is EndReason.NO_REFRESH
    assert Outcome.ENDED in {each.outcome for each in await place.accounts.outbox.untold()}


async def test_a_token_that_may_be_spent_is_sent_once_more_and_no_more(
    place: Connecting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refresh without an answer may have spent the token; a third one would look like theft."""
    monkeypatch.setattr("bot.features.accounts.oauth.guard.SECONDS", 0.1)
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.slowly = 0.5
    states = []
    for _ in range(3):
        with pytest.raises(AccountProblem) as caught:
            await place.accounts.calls.access(ANNA, "notes", stale=stale)
        states.append(caught.value.state)
        await asyncio.sleep(0.6)  # the issuer ends its work
    assert states[-1] is AccountState.ENDED
    assert place.notes.asked["/token"] <= 3  # one exchange, two refreshes


async def test_a_repeated_wrong_error_ends_an_account_at_last(place: Connecting) -> None:
    """Some servers answer invalid_request where they should say invalid_grant."""
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.answers["/token"] = (400, {"error": "invalid_request"})
    states = []
    for _ in range(3):
        with pytest.raises(AccountProblem) as caught:
            await place.accounts.calls.access(ANNA, "notes", stale=stale)
        states.append(caught.value.state)
    assert states == [AccountState.BUSY, AccountState.BUSY, AccountState.ENDED]


@pytest.mark.parametrize("answer", [(503, {}), (429, {"error": "slow_down"}), (502, b"<html>")])
async def test_a_server_in_trouble_ends_nothing(
    place: Connecting, answer: tuple[int, object]
) -> None:
    """However often it fails: the tokens are kept."""
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.answers["/token"] = answer
    for _ in range(4):
        with pytest.raises(AccountProblem) as caught:
            await place.accounts.calls.access(ANNA, "notes", stale=stale)
        assert caught.value.state is AccountState.BUSY
    place.notes.answers.clear()
    assert (await place.accounts.calls.access(ANNA, "notes", stale=stale)).token != stale


async def test_an_account_disconnected_during_a_refresh_stays_disconnected(
    place: Connecting,
) -> None:
    """The new token is not stored, and nobody gets it."""
    await place.connect(ANNA)
    stale = await token_of(place)
    place.notes.slowly = 0.3
    waiting = asyncio.create_task(place.accounts.calls.access(ANNA, "notes", stale=stale))
    await refreshing(place)
    await place.accounts.ending.disconnect(ANNA, "notes")
    with pytest.raises(AccountProblem):
        await waiting
    assert (await place.accounts.view(ANNA, "notes")).state is AccountState.NONE
