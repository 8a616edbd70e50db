"""Personal accounts as people meet them: the whole bot, a workspace and a protected server (R3, S7)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from bot.app.process import bot
from bot.cli.operator import erase_lines
from bot.dev.model import ModelRequest, Reply, ResponsesServer, Script, call, finish
from bot.dev.workspace import ADA, BEN, Workspace
from bot.features.accounts.slack import cards, messages
from bot.features.evidence.modal import SHOW
from bot.features.sharing.slack_part import SHARE
from bot.mcp import McpServer
from bot.slack.ui import buttons
from bot.store import open_stores
from tests.support.accounts import KEY
from tests.support.deployment import Deployment, configured, deployed
from tests.support.notes_server import Browser, Notes, code_of, notes_server
from tests.support.ports import free_port
from tests.support.runs import answer
from tests.support.slack import choose

SALES = "C0SALES001"
SIGNED_IN = {ADA: "anna", BEN: "ben"}
READ, ADD, CONNECT = "notes__read_notes", "notes__add_note", "notes__connect_account"


MORE = "needs one more permission in *Notes*: _notes:write_"


def looks(request: ModelRequest, account: str = CONNECT) -> Reply:
    """A model that reads the notes of whoever asks, or adds one, and answers with what it read. Where
    it has no tool for that, it first has the account connected, or checked; what was not done it tries once more."""
    asked = max(n for n, item in enumerate(request.items) if item.get("role") == "user")
    since = request.items[asked:]
    called = [item["name"] for item in since if item.get("type") == "function_call"]
    outputs = [str(i["output"]) for i in since if i.get("type") == "function_call_output"]
    last = outputs[-1] if outputs else ""
    adds = "Add" in str(since[0])
    work, given = (ADD, {"text": "Milk"}) if adds else (READ, {})
    match called[-1:]:
        case []:
            return call("acquire_tools", {"names": [work]})
        case ["acquire_tools"] if "There is no" in last:
            return call("acquire_tools", {"names": [account]})
        case ["acquire_tools"] if account in str(since[-2]):
            return call(account, {})
        case ["acquire_tools"]:
            return call(work, given)
        case [name] if name == account and "Not done" not in last:
            return call("acquire_tools", {"names": [work]})
        case [_] if "Call it again" in last and called.count(work) < 3:
            return call(work, given)
        case _:
            return finish(answer(last))


@dataclass
class Place:
    """A deployment with one personal server, and people who sit at a browser."""

    bot: Deployment
    notes: Notes

    async def ask(self, user: str, text: str = "What is in my notes?", **more: Any) -> str:
        return await self.bot.ask(user, SALES, text, **more)

    def direct(self, user: str) -> list[dict[str, Any]]:
        """What the bot wrote to somebody directly."""
        channel = self.bot.ws.state.direct(user)
        return self.bot.ws.messages(channel.id) if channel else []

    async def card(self, user: str, action: str) -> dict[str, Any]:
        """The message to somebody that has this button."""

        def found() -> list[dict[str, Any]]:
            return [each for each in self.direct(user) if action in str(each.get("blocks"))]

        return (await self.bot.ws.until(found))[-1]

    async def click(self, user: str, action: str) -> None:
        """Press the button in the direct messages."""
        message = await self.card(user, action)
        channel = self.bot.ws.state.direct(user)
        assert channel is not None
        await self.bot.ws.click(user, channel.id, message["ts"], action)

    async def link(self, user: str) -> str:
        """The address that the button Connect opens."""
        card = await self.card(user, cards.CONNECT)
        elements = [e for block in card["blocks"] for e in block.get("elements", ())]
        return str(next(e["url"] for e in elements if e.get("action_id") == cards.CONNECT))

    async def type(self, user: str, typed: str) -> Any:
        """Fill in the modal that is open, and submit it."""
        view = (await self.bot.ws.until(lambda: self.bot.ws.views(user)))[-1]
        return await self.bot.ws.submit(user, view["id"], {"typed": {"typed": typed}})

    async def connect(self, user: str) -> None:
        """Connect an account: the page, the server, and the code typed in Slack."""
        self.notes.signed_in = SIGNED_IN[user]
        page = await Browser().connect(await self.link(user))
        await self.click(user, messages.ENTER_CODE)
        await self.type(user, code_of(page))

    async def answered(self, thread: str, count: int = 1) -> str:
        """The last answer in a thread, as people read it."""
        return str((await self.bot.answered(SALES, thread, count))[-1]["blocks"])


def with_server(notes: Notes, account: str = "person") -> dict[str, Any]:
    """Settings of a bot on a laptop, with pages on a port of its own."""
    server = {"url": notes.mcp, "account": account, "timeout": 10}
    return {
        "mcpServers": {"notes": McpServer.model_validate(server)},
        "bot_encryption_keys": SecretStr(KEY),
        "bot_public_url": f"http://127.0.0.1:{free_port()}",
    }


@asynccontextmanager
async def place(redis_url: str) -> AsyncGenerator[Place]:
    async with (
        notes_server() as notes,
        deployed(looks, redis_url, **with_server(notes)) as bot,
    ):
        yield Place(bot, notes)


async def test_two_people_in_one_thread_see_only_their_own(redis_url: str) -> None:
    """The thread says what it waits for, without the link, which is the asker's alone. Each question
    runs on the account of whoever asks it. What one of them keeps to themselves is answered where
    only they read it, the thread says so, and they can still post it. Then both leave: one by the
    admin's hand, one by a button on the Home tab."""
    async with place(redis_url) as here:
        ws = here.bot.ws
        thread = await here.ask(ADA)
        link = await here.link(ADA)
        waiting = "Waiting for Ada Lovelace to connect Notes."
        await ws.until(lambda: waiting in str(here.bot.own(SALES, thread)))
        assert "accounts/connect" not in str(here.bot.own(SALES, thread))
        assert link not in str(here.direct(BEN))
        await here.connect(ADA)
        await here.click(ADA, cards.POST_IT)
        said = await here.answered(thread)
        assert "Anna's secret plan" in said
        assert "with Ada Lovelace's own Notes" in said
        assert "Connected" in str(here.direct(ADA))
        await here.ask(BEN, "And in mine?", thread=thread)
        await here.connect(BEN)
        await here.click(BEN, cards.ONLY_ME)
        await ws.until(lambda: "Ben's shopping list" in str(here.direct(BEN)))
        public = str(ws.messages(SALES, thread))
        assert "Ben's shopping list" not in public
        assert "I answer Ben" in public
        assert "Waiting for Ben" not in public
        assert "Anna's secret plan" not in str(here.direct(BEN))
        shared = await here.card(BEN, SHARE)
        await choose(ws, BEN, "D0BEN00001", shared["ts"], SHARE)
        await ws.until(lambda: "Ben's shopping list" in str(ws.messages(SALES, thread)))
        await ws.open_home(ADA)
        await ws.until(lambda: "Your accounts" in str(ws.home(ADA)))
        home = ws.home(ADA)
        assert home is not None
        await ws.click_in_view(ADA, home["id"], messages.DISCONNECT)
        await ws.until(lambda: here.notes.revoked)
        gone = len(here.notes.revoked)
        await ws.deactivate(ADA, BEN)
        await ws.until(lambda: len(here.notes.revoked) > gone)


