"""Shortcuts, modals, the command and the buttons: each ends in one request, or in a clear word."""

import asyncio
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from bot.agent.limits import Limits
from bot.core.budgets import Budget, Cap, Pause
from bot.core.outcome import RunStatus
from bot.core.request import Entry, FileRef, RepeatReason, Request
from bot.core.schedule import MOST, Schedule
from bot.dev.workspace import ADA, BEN, GUS, NotAnswered
from bot.dev.workspace.store.state import Channel
from bot.features.accounts.slack.messages import code_modal, link_modal, paste_modal
from bot.features.evidence.settings import EvidenceMode
from bot.features.evidence.words import CHANNEL_EVIDENCE, MODES
from bot.features.feedback.comment_form import comment_form
from bot.features.feedback.instructions_form import Draft, instructions_form
from bot.features.home.settings_forms import (
    GeneralSettings,
    channel_form,
    personal_form,
    reset_done,
)
from bot.features.home.view import AdminView, home_view, suggested_prompts
from bot.features.memories.home import memory_blocks
from bot.features.schedules.home import all_schedules, own_scheduled
from bot.features.schedules.message import ScheduledMessage
from bot.features.shortcuts import forms
from bot.features.shortcuts import words as shortcut_words
from bot.features.shortcuts.forms import (
    About,
    ask_about_modal,
    ask_anywhere_modal,
    task_modal,
)
from bot.features.shortcuts.tasks import DRAFT, EXTRACT, SUMMARISE, TASKS
from bot.features.skills.skill_form import Draft as SkillDraft
from bot.features.skills.skill_form import skill_form
from bot.features.skills.written import WrittenSkill
from bot.mcp import ServerStatus
from bot.model import ModelChoice, ModelChoices
from bot.runs.policy.budgets import Budgets
from bot.runs.policy.channels import ChannelLayers, Profile
from bot.runs.policy.preferences import Preferences
from bot.settings import ChannelTable
from bot.slack.intake import questions
from bot.slack.intake.slack_part import ChannelChoice
from bot.slack.ui import buttons, words
from bot.slack.ui.blocks import actions, button
from bot.slack.ui.outcome import render
from bot.text.translation import reader
from bot.toolkit import Memory, MemoryScope
from tests.catalogues import LANGUAGES
from tests.support.slack import choose
from tests.unit.slack.judge import accept_view
from tests.unit.slack.rig import NO_CHOICE, Rig, listening, nothing_used
from tests.unit.slack.samples import answer, outcome

GENERAL = "C0GENERAL1"
RANDOM = "C0RANDOM01"  # the bot is not there
FINANCE = "C0FINANCE1"  # private, without the bot


def set_as(settings: ChannelTable, **profiles: Profile) -> ChannelLayers:
    """What a channel's settings are made of, all that is said of the channel in bot.toml."""
    return ChannelLayers(ChannelTable(), settings, None, profiles, ())


def modal_values(question: str, where: str, channel: str | None = None) -> dict[str, Any]:
    values: dict[str, Any] = {"question": {"question": question}, "where": {"where": where}}
    return values | ({"channel": {"channel": channel}} if channel else {})


async def opened(rig: Rig, user: str) -> dict[str, Any]:
    return (await rig.ws.until(lambda: rig.ws.views(user)))[-1]


async def test_asking_about_a_message_is_answered_in_its_thread(rig):
    said = await rig.ws.say(BEN, GENERAL, "Numbers are <in>")
    await rig.ws.shortcut(ADA, forms.ASK_ABOUT, channel=GENERAL, ts=said["ts"])
    view = await opened(rig, ADA)
    await rig.ws.submit(ADA, view["id"], modal_values("what does he mean?", "thread"))
    [request] = rig.requests
    assert request.entry is Entry.MESSAGE_SHORTCUT
    assert (request.channel, request.thread, request.user) == (GENERAL, said["ts"], ADA)
    assert (request.text, request.quoted) == ("what does he mean?", "Numbers are <in>")
    aloud = rig.ws.messages(GENERAL, said["ts"])[-1]
    assert (aloud["ts"], request.private) == (request.ts, False)
    assert "what does he mean?" in str(aloud["blocks"])


