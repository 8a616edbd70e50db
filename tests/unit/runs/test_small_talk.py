"""Thanks, a rewrite, a translation: one model call and a short answer, over the wire (U3, U10, C4)."""

import json
from typing import Any

import pytest

from bot.app.process import bot
from bot.dev.model import Reply, ResponsesServer, Script, finish, text
from bot.dev.workspace import ADA, BEN, Workspace
from bot.slack.ui import words
from bot.slack.ui.buttons import DETAILS
from bot.text.token_estimate import estimated_tokens
from tests.support.deployment import configured
from tests.support.runs import answer
from tests.support.slack import GENERAL, bot_in_slack

FIRST_REQUEST = 6_000
"""Tokens that the first request of a conversation may take, tools and instructions included."""

WELCOME = {"summary": "You are welcome!"}


def left_out(fields: dict[str, Any]) -> dict[str, Any]:
    """An answer as a model gives it that leaves every other field out."""
    names = ("key_points", "table", "charts", "sources", "gaps", "follow_ups", "confidence")
    return dict.fromkeys(names) | fields


@pytest.mark.parametrize(
    "reply", [text("You are welcome!"), finish(left_out(WELCOME))], ids=["text", "call"]
)
async def test_thanks_take_one_model_call_and_one_line(redis_url: str, reply: Reply) -> None:
    """U3: as plain text (C4) or as a call with nothing but the text; the request is bounded."""
    async with bot_in_slack(Script([reply]), redis_url) as place:
        said = await place.slack.say(ADA, GENERAL, place.mention("thank you!"))
        message = await place.answered(said["ts"], "You are welcome!")
    [request] = place.api.requests
    assert estimated_tokens(json.dumps(request.body)) < FIRST_REQUEST
    kinds = [block["type"] for block in message["blocks"]]
    assert kinds == ["markdown", "context_actions", "context"]
    [footer] = message["blocks"][-1]["elements"]
    assert footer["text"].startswith("gpt-5.4-mini · ")
    assert footer["text"].count(" · ") == 2


async def test_the_instructions_say_when_sources_are_needed_and_when_not(redis_url: str) -> None:
    """U3: a translation of several lines is taken whole, without a word of doubt or of sources."""
    whole = "Bonjour à tous,\n\nla réunion commence à 9 h.\n\nAda"
    async with bot_in_slack(Script([text(whole)]), redis_url) as place:
        said = await place.slack.say(ADA, GENERAL, place.mention("in French, please: Hello all"))
        message = await place.answered(said["ts"], "Bonjour")
    [request] = place.api.requests
    for word in ("small talk", "a rewrite", "a translation", "needs a source"):
        assert word in " ".join(request.body["instructions"].split())
    shown = str(message["blocks"])
    assert "la réunion" in shown
    assert words.SOURCES() not in shown
    assert "I am fairly sure" not in shown


async def test_details_open_after_a_restart_for_whoever_reads_the_answer(redis_url: str) -> None:
    """U10: turns, tool calls and tokens are one click away, in a process that never saw the run."""
    sales = answer("Sales rose to 4.2 M€.", key_points=["North grew most."])
    async with (
        Workspace.open() as slack,
        ResponsesServer.open(brain=Script([finish(sales)])) as api,
    ):
        settings = configured(slack, api, redis_url)

        def answered() -> dict[str, Any]:
            replies = slack.messages(GENERAL, asked["ts"])[1:]
            return next((each for each in replies if DETAILS in str(each.get("blocks"))), {})

        async with bot(settings):
            asked = await slack.say(ADA, GENERAL, f"<@{slack.bot_user_id}> how did sales go?")
            message = await slack.until(answered)
        assert "tokens" not in str(message["blocks"][-1])
        async with bot(settings):
            await slack.click(BEN, GENERAL, message["ts"], DETAILS)
            [view] = await slack.until(lambda: slack.views(BEN))
    for fact in ("gpt-5.4-mini", "*Turns*\n1", "*Tool calls*\n0", "*Tokens*\n"):
        assert any(fact in field["text"] for field in view["blocks"][0]["fields"])
