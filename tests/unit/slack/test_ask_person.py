"""Asking back in Slack (35.5): a card with options, one answer, and a run that waits for it."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from bot.core.audit_kinds import AuditKind
from bot.dev.model import ModelRequest, Reply, call, finish
from bot.dev.workspace import ADA, BEN
from bot.features.ask_person.cards import CHECK, CHOOSE, FORM, OPEN_FORM, SEND_CHECKED
from bot.runs.policy.access import Policy
from bot.runs.queue.engine import EngineOptions
from bot.slack.ui.buttons import STOP
from bot.store import Stores, open_stores
from tests.security.test_boundaries import press, private_question
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.unit.slack.scene import button

SALES = "C0SALES001"
ASK = {
    "question": "Which quarter?",
    "options": ["The second", "The third"],
    "several": False,
    "otherwise": "the third",
}


def asks(**changes: Any) -> Any:
    """A model that asks once, and then says what it was told."""

    def brain(request: ModelRequest) -> Reply:
        outputs = [i["output"] for i in request.items if i.get("type") == "function_call_output"]
        if not outputs:
            return call("acquire_tools", {"names": ["ask_person"]})
        if len(outputs) == 1:
            return call("ask_person", ASK | changes)
        return finish(answer(f"So: {outputs[1]}"))

    return brain


def cards(bot: Deployment, thread: str, channel: str = SALES) -> list[dict[str, Any]]:
    own = bot.own(channel, thread)
    return [m for m in own if "card" in ((m.get("metadata") or {}).get("event_payload") or {})]


async def asked(bot: Deployment, text: str = "How did we do?") -> tuple[str, dict[str, Any]]:
    """The thread of a question of Ada's, and the card with what she is asked back."""
    thread = await bot.ask(ADA, SALES, text)
    [card] = await bot.ws.until(lambda: cards(bot, thread))
    await bot.ws.until(lambda: "Ada Lovelace" in str(bot.own(SALES, thread)))
    return thread, card


async def said(bot: Deployment, thread: str, count: int = 1) -> str:
    return str((await bot.answered(SALES, thread, count))[-1]["blocks"])


async def settled(bot: Deployment, thread: str, words: str) -> dict[str, Any]:
    def found() -> list[dict[str, Any]]:
        return [card for card in cards(bot, thread) if words in str(card["blocks"])]

    return (await bot.ws.until(found))[-1]


async def emptied(stores: Stores) -> None:
    """Nothing waits any more."""
    while await stores.mailbox.threads():  # noqa: ASYNC110 - the bot's worker does it
        await asyncio.sleep(0.05)


async def audited(stores: Stores, bot: Deployment) -> list[AuditKind]:
    """What is in the log of questions and of messages that answer them."""
    entries = [each.entry async for each in stores.audit.read(bot.ws.team_id)]
    words = ("question", "answer_option", "answer_options", "by writing")
    return [e.kind for e in entries if e and any(word in e.what for word in words)]