async def test_asking_for_oneself_says_nothing_aloud(rig):
    said = await rig.ws.say(BEN, GENERAL, "Numbers are in")
    await rig.ws.shortcut(ADA, forms.ASK_ABOUT, channel=GENERAL, ts=said["ts"])
    view = await opened(rig, ADA)
    await rig.ws.submit(ADA, view["id"], modal_values("is he right?", "me"))
    [request] = rig.requests
    assert request.private
    assert len(rig.ws.messages(GENERAL, said["ts"])) == 1


async def test_a_private_window_that_opens_after_its_answer_says_that_it_is_there(rig, monkeypatch):
    """Its run found no window, and looks for none again."""
    said = await rig.ws.say(BEN, GENERAL, "Numbers are in")
    await rig.ws.shortcut(ADA, forms.ASK_ABOUT, channel=GENERAL, ts=said["ts"])
    view = await opened(rig, ADA)
    await rig.ws.submit(ADA, view["id"], modal_values("is he right?", "me"))
    [request] = rig.requests
    assert "Working on it" in str(rig.ws.views(ADA))
    await rig.begin(request)
    run = rig.stores.redis.key("run", "run_1")
    await rig.stores.redis.call("HSET", run, "outcome", outcome().model_dump_json())
    monkeypatch.setattr(questions, "_VIEW_SECONDS", 0.0)
    rig.asking.working_view(request)  # which is opened now
    await rig.ws.until(lambda: "Done. Only you see the answer" in str(rig.ws.views(ADA)))


async def test_what_is_said_aloud_holds_no_secret(rig):
    """Nor what it is about: the bot carries nobody's key to another place (reliability 11)."""
    key = f"xox{'b-123456789012'}-Ab3dE6gH1jK4mN7pQ0sT"
    said = await rig.ws.say(BEN, RANDOM, f"It is {key}")
    await rig.ws.shortcut(ADA, forms.ASK_ABOUT, channel=RANDOM, ts=said["ts"])
    view = await opened(rig, ADA)
    await rig.ws.submit(ADA, view["id"], modal_values(f"Why does {key} fail?", "me"))
    [request] = await rig.ws.until(lambda: rig.requests)
    [aloud] = [m for m in rig.ws.messages(rig.direct(ADA)) if m["ts"] == request.ts]
    assert str(aloud).count("[redacted Slack token]") == 3  # one is in the text beside the blocks
    assert key not in str(aloud)


def quoted_in(view: dict[str, Any]) -> str:
    """The message that a modal shows, with the names of its emoji in angle brackets."""
    [rich] = [block for block in view["blocks"] if block["type"] == "rich_text"]
    pieces = rich["elements"][1]["elements"]
    return "".join(each.get("text") or f"<{each['name']}>" for each in pieces)


async def test_a_modal_shows_the_message_as_people_read_it(rig):
    said = await rig.ws.say(
        BEN, GENERAL, f"<@{ADA}> & <https://a.example/x|this> *now* :truck: at 8:30:15"
    )
    for callback in (forms.ASK_ABOUT, *TASKS):
        await rig.ws.shortcut(ADA, callback, channel=GENERAL, ts=said["ts"])
        view = await opened(rig, ADA)
        assert (
            quoted_in(view) == "@Ada Lovelace & this (https://a.example/x) *now* <truck> at 8:30:15"
        )


async def test_a_modal_shows_what_an_app_wrote_without_its_marks(rig):
    """Apps write Markdown, whose asterisks are nothing to read."""
    said = await rig.ws.say(BEN, GENERAL, "**West** leads.\n- 5 of 8", bot_id="B0OTHER001")
    await rig.ws.shortcut(ADA, forms.ASK_ABOUT, channel=GENERAL, ts=said["ts"])
    assert quoted_in(await opened(rig, ADA)) == "West leads. 5 of 8"