SOLD = "The secret plan: 4,722 umbrellas, in May 1,263."
TOLD = finish(answer("It is 4,722 umbrellas, 3,459 more than in May, and 6,918 in two years."))


async def test_evidence_from_an_account_is_its_owners(redis_url: str) -> None:
    """S7, 23.3: others in the thread read the answer that Ada posted, and behind *Show evidence* neither
    lines nor names of what her account holds, nor what it was worked out from, nor what she had
    calculated with it."""
    script = Script(
        [
            call("acquire_tools", {"names": [CONNECT]}),
            call(CONNECT, {}),
            call("acquire_tools", {"names": [READ]}),
            call(READ, {}),
            call("calculate", {"expression": "(4722 - 1263) * 2"}),
            TOLD,
        ]
    )
    async with notes_server() as notes, deployed(script, redis_url, **with_server(notes)) as bot:
        notes.notes["anna"] = [SOLD]
        here = Place(bot, notes)
        thread = await here.ask(ADA)
        await here.connect(ADA)
        await here.click(ADA, cards.POST_IT)
        [message] = await bot.answered(SALES, thread)
        for user, sees in ((BEN, False), (ADA, True)):
            await bot.ws.click(user, SALES, message["ts"], SHOW)
            [view] = await bot.ws.until(lambda: bot.ws.views(user))  # noqa: B023
            assert all(claim in str(view) for claim in ("4,722", "3,459", "6,918"))
            for private in ("secret plan", "1,263", "4722 - 1263", "read notes"):
                assert (private in str(view)) is sees, (user, private)


