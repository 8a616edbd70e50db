"""The account of a workspace as its people meet it: the whole bot, a workspace and a protected server."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from bot.cli.operator import mcp_lines
from bot.dev.workspace import ADA, BEN, CHLOE
from bot.features.accounts.slack import messages, workspace
from bot.runs.policy.access import Policy
from bot.store import open_stores
from tests.operators.test_many_workspaces import place as many
from tests.support.accounts import service_of
from tests.support.deployment import Deployment, configured, deployed
from tests.support.notes_server import Browser, code_of, notes_server
from tests.unit.accounts.test_in_slack import Place, looks, with_server

CHECK = "notes__check_account"


async def connect(here: Place, user: str) -> None:
    """Press the button of the message to an admin, allow it at the server, and type the digits."""
    ws = here.bot.ws
    await here.click(user, workspace.CONNECT)
    view = (await ws.until(lambda: ws.views(user)))[-1]
    assert "Everybody who may ask me can then read" in str(view)
    [link] = [e["url"] for b in view["blocks"] for e in b.get("elements", ()) if "url" in e]
    page = await Browser().connect(link)
    await here.click(user, messages.ENTER_CODE)
    await here.type(user, code_of(page))


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

            await connect(here, ADA)
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


async def test_it_goes_on_without_its_admin_who_can_take_it_back(redis_url: str) -> None:
    """Ada connects, and is an admin no longer, then leaves: Ben, an admin of bot.toml, reads both in Home and
    the operator in `bot doctor`; questions are answered meanwhile. "That was not me" ends it, even then."""
    async with notes_server() as notes:
        settings = with_server(notes, account="workspace")
        brain = partial(looks, account=CHECK)
        access = Policy(admins=(BEN, ADA))
        async with deployed(brain, redis_url, **settings, access=access) as bot:
            here, ws = Place(bot, notes), bot.ws
            thread = await here.ask(CHLOE)
            await here.answered(thread)
            await here.card(BEN, workspace.CONNECT)
            await connect(here, ADA)
            await here.card(ADA, messages.NOT_ME)
            ours = configured(ws, bot.api, redis_url, **settings)
            admin = ws.people[ADA]
            for text, changed in (
                ("is an admin no longer", replace(admin, is_guest=True)),
                ("has left", replace(admin, is_deactivated=True)),
            ):
                ws.people[ADA] = changed
                await ws.open_home(BEN)
                await ws.until(lambda: text in str(ws.home(BEN)))  # noqa: B023
                async with open_stores(redis_url) as stores:
                    [check] = await service_of(ours).checks(stores)
                assert text in check.text
            ws.people[ADA] = replace(admin, is_guest=True)
            thread = await here.ask(CHLOE)
            assert "Anna's secret plan" in await here.answered(thread)
            await here.click(ADA, messages.NOT_ME)
            await ws.until(lambda: notes.revoked)
            await ws.open_home(BEN)
            await ws.until(lambda: "not connected: an admin" in str(ws.home(BEN)))


async def test_each_workspace_has_its_own(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process listens and one works, for two workspaces. No admin's word pins tools for all: the operator
    reads and accepts them. Each answers with its own account; who removes the app has its tokens revoked."""
    monkeypatch.setattr(
        "bot.features.accounts.ending._LOOK_SECONDS", 0.3
    )  # for what the other noted
    async with notes_server() as notes:
        settings = with_server(notes, account="workspace")
        async with many(redis_url, partial(looks, account=CHECK), **settings) as at:
            both = ((at.first, "anna", "Anna's"), (at.second, "ben", "Ben's"))
            for ws, name, _ in both:
                await at.browser.install(ws)
                here = Place(Deployment(ws, at.api), notes)
                assert "an admin has to connect" in str(await at.answered(ws, await at.ask(ws)))
                notes.signed_in = name
                await connect(here, ADA)
                await here.card(ADA, messages.NOT_ME)
            await mcp_lines(at.settings)
            assert "accepted and enabled" in str(await mcp_lines(at.settings, accept="notes"))
            for ws, _, said in both:
                assert said in str(await at.answered(ws, await at.ask(ws)))
            at.first.uninstall()
            await at.second.until(lambda: at.first.delivery.under_way == 0)
            async with open_stores(redis_url) as stores:
                service = service_of(at.settings)
                [check] = await service.checks(stores)
                assert check.text.startswith(f"connected by {ADA}")
                await service.accounts(stores).revocations.try_again(stores.audit.append)
            assert {token.subject for token in notes.refresh.values()} == {"ben"}
            assert "Ben's" in str(await at.answered(at.second, await at.ask(at.second)))
