"""The account of a workspace as its people meet it: the whole bot, a workspace and a protected server."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bot.dev.workspace import ADA, BEN
from bot.features.accounts.slack import messages, workspace
from bot.store import open_stores
from tests.support.deployment import deployed
from tests.support.notes_server import Browser, code_of, notes_server
from tests.unit.accounts.test_in_slack import Place, looks, with_server

CHECK = "notes__check_account"


async def test_an_admin_connects_it_and_everybody_uses_it(redis_url: str) -> None:
    """Ben asks and hears that an admin has to connect Notes; Ada, the admin, gets one message with the
    button, however often he asks. She connects; his question is then answered in the channel without a
    question to him, a change asks him for approval, and evidence of it is everybody's. Ben sees in Home by
    whom, and cannot press what only admins see. The server ends it: Ada hears of it once. She disconnects."""
    async with notes_server() as notes:
        settings = with_server(notes, account="workspace")
        async with deployed(partial(looks, account=CHECK), redis_url, **settings) as bot:
            here, ws = Place(bot, notes), bot.ws
            for _ in range(2):
                thread = await here.ask(BEN)
                assert "an admin has to connect Notes" in await here.answered(thread)
            card = await here.card(ADA, workspace.CONNECT)
            assert "You are an admin, and can do that" in str(card)
            direct = ws.state.direct(ADA)
            assert direct is not None

            await ws.open_home(BEN)
            await ws.until(lambda: "an admin has to connect it" in str(ws.home(BEN)))
            assert workspace.CONNECT not in str(ws.home(BEN))

            await here.click(ADA, workspace.CONNECT)
            view = (await ws.until(lambda: ws.views(ADA)))[-1]
            assert "Everybody who may ask me can then read" in str(view)
            [link] = [e["url"] for b in view["blocks"] for e in b.get("elements", ()) if "url" in e]
            page = await Browser().connect(link)
            await here.click(ADA, messages.ENTER_CODE)
            await here.type(ADA, code_of(page))
            await here.card(ADA, messages.NOT_ME)

            thread = await here.ask(BEN)
            said = await here.answered(thread)
            assert "Anna's secret plan" in said
            assert "own Notes" not in said
            assert not here.direct(BEN)

            await ws.open_home(BEN)
            await ws.until(lambda: f"connected by <@{ADA}>" in str(ws.home(BEN)))
            home = ws.home(BEN)
            assert workspace.DISCONNECT not in str(home)

            notes.end("anna")
            for _ in range(2):
                thread = await here.ask(BEN)
                assert "an admin has to connect Notes" in await here.answered(thread)
            await ws.until(
                lambda: "has ended the connection of this workspace" in str(here.direct(ADA))
            )
            asked = [m for m in here.direct(ADA) if workspace.CONNECT in str(m.get("blocks"))]
            assert len(asked) == 2

            admin = ws.people[ADA]
            ws.people[ADA] = replace(admin, is_admin=False)
            shown = len(ws.views(ADA))
            await ws.click(ADA, direct.id, asked[-1]["ts"], workspace.CONNECT)
            assert len(ws.views(ADA)) == shown
            await ws.open_home(ADA)
            await ws.until(lambda: "an admin has to connect it again" in str(ws.home(ADA)))
            assert workspace.CONNECT not in str(ws.home(ADA))
            ws.people[ADA] = admin
            await ws.open_home(ADA)
            await ws.until(lambda: workspace.DISCONNECT in str(ws.home(ADA)))
            home = ws.home(ADA)
            assert home is not None
            await ws.click_in_view(ADA, home["id"], workspace.DISCONNECT)
            await ws.until(lambda: "not connected: an admin" in str(ws.home(ADA)))
        async with open_stores(redis_url) as stores:
            log = stores.audit.read(bot.ws.team_id)
            what = [each.entry.what async for each in log if each.entry]
        for outcome in ("connected", "refused", "disconnected"):
            assert what.count(f"{outcome} notes for the workspace") == 1, what
