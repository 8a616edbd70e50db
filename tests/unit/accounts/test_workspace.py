"""One account of the workspace, which an admin connects: everybody's calls run on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from cryptography.fernet import Fernet

from bot.features.accounts.account import (
    AccountOwner,
    AccountProblem,
    AccountState,
    CodeResult,
    Outcome,
)
from bot.features.accounts.service import AccountService
from bot.store import Stores
from tests.support.accounts import (
    ANNA,
    BEN,
    KEY,
    WHOM,
    Connecting,
    acting,
    connecting,
    listing,
    run,
    service_of,
)
from tests.support.notes_server import Browser, Notes, code_of

WORKSPACE = AccountOwner.workspace("T1")
CHLOE = AccountOwner("T1", "UCHLOE")


@pytest.fixture
async def shared(stores: Stores, notes: Notes) -> AsyncGenerator[Connecting]:
    """A bot with one server of the workspace, and two admins: Anna and Ben."""
    async with connecting(stores, notes, account="workspace") as opened:
        yield opened


async def state_of(place: Connecting, owner: AccountOwner = WORKSPACE) -> AccountState:
    return (await place.accounts.view(owner, "notes")).state


async def test_everybodys_calls_run_on_what_an_admin_connected(
    shared: Connecting, stores: Stores
) -> None:
    """Anna connects; Chloe reads. No call is of anybody's own account: approvals and readers are as with
    headers. Another workspace has none, and before there is one the model hears who can help."""
    async with listing(shared, stores) as servers:
        [check] = await servers.tools()
        assert check.name == "notes__check_account"
        with acting(CHLOE), pytest.raises(AccountProblem, match="an admin has to connect Notes"):
            await run(check)
        await shared.connect(ANNA)
        tools = {each.name: each for each in await servers.tools()}
        assert {tool.account for tool in tools.values()} == {""}
        assert tools["notes__add_note"].sensitive
        with acting(CHLOE):
            assert await run(tools["notes__read_notes"]) == "Anna's secret plan"
            assert "notes__read_notes" in await run(check)
        with acting(AccountOwner("T2", CHLOE.user)), pytest.raises(AccountProblem) as caught:
            await run(tools["notes__read_notes"])
        assert caught.value.state is AccountState.NONE
    view = await shared.accounts.view(WORKSPACE, "notes")
    assert (view.state, view.by) == (AccountState.CONNECTED, ANNA.user)
    assert await state_of(shared, ANNA) is AccountState.NONE
    assert await shared.accounts.views(ANNA) == ()
    [told] = [each for each in shared.told if each.outcome is Outcome.CONNECTED]
    assert (told.owner, told.by) == (WORKSPACE, ANNA.user)


async def test_only_admins_connect_whenever_they_lose_the_role(
    stores: Stores, notes: Notes
) -> None:
    """A member who gets a link, an admin who is one no longer at the page, at the callback or at the code:
    nothing is connected, and each attempt is told for the audit log."""
    admins = {ANNA}
    async with connecting(stores, notes, account="workspace", admins=admins) as place:
        page = await Browser().open(await place.link(BEN))
        assert "Only admins connect this service" in page.text
        link = await place.link(ANNA)
        before = await Browser().open(link)
        assert "Connect Notes for everybody in ACME?" in before.text
        assert "This link is for Anna Kim (@anna)" in before.text
        browser = Browser()
        back = await browser.allow(await browser.leave(link))
        admins.clear()
        assert "Only admins connect" in (await Browser().open(link)).text
        assert "Only admins connect" in (await browser.open(back)).text
        admins.add(ANNA)
        page = await Browser().connect(link)
        admins.clear()
        confirmed = await place.accounts.connecting.confirm(ANNA, "notes", code_of(page))
        assert confirmed == CodeResult(accepted=False)
        assert await state_of(place) is AccountState.NONE
        refused = [
            each for each in await place.accounts.outbox.untold() if each.outcome is Outcome.REFUSED
        ]
        assert {(each.owner, each.by) for each in refused} == {
            (WORKSPACE, ANNA.user),
            (WORKSPACE, BEN.user),
        }


async def test_of_two_admins_at_once_one_connects(shared: Connecting) -> None:
    """The other's tokens are revoked, not kept: nobody's account takes another's place unseen. The digits
    of one do not confirm the other's."""
    pages = []
    for owner, name in ((ANNA, "anna"), (BEN, "ben")):
        shared.notes.signed_in = name
        pages.append(await Browser().connect(await shared.link(owner)))
    confirm = shared.accounts.connecting.confirm
    assert not (await confirm(BEN, "notes", code_of(pages[0]))).accepted
    results = await asyncio.gather(
        confirm(ANNA, "notes", code_of(pages[0])), confirm(BEN, "notes", code_of(pages[1]))
    )
    assert sorted(result.accepted for result in results) == [False, True]
    assert {token.subject for token in shared.notes.access.values()} <= {"anna", "ben"}
    assert len(shared.notes.access) == len(shared.notes.refresh) == 1
    assert (await shared.accounts.view(WORKSPACE, "notes")).usable


