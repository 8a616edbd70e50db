"""Stop, however it is said, and by whom."""

from __future__ import annotations

import pytest

from bot.dev.workspace import ADA, BEN, GUS
from bot.slack.intake.addressing import is_stop
from bot.slack.ui import buttons, words
from bot.text.translation import reader
from tests.unit.slack.rig import Rig
from tests.unit.slack.scene import GENERAL


async def asked(rig: Rig, text: str = "long work") -> str:
    """A question of Ada's that is being worked on; its ts."""
    said = await rig.ws.say(ADA, GENERAL, rig.mention(text))
    await rig.ws.until(lambda: rig.requests)
    return str(said["ts"])


async def told(rig: Rig, user: str, thread: str) -> str:
    """What only that person sees in the thread."""

    def private() -> list[str]:
        seen = rig.ws.messages(GENERAL, thread, user)
        return [str(m["text"]) for m in seen if m.get("is_ephemeral")]

    return (await rig.ws.until(private))[0]


@pytest.mark.parametrize(
    "typed", ["stop", "Stop!", " STOP. ", "please stop", "cancel", "Never mind"]
)
async def test_the_word_typed_in_the_thread_stops_and_is_no_question(rig: Rig, typed: str) -> None:
    """Without a mention too; it does not wait behind what it is to stop."""
    thread = await asked(rig)
    await rig.ws.say(ADA, GENERAL, typed, thread_ts=thread)
    assert await rig.until(rig.stopped) == [(rig.requests[0].thread_key, ADA)]
    assert len(rig.requests) == 1


async def test_somebody_else_may_stop_it_too_if_they_may_ask(rig: Rig) -> None:
    """Who watches it go wrong need not be who asked; guests may not."""
    thread = await asked(rig)
    await rig.ws.say(GUS, GENERAL, rig.mention("stop"), thread_ts=thread)
    assert "guests" in await told(rig, GUS, thread)
    assert await rig.stopped() == []
    await rig.ws.say(BEN, GENERAL, rig.mention("stop"), thread_ts=thread)
    assert set(await rig.until(rig.stopped)) == {(rig.requests[0].thread_key, BEN)}


async def test_where_nothing_runs_the_word_is_answered_once(rig: Rig) -> None:
    """A mention comes as two events; between people it is none of the bot's business."""
    thread = await asked(rig)
    await rig.end(rig.requests[0])
    await rig.ws.say(ADA, GENERAL, rig.mention("stop"), thread_ts=thread)
    assert await told(rig, ADA, thread) == words.NOTHING_RUNS()
    await rig.ws.say(BEN, GENERAL, "I see.", thread_ts=thread)
    await rig.ws.say(BEN, GENERAL, "stop", thread_ts=thread)
    direct = rig.direct(ADA)
    await rig.ws.say(ADA, direct, "are you there?")
    await rig.ws.until(lambda: len(rig.requests) == 2)
    seen = [m for m in rig.ws.messages(GENERAL, thread, BEN) if m.get("is_ephemeral")]
    assert seen == []
    assert [r.channel for r in rig.requests] == [GENERAL, direct]


async def test_where_nothing_runs_something_else_is_called_off(rig: Rig) -> None:
    """As a reminder that was just spoken of: "cancel it" is a request then, and taken in once."""
    thread = await asked(rig)
    await rig.end(rig.requests[0])
    await rig.ws.say(ADA, GENERAL, rig.mention("cancel it"), thread_ts=thread)
    await rig.ws.until(lambda: len(rig.requests) == 2)
    direct = rig.direct(ADA)
    await rig.ws.say(ADA, direct, "Cancel that!")
    await rig.ws.until(lambda: len(rig.requests) == 3)
    assert [r.text for r in rig.requests[1:]] == ["cancel it", "Cancel that!"]


async def test_a_request_to_call_off_is_not_lost_nor_stopped_by_itself(rig: Rig) -> None:
    """Though nothing could be kept when its events came, and though one of them comes again when it
    is being worked on (promise 1)."""
    thread = await asked(rig)
    await rig.end(rig.requests[0])
    rig.ws.delivery.ack_timeout = 0.3
    rig.ws.delivery.retry_delays = (0.0, 0.1, 2.0, 0.1)
    async with rig.outage():
        said = await rig.ws.say(ADA, GENERAL, rig.mention("cancel it"), thread_ts=thread)
        await rig.ws.until(lambda: rig.queue.refused)
    await rig.ws.until(lambda: not rig.ws.delivery.under_way)
    for kind in ("message", "app_mention"):
        rig.ws.emit({**said, "channel": GENERAL, "event_ts": said["ts"], "type": kind})
    await rig.ws.until(lambda: not rig.ws.delivery.under_way)
    assert await rig.stopped() == []
    assert [r.text for r in rig.requests[1:]] == ["cancel it"]


