"""Attacks on personal accounts: forged links, hostile metadata, stolen records, leaked tokens."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from cryptography.fernet import Fernet

from bot.core.errors import CorruptValue
from bot.core.request import Entry
from bot.dev.model import Script, call, finish
from bot.features.accounts.account import (
    AccountOwner,
    AccountProblem,
    AccountState,
    ConnectError,
    ConnectFailure,
    Outcome,
    Whom,
)
from bot.features.accounts.oauth.discovery import IssuerPins
from bot.features.accounts.oauth.guard import AddressRefused, Guard, NoAnswer
from bot.features.accounts.records import digest_of
from bot.features.accounts.store import AccountStore
from bot.store import Stores
from bot.store.connection import Retention
from bot.store.sealed import box_of
from bot.text.redaction import redacted
from tests.support.accounts import ANNA, BEN, KEY, WHOM, Connecting, connecting, servers_of
from tests.support.notes_server import (
    METADATA,
    RESOURCE,
    Browser,
    Notes,
    code_of,
    notes_server,
    query_of,
)
from tests.support.redis import asked
from tests.support.runs import answer, bot_with

MALLORY = BEN
"""Somebody of the same workspace, whose own account the other connects unknowingly."""


@pytest.fixture
async def notes() -> AsyncGenerator[Notes]:
    async with notes_server() as started:
        yield started


@pytest.fixture
async def place(stores: Stores, notes: Notes) -> AsyncGenerator[Connecting]:
    async with connecting(stores, notes) as opened:
        yield opened


# Links, states and codes.


async def test_a_state_is_known_used_once_and_of_one_browser(place: Connecting) -> None:
    """Row 9: a wrong, old or used state and a replayed code are refused; so is another browser."""
    browser, other = Browser(), Browser()
    back = await browser.allow(await browser.leave(await place.link()))
    assert "another browser" in (await other.open(back)).text
    # The attempt has used it up, also for the browser that began it.
    assert (await browser.open(back)).status_code == 410
    back = await browser.allow(await browser.leave(await place.link()))
    forged = back.replace(query_of(back)["state"], "x" * 43)
    assert (await browser.open(forged)).status_code == 410
    assert "<output>" in (await browser.open(back)).text
    assert (await browser.open(back)).status_code == 410
    assert place.notes.asked["/token"] == 1


async def test_the_issuers_address_alone_connects_nothing(place: Connecting) -> None:
    """Row 9: Mallory begins, and sends Anna the issuer's address: her browser lacks the cookie."""
    address = await Browser().leave(await place.link(MALLORY))
    anna = Browser()
    page = await anna.open(await anna.allow(address))
    assert "another browser" in page.text
    assert place.notes.asked["/token"] == 0


async def test_a_forwarded_link_gives_nothing_without_the_code(place: Connecting) -> None:
    """Row 7: the page names Mallory, and what Anna allows stays unused until Mallory types the code
    that only Anna sees; five guesses end it, and the tokens are revoked."""
    link = await place.link(MALLORY)
    anna = Browser()
    first = await anna.open(link)
    assert "for Ben Okafor (@ben) in ACME?" in first.text
    assert "Stop if that is not you" in first.text
    code = code_of(await anna.connect(link))
    with pytest.raises(AccountProblem):
        await place.accounts.calls.access(MALLORY, "notes")
    guesses = [f"{(int(code) + n) % 10**6:06d}" for n in range(1, 6)]
    left = [
        (await place.accounts.connecting.confirm(MALLORY, "notes", each)).tries_left
        for each in guesses
    ]
    assert left == [4, 3, 2, 1, 0]
    assert not (await place.accounts.connecting.confirm(MALLORY, "notes", code)).accepted
    assert len(place.notes.revoked) == 2
    assert (await place.accounts.view(MALLORY, "notes")).state is AccountState.NONE


