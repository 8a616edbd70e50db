"""Calls of personal servers run on the account of the asker, and on nobody else's."""

from __future__ import annotations

import pytest

from bot.core.errors import ToolError
from bot.features.accounts import connections as personal
from bot.features.accounts.account import (
    AccountOwner,
    AccountProblem,
    AccountState,
    EndReason,
    Outcome,
    Revoked,
)
from bot.mcp.pins import Pin, ServerPins
from bot.store import Stores
from tests.support.accounts import ANNA, BEN, Connecting, acting, connecting, listing, run
from tests.support.notes_server import Browser, Notes


async def test_two_people_see_their_own_data_and_the_third_none(
    place: Connecting, stores: Stores
) -> None:
    """Row 8: the call runs with the asker's account; without one nothing is sent."""
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        await place.connect(BEN)
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        for owner, mine, other in ((ANNA, "Anna's", "Ben's"), (BEN, "Ben's", "Anna's")):
            with acting(owner):
                output = await run(tool)
            assert mine in output
            assert other not in output
        before = place.notes.asked["/mcp"]
        for owner in (AccountOwner("T1", "UCHLOE"), AccountOwner("T2", ANNA.user)):
            with acting(owner), pytest.raises(AccountProblem) as caught:
                await run(tool)
            assert caught.value.state is AccountState.NONE
        assert place.notes.asked["/mcp"] == before


async def test_tools_are_known_from_the_first_person_who_connects(
    place: Connecting, stores: Stores
) -> None:
    """Before, only connect_account is offered; it is what makes the model ask for the account."""
    async with listing(place, stores) as servers:
        first = {each.name: each.account for each in await servers.tools()}
        assert first == {"notes__connect_account": "notes"}
        await place.connect(ANNA)
        tools = {each.name: each for each in await servers.tools()}
    assert set(tools) > {"notes__read_notes", "notes__add_note", "notes__connect_account"}
    assert {each.account for each in tools.values()} == {"notes"}


async def test_what_one_person_is_listed_turns_off_nothing_for_others(
    place: Connecting, stores: Stores
) -> None:
    """Row 8: where people define tools themselves, Mallory could turn a tool off for everybody. A tool
    of other words than accepted is called for nobody, all the same."""
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        pins = await stores.mcp.load("notes", ServerPins)
        assert pins
        listed = [each for pin in pins.tools.values() if (each := pin.accepted)]
        mallorys = [each.model_copy(update={"description": "Mallory's"}) for each in listed]
        await stores.mcp.save("notes", pins.against(mallorys))
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        with acting(ANNA):
            assert "Anna's" in await run(tool)
        other = pins.model_copy(
            update={"tools": {each.name: Pin(accepted=each) for each in mallorys}}
        )
        await stores.mcp.save("notes", other)
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        with acting(ANNA), pytest.raises(ToolError, match="not what it was"):
            await run(tool)


async def test_a_call_that_needs_more_rights_says_which(place: Connecting, stores: Stores) -> None:
    """The state needs more is of that one tool; the others go on, and Connect asks for both."""
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        tools = {each.name: each for each in await servers.tools()}
        with acting(ANNA), pytest.raises(AccountProblem) as caught:
            await run(tools["notes__add_note"], text="milk")
        assert caught.value.state is AccountState.NEEDS_MORE
        view = await place.accounts.view(ANNA, "notes")
        assert view.wanted == "notes:read notes:write"
        assert not view.usable_for("notes__add_note")
        assert view.usable_for("notes__read_notes")
        with acting(ANNA):
            assert "Anna's" in await run(tools["notes__read_notes"])
        await place.connect(ANNA)
        assert (await place.accounts.view(ANNA, "notes")).usable
        with acting(ANNA):
            assert "Added" in await run(tools["notes__add_note"], text="milk")
    assert "milk" in place.notes.notes["anna"]


async def test_a_refused_wish_for_more_leaves_what_there_was(
    place: Connecting, stores: Stores
) -> None:
    """Saying No at the server to one more right does not end the account."""
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        tools = {each.name: each for each in await servers.tools()}
        with acting(ANNA), pytest.raises(AccountProblem):
            await run(tools["notes__add_note"], text="milk")
        place.notes.declines = True
        page = await Browser().connect(await place.link(approval="run:call"))
        assert "You did not allow it" in page.text
        await place.accounts.outbox.settled()
        assert place.told[-1].outcome is Outcome.REFUSED
        assert place.told[-1].approval == "run:call"
        assert (await place.accounts.view(ANNA, "notes")).usable