async def test_a_connection_is_replaced_only_by_who_saw_it(shared: Connecting) -> None:
    """Connect again names the connection that it replaces; after a disconnection that link is old."""
    await shared.connect(ANNA)
    first = (await shared.accounts.view(WORKSPACE, "notes")).id
    ticket = shared.accounts.connecting.ticket
    links = [await ticket(BEN, "notes", WHOM[BEN], seconds=600, replaces=first) for _ in range(2)]
    shared.notes.signed_in = "ben"
    page = await Browser().connect(links[0])
    assert (await shared.accounts.connecting.confirm(BEN, "notes", code_of(page))).accepted
    view = await shared.accounts.view(WORKSPACE, "notes")
    assert (view.by, view.id == first) == (BEN.user, False)
    await shared.accounts.ending.disconnect(WORKSPACE, "notes", id=view.id, by=ANNA.user)
    page = await Browser().connect(links[1])
    assert not (await shared.accounts.connecting.confirm(BEN, "notes", code_of(page))).accepted
    assert await state_of(shared) is AccountState.NONE


async def test_a_call_that_needs_more_rights_asks_admins(
    shared: Connecting, stores: Stores
) -> None:
    """Other tools go on. Connected again, it asks for what it had and that; one question to admins."""
    async with listing(shared, stores) as servers:
        await shared.connect(ANNA)
        tools = {each.name: each for each in await servers.tools()}
        for _ in range(2):
            with acting(CHLOE), pytest.raises(AccountProblem, match="an admin has to connect"):
                await run(tools["notes__add_note"], text="milk")
        await shared.accounts.outbox.settled()
        wanted = {(e.owner, e.id) for e in shared.told if e.outcome is Outcome.WANTED}
        view = await shared.accounts.view(WORKSPACE, "notes")
        assert wanted == {(WORKSPACE, view.id)}
        with acting(CHLOE):
            assert "Anna's" in await run(tools["notes__read_notes"])
        link = await shared.accounts.connecting.ticket(
            ANNA, "notes", WHOM[ANNA], seconds=600, replaces=view.id
        )
        page = await Browser().connect(link)
        assert (await shared.accounts.connecting.confirm(ANNA, "notes", code_of(page))).accepted
        with acting(CHLOE):
            assert "Added" in await run(tools["notes__add_note"], text="milk")