async def test_sign_in_with_slack_must_be_the_person_of_the_link(place: Connecting) -> None:
    """Row 7: where the bot can ask Slack who sits there, somebody else never reaches the issuer."""

    class SignIn:
        who = ANNA

        def address(self, *, team: str, state: str, nonce: str, redirect_uri: str) -> str:
            return f"{place.notes.url}/slack?state={state}&to={redirect_uri}&team={team}"

        async def person(self, *, code: str, nonce: str, redirect_uri: str) -> AccountOwner:
            assert code == "c1"
            return self.who

    sign_in = SignIn()
    place.accounts.connecting.sign_in = sign_in

    async def proved(browser: Browser, owner: AccountOwner) -> Any:
        asked = query_of(await browser.leave(await place.link(owner)))
        return await browser.open(f"{asked['to']}?state={asked['state']}&code=c1")

    page = await proved(Browser(), MALLORY)
    assert "made for somebody else" in page.text
    sign_in.who = AccountOwner("T2", MALLORY.user)
    assert "made for somebody else" in (await proved(Browser(), MALLORY)).text
    assert place.notes.asked["/register"] == 0
    sign_in.who = MALLORY
    browser = Browser()
    page = await proved(browser, MALLORY)
    address = page.text.partition("url=")[2].partition('"')[0].replace("&amp;", "&")
    assert "is connected for Ben Okafor" in (await browser.open(await browser.allow(address))).text
    await place.accounts.outbox.settled()
    assert place.told[-1].outcome is Outcome.CONNECTED  # without a finish code
    # The address of the proof is of one browser, and used once.
    asked = query_of(await Browser().leave(await place.link(MALLORY)))
    other = await Browser().open(f"{asked['to']}?state={asked['state']}&code=c1")
    assert "another browser" in other.text


async def test_a_browser_on_its_way_connects_nothing_once_its_link_is_over(
    place: Connecting, stores: Stores
) -> None:
    """Row 7: somebody is erased, or their link has connected an account, while a browser with it is at
    the issuer: it comes back to nothing, and the issuer is not even asked for tokens."""
    used, late, erased = Browser(), Browser(), Browser()
    link = await place.link()
    address = await late.leave(link)
    finish_code = code_of(await used.connect(link))
    assert (await place.accounts.connecting.confirm(ANNA, "notes", finish_code)).accepted
    assert (await late.open(await late.allow(address))).status_code == 410
    address = await erased.leave(await place.link())
    await place.accounts.ending.erase(ANNA)
    assert (await erased.open(await erased.allow(address))).status_code == 410
    assert place.notes.asked["/token"] == 1
    assert not [key for key in await stores.redis.call("KEYS", "*") if b"UANNA" in key]


async def test_a_link_is_no_way_in_once_its_time_is_over(place: Connecting) -> None:
    """Row 7: but who left in time may come back."""
    link = await place.accounts.connecting.ticket(ANNA, "notes", WHOM[ANNA], seconds=1.0)
    browser = Browser()
    address = await browser.leave(link)
    await asyncio.sleep(1.0)
    assert (await Browser().open(link)).status_code == 410
    assert "<output>" in (await browser.open(await browser.allow(address))).text


async def test_two_links_in_one_browser_both_work(place: Connecting, stores: Stores) -> None:
    """No attack: two cards are open; each flow has a cookie of its own."""
    browser = Browser()
    addresses = [await browser.leave(await place.link(owner)) for owner in (ANNA, BEN)]
    for address in addresses:
        assert "<output>" in (await browser.open(await browser.allow(address))).text


async def test_only_our_page_goes_on_and_programs_start_nothing(place: Connecting) -> None:
    """A scanner that opens links, and a page of Mallory's that posts our form, reach no issuer."""
    link = await place.link(MALLORY)
    first = await Browser().open(link)
    assert sum(place.notes.asked.values()) == 0
    without_cookie = await Browser().press_continue(first)
    assert without_cookie.status_code == 400
    browser = Browser()
    page = await browser.open(link)
    forged = await browser.post(
        link.partition("?")[0], {"ticket": query_of(link)["ticket"], "seen": "0" * 64}
    )
    assert forged.status_code == 400
    cross = await browser.press_continue(page, {"Sec-Fetch-Site": "cross-site"})
    assert cross.status_code == 400
    assert sum(place.notes.asked.values()) == 0


async def test_a_name_cannot_pass_for_somebody_elses_handle(place: Connecting) -> None:
    """Row 7: people choose their names themselves; the page shows one handle, that of the link."""
    posing = Whom("Anna Kim (@anna) \u202e", "ben", "ACME")
    link = await place.accounts.connecting.ticket(MALLORY, "notes", posing, seconds=60)
    page = (await Browser().open(link)).text
    assert "for Anna Kim anna (@ben) in ACME?" in page
    assert "\u202e" not in page


