"""Slack proves who uses the browser, so that nobody connects for somebody else (S7)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from bot.dev.workspace import ADA, BEN, Workspace
from bot.features.accounts.account import AccountOwner, ConnectError, ConnectFailure, Whom
from bot.features.accounts.slack.sign_in import SlackSignIn
from bot.slack.edge.client import DeadlineClient
from bot.slack.edge.installs import AppKeys
from tests.support.accounts import Connecting
from tests.support.notes_server import Browser

BACK = "https://bot.example/accounts/proof"


@pytest.fixture
async def ws() -> AsyncGenerator[Workspace]:
    async with Workspace.open() as opened:
        yield opened


def sign_in_at(ws: Workspace) -> SlackSignIn:
    keys = AppKeys(ws.oauth.client_id, ws.oauth.client_secret)
    client = DeadlineClient(deadline=10, base_url=ws.api_url)
    pages = ws.api_url.removesuffix("api/")
    return SlackSignIn(keys, client, f"{pages}openid/connect/authorize")


async def code_for(ws: Workspace, user: str, nonce: str = "n1") -> str:
    """The code with which Slack sends back the browser of a person who signed in."""
    page = sign_in_at(ws).address(team=ws.team_id, state="s1", nonce=nonce, redirect_uri=BACK)
    return ws.sign_in(page, user).partition("code=")[2].partition("&")[0]


async def test_slack_names_the_person(ws: Workspace) -> None:
    code = await code_for(ws, ADA)
    person = await sign_in_at(ws).person(code=code, nonce="n1", redirect_uri=BACK)
    assert person == AccountOwner(ws.team_id, ADA)


@pytest.mark.parametrize(
    ("nonce", "redirect_uri", "used"),
    [("n2", BACK, False), ("n1", f"{BACK}/x", False), ("n1", BACK, True)],
)
async def test_a_code_of_another_sign_in_proves_nothing(
    ws: Workspace, nonce: str, redirect_uri: str, used: bool
) -> None:
    """Another browser's, sent elsewhere, or used before."""
    code, sign_in = await code_for(ws, ADA), sign_in_at(ws)
    if used:
        await sign_in.person(code=code, nonce="n1", redirect_uri=BACK)
    with pytest.raises(ConnectError) as refused:
        await sign_in.person(code=code, nonce=nonce, redirect_uri=redirect_uri)
    assert refused.value.why is ConnectFailure.PROOF


async def test_only_the_person_of_the_link_gets_to_the_server(
    ws: Workspace, place: Connecting
) -> None:
    """A forwarded link ends at Slack: who signs in is not whom it was made for."""
    place.accounts.connecting.sign_in = sign_in_at(ws)
    whom = Whom("Ada", "ada", "ACME")
    owner = AccountOwner(ws.team_id, ADA)
    for user, arrives in ((BEN, False), (ADA, True)):
        link = await place.accounts.connecting.ticket(owner, "notes", whom, seconds=600)
        browser = Browser()
        back = await browser.open(ws.sign_in(await browser.leave(link), user))
        assert ("authorize" in back.text) == arrives
        assert ("made for somebody else" in back.text) != arrives