async def test_a_press_answers_once_and_only_the_askers(redis_url: str) -> None:
    """D11: the card has the question and its options and nothing else; presses of others, forged ones, and
    later ones decide nothing, and each leaves an audit entry."""
    async with deployed(asks(), redis_url) as bot, open_stores(redis_url) as stores:
        thread, card = await asked(bot)
        assert [block["type"] for block in card["blocks"]] == ["section", "actions"]
        assert card["blocks"][0]["text"] == {"type": "plain_text", "text": "Which quarter?"}
        labels = [element["text"]["text"] for element in card["blocks"][1]["elements"]]
        assert labels == ["The second", "The third", "Something else…"]
        first = button(card, CHOOSE[0])
        await sent(bot, press(bot, BEN, SALES, thread, first))
        forged = [{**first, "action_id": action} for action in (CHOOSE[4], SEND_CHECKED)]
        changed = {**first, "value": json.dumps(json.loads(first["value"]) | {"sha256": "0" * 64})}
        for wrong in (*forged, changed):
            await sent(bot, press(bot, ADA, SALES, thread, wrong))
        places = ({"selected_options": each} for each in ([{"value": "9"}], "x", [1]))
        states = [{"values": {"options": {CHECK: place}}} for place in places]
        for state in (*states, {"values": None}, "x"):
            forgery = press(bot, ADA, SALES, thread, {**first, "action_id": SEND_CHECKED})
            await sent(bot, forgery | {"state": state})
        assert not bot.terminals(SALES, thread)
        both = (bot.ws.click(ADA, SALES, card["ts"], action) for action in CHOOSE[:2])
        await asyncio.gather(*both)
        answered = await said(bot, thread)
        assert ("Ada Lovelace chose: The second" in answered) != ("chose: The third" in answered)
        done = await settled(bot, thread, f"Answered by <@{ADA}>")
        assert "actions" not in [block["type"] for block in done["blocks"]]
        await sent(bot, press(bot, ADA, SALES, thread, first))
        assert len(cards(bot, thread)) == 1
        # Ben's, five without the boxes of a card, a button that the card does not have, the changed one, and two that were late.
        assert (await audited(stores, bot)).count(AuditKind.REFUSED) == 10
        assert (await audited(stores, bot)).count(AuditKind.DECIDED) == 1


async def test_several_options_are_checked_and_sent(redis_url: str) -> None:
    """Nothing checked is no answer; the boxes are those of whoever presses."""
    options = ["North", "South", "West"]
    async with deployed(asks(options=options, several=True), redis_url) as bot:
        thread, card = await asked(bot)
        assert [e["type"] for e in card["blocks"][1]["elements"]] == ["checkboxes"]
        await bot.ws.click(BEN, SALES, card["ts"], CHECK, value=["1"])
        await bot.ws.click(ADA, SALES, card["ts"], SEND_CHECKED)
        await bot.ws.until(lambda: "Choose at least one option" in str([*bot.sent()]))
        await bot.ws.click(ADA, SALES, card["ts"], CHECK, value=["2", "0"])
        await bot.ws.click(BEN, SALES, card["ts"], SEND_CHECKED)
        await bot.ws.until(lambda: f"Only <@{ADA}> can decide" in str([*bot.sent()]))
        await bot.ws.click(ADA, SALES, card["ts"], SEND_CHECKED)
        assert "chose: North, West" in await said(bot, thread)
        await settled(bot, thread, "North, West")


async def test_something_else_is_said_in_a_form(redis_url: str) -> None:
    """Whatever the model and the person write pings nobody and links nowhere, on the card and in the
    notification; what looks like a secret is not shown."""
    hostile = "<!channel> <@U0BEN00001> *x* <https://evil.example|here>"
    secret = "xoxb-123456789012-abcdefghijklmnop"
    brain = asks(question=f"Which? {hostile}", options=[hostile[:60], "<!here>", "x" * 75])
    async with deployed(brain, redis_url) as bot:
        thread, card = await asked(bot)
        assert "<!channel>" not in card["text"]
        assert card["blocks"][0]["text"]["type"] == "plain_text"
        await bot.ws.click(BEN, SALES, card["ts"], OPEN_FORM)
        assert bot.ws.views(BEN) == []
        await bot.ws.click(ADA, SALES, card["ts"], OPEN_FORM)
        [view] = await bot.ws.until(lambda: bot.ws.views(ADA))
        assert view["callback_id"] == FORM
        refused = await bot.ws.submit(ADA, view["id"], {"answer": {"answer": "\u200b"}})
        assert list(refused["errors"]) == ["answer"]
        typed = {"answer": {"answer": f"Neither. {hostile} {secret}"}}
        assert await bot.ws.submit(ADA, view["id"], typed) == {}
        assert "answered: Neither." in await said(bot, thread)
        done = await settled(bot, thread, "Neither.")
        quote = next(block for block in done["blocks"] if block["type"] == "rich_text")
        [words] = quote["elements"][0]["elements"]
        assert words["type"] == "text"
        assert secret not in str([*bot.sent()])
        assert secret not in str([request.body for request in bot.api.requests])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2", "answered: 2"),  # buttons have no numbers
        ("the SECOND.", "chose: The second"),
        ("Both, please: they differ", "answered: Both, please: they differ"),
        ("yes", "answered: yes"),
    ],
)
@pytest.mark.parametrize("during_run", ["steer", "queue"])
async def test_the_askers_next_message_answers(
    redis_url: str, text: str, told: str, during_run: str
) -> None:
    """Without a mention, though others write in the thread; what these write waits. The message is
    part of the run, and not answered once more."""
    channels = {SALES: {"during_run": during_run}}
    async with (
        deployed(asks(), redis_url, channels=channels) as bot,
        open_stores(redis_url) as stores,
    ):
        thread, _ = await asked(bot)
        await bot.ws.say(BEN, SALES, "The first, I would say", thread)
        await bot.ws.say(ADA, SALES, f"<@{BEN}> no idea", thread)
        await bot.ask(BEN, SALES, "And mine?", thread)
        assert not bot.terminals(SALES, thread)
        message = await bot.ws.say(ADA, SALES, text, thread)
        first, _ = await bot.answered(SALES, thread, 2)
        assert told in str(first["blocks"])
        await settled(bot, thread, f"Answered by <@{ADA}>")
        await emptied(stores)
        assert (len(bot.terminals(SALES, thread)), len(cards(bot, thread))) == (2, 1)
        assert float(first["ts"]) > float(message["ts"])
        assert AuditKind.DECIDED in await audited(stores, bot)