async def test_in_a_direct_message_it_need_not_be_typed_in_the_thread(rig: Rig) -> None:
    """There a person sees one conversation, and means all of it."""
    direct = rig.direct(ADA)
    await rig.ws.say(ADA, direct, "long work")
    await rig.ws.until(lambda: rig.requests)
    await rig.ws.say(ADA, direct, "stop")
    assert await rig.until(rig.stopped) == [(rig.requests[-1].thread_key, ADA)]


@pytest.mark.parametrize(
    "typed", ["stop the presses, how many?", "how do I stop it?", "stopwatch", ""]
)
def test_a_question_with_the_word_in_it_is_a_question(typed: str) -> None:
    assert not is_stop(typed, "U1")


async def test_a_cross_on_the_question_stops_it_if_the_asker_sets_it(rig: Rig) -> None:
    """Of anybody else it may be an opinion of the question."""
    thread = await asked(rig)
    await rig.ws.react(BEN, GENERAL, thread, "x")
    await rig.ws.react(ADA, GENERAL, thread, "eyes")
    await rig.ws.react(ADA, GENERAL, thread, "x")
    assert await rig.until(rig.stopped) == [(rig.requests[0].thread_key, ADA)]


async def test_a_cross_on_the_message_of_the_run_stops_it(rig: Rig) -> None:
    """One that is at work has a Stop button; on an old answer a cross stops nothing."""
    thread = await asked(rig)
    key = rig.requests[0].thread_key
    post = rig.clients.writes.chat_postMessage
    old = await post(channel=GENERAL, thread_ts=thread, text="An answer.")
    now = await post(
        channel=GENERAL,
        thread_ts=thread,
        text="…",
        blocks=[buttons.stop_button(buttons.Stops.read(key))],
    )
    await rig.ws.react(ADA, GENERAL, old["ts"], "x")
    await rig.ws.react(BEN, GENERAL, now["ts"], "x")
    await rig.ws.react(ADA, GENERAL, now["ts"], "octagonal_sign")
    assert await rig.until(rig.stopped) == [(key, ADA)]


async def test_the_button_refuses_who_may_not_ask(rig: Rig) -> None:
    """With a sentence to them alone."""
    thread = await asked(rig)
    key = rig.requests[0].thread_key
    posted = await rig.clients.writes.chat_postMessage(
        channel=GENERAL,
        thread_ts=thread,
        text="…",
        blocks=[buttons.stop_button(buttons.Stops.read(key))],
    )
    await rig.ws.click(GUS, GENERAL, posted["ts"], buttons.STOP)
    assert "guests" in await told(rig, GUS, thread)
    assert await rig.stopped() == []


async def test_who_may_not_stop_is_told_so_after_slacks_stop_as_well(rig: Rig) -> None:
    """It has stopped Slack's own stream only: the answer goes on. All of it is in their language (U9)."""
    rig.ws.state.people[GUS].locale = "ja-JP"
    with reader("ja-JP"):
        goes_on = words.CANNOT_STOP(why="")
    thread = await asked(rig)
    await rig.clients.writes.chat_postMessage(channel=GENERAL, thread_ts=thread, text="…")
    rig.ws.emit(
        {"type": "agent_session_stopped", "channel": GENERAL, "user": GUS, "thread_ts": thread}
    )
    assert (await told(rig, GUS, thread)).startswith(goes_on)
    assert await rig.stopped() == []


async def test_slacks_stop_outside_a_thread_stops_what_runs_in_a_direct_message(rig: Rig) -> None:
    """Where Slack names no thread; in a channel that would be everybody's."""
    await asked(rig)
    direct = rig.direct(ADA)
    await rig.ws.say(ADA, direct, "long work, too")
    await rig.ws.until(lambda: len(rig.requests) == 2)
    for channel in (GENERAL, direct):
        about = {"channel": channel, "user": ADA, "thread_ts": None}
        rig.ws.emit({"type": "agent_session_stopped", **about})
    assert await rig.until(rig.stopped) == [(rig.requests[-1].thread_key, ADA)]