async def test_pages_cannot_be_framed_cached_or_filled_with_html(place: Connecting) -> None:
    """Names are somebody's own words; addresses of pages hold secrets."""
    whom = Whom('<script>alert(1)</script>"', "x'<b>", "<i>ACME")
    link = await place.accounts.connecting.ticket(ANNA, "notes", whom, seconds=60)
    page = await Browser().open(link)
    assert "<script>" not in page.text
    assert "<b>" not in page.text
    for each in (page, await Browser().open(f"{link}x")):
        assert "frame-ancestors 'none'" in each.headers["content-security-policy"]
        assert each.headers["cache-control"] == "no-store"
        assert each.headers["referrer-policy"] == "no-referrer"
    cookie = page.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/accounts" in cookie


async def test_another_host_of_the_domain_cannot_set_our_cookies(
    stores: Stores, notes: Notes
) -> None:
    """Row 7: a page on a sibling host can give Anna's browser cookies for the whole domain: Mallory's,
    so that it finishes what Mallory began. Browsers take the names that we use from us alone."""
    async with connecting(stores, notes, public_url="https://bot.example") as place:
        link = await place.link(MALLORY)
        ticket = query_of(link)["ticket"]
        here = f"http://127.0.0.1:{place.port}/accounts/connect"
        page = await Browser().open(f"{here}?ticket={ticket}")
        cookie = page.headers["set-cookie"]
        assert cookie.startswith("__Host-seen-")
        assert "Secure" in cookie
        assert "Path=/;" in f"{cookie};"
        assert "Domain" not in cookie
        tossed = Browser()
        tossed.cookies.set(f"seen-{digest_of(ticket)[:12]}", "mallorys")
        form = {"ticket": ticket, "seen": digest_of("mallorys")}
        assert (await tossed.post(here, form)).status_code == 400


async def test_a_pasted_address_counts_only_from_whom_it_is_for(place: Connecting) -> None:
    """Row 7, without a public address: the modal's person takes the place of the cookie."""
    browser = Browser()
    back = await browser.allow(await browser.leave(await place.link(ANNA)))
    for pasted, why in (
        (back.replace("/accounts/", "/elsewhere/"), ConnectFailure.ADDRESS),
        ("no address", ConnectFailure.ADDRESS),
        (back.replace("http://127.0.0.1", "http://evil.example"), ConnectFailure.ADDRESS),
    ):
        with pytest.raises(ConnectError) as caught:
            await place.accounts.connecting.finish_pasted(ANNA, pasted)
        assert caught.value.why is why
    with pytest.raises(ConnectError) as caught:
        await place.accounts.connecting.finish_pasted(MALLORY, back)
    assert caught.value.why is ConnectFailure.PERSON
    back = await browser.allow(await browser.leave(await place.link(ANNA)))
    await place.accounts.connecting.finish_pasted(ANNA, f" <{back}> ")
    assert (await place.accounts.view(ANNA, "notes")).usable


# What servers say about themselves.

INSIDE = "http://127.0.0.1:9/metadata"
CLOUD = "https://169.254.169.254"