async def test_an_account_that_an_admin_removed_has_ended(
    place: Connecting, stores: Stores
) -> None:
    """The owner is told; the record stays, so that Connect again asks for the same scopes."""
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        with acting(ANNA):
            assert "Anna's" in await run(tool)
        place.notes.end("anna")
        with acting(ANNA), pytest.raises(AccountProblem) as caught:
            await run(tool)
        assert caught.value.state is AccountState.ENDED
        view = await place.accounts.view(ANNA, "notes")
        assert (view.state, view.reason) == (AccountState.ENDED, EndReason.REFUSED)
        assert view.scope == "notes:read"
        # This process tells changes of its own calls a little later, as those of workers.
        assert [each.outcome for each in await place.accounts.outbox.untold()] == [Outcome.ENDED]
        await place.connect(ANNA)
        with acting(ANNA):
            assert "Anna's" in await run(tool)


async def test_expired_and_withdrawn_tokens_are_refreshed_during_a_call(
    place: Connecting, stores: Stores
) -> None:
    """The connection goes on: the 401 is answered with a new token, once."""
    place.notes.lifetime = 1
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        for _ in range(2):
            place.notes.expire()
            with acting(ANNA):
                assert "Anna's" in await run(tool)
    assert place.notes.asked["refresh"] >= 2


async def test_a_server_that_cannot_refresh_now_keeps_the_account(
    place: Connecting, stores: Stores
) -> None:
    """A 503 of the token endpoint is no end: the tokens stay, and the next call works."""
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        place.notes.expire()
        place.notes.answers["/token"] = (503, {})
        with acting(ANNA), pytest.raises(AccountProblem) as caught:
            await run(tool)
        assert caught.value.state is AccountState.BUSY
        place.notes.answers.clear()
        with acting(ANNA):
            assert "Anna's" in await run(tool)


async def test_a_disconnected_account_is_revoked_and_of_no_use(
    place: Connecting, stores: Stores
) -> None:
    """Row 7: at the server, too; an open connection does not outlive it."""
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        with acting(ANNA):
            await run(tool)
        view = await place.accounts.view(ANNA, "notes")
        disconnect = place.accounts.ending.disconnect
        assert await disconnect(ANNA, "notes", id="acct_other") is Revoked.NEVER
        assert await disconnect(ANNA, "notes", id=view.id) is Revoked.NOW
        assert len(place.notes.revoked) == 2
        with acting(ANNA), pytest.raises(AccountProblem) as caught:
            await run(tool)
        assert caught.value.state is AccountState.NONE


async def test_another_account_of_a_person_gets_a_connection_of_its_own(
    place: Connecting, stores: Stores
) -> None:
    """A session must not carry what one account saw over to the next."""
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        with acting(ANNA):
            assert "Anna's" in await run(tool)
        await place.accounts.ending.disconnect(ANNA, "notes")
        place.notes.notes["anna"] = ["of the second account"]
        await place.connect(ANNA)
        with acting(ANNA):
            assert "second account" in await run(tool)


async def test_connections_are_few_and_closed_when_idle(
    place: Connecting, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes memory and a session at the server."""
    monkeypatch.setattr(personal, "_MOST", 1)
    async with listing(place, stores) as servers:
        await place.connect(ANNA)
        await place.connect(BEN)
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        for _ in range(2):
            with acting(ANNA):
                assert "Anna's" in await run(tool)
            with acting(BEN):
                assert "Ben's" in await run(tool)


async def test_people_who_are_not_listed_are_offered_nothing(stores: Stores, notes: Notes) -> None:
    """Row 8: `people` limits who may use a server, in what is offered, in links and in calls."""
    async with connecting(stores, notes, people=["UBEN"]) as place:
        async with listing(place, stores) as servers:
            assert not await servers.tools(user=ANNA.user)
            assert await servers.tools(user=BEN.user)
        assert not await place.accounts.views(ANNA)
        page = await Browser().open(await place.link(ANNA))
        assert "do not let you use" in page.text
        with pytest.raises(AccountProblem) as caught:
            await place.accounts.calls.access(ANNA, "notes")
        assert caught.value.state is AccountState.FORBIDDEN


async def test_erasing_a_person_or_a_workspace_deletes_and_revokes(
    place: Connecting, stores: Stores
) -> None:
    """Row 7: nothing about them is left in Redis; others keep theirs."""
    await place.connect(ANNA)
    await place.connect(BEN)
    await place.link(ANNA)
    assert await place.accounts.ending.erase(ANNA) == 1
    assert len(place.notes.revoked) == 2
    assert not [key for key in await stores.redis.call("KEYS", "*") if b"UANNA" in key]
    assert not await stores.redis.call("KEYS", "*account-ticket:*")
    assert (await place.accounts.view(BEN, "notes")).usable
    assert await place.accounts.ending.erase_team("T1") == 1
    assert (await place.accounts.view(BEN, "notes")).state is AccountState.NONE