async def test_what_another_app_attached_can_be_asked_about(rig):
    """Alerts have no text of their own."""
    alert = [{"title": "Disk full", "text": "on db-1", "fallback": "x"}]
    said = await rig.ws.say(BEN, GENERAL, "", bot_id="B0OTHER001", attachments=alert)
    await rig.ws.shortcut(ADA, forms.ASK_ABOUT, channel=GENERAL, ts=said["ts"])
    view = await opened(rig, ADA)
    assert quoted_in(view) == "Disk full on db-1"
    await rig.ws.submit(ADA, view["id"], {"question": {"question": "which host?"}})
    [request] = await rig.ws.until(lambda: rig.requests)
    assert request.quoted == "Disk full\non db-1"


async def test_a_modal_opens_in_time_when_names_are_slow(rig, monkeypatch):
    """Its trigger is good for three seconds."""

    async def never(user: str) -> str:
        await asyncio.Event().wait()
        return user

    monkeypatch.setattr(rig.asking, "name", never)
    said = await rig.ws.say(BEN, GENERAL, f"<@{ADA}> look")
    await rig.ws.shortcut(ADA, forms.ASK_ABOUT, channel=GENERAL, ts=said["ts"])
    assert quoted_in(await opened(rig, ADA)) == f"@{ADA} look"


@pytest.mark.parametrize("channel", [GENERAL, RANDOM])
async def test_who_waited_too_long_for_a_modal_is_told(rig, channel):
    """Alone, where they acted; directly, where the bot is not. Slack itself says nothing of it."""
    rig.ws.trigger_lifetime = 0.0
    said = await rig.ws.say(BEN, channel, "Numbers are in")
    await rig.ws.shortcut(ADA, forms.ASK_ABOUT, channel=channel, ts=said["ts"])
    place = GENERAL if channel == GENERAL else rig.direct(ADA)
    [told] = [m for m in rig.ws.messages(place, viewer=ADA) if m["text"] == words.MODAL_TOO_LATE()]
    assert bool(told.get("is_ephemeral")) == (channel == GENERAL)
    assert rig.ws.views(ADA) == []


@pytest.mark.parametrize(
    ("task", "response_type", "where"),
    [
        (SUMMARISE, "ThreadSummary", "thread"),
        (EXTRACT, "ActionItems", "thread"),
        (DRAFT, "DraftReply", "me"),
    ],
)
async def test_a_task_on_a_message_asks_for_its_own_kind_of_result(rig, task, response_type, where):
    """C3: sent as it opens, without a word; the draft is for oneself unless one says otherwise."""
    root = await rig.ws.say(BEN, GENERAL, "Shall we launch?")
    said = await rig.ws.say(BEN, GENERAL, f"<@{ADA}> what do you say?", thread_ts=root["ts"])
    await rig.ws.shortcut(ADA, task.callback, channel=GENERAL, ts=said["ts"])
    view = await opened(rig, ADA)
    [choice] = [b["element"] for b in view["blocks"] if b.get("block_id") == "where"]
    assert choice["initial_option"]["value"] == where
    await rig.ws.submit(ADA, view["id"], {"where": {"where": where}})
    [request] = rig.requests
    assert (request.response_type, request.private) == (response_type, where == "me")
    assert (request.thread, request.text) == (root["ts"], task.asked())
    assert request.quoted == ("@Ada Lovelace what do you say?" if task.about_message else "")


async def test_a_task_takes_an_instruction_and_says_it_aloud(rig):
    said = await rig.ws.say(BEN, GENERAL, "Numbers are in")
    await rig.ws.shortcut(ADA, SUMMARISE.callback, channel=GENERAL, ts=said["ts"])
    view = await opened(rig, ADA)
    await rig.ws.submit(ADA, view["id"], modal_values("only the costs", "thread"))
    [request] = rig.requests
    assert request.text == f"{shortcut_words.SUMMARISE_ASKED()}\n\nonly the costs"
    aloud = rig.ws.messages(GENERAL, said["ts"])[-1]
    assert aloud["ts"] == request.ts
    assert "only the costs" in str(aloud["blocks"])


