"""The bot as a client of an issuer: registered, configured, or known by its address."""

from __future__ import annotations

import time

import pytest
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import AnyUrl

from bot.features.accounts.account import AccountState, Revoked
from bot.features.accounts.oauth.addresses import PublicAddress
from bot.features.accounts.oauth.clients import Clients, client_document
from bot.features.accounts.oauth.discovery import discover
from bot.features.accounts.oauth.guard import Guard
from bot.features.accounts.oauth.tokens import Tokens
from bot.mcp import McpServer
from bot.store import Stores
from bot.text.redaction import redacted
from tests.support.accounts import ANNA, BEN, Connecting, connecting
from tests.support.notes_server import READ, WRITE, Browser, Notes, query_of


async def test_the_bot_registers_once_for_all_scopes(place: Connecting) -> None:
    """Row 6: with all scopes that there are, as some servers refuse later what was not named then."""
    await place.connect(ANNA)
    await place.connect(BEN)
    assert place.notes.asked["/register"] == 1
    [client] = place.notes.clients.values()
    assert set((client.scope or "").split()) == {READ, WRITE}
    assert client.application_type == "native"  # a loopback address


async def test_a_connect_that_never_came_back_registers_anew(place: Connecting) -> None:
    """An issuer that has forgotten the bot shows that on its own page only: the next press of the
    same button works, and further ones do not register again and again."""
    link = await place.link()
    browser = Browser()
    await browser.leave(link)
    place.notes.clients.clear()
    page = await browser.connect(link)
    assert "<output>" in page.text
    for _ in range(3):
        await browser.leave(link)
    assert place.notes.asked["/register"] == 2


async def test_a_client_that_the_issuer_forgot_is_registered_at_the_next_connect(
    place: Connecting,
) -> None:
    """`invalid_client` ends the account; the owner connects again, with a new client."""
    await place.connect(ANNA)
    stale = (await place.accounts.calls.access(ANNA, "notes")).token
    place.notes.answers["/token"] = (401, {"error": "invalid_client"})
    with pytest.raises(Exception, match="has ended"):
        await place.accounts.calls.access(ANNA, "notes", stale=stale)
    place.notes.answers.clear()
    assert (await place.accounts.view(ANNA, "notes")).state is AccountState.ENDED
    await place.connect(ANNA)
    assert place.notes.asked["/register"] == 2


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_configured_client_counts_before_registration(
    stores: Stores, notes: Notes, method: str
) -> None:
    """Row 6: for servers without registration, such as Slack and GitHub; with its secret."""
    notes.edit = lambda document: document.update(
        token_endpoint_auth_methods_supported=[method], registration_endpoint=None
    )
    oauth = {"client_id": "bot", "client_secret": "s:ecret &", "scopes": [READ, WRITE]}
    async with connecting(stores, notes, oauth=oauth) as place:
        notes.clients["bot"] = OAuthClientInformationFull(
            client_id="bot",
            client_secret="s:ecret &",
            token_endpoint_auth_method=method,
            redirect_uris=[AnyUrl(place.accounts.address.redirect_uri)],
            scope=f"{READ} {WRITE}",
        )
        await place.connect(ANNA)
        assert (await place.accounts.view(ANNA, "notes")).scope == f"{READ} {WRITE}"
        # To revoke, the SDK's server wants the secret in the form, however else it lets clients in.
        assert redacted("It is s:ecret & so on.") == "It is [redacted client_secret] so on."
        revoked = await place.accounts.ending.disconnect(ANNA, "notes")
        assert (revoked is Revoked.NOW) is (method == "client_secret_post")
    assert notes.asked["/register"] == 0


async def test_the_bot_is_known_by_its_address_where_that_is_possible(
    place: Connecting, notes: Notes
) -> None:
    """Row 6: with a public https address nothing is registered; the document says who the bot is."""
    notes.edit = lambda document: document.update(client_id_metadata_document_supported=True)
    address = PublicAddress("https://bot.example/slack")
    document = client_document(address)
    assert document["client_id"] == "https://bot.example/slack/accounts/client.json"
    assert document["redirect_uris"] == ["https://bot.example/slack/accounts/callback"]
    assert document["application_type"] == "web"
    assert document["token_endpoint_auth_method"] == "none"
    server = McpServer(url=notes.mcp, account="person")
    guard = Guard.of(server)
    found = await discover(server, guard)
    clients = Clients(place.accounts._storage, address)
    client = await clients.client_of(server, found, guard, anew=False)
    assert client.id == document["client_id"]
    assert notes.asked["/register"] == 0
    # On loopback nobody could read it: the bot registers.
    clients = Clients(place.accounts._storage, place.accounts.address)
    assert (await clients.client_of(server, found, guard, anew=False)).id != document["client_id"]


async def test_a_server_without_metadata_is_used_by_its_configured_endpoints() -> None:
    """Row 6: nothing is looked up; PKCE is sent all the same."""
    oauth = {
        "client_id": "bot",
        "authorization_endpoint": "https://accounts.example/o/auth",
        "token_endpoint": "https://tokens.example/token",
        "scopes": ["drive.readonly"],
    }
    server = McpServer.model_validate(
        {"url": "https://mcp.example/mcp", "account": "person", "oauth": oauth}
    )
    found = await discover(server, Guard.of(server))
    assert found.endpoints.issuer == "https://accounts.example"
    assert found.endpoints.resource == "https://mcp.example/mcp"
    assert found.scope == "drive.readonly"
    guard = Guard.of(server)
    assert guard.check(found.endpoints.token, near=found.endpoints.issuer)


async def test_more_rights_are_asked_for_beside_those_there_are(place: Connecting) -> None:
    """Row 6: a step up must not drop what was granted before."""
    await place.connect(ANNA)
    await place.accounts.calls.want(ANNA, "notes", WRITE, "notes__add_note")
    address = await Browser().leave(await place.link())
    assert query_of(address)["scope"].split() == [READ, WRITE]
    assert query_of(address)["code_challenge_method"] == "S256"
    assert query_of(address)["resource"] == place.notes.mcp


@pytest.mark.parametrize(
    ("id_token", "name"),
    [
        ("e30.eyJlbWFpbCI6ImFubmFAYWNtZS5leGFtcGxlIn0.c2ln", "anna@acme.example"),
        ("e30.eyJlbWFpbCI6ImFcdTIwMmViIn0.c2ln", "ab"),
        ("e30.W10.c2ln", ""),
        ("nonsense", ""),
        (None, ""),
    ],
)
def test_the_account_has_a_name_if_the_issuer_tells_it(id_token: str | None, name: str) -> None:
    """Row 7: people see which account was connected; invisible characters are left out."""
    assert Tokens(access_token="a", id_token=id_token).name == name


async def test_an_expired_registration_is_not_used(place: Connecting, stores: Stores) -> None:
    """`client_secret_expires_at`: the bot registers before the issuer refuses it."""
    await place.connect(ANNA)
    storage = place.accounts._storage
    known = await storage.client(place.notes.url)
    assert known is not None
    await storage.save_client(known.model_copy(update={"expires_at": time.time() + 1}))
    await place.connect(BEN)
    assert place.notes.asked["/register"] == 2
