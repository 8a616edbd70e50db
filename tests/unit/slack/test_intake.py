"""From what people do in Slack to one request each, or to a rule that ignores it (reliability 1, 9)."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.agent.prompts import request_message
from bot.core.errors import NotPermitted
from bot.core.request import Entry, Request
from bot.dev.workspace import ADA, BEN, CHLOE, EVE, GUS
from bot.runs.policy.access import Policy
from bot.settings import ChannelTable
from bot.slack.message.message_metadata import metadata
from bot.slack.ui import words
from bot.slack.ui.buttons import MEANT, MeantMessage
from tests.unit.slack.rig import Rig, listening
from tests.unit.slack.scene import button

GENERAL, SALES, FINANCE = "C0GENERAL1", "C0SALES001", "C0FINANCE1"
PARTNERS = "C0PARTNER1"


async def asked(rig: Rig, count: int = 1) -> list[Request]:
    """The requests, once there are `count`."""
    await rig.ws.until(lambda: len(rig.requests) >= count)
    return rig.requests


async def settled(rig: Rig) -> list[Request]:
    """Everything sent before this has been handled, which is when it is acknowledged."""
    await rig.ws.until(lambda: not rig.ws.delivery.under_way)
    return rig.requests


async def test_a_mention_becomes_one_request_though_slack_sends_two_events(rig):
    said = await rig.ws.say(ADA, GENERAL, rig.mention("how many <things> & more?"))
    [request] = await settled(rig)
    assert request.entry is Entry.MENTION
    assert request.text == "how many <things> & more?"
    assert (request.team, request.channel, request.user) == (rig.ws.team_id, GENERAL, ADA)
    assert (request.ts, request.thread) == (said["ts"], said["ts"])


async def test_a_question_brings_the_right_to_search_in_its_authors_name(rig):
    """Slack's token of the event is kept with the request, and not shown in its representation."""
    await rig.ws.say(CHLOE, rig.direct(CHLOE), "bonjour")
    [request] = await asked(rig)
    assert rig.ws.state.action_tokens[request.action_token].user == CHLOE
    assert request.action_token not in repr(request)


async def test_a_person_sees_first_of_all_that_they_were_understood(rig):
    """Nothing is done in Slack before that; `python -m tests.load` measures the 300 ms."""
    before = len(rig.ws.effects)
    said = await rig.ws.say(ADA, GENERAL, rig.mention("hello there"))
    await rig.ws.until(lambda: rig.ws.status(GENERAL, said["ts"]).text)
    done = (each.method for each in rig.ws.effects[before:])
    looks = ("users.info", "conversations.info", "auth.test")
    signs = ("assistant.threads.setStatus", "agents.sessions.setStatus")  # side by side
    assert next(each for each in done if each not in looks) in signs
    await rig.ws.until(lambda: rig.ws.status(GENERAL, said["ts"]).session == "processing")
    assert rig.ws.status(GENERAL, said["ts"]).title == "hello there"


async def test_a_direct_message_needs_no_mention_and_begins_its_own_thread(rig):
    direct = rig.direct(CHLOE)
    said = await rig.ws.say(CHLOE, direct, "bonjour")
    [request] = await asked(rig)
    assert request.entry is Entry.DIRECT_MESSAGE
    assert request.thread == said["ts"]
    assert (request.locale, request.time_zone) == ("fr-FR", "Europe/Paris")


async def test_one_person_goes_on_in_a_thread_without_mentioning_again(rig):
    said = await rig.ws.say(ADA, GENERAL, rig.mention("first"))
    await asked(rig)
    await rig.ws.say(ADA, GENERAL, "and then?", thread_ts=said["ts"])
    requests = await asked(rig, 2)
    assert requests[1].entry is Entry.THREAD_REPLY
    assert requests[1].thread == said["ts"]


async def shared(rig: Rig, asker: str = ADA) -> str:
    """A thread in which the bot is at work on something, and Ben has written a line."""
    said = await rig.ws.say(asker, GENERAL, rig.mention("first"))
    thread = str(said["ts"])
    [request] = await asked(rig)
    await rig.begin(request)
    await rig.clients.writes.chat_postMessage(
        channel=GENERAL, text="Two", thread_ts=thread, metadata=metadata("run_1", 0)
    )
    await rig.ws.say(BEN, GENERAL, "I think so", thread_ts=thread)
    return thread