@pytest.mark.parametrize(
    ("place", "note", "no_thread"),
    [
        (RANDOM, shortcut_words.ANSWERED_AWAY(), "Invite me"),
        (FINANCE, shortcut_words.ANSWERED_AWAY(), "Invite me"),
        ("D0ADABEN01", words.ANSWERED_DIRECTLY(), shortcut_words.BETWEEN_PEOPLE()),
    ],
)
async def test_a_message_is_asked_about_where_the_bot_is_not(rig, place, note, no_thread):
    """In its own direct message with the person, which begins a thread: the form says so and offers
    nothing else. What needs the thread is not offered; nobody is told to invite the bot to a
    conversation of two people."""
    said = await rig.ws.say(ADA, place, "Numbers are in")
    for number, callback in enumerate((forms.ASK_ABOUT, DRAFT.callback), 1):
        await rig.ws.shortcut(ADA, callback, channel=place, ts=said["ts"])
        view = await opened(rig, ADA)
        assert note in str(view["blocks"])
        assert "radio_buttons" not in str(view["blocks"])
        await rig.ws.submit(ADA, view["id"], {"question": {"question": "so?"}})
        await rig.ws.until(lambda: len(rig.requests) == number)  # noqa: B023
        request = rig.requests[-1]
        assert (request.channel, request.quoted) == (rig.direct(ADA), "Numbers are in")
        assert (request.thread, request.private) == (request.ts, False)
    assert "Numbers are in" in str(rig.ws.messages(rig.direct(ADA))[0]["blocks"])
    await rig.ws.shortcut(ADA, "summarise_thread", channel=place, ts=said["ts"])
    view = await opened(rig, ADA)
    assert no_thread in str(view["blocks"])
    assert view.get("submit") is None


async def test_in_the_bots_direct_message_there_is_nobody_to_keep_it_from(rig):
    """The answer stays in the thread, and the form asks nothing of it."""
    place = rig.direct(ADA)
    said = await rig.ws.say(ADA, place, "Numbers are in")
    await rig.ws.until(lambda: rig.requests)
    await rig.ws.shortcut(ADA, DRAFT.callback, channel=place, ts=said["ts"])
    view = await opened(rig, ADA)
    assert "radio_buttons" not in str(view["blocks"])
    await rig.ws.submit(ADA, view["id"], {"question": {"question": ""}})
    request = rig.requests[-1]
    assert (request.channel, request.thread, request.private) == (place, said["ts"], False)


async def test_asking_from_anywhere_goes_to_the_direct_message(rig):
    await rig.ws.shortcut(ADA, forms.ASK_ANYWHERE)
    view = await opened(rig, ADA)
    await rig.ws.submit(ADA, view["id"], modal_values("what is new?", "me"))
    [request] = rig.requests
    assert request.entry is Entry.GLOBAL_SHORTCUT
    assert request.channel == rig.direct(ADA)
    assert request.thread == request.ts
    assert not request.private


async def test_asking_from_anywhere_may_go_to_a_channel(rig):
    await rig.ws.shortcut(ADA, forms.ASK_ANYWHERE)
    view = await opened(rig, ADA)
    await rig.ws.submit(ADA, view["id"], modal_values("what is new?", "channel", GENERAL))
    [request] = rig.requests
    assert request.channel == GENERAL
    assert "'Ada Lovelace'" in str(rig.ws.messages(GENERAL)[-1]["blocks"])


