"""Questions of MCP servers in Slack: a card for the asker alone, buttons, and a modal (22.10)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest

from bot.core.audit_kinds import AuditKind
from bot.dev.model import Script, call, finish
from bot.dev.workspace import ADA, BEN
from bot.features.server_questions import words as input_words
from bot.features.server_questions.cards import ANSWER_YES, DECLINE_INPUT, OPEN_INPUT
from bot.mcp import McpServer
from bot.store import open_stores
from tests.security.test_boundaries import outputs, press
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.support.sdk_server import RESERVED, library, served
from tests.unit.slack.scene import button

SALES, DIRECT = "C0SALES001", f"D{ADA[1:]}"


@pytest.fixture(autouse=True)
def nothing_reserved() -> None:
    RESERVED.clear()


@asynccontextmanager
async def library_asked(
    redis_url: str, tool: str, questions: bool | Literal["live"] = True, **arguments: Any
) -> AsyncGenerator[tuple[Deployment, str, dict[str, Any]]]:
    """The bot, a thread in which Ada asked it to call the tool, and the card with the question."""
    name = f"library__{tool}"
    script = [call("acquire_tools", {"names": [name]}), call(name, arguments), finish(answer())]
    async with served(library()) as url:
        server = McpServer(url=url, questions=questions, read_only=("*",))
        async with deployed(Script(script), redis_url, mcpServers={"library": server}) as bot:
            thread = await bot.ask(ADA, SALES, "Please!")
            yield bot, thread, await card(bot, "actions")


async def card(bot: Deployment, holds: str) -> dict[str, Any]:
    """The last card in Ada's direct messages, once it holds this."""

    def found() -> list[dict[str, Any]]:
        own = [m for m in bot.ws.messages(DIRECT) if m["user"] == bot.ws.bot_user_id]
        return [m for m in own if holds in json.dumps(m["blocks"])]

    return (await bot.ws.until(found))[-1]


async def opened(bot: Deployment, asked: dict[str, Any]) -> dict[str, Any]:
    """The modal of a card."""
    await bot.ws.click(ADA, DIRECT, asked["ts"], OPEN_INPUT)
    return dict((await bot.ws.until(lambda: bot.ws.views(ADA)))[-1])


async def test_the_asker_alone_answers_in_a_modal(redis_url: str) -> None:
    """The thread reads that the bot waits for her and not what for; nobody else can answer, and no
    forged press does; what does not fit is said at its field."""
    async with library_asked(redis_url, "reserve", title="Emma <!here>") as (bot, thread, asked):
        texts = [b["text"] for b in asked["blocks"] if b["type"] == "section"]
        assert texts[0]["text"] == "*library* asks you:"
        assert texts[1] == {"type": "plain_text", "text": "Reserve Emma <!here>?"}
        assert "Never enter a password" in str(asked["blocks"])
        await bot.ws.until(lambda: "to answer a question" in str(bot.own(SALES, thread)))
        assert "Reserve Emma" not in str(bot.own(SALES, thread))
        await sent(bot, press(bot, BEN, SALES, thread, button(asked, OPEN_INPUT)))
        assert bot.ws.views(BEN) == []
        forged = {**button(asked, OPEN_INPUT), "action_id": ANSWER_YES}  # it is no yes or no
        await sent(bot, press(bot, ADA, DIRECT, thread, forged))
        await sent(bot, press(bot, ADA, SALES, thread, button(asked, DECLINE_INPUT)))  # not there
        assert "actions" in str((await card(bot, input_words.ANSWER()))["blocks"])
        async with open_stores(redis_url) as stores:
            log = [each.entry async for each in stores.audit.read(bot.ws.team_id)]
        refused = [each.who for each in log if each and each.kind is AuditKind.REFUSED]
        assert refused == [BEN, ADA, ADA]

        view = await opened(bot, asked)
        assert [b["element"]["type"] for b in view["blocks"] if b["type"] == "input"] == [
            "datepicker",
            "number_input",
        ]
        wrong = {"field-0": {"field-0": "2026-02-30"}, "field-1": {"field-1": "2"}}
        reply = await bot.ws.submit(ADA, view["id"], wrong)
        assert list(reply["errors"]) == ["field-0"]
        right = {"field-0": {"field-0": "2026-12-01"}, "field-1": {"field-1": "2"}}
        assert await bot.ws.submit(ADA, view["id"], right) == {}
        await bot.answered(SALES, thread)
        assert 'Emma <!here>: {"until":"2026-12-01","copies":2}' in outputs(bot)
        settled = await card(bot, "You answered")
        assert all(block["type"] != "actions" for block in settled["blocks"])
    assert RESERVED == ["Emma <!here>"]


async def test_a_call_goes_on_that_waited_for_the_answer(redis_url: str) -> None:
    """A server that asks during the call: the run's message shows the step at work, and what it waits
    for; the press reaches the process that holds the call; the card is settled at once."""
    async with library_asked(redis_url, "discard", "live", title="Emma") as (bot, thread, asked):
        await bot.ws.until(lambda: "waiting for your answer" in str(bot.own(SALES, thread)))
        assert "to answer a question" not in str(bot.own(SALES, thread))
        await bot.ws.click(ADA, DIRECT, asked["ts"], ANSWER_YES)
        await bot.answered(SALES, thread)
        assert "Emma: True" in outputs(bot)
        assert "actions" not in [b["type"] for b in (await card(bot, "You answered"))["blocks"]]
        [terminal] = bot.terminals(SALES, thread)
        assert len(bot.own(SALES, thread)) == 1, terminal
