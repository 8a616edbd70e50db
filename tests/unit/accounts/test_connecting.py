"""People connect an account in the browser: our page, the issuer's, and back."""

from __future__ import annotations

from bot.core.accounts import AccountState, Outcome
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
    assert [each.outcome for each in place.told] == [Outcome.CODE_NEEDED]
    result = await place.accounts.confirm(ANNA, "notes", code_of(last))
    assert result.accepted
    view = await place.accounts.view(ANNA, "notes")
    assert (view.state, view.scope) == (AccountState.CONNECTED, "notes:read")
    assert [each.outcome for each in place.told][-1] is Outcome.CONNECTED
    assert {each.approval for each in place.told} == {"run_1:call_1"}
    assert (await place.accounts.view(BEN, "notes")).state is AccountState.NONE
    assert (await browser.open(link)).status_code == 410  # used up