@pytest.mark.parametrize(
    ("values", "block", "says"),
    [
        (modal_values(" \u200b ", "me"), "question", words.EMPTY_QUESTION()),
        (modal_values("hi", "channel"), "channel", shortcut_words.CHOOSE_CHANNEL()),
        (modal_values("hi", "channel", RANDOM), "channel", "Invite me"),
        (modal_values("hi", "channel", FINANCE), "channel", "Invite me"),
        (modal_values("hi", "channel", "C0ARCHIVE1"), "channel", words.ARCHIVED()),
    ],
)
async def test_what_is_wrong_is_said_beside_the_field(rig, values, block, says):
    await rig.ws.shortcut(ADA, forms.ASK_ANYWHERE)
    view = await opened(rig, ADA)
    answered = await rig.ws.submit(ADA, view["id"], values)
    assert says in answered["errors"][block]
    assert rig.requests == []
    assert rig.ws.views(ADA), "the modal stays open"


async def test_a_guest_who_may_ask_in_one_channel_is_told_no_for_the_others(ws):
    async with listening(ws, settings={GENERAL: ChannelTable(allow_guests=True)}) as rig:
        await ws.shortcut(GUS, forms.ASK_ANYWHERE)
        view = await opened(rig, GUS)
        answered = await ws.submit(GUS, view["id"], modal_values("hi", "me"))
        assert "guests" in answered["errors"]["where"]
        assert await ws.submit(GUS, view["id"], modal_values("hi", "channel", GENERAL)) == {}


@pytest.mark.parametrize("way", ["message", "global", "command"])
async def test_a_guest_fills_in_no_form_in_vain(rig, way):
    """What can be known before is said at once."""
    if way == "message":
        said = await rig.ws.say(BEN, GENERAL, "Numbers are in")
        await rig.ws.shortcut(GUS, DRAFT.callback, channel=GENERAL, ts=said["ts"])
    elif way == "global":
        await rig.ws.shortcut(GUS, forms.ASK_ANYWHERE)
    else:
        await rig.ws.command(GUS, GENERAL, "/ask", "")
    view = await opened(rig, GUS)
    assert "guests" in str(view["blocks"])
    assert view.get("submit") is None


async def test_nobody_can_ask_into_a_channel_they_are_not_in(rig):
    """A forged payload names a channel that the person cannot see; the bot is in it."""
    rig.ws.channels[FINANCE].members.append(rig.ws.bot_user_id)
    chloe = "U0CHLOE001"
    await rig.ws.shortcut(chloe, forms.ASK_ANYWHERE)
    view = await opened(rig, chloe)
    answered = await rig.ws.submit(chloe, view["id"], modal_values("hi", "channel", FINANCE))
    with reader("fr-FR"):  # hers (U9)
        assert answered["errors"]["channel"] == words.NOT_YOUR_CHANNEL()
    assert rig.ws.messages(FINANCE) == []


async def test_a_modal_sent_twice_asks_once(rig):
    await rig.ws.shortcut(ADA, forms.ASK_ANYWHERE)
    view = await opened(rig, ADA)
    payload = modal_values("twice?", "channel", GENERAL)
    await rig.ws.submit(ADA, view["id"], payload)
    rig.ws.state.open_views[ADA] = [view]
    await rig.ws.submit(ADA, view["id"], payload)
    assert len(rig.requests) == 1
    assert len(rig.ws.messages(GENERAL)) == 1


async def test_the_command_asks_in_its_channel(rig):
    await rig.ws.command(ADA, GENERAL, "/ask", f"what did <@{BEN}> say?")
    [request] = rig.requests
    assert request.entry is Entry.COMMAND
    assert request.text == "what did @Ben Okafor say?"
    assert request.thread == request.ts == rig.ws.messages(GENERAL)[-1]["ts"]


async def test_the_command_without_a_question_opens_the_modal(rig):
    await rig.ws.command(ADA, GENERAL, "/ask", "  ")
    assert (await opened(rig, ADA))["callback_id"] == forms.ASK_ANYWHERE


async def test_the_command_helps_whoever_asks_for_help(rig):
    """As every command in Slack: to them alone, and it costs nothing."""
    answered = await rig.ws.command(ADA, GENERAL, "/ask", "Help")
    assert "For example" in answered["text"]
    assert rig.requests == []
    assert rig.ws.messages(GENERAL) == []


