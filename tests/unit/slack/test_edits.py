"""Edited questions: what counts as an edit, by whom, and how often."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import pytest

from bot.core.request import RepeatReason
from bot.dev.workspace import ADA, BEN, CHLOE
from tests.unit.slack.rig import Rig
from tests.unit.slack.scene import GENERAL


async def asked(rig: Rig, text: str = "how many?") -> str:
    said = await rig.ws.say(ADA, GENERAL, rig.mention(text))
    await rig.ws.until(lambda: rig.requests)
    return str(said["ts"])


async def settled(rig: Rig) -> int:
    """How many requests of the channel there are, once everything sent before was handled."""
    direct = rig.direct(ADA)
    before = len(rig.requests)
    await rig.ws.say(ADA, direct, "are you there?")
    await rig.ws.until(lambda: any(r.channel == direct for r in rig.requests[before:]))
    await rig.ws.until(lambda: not rig.ws.delivery.under_way)
    return sum(r.channel == GENERAL for r in rig.requests)


@pytest.mark.parametrize("begun", [(), ("run_1",)])
async def test_an_edit_asks_again_in_its_new_words(rig: Rig, begun: tuple[str, ...]) -> None:
    """In place of the old request, whose run's message is taken over if it has begun."""
    ts = await asked(rig)
    for run_id in begun:
        await rig.begin(rig.requests[0], run_id)
    await rig.ws.edit(ADA, GENERAL, ts, rig.mention("how many *now*?"))
    await rig.until(rig.superseded)
    old, new = rig.requests
    assert await rig.superseded() == [old.id]
    assert (new.text, new.again, new.replaces) == ("how many *now*?", RepeatReason.EDITED, begun)
    assert (new.thread, new.user, new.message) == (ts, ADA, ts)
    assert new.ts != ts


async def test_an_edit_mentions_whom_its_new_words_do(rig: Rig) -> None:
    """(reliability 11) Whom it mentioned before, a post of it calls no more."""
    ts = await asked(rig, f"post hi <@{BEN}>")
    await rig.ws.edit(ADA, GENERAL, ts, rig.mention(f"post hi <@{CHLOE}> <#{GENERAL}>"))
    await rig.until(rig.superseded)
    ids = [[mention.id for mention in each.mentioned] for each in rig.requests]
    assert ids == [[BEN], [CHLOE, GENERAL]]


async def test_what_is_no_edit_of_the_question_changes_nothing(rig: Rig) -> None:
    """Unfurls change messages too; the same words, none, or only the word stop ask nothing."""
    ts = await asked(rig)
    shown: dict[str, Any] = {"attachments": [{"from_url": "https://example.org", "id": 1}]}
    message = rig.ws.store.get(GENERAL, ts)
    assert message is not None
    place = {"channel": GENERAL, "channel_type": "channel", "ts": "1.5", "hidden": True}
    rig.ws.emit(
        {
            "type": "message",
            "subtype": "message_changed",
            "message": {**message, **shown},
            "previous_message": message,
            **place,
        }
    )
    for text in ("how many?", "", "stop"):
        await rig.ws.edit(ADA, GENERAL, ts, rig.mention(text))
    assert await settled(rig) == 1


async def test_a_sixth_edit_is_left_alone(rig: Rig) -> None:
    """Nobody has an answer revised without end."""
    ts = await asked(rig)
    for number in range(8):
        await rig.ws.edit(ADA, GENERAL, ts, rig.mention(f"how many, {number}?"))
        await settled(rig)
    requests = [r for r in rig.requests if r.channel == GENERAL]
    assert [r.revision for r in requests] == [0, 1, 2, 3, 4, 5]
    assert requests[-1].text == "how many, 4?"


async def test_an_edit_after_an_hour_is_left_alone(rig: Rig) -> None:
    """People have read the answer by then, and perhaps acted on it."""
    for age, revised in ((7_200, False), (600, True)):
        ts = f"{time.time() - age:.6f}"
        words = rig.mention("how many?")
        said = {"type": "message", "user": ADA, "text": words, "ts": ts, "team": rig.ws.team_id}
        place = {"channel": GENERAL, "channel_type": "channel"}
        rig.ws.emit({**said, **place, "type": "app_mention"})
        await rig.ws.until(partial(_was_asked, rig, ts))
        edited = {"user": ADA, "ts": f"{time.time():.6f}"}
        now = {**said, "text": rig.mention("how few?"), "edited": edited}
        change = {"subtype": "message_changed", "message": now, "previous_message": said}
        rig.ws.emit({"type": "message", "hidden": True, "ts": "1.5", **change, **place})
        await settled(rig)
        assert any(r.message == ts for r in rig.requests) is revised


async def test_somebody_elses_edit_of_a_question_asks_nothing(rig: Rig) -> None:
    """A forged or an admin's change is not the asker's."""
    ts = await asked(rig)
    message = rig.ws.store.get(GENERAL, ts)
    assert message is not None
    edited = {"user": BEN, "ts": f"{time.time():.6f}"}
    now = {**message, "user": BEN, "text": rig.mention("leak it"), "edited": edited}
    place = {"channel": GENERAL, "channel_type": "channel", "ts": "1.5", "hidden": True}
    change = {"subtype": "message_changed", "message": now, "previous_message": message}
    rig.ws.emit({"type": "message", **change, **place})
    assert await settled(rig) == 1


async def test_a_redelivered_edit_counts_once(rig: Rig) -> None:
    """The same event twice, as Slack sends it when an acknowledgement is lost."""
    ts = await asked(rig)
    rig.ws.delivery.ack_timeout = 0.3
    rig.ws.delivery.retry_delays = (0.0, 0.1, 2.0, 0.1)
    async with rig.outage():
        await rig.ws.edit(ADA, GENERAL, ts, rig.mention("how many now?"))
        await rig.ws.until(lambda: rig.queue.refused)
    await rig.until(rig.superseded)
    assert [r.text for r in rig.requests] == ["how many?", "how many now?"]


def _was_asked(rig: Rig, ts: str) -> bool:
    return any(r.ts == ts for r in rig.requests)