def told(rig: Rig, person: str, thread: str) -> list[dict[str, Any]]:
    """What only that person sees in the thread."""
    replies = rig.ws.messages(GENERAL, thread, viewer=person)
    return [m for m in replies if m.get("is_ephemeral")]


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("and by month?", True),
        ("what did Ben say of it?", True),
        ("Ben, please look", False),
        ("really, Ben?", False),
        ("thanks Ben", False),
        ("<@{ben}> please look", False),
    ],
)
async def test_whom_it_answered_last_is_heard_among_others(rig, text, taken):
    """K9: for an hour, without a mention, unless the message is to somebody else; Ben is not heard."""
    thread = await shared(rig)
    await rig.ws.say(BEN, GENERAL, "and by week?", thread_ts=thread)
    await rig.ws.say(ADA, GENERAL, text.format(ben=BEN), thread_ts=thread)
    assert len(await settled(rig)) == 1 + taken
    assert (told(rig, ADA, thread), told(rig, BEN, thread)) == ([], [])


async def test_who_may_have_meant_it_is_asked_in_private(rig):
    """K9: Ada was answered before Ben; once for what the bot said last. Her press asks, and nobody else's.
    Slack is asked for the thread once for each message."""
    thread = await shared(rig)
    await rig.ws.say(BEN, GENERAL, rig.mention("and in all?"), thread_ts=thread)
    _, second = await asked(rig, 2)
    await rig.end(rig.requests[0])
    await rig.begin(second, "run_2")
    await rig.clients.writes.chat_postMessage(
        channel=GENERAL, text="Three", thread_ts=thread, metadata=metadata("run_2", 0)
    )
    before = len(rig.ws.effects)
    for text in ("thanks!", "and by month?", "or by week?"):
        await rig.ws.say(ADA, GENERAL, text, thread_ts=thread)
        assert len(await settled(rig)) == 2
    reads = [each for each in rig.ws.effects[before:] if each.method == "conversations.replies"]
    assert len(reads) == 3
    [asking] = await rig.ws.until(lambda: told(rig, ADA, thread))
    assert asking["text"] == words.IS_IT_FOR_ME()
    value = button(asking, MEANT)["value"]
    with pytest.raises(NotPermitted):
        await rig.intake.meant(BEN, GENERAL, MeantMessage.read(value))
    await rig.ws.click(ADA, GENERAL, asking["ts"], MEANT)
    await rig.ws.until(lambda: told(rig, ADA, thread) == [])
    request = (await asked(rig, 3))[2]
    assert (request.text, request.user, request.thread) == ("and by month?", ADA, thread)
    assert not await rig.intake.meant(ADA, GENERAL, MeantMessage.read(value))


async def test_after_an_hour_whom_it_answered_last_is_asked(rig):
    """K9: by then the thread may be about something else."""
    thread = await shared(rig)
    later = {"user": ADA, "text": "and by month?", "ts": f"{time.time() + 3_700:.6f}"}
    place = {"channel": GENERAL, "channel_type": "channel", "thread_ts": thread}
    rig.ws.emit({"type": "message", **later, **place})
    await rig.ws.until(lambda: told(rig, ADA, thread))
    assert len(await settled(rig)) == 1


@pytest.mark.parametrize("marks", [{"late": True}, {"restored": datetime.now(UTC)}])
async def test_nobody_is_asked_about_a_message_of_long_ago(rig, marks):
    """K9: it was missed while the bot was down; the next message is asked about."""
    thread = await shared(rig)
    place = {"channel": GENERAL, "channel_type": "channel", "thread_ts": thread, "type": "message"}
    missed, new = ({"user": ADA, "ts": f"{time.time() + n:.6f}", **place} for n in (3_700, 3_701))
    await rig.intake.message({"text": "and by month?", **missed}, "history:1", **marks)
    await rig.intake.message({"text": "and by week?", **new}, "Ev1")
    [asking] = await rig.ws.until(lambda: told(rig, ADA, thread))
    assert MeantMessage.read(button(asking, MEANT)["value"]).ts == new["ts"]
    assert len(await settled(rig)) == 1