async def test_the_command_where_the_bot_is_not_says_how_to_invite_it(rig):
    answered = await rig.ws.command(ADA, RANDOM, "/ask", "hi <there>")
    assert "I am not in this channel" in answered["text"]
    assert "/invite" in answered["text"]
    assert "`/ask hi &lt;there&gt;`" in answered["text"]  # which need not be typed again
    assert rig.requests == []


async def test_the_command_between_two_people_is_answered_directly(rig):
    """There nobody can invite it."""
    theirs = Channel("D0ADABEN01", "", "im", [ADA, BEN])
    rig.ws.channels[theirs.id] = theirs
    answered = await rig.ws.command(ADA, theirs.id, "/ask", "hi")
    assert answered["text"] == words.ANSWERED_DIRECTLY()
    [request] = rig.requests
    assert request.channel == rig.direct(ADA)


async def posted_answer(rig: Rig, asked: str = "first", **changes: Any) -> tuple[Request, str]:
    """An answer with its buttons, in a thread of a request that was taken in."""
    said = await rig.ws.say(ADA, GENERAL, rig.mention(asked))
    await rig.ws.until(lambda: rig.requests)
    request = rig.requests[0]
    part = render(outcome(answer(**changes)), request).parts[0]
    posted = await rig.clients.writes.chat_postMessage(
        channel=GENERAL, thread_ts=said["ts"], text=part.text, blocks=part.blocks
    )
    return request, posted["ts"]


async def test_a_follow_up_button_asks_its_question_once(rig):
    request, ts = await posted_answer(rig, follow_ups=["And by product?"])
    for _ in range(2):
        await rig.ws.click(BEN, GENERAL, ts, "follow_up_0")
    follow_up = rig.requests[1]
    assert (follow_up.text, follow_up.user) == ("And by product?", BEN)
    assert follow_up.thread == request.thread
    assert len(rig.requests) == 2


@pytest.mark.parametrize(
    ("action", "how"),
    [(buttons.REGENERATE, RepeatReason.REGENERATE), (buttons.DEEPER, RepeatReason.DEEPER)],
)
async def test_an_answer_is_made_again_or_deeper_once(rig, action, how):
    """However often it is chosen; as the person who chose, in the same thread. The buttons of earlier
    releases, in messages that stay, do the same."""
    request, ts = await posted_answer(rig)
    old = [actions(button("Once more", action, request.id))]
    earlier = await rig.clients.writes.chat_postMessage(
        channel=GENERAL, thread_ts=request.thread, text="An old answer", blocks=old
    )
    await choose(rig.ws, BEN, GENERAL, ts, action)
    await rig.ws.click(BEN, GENERAL, earlier["ts"], action)
    await choose(rig.ws, ADA, GENERAL, ts, action)
    assert len(rig.requests) == 2
    again = rig.requests[1]
    assert (again.text, again.thread, again.user) == (request.text, request.thread, BEN)
    assert again.again is how
    [told] = await rig.ws.until(
        lambda: [m for m in rig.ws.messages(GENERAL, request.thread, ADA) if m.get("is_ephemeral")]
    )
    assert told["text"] == words.ALREADY_ASKED()


async def test_an_edited_question_is_answered_again_as_it_stands_now(rig):
    """What it said before the edit is nothing to the model then."""
    request, ts = await posted_answer(rig)
    edited = {"again": RepeatReason.EDITED, "before_edit": "what it was"}
    await rig.stores.mailbox.rewrite(request.model_copy(update=edited))
    await choose(rig.ws, ADA, GENERAL, ts, buttons.REGENERATE)
    again = rig.requests[1]
    assert (again.text, again.before_edit) == (request.text, "")


@pytest.mark.parametrize("person", [ADA, BEN])
async def test_who_asks_again_for_somebody_else_mentions_nobody(rig, person):
    """(reliability 11) They did not write it."""
    _, ts = await posted_answer(rig, f"post hi <@{BEN}>")
    await choose(rig.ws, person, GENERAL, ts, buttons.REGENERATE)
    first, again = rig.requests
    assert again.mentioned == (first.mentioned if person == ADA else ())
    assert first.mentioned