def resource(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update(changes)


@pytest.mark.parametrize(
    ("attack", "says"),
    [
        ({"names": INSIDE}, "is not https"),
        ({"names": f"{CLOUD}/meta"}, "is not a public address"),
        ({"names": "https://[::ffff:127.0.0.1]/x"}, "is not a public address"),
        ({"names": "https://2130706433/x"}, "is not a public address"),
        ({"names": "https://u:p@mcp.example/x"}, "has a user or a fragment"),
        ({"names": "https://a.example\\@b.example/x"}, "is no address"),
        ({"names": "file:///etc/passwd"}, "is no address"),
        ({"edit_resource": resource(authorization_servers=[CLOUD])}, "is not a public address"),
        ({"edit_resource": resource(authorization_servers=[INSIDE])}, "is not https"),
        (
            {"edit_resource": resource(resource="https://other.example/mcp")},
            "metadata is of another server",
        ),
        ({"edit": resource(issuer="https://honest.example")}, "is of another issuer"),
        (
            {"edit": resource(authorization_endpoint="https://honest.example/authorize")},
            "neither the issuer's nor listed",
        ),
        ({"edit": resource(token_endpoint="https://thief.example/t")}, "neither the issuer's"),
        ({"edit": resource(registration_endpoint=f"{CLOUD}/r")}, "neither the issuer's"),
        ({"edit": resource(revocation_endpoint=INSIDE)}, "is not https"),
        ({"edit": resource(code_challenge_methods_supported=["plain"])}, "PKCE"),
        ({"edit": resource(code_challenge_methods_supported=None)}, "PKCE"),
        ({"answers": {METADATA: (200, b"x" * 1_100_000)}}, "more than 1 MB"),
        ({"answers": {METADATA: (200, b"[" * 100_000)}}, "has no metadata"),
        ({"answers": {"/register": (201, b"[" * 100_000)}}, "did not register"),
        ({"answers": {METADATA: (302, {"location": INSIDE})}}, "has no metadata"),
        ({"answers": {"/register": (400, {"error": "secret words"})}}, "did not register"),
        ({"answers": {"/register": (302, {"location": INSIDE})}}, "did not register"),
    ],
)
async def test_hostile_metadata_lead_nowhere(
    place: Connecting,
    caplog: pytest.LogCaptureFixture,
    attack: dict[str, Any],
    says: str,
) -> None:
    """Row 9: each address that a server names is checked before anything is sent to it; the person
    reads a calm page, the operator the reason."""
    for name, value in attack.items():
        setattr(place.notes, name, value)
    browser = Browser()
    page = await browser.press_continue(await browser.open(await place.link()))
    assert page.status_code in (400, 503)
    assert "Nothing was connected" in page.text
    assert says in caplog.text
    assert "secret words" not in caplog.text
    assert place.notes.asked["/authorize"] == place.notes.asked["/token"] == 0


@pytest.mark.parametrize(
    "address",
    [
        "https://[::1",
        "https://[::1]:x/",
        "https://a.example:99999/",
        "https://a.example:-1/",
        "https://a\u2100b.example/",
        "https://é.example/",
        "https://[v1.x]/",
        "https://a..example/",
        "https://[::1%25eth0]/",
        f"https://{'a' * 300}.example/",
        "https://xn--.example/",
        "https:///x",
        "https://",
        "//a.example",
        "https://a.example/\x7f",
        "x" * 5_000,
    ],
)
@pytest.mark.parametrize("named_in", ["challenge", "resource", "metadata"])
async def test_an_address_that_cannot_be_read_is_refused(
    place: Connecting, caplog: pytest.LogCaptureFixture, address: str, named_in: str
) -> None:
    """Row 9: wherever a server names it: a page that says so, and no traceback."""
    match named_in:
        case "challenge":
            place.notes.names = address.encode("ascii", "ignore").decode()
        case "resource":
            place.notes.edit_resource = resource(authorization_servers=[address])
        case _:
            place.notes.edit = resource(token_endpoint=address)
    browser = Browser()
    page = await browser.press_continue(await browser.open(await place.link()))
    assert page.status_code in (200, 400, 503)  # 200: the page of the honest issuer
    assert "Traceback" not in caplog.text
    assert not [each for each in caplog.records if each.exc_info]
    assert place.notes.asked["/token"] == 0


@pytest.mark.parametrize("status", [200, 400])
async def test_nested_answers_of_an_issuer_break_nothing(
    place: Connecting, stores: Stores, status: int
) -> None:
    """Row 9: JSON that is too deep for Python, as an error or as the claims of an id token: the person
    reads a page, and no token is left that nobody could revoke."""
    deep = b"[" * 100_000
    claims = base64.urlsafe_b64encode(deep[:14_000]).decode()
    tokens = {"access_token": "a" * 20, "token_type": "bearer", "id_token": f"h.{claims}.s"}
    place.notes.answers["/token"] = (status, tokens if status == 200 else deep)
    page = await Browser().connect(await place.link())
    assert page.status_code == (200 if status == 200 else 503)
    assert ("<output>" in page.text) is (status == 200)


@pytest.mark.parametrize(
    ("promised", "sent"),
    [(False, "https://honest.example"), (True, None), (True, "https://honest.example")],
)
async def test_a_code_of_another_issuer_is_not_exchanged(
    place: Connecting, promised: bool, sent: str | None
) -> None:
    """Row 9, mix-up: `iss` must be the issuer's, and must be there where it was promised."""
    place.notes.edit = resource(authorization_response_iss_parameter_supported=promised)
    place.notes.adds = {"iss": sent} if sent else {}
    page = await Browser().connect(await place.link())
    assert page.status_code == 400
    assert place.notes.asked["/token"] == 0


async def test_a_promised_iss_that_is_right_is_taken(place: Connecting) -> None:
    """The check must not refuse honest servers."""
    place.notes.edit = resource(authorization_response_iss_parameter_supported=True)
    place.notes.adds = {"iss": place.notes.url}
    assert "<output>" in (await Browser().connect(await place.link())).text


async def test_a_server_that_changes_its_issuer_is_off_until_an_admin_accepts(
    place: Connecting, stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    """Row 9: issuer and endpoints are pinned like tools; nobody's token is used meanwhile."""
    await place.connect(ANNA)
    place.notes.edit = resource(token_endpoint=f"{place.notes.url}/elsewhere")
    browser = Browser()
    page = await browser.press_continue(await browser.open(await place.link(BEN)))
    assert "off until an admin has checked that" in page.text
    assert "bot mcp --accept notes" in caplog.text
    with pytest.raises(AccountProblem) as caught:
        await place.accounts.calls.access(ANNA, "notes")
    assert caught.value.state is AccountState.CHANGED
    assert (await place.accounts.view(ANNA, "notes")).state is AccountState.CHANGED
    pin = await IssuerPins(stores.mcp).accept("notes")
    assert pin.offered is not None
    # Tokens of the old endpoint are not taken to the new one: their owner connects again.
    assert (await place.accounts.view(ANNA, "notes")).state is AccountState.ENDED
    place.notes.edit = None
    page = await browser.press_continue(await browser.open(await place.link(BEN)))
    assert page.status_code == 503  # going back is a change as well


async def test_tokens_are_not_sent_to_a_server_of_another_address(
    place: Connecting, stores: Stores, notes: Notes
) -> None:
    """The operator changed `url`: whoever answers there must not get the tokens of the one before."""
    await place.connect(ANNA)
    async with notes_server() as other, connecting(stores, other) as moved:
        with pytest.raises(AccountProblem):
            await moved.accounts.calls.access(ANNA, "notes")
        assert not other.bearers


# Addresses.


@pytest.mark.parametrize(
    ("found", "port", "is_sent"),
    [
        (["10.0.0.1"], 443, False),
        (["93.184.215.14", "10.0.0.1"], 443, False),
        (["::1"], 443, False),
        (["fd00::1"], 443, False),
        (["64:ff9b::7f00:1"], 443, False),
        (["100.64.0.1"], 443, False),
        (["93.184.215.14"], 8443, False),
        ([], 443, False),
    ],
)
async def test_what_a_name_resolves_to_is_checked(
    found: list[str], port: int, is_sent: bool
) -> None:
    """Row 9: all addresses of a name must be public, on port 443; the operator's own hosts may be
    inside."""

    async def resolver(host: str, at: int) -> list[str]:
        return found

    url = f"https://issuer.example:{port}/token"
    with pytest.raises((AddressRefused, NoAnswer)) as caught:
        await Guard(frozenset(), resolver=resolver).get(url)
    assert isinstance(caught.value, AddressRefused)
    named = Guard(frozenset({f"issuer.example:{port}" if port != 443 else "issuer.example"}))
    assert named.check(url) == url


async def test_the_connection_goes_to_the_address_that_was_checked(notes: Notes) -> None:
    """A second look-up could have another result: there is none."""
    asked = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    port = notes.url.rpartition(":")[2]
    guard = Guard(frozenset({f"localhost:{port}"}), resolver=rebinding)
    answer = await guard.get(f"http://localhost:{port}{RESOURCE}")
    assert answer.status_code == 200
    assert asked == ["localhost"]


# What is stored, and what is told.


async def test_records_are_of_one_person_team_and_server(place: Connecting, stores: Stores) -> None:
    """Row 9: somebody who can write to Redis copies Anna's record to their own name: refused; also
    one that was never confirmed."""
    await place.connect(ANNA)
    ask, key = stores.redis.call, stores.redis.key
    record = await ask("GET", key("account", "T1", ANNA.user, "notes"))
    for copy in (("T1", MALLORY.user), ("T2", ANNA.user)):
        await ask("SET", key("account", *copy, "notes"), record)
        with pytest.raises(AccountProblem) as caught:
            await place.accounts.calls.access(AccountOwner(*copy), "notes")
        assert caught.value.state is AccountState.ENDED
    await Browser().connect(await place.link(BEN))
    pending = await ask("GET", key("account-pending", "T1", BEN.user, "notes"))
    await ask("SET", key("account", "T1", BEN.user, "notes"), pending)
    with pytest.raises(AccountProblem):
        await place.accounts.calls.access(BEN, "notes")


async def test_redis_holds_no_secret_in_the_clear(place: Connecting, stores: Stores) -> None:
    """A backup gives nobody an account, a link or a state."""
    link = await place.link(BEN)
    browser = Browser()
    address = await browser.leave(link)
    await place.connect(ANNA)
    secrets = {query_of(link)["ticket"], query_of(address)["state"], *place.notes.tokens}
    secrets |= {cookie.value or "" for cookie in browser.cookies.jar}
    dump = await dump_of(stores)
    assert len(secrets) > 4
    assert not [each for each in secrets if each.encode() in dump]


async def test_old_keys_can_be_retired(place: Connecting, stores: Stores) -> None:
    """Row 6: accounts are encrypted again with the first key; without the key none opens."""
    await place.connect(ANNA)
    new = Fernet.generate_key().decode()
    both = AccountStore(stores.redis, Retention(), box_of([new, KEY]))
    assert len(await both.on_old_keys()) == 2  # the account, and the bot as a client
    await both.reseal()
    assert not await both.on_old_keys()
    only_new = AccountStore(stores.redis, Retention(), box_of([new]))
    assert await only_new.load(ANNA, "notes")
    only_old = AccountStore(stores.redis, Retention(), box_of([KEY]))
    with pytest.raises(CorruptValue):
        await only_old.load(ANNA, "notes")


async def test_a_servers_echo_of_the_token_reaches_nobody(
    place: Connecting, stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    """Row 9: neither the model, nor what people see, nor logs, nor what is stored."""
    caplog.set_level(logging.DEBUG)
    servers, personal = servers_of(place, stores)
    await place.connect(ANNA)
    await personal.list_as(ANNA, "notes")
    await servers.close()
    echo = call("notes__echo_headers", {})
    names = {"names": ["notes__echo_headers"]}
    script = Script([call("acquire_tools", names), echo, finish(answer())])
    given = place.settings
    question = asked("Look!", user=ANNA.user).model_copy(
        update={"channel": "D1", "entry": Entry.DIRECT_MESSAGE}
    )
    async with bot_with(
        stores,
        script,
        mcpServers=given.mcp_servers,
        bot_encryption_keys=given.bot_encryption_keys,
        bot_public_url=given.bot_public_url,
    ) as bot:
        outcome = await bot.ask(question)
    assert "You sent [redacted" in bot.outputs()[0]
    seen = "\n".join(
        (
            *(str(each.body) for each in bot.api.requests),
            str(vars(bot.board)),
            outcome.model_dump_json(),
            *(redacted(each.getMessage()) for each in caplog.records),
            (await dump_of(stores)).decode("utf-8", "replace"),
        )
    )
    assert not [token for token in place.notes.tokens if token in seen]


async def dump_of(stores: Stores) -> bytes:
    """Everything in Redis."""
    reads = {
        b"string": ("GET",),
        b"hash": ("HGETALL",),
        b"set": ("SMEMBERS",),
        b"list": ("LRANGE", 0, -1),
    }
    dump = b""
    for name in await stores.redis.call("KEYS", "*"):
        command, *bounds = reads.get(await stores.redis.call("TYPE", name), ("EXISTS",))
        dump += name + repr(await stores.redis.call(command, name, *bounds)).encode()
    return dump