async def test_the_answer_may_be_a_file(redis_url: str) -> None:
    """The run reads it as one that came with its question."""

    def brain(request: ModelRequest) -> Reply:
        done = [i["output"] for i in request.items if i.get("type") == "function_call_output"]
        if not done:
            return call("acquire_tools", {"names": ["ask_person"]})
        if len(done) == 1:
            return call("ask_person", ASK | {"options": []})
        if len(done) == 2:
            [file] = re.findall(r"file_id (\w+)", done[-1])
            return call("read_file", {"file_id": file})
        return finish(answer(done[-1]))

    async with deployed(brain, redis_url) as bot:
        thread, card = await asked(bot)
        assert [e["text"]["text"] for e in card["blocks"][1]["elements"]] == ["Answer…"]
        await bot.ws.say(ADA, SALES, "", thread, [("q.csv", b"quarter,sales\nQ3,70\n")])
        assert "q.csv" in str((await settled(bot, thread, "Answered"))["blocks"])
        assert "quarter" in await said(bot, thread)


async def test_the_answer_may_be_a_forwarded_message(redis_url: str) -> None:
    """The model reads it, as data of others, and not the words of an option alone."""
    forwarded = {"is_share": True, "author_name": "Ben Okafor", "text": "Q3 is final"}
    async with deployed(asks(), redis_url) as bot:
        thread, _ = await asked(bot)
        await bot.ws.say(ADA, SALES, "The third", thread, attachments=[forwarded])
        await said(bot, thread)
        output = bot.api.requests[-1].body["input"][-1]["output"]
        assert re.search(
            r"answered: The third\n.*\n\[data (\w+)\]\n\[Forwarded: Ben Okafor\]\nQ3 is final\n"
            r"\[end of data \1\]$",
            output,
        )


async def test_the_answer_to_a_question_that_is_deleted_asks_nothing(redis_url: str) -> None:
    """It was no question by itself, and so gets no answer of its own."""
    is_deleted = asyncio.Event()

    async def brain(request: ModelRequest) -> Reply:
        if sum("output" in item for item in request.items) == 2:
            await is_deleted.wait()
        reply: Reply = asks()(request)
        return reply

    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        thread, _ = await asked(bot)
        await bot.ws.say(ADA, SALES, "the first", thread)
        await bot.ws.until(lambda: len(bot.api.requests) == 3)
        await bot.ws.delete(ADA, SALES, thread)
        await bot.ws.until(lambda: not bot.ws.delivery.under_way)
        is_deleted.set()
        await emptied(stores)
        assert (len(bot.api.requests), bot.terminals(SALES, thread)) == (3, [])