async def test_who_may_not_ask_may_not_have_an_answer_made_again(rig):
    """Guests are refused here as everywhere."""
    _, ts = await posted_answer(rig)
    await choose(rig.ws, GUS, GENERAL, ts, buttons.DEEPER)
    assert len(rig.requests) == 1


async def test_retry_asks_the_same_again_once(rig):
    """However often it is pressed; then it is gone, and the rest of the message stays."""
    said = await rig.ws.say(ADA, GENERAL, rig.mention("first"))
    await rig.ws.until(lambda: rig.requests)
    [request] = rig.requests
    failed = outcome(status=RunStatus.FAILED, note="No luck.").model_copy(update={"result": None})
    part = render(failed, request).parts[0]
    posted = await rig.clients.writes.chat_postMessage(
        channel=GENERAL, thread_ts=said["ts"], text=part.text, blocks=part.blocks
    )
    presses = (rig.ws.click(BEN, GENERAL, posted["ts"], buttons.RETRY) for _ in range(2))
    await asyncio.gather(*presses)
    assert len(rig.requests) == 2

    def shown() -> str:
        return str(rig.ws.messages(GENERAL, said["ts"])[1]["blocks"])

    await rig.ws.until(lambda: buttons.RETRY not in shown())
    assert "No luck." in shown()
    again = rig.requests[1]
    assert (again.text, again.thread, again.user) == (request.text, request.thread, BEN)
    assert again.id != request.id


async def test_stop_names_the_thread_and_who_pressed_it(rig):
    await rig.ws.say(ADA, GENERAL, rig.mention("first"))
    [request] = await rig.ws.until(lambda: rig.requests)
    stops = buttons.Stops("T1", GENERAL, request.thread)  # of this workspace, whatever it says
    posted = await rig.clients.writes.chat_postMessage(
        channel=GENERAL, text="…", blocks=[buttons.stop_button(stops)]
    )
    await rig.ws.click(BEN, GENERAL, posted["ts"], buttons.STOP)
    assert await rig.stopped() == [(request.thread_key, BEN)]


async def test_stop_where_nothing_runs_says_so(rig):
    posted = await rig.clients.writes.chat_postMessage(
        channel=GENERAL, text="…", blocks=[buttons.stop_button(buttons.Stops("T1", GENERAL, "1.2"))]
    )
    await rig.ws.click(BEN, GENERAL, posted["ts"], buttons.STOP)
    told = await rig.ws.until(
        lambda: [m for m in rig.ws.messages(GENERAL, viewer=BEN) if m.get("is_ephemeral")]
    )
    assert told[0]["text"] == words.NOTHING_RUNS()


async def test_a_request_that_cannot_be_kept_is_not_acknowledged(rig):
    rig.ws.delivery.ack_timeout = 0.3
    async with rig.outage():
        with pytest.raises(NotAnswered):
            await rig.ws.command(ADA, GENERAL, "/ask", "hello?")


