"""Thumbs under an answer: kept, with what was wrong if somebody says so."""

from __future__ import annotations

from bot.dev.workspace import ADA, BEN
from bot.slack.ui import buttons, words
from bot.slack.ui.outcome import render
from tests.unit.slack.rig import Rig
from tests.unit.slack.samples import outcome
from tests.unit.slack.scene import GENERAL


async def answered(rig: Rig) -> str:
    """An answer in a thread of Ada's; its ts."""
    said = await rig.ws.say(ADA, GENERAL, rig.mention("how did sales go?"))
    await rig.ws.until(lambda: rig.mailbox.requests)
    part = render(outcome(), rig.mailbox.requests[0]).parts[0]
    posted = await rig.clients.writes.chat_postMessage(
        channel=GENERAL, thread_ts=said["ts"], text=part.text, blocks=part.blocks
    )
    return str(posted["ts"])


async def test_a_thumb_up_is_kept_and_thanked_for(rig: Rig) -> None:
    """With the run, the person and the place of the answer."""
    ts = await answered(rig)
    await rig.ws.click(BEN, GENERAL, ts, buttons.FEEDBACK, value="good:run_1")
    [kept] = rig.mailbox.feedback
    assert (kept.verdict, kept.run_id, kept.user) == ("good", "run_1", BEN)
    assert (kept.channel, kept.message, kept.comment) == (GENERAL, ts, "")
    told = await rig.ws.until(
        lambda: [
            m
            for m in rig.ws.messages(GENERAL, rig.mailbox.requests[0].thread, BEN)
            if m.get("is_ephemeral")
        ]
    )
    assert told[0]["text"] == words.THANKS()


async def test_after_a_thumb_down_a_modal_asks_what_was_wrong(rig: Rig) -> None:
    """The verdict counts at once; the comment joins it, once, and may be left out."""
    ts = await answered(rig)
    await rig.ws.click(ADA, GENERAL, ts, buttons.FEEDBACK, value="bad:run_1")
    assert [kept.verdict for kept in rig.mailbox.feedback] == ["bad"]
    [view] = await rig.ws.until(lambda: rig.ws.views(ADA))
    assert view["title"]["text"] == words.COMMENT_TITLE()
    await rig.ws.submit(ADA, view["id"], {"question": {"question": "  Old\x00 figures. "}})
    assert rig.mailbox.feedback[-1].comment == "Old figures."
    assert rig.mailbox.feedback[-1].run_id == "run_1"

    await rig.ws.click(ADA, GENERAL, ts, buttons.FEEDBACK, value="bad:run_1")
    [view] = await rig.ws.until(lambda: rig.ws.views(ADA))
    await rig.ws.submit(ADA, view["id"], {"question": {"question": ""}})
    assert len(rig.mailbox.feedback) == 3
