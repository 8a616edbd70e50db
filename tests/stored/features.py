"""What features store: evidence, a refresh with its schedule, a rating, personal accounts.

The part `features` of a recording, made by `record.py`, and what the test on it needs beside the bot.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from mcp.server.auth.provider import AccessToken, RefreshToken
from mcp.shared.auth import OAuthClientInformationFull

from bot.dev.workspace import ADA, BEN
from tests.stored.stage import SALES, Stage
from tests.support.notes_server import Browser, Notes, code_of, notes_server
from tests.support.slack import choose

PATIENCE = 60.0  # seconds
TOML = """
[databases.shop]
url = "sqlite:///{folder}/shop.sqlite"

[mcpServers.notes]
url = "http://127.0.0.1:{notes}/mcp"
account = "person"
timeout = 10
"""


def toml_of_features() -> tuple[str, int]:
    """Return the settings, and the port of the notes server: its address is stored with what people
    connected. It is below those that systems give away, and each recording has its own."""
    port = random.randrange(18_000, 28_000)
    return TOML.replace("{notes}", str(port)), port


def sell(folder: Path, revenue: float) -> None:
    """Write what North has sold to the database."""
    with closing(sqlite3.connect(folder / "shop.sqlite")) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS sales (region TEXT, revenue REAL)")
        database.execute("DELETE FROM sales")
        database.execute("INSERT INTO sales VALUES ('North', ?)", (revenue,))


def copy_notes(notes: Notes, port: int) -> dict[str, Any]:
    """Return what the protected server knows of its clients."""
    return {
        "port": port,
        "clients": [each.model_dump(mode="json") for each in notes.clients.values()],
        "access": [each.model_dump(mode="json") for each in notes.access.values()],
        "refresh": [each.model_dump(mode="json") for each in notes.refresh.values()],
    }


@asynccontextmanager
async def recorded_notes(copied: dict[str, Any]) -> AsyncGenerator[Notes]:
    """Run the protected server as it was."""
    async with notes_server(copied["port"]) as notes:
        for client in map(OAuthClientInformationFull.model_validate, copied["clients"]):
            notes.clients[client.client_id] = client
        for access in map(AccessToken.model_validate, copied["access"]):
            notes.access[access.token] = access
        for refresh in map(RefreshToken.model_validate, copied["refresh"]):
            notes.refresh[refresh.token] = refresh
        yield notes


def posted(at: Stage, channel: str, action: str, viewer: str | None = None) -> dict[str, Any]:
    """Return the newest message with a button of this action."""
    seen = [m for m in at.ws.messages(channel, viewer=viewer) if f"'{action}'" in str(m["blocks"])]
    return seen[-1]


async def use_features(at: Stage, threads: dict[str, str]) -> None:
    """Have people use each feature, and leave off in the middle."""
    sell(at.folder, 220_919.5)
    await _refreshed(at, threads)
    await _connected(at, threads)
    await _rated(at, threads)  # last: what opens later closes the form
    threads["waiting"] = await at.bot.ask(BEN, SALES, "[notes-2]")
    await at.ws.until(lambda: "for Ben" in str(at.bot.own(SALES, threads["waiting"])), PATIENCE)
    threads["middle"] = await at.bot.ask(ADA, SALES, "[middle-1]")
    await at.api.until(lambda: len(at.model.asked("middle-1")) == 2, PATIENCE)


async def _refreshed(at: Stage, threads: dict[str, str]) -> None:
    """An answer with evidence, a refresh that nobody has posted, and one that is scheduled."""
    for kind in ("sold", "kept"):
        tag = "[sold-1]" if kind == "sold" else "[sold-2]"
        threads[kind] = await at.bot.ask(ADA, SALES, tag)
        await at.bot.answered(SALES, threads[kind], seconds=PATIENCE)
    sell(at.folder, 231_004.0)
    for kind in ("sold", "kept"):
        [answer] = at.bot.terminals(SALES, threads[kind])
        user = ADA if kind == "sold" else BEN
        await choose(at.ws, user, SALES, answer["ts"], "refresh_answer")
        await at.ws.until(lambda: "231,004" in str(at.ws.views(user)), PATIENCE)  # noqa: B023
    run = at.bot.terminals(SALES, threads["kept"])[0]["metadata"]["event_payload"]["run"]
    [result] = at.ws.views(BEN)
    await at.ws.click_in_view(BEN, result["id"], "keep_refreshed", value=f"{run} 0 9 * * 1")
    await at.ws.until(lambda: "every Monday" in str(at.ws.views(BEN)), PATIENCE)


async def _rated(at: Stage, threads: dict[str, str]) -> None:
    """An answer that was rated bad, and a form of an admin with a trial."""
    threads["rated"] = await at.bot.ask(BEN, SALES, "[rated-1]")
    [answer] = await at.bot.answered(SALES, threads["rated"], seconds=PATIENCE)
    run = answer["metadata"]["event_payload"]["run"]
    await at.ws.click(BEN, SALES, answer["ts"], "feedback", value=f"bad:{run}")
    [form] = await at.ws.until(lambda: at.ws.views(BEN))
    comment = {"question": {"question": "I asked for this year."}}
    assert await at.ws.submit(BEN, form["id"], comment) == {}
    await at.ws.open_home(ADA)
    await at.ws.until(lambda: "choose_instructions" in str(at.ws.home(ADA)), PATIENCE)
    home = at.ws.home(ADA)
    assert home is not None
    await at.ws.click_in_view(ADA, home["id"], "choose_instructions", value=SALES)
    [form] = await at.ws.until(lambda: at.ws.views(ADA))
    case = {
        "instructions": {"instructions": "Answer in verse."},
        "question": {"question": "[rated-2]"},
        "must_say": {"must_say": "231,004"},
    }
    await at.ws.click_in_view(ADA, form["id"], "try_instructions", values=case)
    await at.ws.until(lambda: "With what is written here" in str(at.ws.views(ADA)), PATIENCE)


async def _connected(at: Stage, threads: dict[str, str]) -> None:
    """An account, and an answer of which its owner said that others may read it."""
    threads["notes"] = await at.bot.ask(ADA, SALES, "[notes-1]")
    direct = at.ws.state.direct(ADA)
    assert direct is not None

    async def card(action: str) -> dict[str, Any]:
        await at.ws.until(lambda: f"'{action}'" in str(at.ws.messages(direct.id)), PATIENCE)
        return posted(at, direct.id, action)

    elements = [
        element
        for block in (await card("connect_account"))["blocks"]
        for element in block.get("elements", ())
    ]
    link = next(e["url"] for e in elements if e.get("action_id") == "connect_account")
    page = await Browser().connect(str(link))
    await at.ws.click(
        ADA, direct.id, (await card("enter_account_code"))["ts"], "enter_account_code"
    )
    form = (await at.ws.until(lambda: at.ws.views(ADA), PATIENCE))[-1]
    await at.ws.submit(ADA, form["id"], {"typed": {"typed": code_of(page)}})
    await _share(at, await card("share_what_account_finds"), threads["notes"])
    for options in ((), ("--accept", "notes")):  # many workspaces: the operator accepts the tools
        code, said = await at.run("mcp", *options)
        assert code == 0, said
    threads["account"] = await at.bot.ask(ADA, SALES, "[account-1]")
    await _share(at, await card("share_what_account_finds"), threads["account"])
    assert "Anna's secret plan" in at.model.asked("account-1")[-1].text


async def _share(at: Stage, card: dict[str, Any], thread: str) -> None:
    """Let everybody read what the account finds, and wait for the answer."""
    channel = at.ws.state.direct(ADA)
    assert channel is not None
    await at.ws.click(ADA, channel.id, card["ts"], "share_what_account_finds")
    await at.bot.answered(SALES, thread, seconds=PATIENCE)