async def test_who_waits_for_a_decision_is_not_heard_among_others(rig):
    """K9: what is written below a card may be to a colleague, and would deny the call."""
    thread = await shared(rig)
    await rig.stores.redis.call("HSET", rig.stores.redis.key("run", "run_1"), "phase", "waiting")
    await rig.ws.say(ADA, GENERAL, "let me see first", thread_ts=thread)
    assert len(await settled(rig)) == 1


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("<@{ben}> please look at this", False),
        ("hey <@{ben}>, can you check?", False),
        ("is that so, <@{ben}>?", False),
        ("<!here> look", False),
        ("what did <@{ben}> say of it?", True),
        ("<@{ben}>'s numbers, too", True),
    ],
)
async def test_a_reply_to_somebody_else_is_not_for_the_bot(rig, text, taken):
    """Handing an answer on, before anybody else has written in the thread."""
    said = await rig.ws.say(ADA, GENERAL, rig.mention("first"))
    await asked(rig)
    await rig.ws.say(ADA, GENERAL, text.format(ben=BEN), thread_ts=said["ts"])
    assert len(await settled(rig)) == 1 + taken
    await rig.ws.say(ADA, GENERAL, "and by month?", thread_ts=said["ts"])
    assert (await settled(rig))[-1].text == "and by month?"


async def test_who_deleted_their_question_may_go_on_below_the_answer(rig):
    """Slack stands where it stood; that makes no second person of it."""
    said = await rig.ws.say(ADA, GENERAL, rig.mention("first"))
    await asked(rig)
    thread = said["ts"]
    await rig.clients.writes.chat_postMessage(channel=GENERAL, text="Two", thread_ts=thread)
    await rig.ws.delete(ADA, GENERAL, thread)
    await rig.ws.say(ADA, GENERAL, "and then?", thread_ts=thread)
    assert [each.text for each in await asked(rig, 2)] == ["first", "and then?"]


async def test_who_was_asked_about_in_a_shortcut_is_not_taken_for_the_asker(rig):
    """Ada asks about Ben's message; what Ben then says in his thread is not for the bot."""
    said = await rig.ws.say(BEN, GENERAL, "Numbers are in")
    await rig.ws.shortcut(ADA, "ask_about_message", channel=GENERAL, ts=said["ts"])
    [view] = await rig.ws.until(lambda: rig.ws.views(ADA))
    values = {"question": {"question": "right?"}, "where": {"where": "me"}}
    await rig.ws.submit(ADA, view["id"], values)
    await rig.ws.say(BEN, GENERAL, "correction: not yet", thread_ts=said["ts"])
    assert [r.text for r in await settled(rig)] == ["right?"]


async def test_a_thread_it_has_no_part_in_is_left_alone(rig):
    said = await rig.ws.say(ADA, GENERAL, "just us")
    await rig.ws.say(ADA, GENERAL, "talking", thread_ts=said["ts"])
    assert await settled(rig) == []


async def test_bots_and_unknown_kinds_of_messages_are_ignored(rig):
    await rig.ws.say(ADA, GENERAL, rig.mention("hi"), bot_id="B0OTHER001")
    direct = rig.direct(ADA)
    for subtype in ("channel_topic", "me_message", "assistant_app_thread", "never_heard_of"):
        await rig.ws.say(ADA, direct, "hi", subtype=subtype)
    assert await settled(rig) == []


async def test_files_come_along_and_need_no_words(rig):
    files = [("sales.csv", b"a,b\n1,2\n")]
    await rig.ws.say(ADA, GENERAL, rig.mention(""), files=files)
    [request] = await settled(rig)
    assert request.text == words.ATTACHED_ONLY()
    assert [(f.name, f.size) for f in request.files] == [("sales.csv", 8)]