@pytest.mark.parametrize("below", [False, True])
async def test_a_direct_message_is_one_conversation(redis_url: str, below: bool) -> None:
    """K8: the question stands where the person wrote, and so does the answer to it, or below its card."""
    direct = f"D{ADA[1:]}"
    async with deployed(asks(), redis_url) as bot, open_stores(redis_url) as stores:
        await bot.ws.say(ADA, direct, "How did we do?")
        [card] = await bot.ws.until(
            lambda: [m for m in bot.ws.messages(direct) if CHOOSE[0] in str(m.get("blocks"))]
        )
        await bot.ws.say(ADA, direct, "The third", card["ts"] if below else None)
        await bot.ws.until(lambda: "chose: The third" in str(bot.ws.messages(direct)))
        await emptied(stores)
        assert len(bot.api.requests) == 3
        assert "Answered by" in str(bot.ws.messages(direct))


async def test_a_private_question_is_not_answered_in_public(redis_url: str) -> None:
    """Its card is in the asker's direct messages; what they write in the thread is not meant for it."""
    async with deployed(asks(), redis_url) as bot:
        root = str((await bot.ws.say(BEN, SALES, "Numbers are in"))["ts"])
        asking = asyncio.create_task(private_question(bot, ADA, root, "How did we do?"))
        direct = f"D{ADA[1:]}"
        [card] = await bot.ws.until(
            lambda: [m for m in bot.ws.messages(direct) if CHOOSE[0] in str(m["blocks"])]
        )
        await bot.ws.say(ADA, SALES, "The second, says Ben", root)
        assert "Which quarter?" not in str(bot.own(SALES, root))
        await bot.ws.click(ADA, direct, card["ts"], CHOOSE[1])
        assert "chose: The third" in str((await asking)["blocks"])


async def test_nobody_answers(redis_url: str) -> None:
    """The run ends with what it had assumed, and the card says so in a sentence."""
    policy = Policy(approval_hours=2 / 3_600)
    engine = EngineOptions(sweep=1.0)
    async with deployed(asks(), redis_url, access=policy, engine=engine) as bot:
        thread, card = await asked(bot)
        assert "Nobody answered in time. Go on with what you assumed (the third)" in await said(
            bot, thread
        )
        await settled(bot, thread, "Nobody answered in time. I assume: the third")
        late = button(card, CHOOSE[0])
        await sent(bot, press(bot, ADA, SALES, thread, late))
        assert len(bot.terminals(SALES, thread)) == 1


@pytest.mark.parametrize("typed", [True, False])
async def test_stop_ends_the_wait(redis_url: str, typed: bool) -> None:
    async with deployed(asks(), redis_url) as bot:
        thread, card = await asked(bot)
        if typed:
            await bot.ws.say(ADA, SALES, "stop", thread)
        else:
            [message] = [m for m in bot.own(SALES, thread) if m["ts"] != card["ts"]]
            await bot.ws.click(ADA, SALES, message["ts"], STOP)
        assert "Stopped" in await said(bot, thread)
        done = await settled(bot, thread, "Cancelled")
        assert "actions" not in [block["type"] for block in done["blocks"]]
        assert len(bot.api.requests) == 2


async def test_the_card_is_in_the_language_of_its_question(redis_url: str) -> None:
    """K7: a German question in an English workspace has German buttons, and a German end."""
    german = {"question": "Welches Quartal meinst du, und für wen?", "options": ["Das dritte"]}
    async with deployed(asks(**german), redis_url) as bot:
        thread, card = await asked(bot, "Wie viel haben wir im letzten Quartal verkauft?")
        assert [e["text"]["text"] for e in card["blocks"][1]["elements"]][-1] == "Etwas anderes …"
        await bot.ws.click(ADA, SALES, card["ts"], CHOOSE[0])
        await said(bot, thread)
        await settled(bot, thread, "Beantwortet von")
