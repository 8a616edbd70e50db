"""The language that people read: one in each message, their own in forms and private words (U9, K7)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from bot.core.approvals import digest
from bot.dev.model import ModelRequest, Reply, finish
from bot.dev.workspace import ADA, BEN, CHLOE
from bot.features.home import home_words
from bot.features.shortcuts import forms
from bot.features.shortcuts import words as shortcut_words
from bot.slack.ui import approval_words, words
from bot.slack.ui.approval import Shown
from bot.slack.ui.buttons import APPROVE, REGENERATE
from bot.store import open_stores
from bot.text.translation import Text, reader
from tests.support.deployment import deployed
from tests.support.runs import answer
from tests.support.slack import choose
from tests.unit.slack.rig import Rig
from tests.unit.slack.scene import button
from tests.unit.slack.test_approvals import SALES, card, cards, posts, private


def french(text: Text, **values: object) -> str:
    with reader("fr-FR"):
        said = text(**values)
    assert said != text(**values)  # it is translated
    return said


async def test_a_question_is_answered_in_the_language_of_its_asker(redis_url: str) -> None:
    """Chloe's Slack is in French, and so is what she asks: status, card, buttons and footer are too, with
    French figures. Ada, who presses under it, is told in English. What Chloe approves has the hash that
    it has in English."""
    script = posts("Bonjour", says="C’est fait, le message est dans le canal.")
    async with deployed(script, redis_url) as bot:
        thread = await bot.ask(CHLOE, SALES, "Poste-le dans le canal !")
        asked = await card(bot, thread)
        shown = str(asked["blocks"])
        assert french(approval_words.APPROVE) in shown
        assert french(approval_words.DENY) in shown
        value = Shown.model_validate_json(button(asked, APPROVE)["value"])
        async with open_stores(redis_url) as stores:
            record = await stores.approvals.get(value.id)
        assert record is not None
        assert value.sha256 == digest("post_message", record.approval.arguments, [])
        await bot.ws.click(ADA, SALES, asked["ts"], APPROVE)
        refused = approval_words.ONLY_THEY_MAY(people=f"<@{CHLOE}>")
        await bot.ws.until(lambda: private(bot, ADA, thread) == [refused])
        await bot.ws.click(CHLOE, SALES, asked["ts"], APPROVE)
        done = french(approval_words.ALLOWED["approved"]["done"], by=f"<@{CHLOE}>")
        await bot.ws.until(lambda: done in str(cards(bot, thread)))
        await bot.answered(SALES, thread)
        [terminal] = bot.terminals(SALES, thread)
        assert french(words.DETAILS) in str(terminal)
        assert ",0" in str(terminal["blocks"][-1])  # 0,0 s


GERMAN = {
    "summary": "Der Umsatz lag im Norden bei 1.234,50 €.",
    "table": {
        "caption": "Umsatz je Region",
        "columns": ["Region", "Umsatz"],
        "rows": [["Nord", "1,234.5"], ["Süd", "900"]],
        "handle": None,
    },
    "gaps": ["Für den Mai gibt es keine Zahlen."],
}
ENGLISH = {
    "summary": "Sales were at 1,234.50 € in the north.",
    "table": {**GERMAN["table"], "caption": "Sales by region"},  # type: ignore[dict-item]
    "gaps": ["There are no figures for May."],
}


@pytest.mark.parametrize(
    ("person", "question", "result", "locale", "cell"),
    [
        (ADA, "Wie hoch war der Umsatz je Region?", GERMAN, "de-DE", "1.234,5"),
        (CHLOE, "What were the sales by region?", ENGLISH, "en-US", "1,234.5"),
        (CHLOE, "Umsatz 2026?", GERMAN, "de-DE", "1.234,5"),
    ],
)
async def test_a_message_is_in_one_language(
    redis_url: str, person: str, question: str, result: dict[str, Any], locale: str, cell: str
) -> None:
    """K7: headings, buttons, table, footer and what is added later are in the language of the answer;
    what only the reader sees is in theirs. Ada's Slack is in English, Chloe's in French."""
    with reader(locale):
        expected = [words.GAPS(), words.ASK_AGAIN(), words.DETAILS_HINT()]
        working, deleted = words.WORKING(), words.DELETED()
    release = asyncio.Event()

    async def brain(_: ModelRequest) -> Reply:
        await release.wait()
        return finish({**answer(""), **result})

    async with deployed(brain, redis_url) as bot:
        thread = await bot.ask(person, SALES, question)
        if len(question.split()) > 2:  # the language of the question is plain
            await bot.ws.until(lambda: working in str(bot.own(SALES, thread)))
        release.set()
        [terminal] = await bot.answered(SALES, thread)
        shown = json.dumps(terminal["blocks"], ensure_ascii=False)
        assert [text for text in expected if text not in shown] == []
        assert cell in shown
        others = {name for name in ("en-US", "fr-FR", "de-DE") if name != locale}
        for other in others:
            with reader(other):
                assert words.ASK_AGAIN() not in shown

        for _ in range(2):  # the second press is answered in private
            await choose(bot.ws, person, SALES, terminal["ts"], REGENERATE)
        with reader("en-US" if person == ADA else "fr-FR"):
            told = words.ALREADY_ASKED()
        await bot.ws.until(lambda: told in private(bot, person, thread))
        await bot.answered(SALES, thread, 2)
        await bot.ws.delete(person, SALES, thread)
        await bot.ws.until(lambda: deleted in str(bot.own(SALES, thread)[0]["blocks"][0]))


async def test_home_and_forms_are_in_the_language_of_who_opens_them(rig: Rig) -> None:
    """Two people, two languages, at the same time; Slack says which."""
    await rig.ws.open_home(BEN)
    await rig.ws.open_home(CHLOE)
    english = await rig.ws.until(lambda: rig.ws.home(BEN))
    hers = await rig.ws.until(lambda: rig.ws.home(CHLOE))
    assert home_words.HOME_EXAMPLES() in str(english)
    assert french(home_words.HOME_EXAMPLES) in str(hers)
    assert home_words.HOME_EXAMPLES() not in str(hers)


async def test_who_asks_while_nothing_can_be_kept_is_told_in_their_language(rig: Rig) -> None:
    rig.ws.delivery.ack_timeout = 0.3
    async with rig.outage():
        said = await rig.ws.say(CHLOE, "C0GENERAL1", rig.mention("how many?"))
        status = rig.ws.status("C0GENERAL1", said["ts"])
        await rig.ws.until(lambda: status.text == french(words.STATUS_WAITING))


async def test_a_form_is_in_the_language_of_who_opens_it(rig: Rig) -> None:
    """Whoever opened one just before."""
    french_label = french(shortcut_words.WHERE_LABEL)
    for user, label in ((CHLOE, french_label), (BEN, shortcut_words.WHERE_LABEL())):
        await rig.ws.shortcut(user, forms.ASK_ANYWHERE)
        [view] = await rig.ws.until(lambda: rig.ws.views(user))  # noqa: B023 - awaited at once
        assert label in json.dumps(view, ensure_ascii=False)


async def test_a_hint_is_in_the_language_of_who_wrote(rig: Rig) -> None:
    """Also to somebody whose message is not looked at otherwise."""
    said = await rig.ws.say(CHLOE, "C0GENERAL1", rig.mention("stop"))

    def told() -> list[str]:
        seen = rig.ws.messages("C0GENERAL1", None, CHLOE)
        return [str(each["text"]) for each in seen if each.get("is_ephemeral")]

    assert await rig.ws.until(told) == [french(words.NOTHING_RUNS)], said