@pytest.mark.parametrize("words_with_it", ["", "Is that still so?"])
async def test_a_forwarded_message_is_what_the_question_is_about(rig, words_with_it):
    """Also without words of one's own; its text, or what its blocks say."""
    forwarded = {
        "is_share": True,
        "author_name": "Ben Okafor",
        "from_url": "https://local.example/archives/C0SALES001/p1700000000000100",
        "fallback": "[Ben] Numbers",
        "text": f"Numbers are in, <@{ADA}>",
        "files": [{"id": "F0NUMBERS1", "name": "q3.xlsx", "mimetype": "application/x"}],
    }
    direct = rig.direct(ADA)
    await rig.ws.say(ADA, direct, words_with_it, attachments=[forwarded])
    [request] = await settled(rig)
    assert request.text == (words_with_it or words.ATTACHED_ONLY())
    assert request.quoted == (
        f"[Forwarded: Ben Okafor, {forwarded['from_url']}]\nNumbers are in, @Ada Lovelace\n"
        "[file F0NUMBERS1, q3.xlsx]"
    )
    assert request.files == ()


async def test_secrets_in_what_is_forwarded_or_edited_are_kept_nowhere(rig):
    """As those in a question (reliability 11): the request is without when it is taken in."""
    secret = "ghp_" + "a1B2" * 10
    forwarded = {"is_share": True, "author_name": "Ben Okafor", "text": f"Use {secret}"}
    said = await rig.ws.say(ADA, GENERAL, rig.mention("how?"), attachments=[forwarded])
    await rig.ws.until(lambda: rig.requests)
    await rig.ws.edit(ADA, GENERAL, said["ts"], rig.mention(f"how with {secret}?"))
    await rig.until(rig.superseded)
    [_, edited] = rig.requests
    assert edited.text == "how with [redacted GitHub token]?"
    assert secret not in str(rig.requests)


async def test_an_empty_mention_is_answered_with_what_can_be_asked(rig):
    said = await rig.ws.say(ADA, GENERAL, rig.mention(""))
    assert await settled(rig) == []
    replies = rig.ws.messages(GENERAL, said["ts"])[1:]
    assert len(replies) == 1
    assert words.EXAMPLES[0]() in replies[0]["text"]


async def test_emoji_are_a_question(rig):
    await rig.ws.say(ADA, GENERAL, rig.mention(":thinking_face:"))
    assert [r.text for r in await settled(rig)] == [":thinking_face:"]


async def test_guests_and_people_of_other_organisations_are_told_no_once(rig):
    for person, channel in ((GUS, GENERAL), (EVE, PARTNERS)):
        await rig.ws.say(person, channel, rig.mention("hi"))
    assert await settled(rig) == []

    def refusals(person: str, channel: str) -> list[dict[str, Any]]:
        return [m for m in rig.ws.messages(channel, viewer=person) if m.get("is_ephemeral")]

    await rig.ws.until(lambda: refusals(GUS, GENERAL) and refusals(EVE, PARTNERS))
    assert len(refusals(GUS, GENERAL)) == 1
    assert "guests" in refusals(GUS, GENERAL)[0]["text"]


async def test_a_setting_lets_guests_in(ws):
    async with listening(ws, Policy(allow_guests=True)) as rig:
        await rig.ws.say(GUS, GENERAL, rig.mention("hi"))
        assert [r.user for r in await asked(rig)] == [GUS]


async def test_a_channel_may_have_rules_of_its_own(ws):
    """Guests in one channel only; in another only those who are listed (reliability 9)."""
    rules = {GENERAL: ChannelTable(allow_guests=True), PARTNERS: ChannelTable(people=(BEN,))}
    async with listening(ws, settings=rules) as rig:
        await rig.ws.say(ADA, PARTNERS, rig.mention("not listed"))
        await rig.ws.say(GUS, GENERAL, rig.mention("hi"))
        assert [r.user for r in await settled(rig)] == [GUS]
        await rig.ws.until(
            lambda: any(
                "listed" in m["text"] for m in rig.ws.messages(PARTNERS, viewer=ADA) if "text" in m
            )
        )


@pytest.mark.parametrize(("follow", "taken"), [("always", 3), ("never", 1)])
async def test_which_replies_are_for_the_bot_is_set_for_a_channel(ws, follow, taken):
    """Everything said in its threads, or only what mentions it."""
    async with listening(ws, settings={GENERAL: ChannelTable(follow=follow)}) as rig:
        root = await rig.ws.say(ADA, GENERAL, rig.mention("start"))
        await asked(rig)
        await rig.ws.say(BEN, GENERAL, "I join", thread_ts=root["ts"])
        await rig.ws.say(ADA, GENERAL, "and I go on", thread_ts=root["ts"])
        assert len(await settled(rig)) == taken