async def test_an_account_of_one_kind_never_becomes_the_other(
    stores: Stores, notes: Notes, place: Connecting
) -> None:
    """Anna connects her own; the operator changes the setting: hers is not used for everybody, nor does a
    link or digits from before connect for everybody. And back."""
    await place.connect(ANNA)
    link = await place.link(ANNA)
    page = await Browser().connect(link)
    async with connecting(stores, notes, account="workspace") as shared:
        assert await state_of(shared) is AccountState.NONE
        assert (
            "too old"
            in (await Browser().open(link.replace(str(place.port), str(shared.port)))).text
        )
        confirmed = await shared.accounts.connecting.confirm(ANNA, "notes", code_of(page))
        assert not confirmed.accepted
        await shared.connect(BEN)
        theirs = await shared.link(ANNA)
    assert (
        "too old" in (await Browser().open(theirs.replace(str(shared.port), str(place.port)))).text
    )
    assert await state_of(place, BEN) is AccountState.NONE
    assert await state_of(place, ANNA) is AccountState.CONNECTED


async def test_two_workers_refresh_once_and_a_disconnection_ends_both(
    shared: Connecting, stores: Stores
) -> None:
    """A spent refresh token would end the account for everybody. Disconnected during a refresh, no token
    stays alive, and the next call hears that an admin has to connect."""
    await shared.connect(ANNA)
    other = service_of(shared.settings).accounts(stores)
    stale = (await shared.accounts.calls.access(WORKSPACE, "notes")).token
    shared.notes.slowly = 0.2
    workers = (shared.accounts.calls, other.calls)
    got = await asyncio.gather(*(each.access(WORKSPACE, "notes", stale=stale) for each in workers))
    assert len({each.token for each in got}) == 1
    assert shared.notes.asked["refresh"] == 1
    del shared.notes.access[stale]  # as if its time were over
    shared.notes.slowly, shared.notes.answers_late = 0.0, 0.3
    refreshing = asyncio.create_task(other.calls.access(WORKSPACE, "notes", stale=got[0].token))
    async with asyncio.timeout(10):
        while shared.notes.asked["rotated"] < 2:  # noqa: ASYNC110 - a counter has no event
            await asyncio.sleep(0.01)
    shared.notes.spent.clear()
    await shared.accounts.ending.disconnect(WORKSPACE, "notes", by=BEN.user)
    with pytest.raises(AccountProblem, match="an admin has to connect"):
        await refreshing
    assert (shared.notes.access, shared.notes.refresh) == ({}, {})
    [gone] = [each for each in shared.told if each.outcome is Outcome.DISCONNECTED]
    assert (gone.owner, gone.by) == (WORKSPACE, BEN.user)


async def test_it_outlives_its_admin_and_ends_with_the_workspace(
    shared: Connecting, stores: Stores
) -> None:
    """Erased, Anna is not named any more, and the operator is told that the account stays. Removing the
    app from the workspace deletes and revokes it. Keys rotate with it."""
    service = service_of(shared.settings)
    [check] = await service.checks(stores)
    assert check.text == "no admin has connected it yet"
    await shared.connect(ANNA)
    link = await shared.link(ANNA)
    [check] = await service.checks(stores)
    assert check.text.startswith("connected by UANNA on 20")
    [line] = await service.end_person(stores, ANNA.user)
    assert "1 account that they connected for the workspace" in line
    stored = await stores.redis.call("GET", stores.redis.key("account", "T1", "workspace", "notes"))
    assert ANNA.user.encode() not in Fernet(KEY).decrypt(stored)
    assert "too old" in (await Browser().open(link)).text
    assert (await shared.accounts.view(WORKSPACE, "notes")).usable
    rotated = AccountService(service.servers, f"{Fernet.generate_key().decode()},{KEY}", "http://x")
    assert "account:T1:workspace:notes" in await rotated.on_old_keys(stores)
    await rotated.reseal(stores)
    assert await rotated.on_old_keys(stores) == []
    await rotated.end_workspace(stores, "T1")
    accounts = rotated.accounts(stores)
    assert (await accounts.view(WORKSPACE, "notes")).state is AccountState.NONE

    async def record(_entries: object) -> None:
        pass

    await accounts.revocations.try_again(record)
    assert shared.notes.revoked