@pytest.mark.parametrize("locale", ["en-US", *LANGUAGES])
def test_every_modal_is_one_that_slack_takes(locale):
    """Whatever is quoted, and in each language: titles have room for 24 characters only."""
    files = tuple(FileRef(id=f"F{i}", name="n" * 200) for i in range(9))
    with reader(locale):
        for quoted in ("", "short", "\U0001f600" * 5_000, '"\\\n' * 4_000):
            about = About(channel="C1", thread="1.2", quoted=quoted, files=files)
            view = ask_about_modal(about, quoted)
            assert len(view["private_metadata"]) <= 3_000
            accept_view(view, "modal")
            for task in TASKS.values():
                accept_view(task_modal(task, about, quoted), "modal")
        accept_view(ask_anywhere_modal("x" * 9_000), "modal")
        accept_view(comment_form("{}", private=True), "modal")
        accept_view(instructions_form(Draft(channel="C1", instructions="x" * 9_000)), "modal")
        for text in ("x" * 20_000, f"{'word ' * 320}\n\n" * 12):
            skill = WrittenSkill(name="n" * 64, description="d" * 1_024, text=text, number=3)
            view = skill_form(SkillDraft.of(skill, current=4), versions=[skill] * 20)
            accept_view(view, "modal")
            inputs = [block["element"] for block in view["blocks"] if block["type"] == "input"]
            said = "".join(str(element.get("initial_value", "")) for element in inputs)
            assert said.count("x") == text.count("x")  # no part of it is missing
            assert said.count("word") == text.count("word")
        accept_view(code_modal("notes", "N" * 30), "modal")
        accept_view(paste_modal("notes", "N" * 30, "https://bot.example/x"), "modal")
        accept_view(link_modal("N" * 30, "https://bot.example/x"), "modal")


@pytest.mark.parametrize("locale", ["en-US", *LANGUAGES])
async def test_the_home_tab_is_one_that_slack_takes(locale):
    used = await nothing_used("T1", "U1")
    with reader(locale):
        accept_view(home_view("Answer Bot", used, Preferences(), None), "home")
        pause = Pause(by="U1", name="Ada", at=datetime.now(UTC))
        known = [Memory(scope=MemoryScope.USER, text="x" * 500, by="U1") for _ in range(60)]
        where = {"team": "T1", "channel": "C1", "thread": "1.2", "user": "U1", "next_at": 1}
        everybodys = [Schedule.model_validate({**where, "text": "x" * 2_000}) for _ in range(90)]
        servers = [ServerStatus("clock", ("now",)), ServerStatus("gone", error="cannot be reached")]
        caps = Budgets(**{str(each): Cap(cost=2, tokens=100_000) for each in Budget})
        board = AdminView(
            caps,
            used * 50,
            {"data": 9, "web": 3},
            servers,
            sections=all_schedules(everybodys),
        )
        own = Preferences(style="&" * 1_000, only_me=True)
        waits = {"team": "T1", "user": "U1", "channel": "C1", "text": "&lt;" * 999, "post_at": 1}
        later = [ScheduledMessage.model_validate(waits) for _ in range(90)]
        shown = home_view(
            "Answer Bot",
            used,
            own,
            board,
            pause=pause,
            sections=[
                *memory_blocks(known, may_ask=True),
                *own_scheduled(everybodys[:MOST], later),
            ],
        )
        accept_view(shown, "home")
        few = ModelChoice(name="x" * 30, model="m" * 200, effort="high")
        named = [few.model_copy(update={"name": f"{number:030}"}) for number in range(9)]
        models = ModelChoices(("m" * 200,), named)
        accept_view(personal_form(own, NO_CHOICE), "modal")
        accept_view(personal_form(own, models), "modal")
        accept_view(
            channel_form(
                "C1",
                "#" + "x" * 80,
                set_as(ChannelTable(model=named[3].name, profile="gone")),
                GeneralSettings(Limits(), caps, "never", models),
            ),
            "modal",
        )
        of_all = {"title": "x" * 60, "instructions": "x", "tools": ("data",), "model": "x"}
        profiles = {f"p{number}": Profile.model_validate(of_all) for number in range(120)}
        every = ChannelTable(
            profile="p110",
            instructions="x" * 3_000,
            tools=("data", "read_*"),
            people=("U1",),
            allow_guests=True,
            follow="never",
            limits={"turns": 5, "cost": 0.5},
        )
        for mode in get_args(EvidenceMode):
            evidence = ChannelChoice("evidence", CHANNEL_EVIDENCE, MODES, mode)
            general = GeneralSettings(Limits(), Budgets(), "always", NO_CHOICE, [evidence])
            accept_view(channel_form("C1", "#general", set_as(every, **profiles), general), "modal")
        accept_view(reset_done("#" + "x" * 80), "modal")
        assert 1 <= len(suggested_prompts()) <= 4