async def test_in_a_direct_message_the_channel_that_is_open_beside_it_is_known(rig):
    """“What is this channel about?” has a meaning, and what is suggested is about it."""
    await rig.ws.look_at(ADA, GENERAL)
    status = rig.ws.status(rig.direct(ADA), None)
    await rig.ws.until(lambda: any("#general" in p["message"] for p in status.prompts))
    await rig.ws.say(ADA, rig.direct(ADA), "what is this channel about?")
    [request] = await asked(rig)
    assert request.open_channel == "#general"
    assert "with #general open" in request_message(request)["content"]


async def test_a_member_may_ask_in_a_channel_shared_with_others(rig):
    await rig.ws.say(ADA, PARTNERS, rig.mention("hi"))
    assert [r.user for r in await asked(rig)] == [ADA]


async def test_nothing_is_acknowledged_before_it_is_kept(rig):
    """While the store is down Slack gets no acknowledgement; when it is back, its redelivery of
    the event is taken in."""
    rig.ws.delivery.ack_timeout = 0.3
    rig.ws.delivery.retry_delays = (0.0, 0.1, 2.0, 0.1)
    async with rig.outage():
        said = await rig.ws.say(ADA, GENERAL, rig.mention("do not lose me"))
        status = rig.ws.status(GENERAL, said["ts"])
        await rig.ws.until(lambda: status.text == words.STATUS_WAITING())
        assert rig.requests == []
    assert [r.text for r in await asked(rig)] == ["do not lose me"]
    assert len(await settled(rig)) == 1


async def test_an_edit_that_mentions_the_bot_for_the_first_time_asks_it(rig):
    said = await rig.ws.say(ADA, GENERAL, "how many?")
    await rig.ws.edit(ADA, GENERAL, said["ts"], rig.mention("how many?"))
    [request] = await asked(rig)
    assert (request.ts, request.text) == (said["ts"], "how many?")


async def test_who_deletes_a_question_takes_it_back(rig):
    said = await rig.ws.say(ADA, GENERAL, rig.mention("how many?"))
    [request] = await asked(rig)
    await rig.ws.delete(ADA, GENERAL, said["ts"])

    async def is_withdrawn() -> bool:
        return not await rig.stores.mailbox.waiting(request.thread_key)

    await rig.until(is_withdrawn)


async def test_the_native_stop_button_cancels_the_run(rig):
    said = await rig.ws.say(ADA, GENERAL, rig.mention("long work"))
    [request] = await asked(rig)
    await rig.ws.until(lambda: rig.ws.status(GENERAL, said["ts"]).session == "processing")
    await rig.ws.stop_session(ADA, GENERAL, said["ts"])
    assert await rig.until(rig.stopped) == [(request.thread_key, ADA)]
    await rig.ws.until(lambda: rig.ws.status(GENERAL, said["ts"]).session == "active")


async def test_opening_the_home_tab_shows_what_it_can_do(rig):
    await rig.ws.open_home(BEN)
    home = await rig.ws.until(lambda: rig.ws.home(BEN))
    assert words.CAN_DO() in str(home["blocks"])


async def test_opening_a_direct_message_offers_things_to_ask(rig):
    await rig.ws.open_home(ADA, tab="messages")
    direct = rig.direct(ADA)
    prompts = await rig.ws.until(lambda: rig.ws.status(direct, None).prompts)
    assert [p["message"] for p in prompts] == [text() for text in words.EXAMPLES_DIRECT]


async def test_channels_in_a_question_have_their_names(rig):
    """The model reads what people read; a private channel's name is for its members only."""
    text = f"is <#{SALES}> busier than <#{FINANCE}>?"
    await rig.ws.say(ADA, GENERAL, rig.mention(text))
    await rig.ws.until(lambda: rig.requests)
    assert rig.requests[0].text == f"is #sales busier than #{FINANCE}?"