async def test_ended_more_rights_and_refused(redis_url: str) -> None:
    """Each state has words of its own; a refusal and "Go on without it" are answered at once, and the
    audit log knows of all of it without a token."""
    async with place(redis_url) as here:
        channel = here.bot.ws.state.direct(ADA)
        assert channel is not None
        root = await here.ask(ADA)
        await here.connect(ADA)
        await here.click(ADA, cards.POST_IT)
        await here.answered(root)
        here.notes.end("anna")
        await here.ask(ADA, "Once more?", thread=root)
        await here.bot.ws.until(lambda: "has ended our connection" in str(here.direct(ADA)))
        here.notes.declines = True
        await Browser().connect(await here.link(ADA))
        await here.bot.ws.until(lambda: "You did not allow it" in str(here.direct(ADA)))
        assert "did not connect" in await here.answered(root, 2)
        here.notes.declines = False
        await here.ask(ADA, "Add milk", thread=root)
        await here.card(ADA, cards.GO_WITHOUT)
        await here.click(ADA, cards.GO_WITHOUT)
        assert "did not connect" in await here.answered(root, 3)


async def test_the_wait_outlives_workers_and_goes_on_in_another(redis_url: str) -> None:
    """Asked in one process, connected while none works, answered by one of two others."""
    async with (
        notes_server() as notes,
        Workspace.open() as ws,
        ResponsesServer.open(brain=looks) as api,
    ):
        here = Place(Deployment(ws, api), notes)
        settings = configured(ws, api, redis_url, **with_server(notes))
        async with bot(settings, work=False):
            async with bot(settings, intake=False):
                thread = await here.ask(ADA)
                waiting = "Waiting for Ada Lovelace"
                await ws.until(lambda: waiting in str(here.bot.own(SALES, thread)))
            await here.connect(ADA)
            async with bot(settings, intake=False), bot(settings, intake=False):
                await here.click(ADA, cards.POST_IT)
                assert "Anna's secret plan" in await here.answered(thread)
        assert len(here.bot.terminals(SALES, thread)) == 1


async def test_one_more_right_and_the_address_pasted(redis_url: str) -> None:
    """The card names the right and the call that needs it; the asker alone approves the change. Where
    the browser cannot come back by itself, its address is pasted, and proves the person: no digits."""
    async with place(redis_url) as here:
        ws, notes = here.bot.ws, here.notes
        thread = await here.ask(ADA, "Add milk")
        for rights in (1, 2):
            await here.card(ADA, cards.PASTE_ADDRESS)
            await here.click(ADA, cards.PASTE_ADDRESS)
            view = (await ws.until(lambda: ws.views(ADA)))[-1]
            [link] = [e["url"] for b in view["blocks"] for e in b.get("elements", ()) if "url" in e]
            browser = Browser()
            assert (await here.type(ADA, "http://127.0.0.1/elsewhere"))["response_action"]
            await here.type(ADA, await browser.allow(await browser.leave(link)))
            if rights == 1:
                await here.click(ADA, cards.POST_IT)
                await approve(here, thread, 1)
                await ws.until(lambda: MORE in str(here.direct(ADA)))
        await approve(here, thread, 2)
        assert "Added." in await here.answered(thread)
        assert notes.notes["anna"][-1] == "Milk"
        await here.click(ADA, messages.NOT_ME)
        await ws.until(lambda: notes.revoked)
        await ws.until(lambda: "*Notes* is disconnected" in str(here.direct(ADA)))


async def approve(here: Place, thread: str, count: int) -> None:
    """Approve the latest of `count` cards in the thread; nobody else can, though they sit beside it."""

    def cards() -> list[dict[str, Any]]:
        found = [m for m in here.bot.own(SALES, thread) if "card" in str(m.get("metadata"))]
        return found if len(found) == count else []

    card = (await here.bot.ws.until(cards))[-1]
    await here.bot.ws.click(BEN, SALES, card["ts"], buttons.APPROVE)
    await here.bot.ws.click(ADA, SALES, card["ts"], buttons.APPROVE)


async def test_erasing_a_person_withdraws_their_accounts(redis_url: str) -> None:
    """S7: `bot erase` ends the access at the server too, and leaves nothing."""
    async with place(redis_url) as here:
        await here.ask(ADA)
        await here.connect(ADA)
        await here.card(ADA, cards.POST_IT)
        await here.click(ADA, cards.ONLY_ME)
        await here.bot.ws.until(lambda: "Anna's secret plan" in str(here.direct(ADA)))
        settings = configured(here.bot.ws, here.bot.api, redis_url, **with_server(here.notes))
        lines = await erase_lines(settings, user=ADA)
        assert "Deleted the access to 1 account" in str(lines)
        assert here.notes.revoked
        async with open_stores(redis_url) as stores:
            assert not await stores.erasure.teams_with(["account", "account-revocation"], ADA)
            log = stores.audit.read(here.bot.ws.team_id)
            what = [each.entry.what async for each in log if each.entry]
            assert {"connected notes", "approved account notes"} <= set(what)
