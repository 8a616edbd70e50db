"""People connect an account in the browser: our page, the issuer's, and back."""

from __future__ import annotations

import asyncio

from bot.features.accounts.account import AccountChange, AccountState, Outcome
from tests.support.accounts import ANNA, BEN, Connecting
from tests.support.notes_server import Browser, code_of


async def test_an_account_is_connected_in_the_browser_and_confirmed_in_slack(
    place: Connecting,
) -> None:
    """Row 6: the page before leaving names whom it is for; the finish code proves who it was."""
    assert (await place.accounts.view(ANNA, "notes")).state is AccountState.NONE
    browser = Browser()
    link = await place.link(approval="run_1:call_1")
    first = await browser.open(link)
    assert "Connect Notes for Anna Kim (@anna) in ACME?" in first.text
    last = await browser.connect(link)
    assert (await place.accounts.view(ANNA, "notes")).state is AccountState.UNCONFIRMED
    await place.accounts.outbox.settled()
    assert [each.outcome for each in place.told] == [Outcome.CODE_NEEDED]
    result = await place.accounts.connecting.confirm(ANNA, "notes", code_of(last))
    assert result.accepted
    view = await place.accounts.view(ANNA, "notes")
    assert (view.state, view.scope) == (AccountState.CONNECTED, "notes:read")
    await place.accounts.outbox.settled()
    assert [each.outcome for each in place.told][-1] is Outcome.CONNECTED
    assert {each.approval for each in place.told} == {"run_1:call_1"}
    assert (await place.accounts.view(BEN, "notes")).state is AccountState.NONE
    assert (await browser.open(link)).status_code == 410  # used up


async def test_nobody_waits_for_what_follows_and_nothing_of_it_is_lost(
    place: Connecting,
) -> None:
    """Slack gives a modal three seconds: a slow server, or Slack itself away, holds nothing up. A
    change that could not be told is told again."""
    may_go_on = asyncio.Event()
    tries = []

    async def slow_then_broken(change: AccountChange) -> None:
        tries.append(change.outcome)
        await may_go_on.wait()
        if len(tries) < 3:
            raise ConnectionError("Slack is away")

    place.accounts.outbox.on_change = slow_then_broken
    async with asyncio.timeout(5):
        page = await Browser().connect(await place.link(approval="run:call"))
        assert (await place.accounts.connecting.confirm(ANNA, "notes", code_of(page))).accepted
    may_go_on.set()
    await place.accounts.outbox.settled()
    untold = await place.accounts.outbox.untold()
    assert {each.approval for each in untold} == {"run:call"}
    telling = asyncio.create_task(place.accounts.outbox.run())
    async with asyncio.timeout(5):
        while await place.accounts.outbox.untold():  # noqa: ASYNC110 - Redis has no event for it
            await asyncio.sleep(0.02)
    telling.cancel()
    assert tries[-1] is Outcome.CONNECTED
