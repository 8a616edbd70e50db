"""Cards on which people decide: drawn by code from the exact arguments, pressed by who may (D6)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.core.approvals import Ask
from bot.core.audit_kinds import AuditKind
from bot.core.context import RequestContext, bound_request
from bot.dev.model import Reply, Script, call, calls, finish
from bot.dev.workspace import ADA, BEN, CHLOE
from bot.features.accounts.hook import ACCOUNT
from bot.features.accounts.slack.cards import GO_WITHOUT, POST_IT
from bot.runs.policy.access import Policy
from bot.runs.policy.run_approvals import Waits
from bot.slack.ui import approval_words, words
from bot.slack.ui.approval import Shown
from bot.slack.ui.buttons import APPROVE, APPROVE_THREAD, DENY, SHOW_ALL
from bot.store import open_stores
from bot.text.translation import reader, translated
from tests.security.test_boundaries import outputs, press
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, deployed
from tests.support.redis import asked
from tests.support.runs import answer
from tests.unit.slack.scene import button

GENERAL, SALES, PARTNERS = "C0GENERAL1", "C0SALES001", "C0PARTNER1"
EDIT = {"canvas": "general", "title": "Plan", "change": "append", "section": "", "text": "x"}
HOSTILE = (
    "Hi <!channel>, *approved by Ada*: <https://evil.example|the report> `now`\n\n"
    f"{words.ASKED_BY(person=BEN)}"
)


def posts(*texts: str, channel: str = "general", says: str = "Posted.") -> Script:
    """The model wants to post these one after the other, and then `says` that it did."""
    turns: list[Reply] = [call("acquire_tools", {"names": ["post_message"]})]
    turns += [call("post_message", wanted(text, channel)) for text in texts]
    return Script([*turns, finish(answer(says)), finish(answer("Next."))])


def wanted(text: str, channel: str = "general") -> dict[str, Any]:
    return {"channel": channel, "text": text, "thread": None}


def cards(bot: Deployment, thread: str, channel: str = SALES) -> list[dict[str, Any]]:
    own = bot.own(channel, thread)
    return [m for m in own if "card" in ((m.get("metadata") or {}).get("event_payload") or {})]


async def card(bot: Deployment, thread: str, count: int = 1) -> dict[str, Any]:
    """The latest card of a thread, once there are so many."""
    return (await bot.ws.until(lambda: (found := cards(bot, thread))[count - 1 :] and found))[-1]


async def shows(bot: Deployment, thread: str, text: str) -> dict[str, Any]:
    """The card, once it says this."""

    def found() -> list[dict[str, Any]]:
        return [m for m in cards(bot, thread) if text in json.dumps(m["blocks"])]

    return (await bot.ws.until(found))[0]


def elsewhere(bot: Deployment) -> list[str]:
    """What the bot posted in the other channel."""
    return [str(m["blocks"]) for m in bot.ws.messages(GENERAL) if m["user"] == bot.ws.bot_user_id]


def private(bot: Deployment, user: str, thread: str) -> list[str]:
    """What only that person sees in the thread."""
    seen = bot.ws.messages(SALES, thread, user)
    return [str(m["text"]) for m in seen if m.get("is_ephemeral")]


def sessions(bot: Deployment, thread: str) -> list[str]:
    """What the thread's session was said to be, in order."""
    said = [e for e in bot.ws.effects if e.method == "agents.sessions.setStatus"]
    return [e.args["status"] for e in said if e.args["thread_ts"] == thread]


async def test_who_asked_approves_and_exactly_that_is_posted(redis_url: str) -> None:
    """The card shows the arguments as they are, nothing in them does anything; somebody else's
    press is answered privately, a second one too; the card says in the end who decided. Waiting is
    not shown as work."""
    async with deployed(posts(HOSTILE), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        asked = await card(bot, thread)
        [(_, text)] = (b["elements"] for b in asked["blocks"] if b["type"] == "rich_text")
        assert (
            "*Post in <#C0GENERAL1>*" in asked["blocks"][0]["text"]["text"]
        )  # and not once more below
        assert text == {
            "type": "rich_text_preformatted",
            "elements": [{"type": "text", "text": HOSTILE}],
        }
        assert f"Only <@{ADA}> can decide" in str(asked["blocks"])
        await bot.ws.until(lambda: "Waiting for" in str(bot.own(SALES, thread)))
        await bot.ws.until(lambda: sessions(bot, thread)[-1:] == ["suspended"])
        await bot.ws.click(BEN, SALES, asked["ts"], APPROVE)
        await bot.ws.until(
            lambda: private(bot, BEN, thread) == [f"Only <@{ADA}> can decide about this."]
        )
        assert elsewhere(bot) == []
        await bot.ws.click(ADA, SALES, asked["ts"], APPROVE)
        decided = await shows(bot, thread, f"Approved by <@{ADA}>")
        assert all(block["type"] != "actions" for block in decided["blocks"])
        await bot.answered(SALES, thread)
        [terminal] = bot.terminals(SALES, thread)
        assert float(terminal["ts"]) > float(str(asked["ts"]))  # where the person looks
        assert words.ASK_AGAIN() not in str(terminal)  # it would be posted again
        ended = ["suspended", "processing", "active"]  # Slack's Stop is there while it works
        await bot.ws.until(lambda: sessions(bot, thread)[-3:] == ended)
        await sent(bot, press(bot, ADA, SALES, thread, button(asked, DENY)))
        await bot.ws.until(
            lambda: approval_words.DECIDED_BY(person=ADA) in private(bot, ADA, thread)
        )
        [posted] = elsewhere(bot)
        assert f"'{words.ASKED_BY(person=ADA)}'" in posted  # and nobody else
        assert posted.count("'context'") == 1  # nor does a text draw such a line, or call Ben
        assert re.findall(r".<@\w+>", posted) == [rf"\<@{BEN}>", f" <@{ADA}>"]
        assert "<!channel>" not in posted
        assert "https://evil.example" not in posted


async def test_a_card_that_its_worker_could_not_note_loses_its_buttons(redis_url: str) -> None:
    """C4: the worker died after it had posted the card and before its ts was saved."""
    async with deployed(posts("Hello"), redis_url) as bot, Redis.from_url(redis_url) as client:
        thread = await bot.ask(ADA, SALES, "Post it!")
        asked = await card(bot, thread)
        await bot.ws.until(lambda: sessions(bot, thread)[-1:] == ["suspended"])
        [run] = [name async for name in client.scan_iter("bot:v1:run:*")]
        names = [name for name in await client.hkeys(run) if "card:" in str(name)]
        assert await client.hdel(run, *names) == 1
        await bot.ws.click(ADA, SALES, asked["ts"], APPROVE)
        await bot.answered(SALES, thread)
        [left] = cards(bot, thread)
    assert APPROVE not in str(left["blocks"])


async def test_nobody_is_asked_about_what_cannot_be_done(redis_url: str) -> None:
    """D6: a place that is not there, a time that has passed: the model is told before a card is drawn.
    A private channel of others is none (reliability 9); what is like it is named where all know it."""
    late = {"at": "2020-01-01T09:00"}
    names = ["post_message", "schedule_message", "schedule_prompt", "edit_canvas", "add_reaction"]
    turns: list[Reply] = [
        call("acquire_tools", {"names": names}),
        calls(
            ("post_message", wanted("Hi", "#genral")),
            ("post_message", wanted("Hi", "finance")),
            ("post_message", wanted("Hi", "#C0FINANCE1")),
            ("schedule_message", wanted("Hi") | late),
            ("schedule_prompt", {"text": "Hi?", "at": "2020-01-01T09:00Z", "cron": None}),
            ("edit_canvas", EDIT),
            ("add_reaction", {"url": "https://nowhere.example/1", "emoji": "eyes"}),
        ),
        finish(answer("None of it.")),
    ]
    async with deployed(Script(turns), redis_url) as bot:
        bot.ws.channels["C0FINANCE1"].members.append(bot.ws.bot_user_id)
        thread = await bot.ask(CHLOE, SALES, "Do all this!")
        await bot.answered(SALES, thread)
        assert cards(bot, thread) == []
        said = outputs(bot)
        assert "Not done: There is no channel #genral that" in said
        assert said.count("Similar names: #general.") == 1
        assert "Not done: There is no channel finance that" in said
        assert "Not done: There is no such channel that" in said
        for why in ("is past", "has passed", "has no canvas", "no link to a message"):
            assert why in said


async def test_a_long_answer_follows_a_card(redis_url: str) -> None:
    """(reliability 4) The parts of the answer are looked for among cards before each is posted."""
    long = "\n\n".join(f"{i} " + "word " * 150 for i in range(28))
    async with deployed(posts("Hello", says=long), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        await bot.ws.click(ADA, SALES, (await card(bot, thread))["ts"], APPROVE)
        await bot.ws.until(lambda: "27 word" in str(bot.own(SALES, thread)))


def forgeries(asked: dict[str, Any]) -> dict[str, Any]:
    real = json.loads(button(asked, APPROVE)["value"])
    return {
        "other arguments": json.dumps(real | {"sha256": "0" * 64}),
        "another call": json.dumps(real | {"id": real["id"] + "x"}),
        "no question": json.dumps({"id": "run_x:resp_x:call_x", "sha256": real["sha256"]}),
        "no JSON": "{half",
        "a list": "[]",
    }


async def test_forged_presses_do_nothing(redis_url: str) -> None:
    """(reliability 10) Nor does a real button that is pressed in another channel, or by a bot."""
    async with deployed(posts("Hello"), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        asked = await card(bot, thread)
        real = button(asked, APPROVE)
        for forged in forgeries(asked).values():
            await sent(bot, press(bot, ADA, SALES, thread, real | {"value": forged}))
        await sent(bot, press(bot, ADA, GENERAL, thread, real))
        await sent(bot, press(bot, bot.ws.bot_user_id, SALES, thread, real))
        await sent(bot, press(bot, "U0NOBODY01", SALES, thread, real))
        await bot.ws.until(lambda: len(private(bot, ADA, thread)) >= len(forgeries(asked)))
        assert elsewhere(bot) == []
        async with open_stores(redis_url) as stores:
            log = [each.entry async for each in stores.audit.read(bot.ws.team_id)]
        refused = [each.who for each in log if each and each.kind is AuditKind.REFUSED]
        # Presses for no approval, which may have expired, are not on record.
        assert refused == [ADA, ADA, ADA, ADA, bot.ws.bot_user_id, "U0NOBODY01"]
        await bot.ws.click(ADA, SALES, asked["ts"], DENY)
        await shows(bot, thread, f"Denied by <@{ADA}>")
        [terminal] = await bot.answered(SALES, thread)
        assert words.ASK_AGAIN() not in str(terminal)
        assert elsewhere(bot) == []
    assert "Not done: Ada Lovelace denied it" in str(bot.api.requests[-1].body["input"])


async def test_only_those_who_are_listed_may(redis_url: str) -> None:
    """Not even who asked; the card names them."""
    async with deployed(posts("Hello"), redis_url, access=Policy(approvers=(BEN,))) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        asked = await card(bot, thread)
        await bot.ws.click(ADA, SALES, asked["ts"], APPROVE)
        await bot.ws.until(lambda: private(bot, ADA, thread))
        await bot.ws.click(BEN, SALES, asked["ts"], APPROVE)
        await shows(bot, thread, f"Approved by <@{BEN}>")
        [posted] = await bot.ws.until(lambda: elsewhere(bot))
        assert words.ASKED_BY(person=ADA) in posted
        assert words.APPROVED_BY(person=BEN) in posted


async def test_who_is_not_in_the_channel_is_asked_directly(redis_url: str) -> None:
    """They would never see the thread; both cards say in the end who decided, each in the language
    of its readers (U9): Ben's Slack is in Japanese."""
    async with deployed(posts("Hello"), redis_url, access=Policy(approvers=(BEN,))) as bot:
        bot.ws.state.people[BEN].locale = "ja-JP"
        thread = await bot.ask(ADA, PARTNERS, "Post it!")
        direct = bot.ws.state.direct(BEN)
        assert direct is not None
        [asked] = await bot.ws.until(lambda: bot.ws.messages(direct.id))
        with reader("ja-JP"):
            assert approval_words.ASKED_FOR(person=f"<@{ADA}>") in str(asked["blocks"])
            headline = translated("Post in {channel}")
            assert headline.partition("}")[2] in str(
                asked["blocks"]
            )  # M11: no second language in the card
        assert "Post in" not in str(asked["blocks"])
        await bot.ws.click(BEN, direct.id, asked["ts"], APPROVE)
        await bot.answered(PARTNERS, thread)
        with reader("ja-JP"):
            approved = approval_words.ALLOWED["approved"]["begun"](by=f"<@{BEN}>")
        [his], [theirs] = bot.ws.messages(direct.id), cards(bot, thread, PARTNERS)
        assert approved in str(his["blocks"])
        assert f"Approved by <@{BEN}>" in str(theirs["blocks"])
        assert len(elsewhere(bot)) == 1


async def test_a_press_after_the_time_is_up(redis_url: str) -> None:
    """The card says so, and nothing is done."""
    access = Policy(approval_hours=2 / 3_600)
    async with deployed(posts("Hello"), redis_url, access=access) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        asked = await card(bot, thread)
        await bot.ws.until(lambda: bot.ws.clock.now() > float(asked["ts"]) + 3)
        await bot.ws.click(ADA, SALES, asked["ts"], APPROVE)
        await bot.ws.until(
            lambda: approval_words.DECISION_REFUSED["expired"]() in private(bot, ADA, thread)
        )
        await shows(bot, thread, "Nobody decided in time")  # which the press brought about
        [terminal] = await bot.answered(SALES, thread)
        assert words.ASK_AGAIN() not in str(terminal)
        assert elsewhere(bot) == []


async def test_between_two_nobody_is_named(redis_url: str) -> None:
    """In direct messages the card speaks to whoever reads it, and says how long they may take."""
    async with deployed(posts("Hi"), redis_url) as bot:
        await bot.ws.open_home(ADA, "messages")
        place = bot.ws.state.direct(ADA)
        assert place is not None
        direct = place.id
        said = await bot.ws.say(ADA, direct, "Post it!")
        thread = str(said["ts"])
        [asked] = await bot.ws.until(lambda: cards(bot, thread, direct))
        shown = str([bot.own(direct, thread), asked["blocks"]])
        assert approval_words.APPROVAL_ASKED_DIRECT().partition("\n")[0] in shown
        assert "You can decide until" in shown
        assert f"Only <@{ADA}>" not in shown
        assert f"approval of <@{ADA}>" not in shown
        await bot.ws.click(ADA, direct, asked["ts"], DENY)
        await bot.answered(direct, thread)


async def test_who_asks_behind_a_run_that_waits_is_told(redis_url: str) -> None:
    """An approval may take a day: no progress is shown for so long, and later questions wait their turn."""
    async with deployed(posts("Hi"), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        asked = await card(bot, thread)
        await bot.ws.until(lambda: sessions(bot, thread)[-1:] == ["suspended"])
        await bot.ask(BEN, SALES, "And mine?", thread)
        await bot.ws.until(lambda: private(bot, BEN, thread) == [approval_words.WAITS_BEHIND()])
        assert sessions(bot, thread)[-1:] == ["suspended"]
        await bot.ws.click(ADA, SALES, asked["ts"], DENY)
        await bot.answered(SALES, thread, 2)


async def test_who_replies_among_others_while_it_waits_is_told_to_mention_it(
    redis_url: str,
) -> None:
    """A change of what waits is not passed over in silence; who only talks along is left alone."""
    async with deployed(posts("Hi"), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        asked = await card(bot, thread)
        await bot.ws.until(lambda: sessions(bot, thread)[-1:] == ["suspended"])
        await bot.ws.say(BEN, SALES, "Is that so?", thread_ts=thread)
        await bot.ws.say(ADA, SALES, "make it April", thread_ts=thread)
        await bot.ws.until(lambda: private(bot, ADA, thread) == [approval_words.MENTION_ME()])
        assert private(bot, BEN, thread) == []
        await bot.ws.click(ADA, SALES, asked["ts"], DENY)
        await bot.answered(SALES, thread)


async def test_a_revised_answer_stands_below_the_card_of_its_run(redis_url: str) -> None:
    """Where people look after their yes; the answer that it revises is gone."""
    first, revised = [finish(answer("Nothing."))], posts("Hello")
    async with deployed(lambda r: first.pop() if first else revised(r), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "What do you post?")
        await bot.answered(SALES, thread)
        await bot.ws.edit(ADA, SALES, thread, f"<@{bot.ws.bot_user_id}> Post it!")
        asked = await card(bot, thread)
        await bot.ws.click(ADA, SALES, asked["ts"], APPROVE)
        await bot.ws.until(lambda: "Posted." in str(bot.terminals(SALES, thread)))
        [terminal] = bot.terminals(SALES, thread)
        assert float(terminal["ts"]) > float(str(asked["ts"]))
        assert "Revised" in str(terminal["blocks"])
        assert len(bot.own(SALES, thread)) == 2


async def test_an_edit_takes_the_question_to_people_back(redis_url: str) -> None:
    """The card says why, and the new words ask anew."""
    async with deployed(posts("One", "Two"), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        await card(bot, thread)
        await bot.ws.until(lambda: sessions(bot, thread)[-1:] == ["suspended"])
        await bot.ws.edit(ADA, SALES, thread, f"<@{bot.ws.bot_user_id}> Post two!")
        await shows(bot, thread, "the question was edited before anybody decided")
        asked = await card(bot, thread, 2)
        assert "One" not in str(cards(bot, thread))
        await bot.ws.click(ADA, SALES, asked["ts"], APPROVE)
        await bot.answered(SALES, thread)
        [posted] = elsewhere(bot)
        assert "Two" in posted


async def test_a_deleted_question_takes_its_words_off_the_card(redis_url: str) -> None:
    """They are nobody's any more; the card says why nothing came of it."""
    async with deployed(posts("One"), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        assert "One" in str(await card(bot, thread))
        await bot.ws.until(lambda: sessions(bot, thread)[-1:] == ["suspended"])
        await bot.ws.delete(ADA, SALES, thread)
        await shows(bot, thread, "the question was deleted")
        assert "One" not in str(cards(bot, thread))


async def test_a_typed_yes_is_sent_to_the_button(redis_url: str) -> None:
    """D6, reliability 10: a word may be meant for somebody else, so it neither approves nor begins
    anything; who is asked reads how it is said, also outside the thread of a direct message."""
    async with deployed(posts("Hi"), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        asked = await card(bot, thread)
        await bot.ws.until(lambda: sessions(bot, thread)[-1:] == ["suspended"])
        await bot.ws.say(ADA, SALES, "Yes, please!", thread_ts=thread)
        await bot.ask(ADA, SALES, "go ahead", thread)
        await bot.ws.until(lambda: private(bot, ADA, thread) == [approval_words.YES_TYPED()] * 2)
        await bot.ws.click(ADA, SALES, asked["ts"], APPROVE)
        await bot.answered(SALES, thread)
        assert len(cards(bot, thread)) == len(elsewhere(bot)) == 1
        assert len(bot.api.requests) == 3
    access = Policy(approvers=(BEN,))
    async with deployed(posts("Hi"), redis_url, access=access) as bot:
        opened = bot.ws.state.direct(ADA)
        assert opened
        direct = opened.id
        thread = str((await bot.ws.say(ADA, direct, "Post it!"))["ts"])
        await bot.ws.until(lambda: sessions(bot, thread)[-1:] == ["suspended"])
        await bot.ws.say(ADA, direct, "ok")
        elsewhere_asked = bot.ws.state.direct(BEN)
        assert elsewhere_asked
        theirs = elsewhere_asked.id
        await bot.ws.say(BEN, theirs, "yes")  # the card is here, and its run elsewhere
        await bot.ws.until(
            lambda: (
                approval_words.YES_TYPED()
                in [m["text"] for m in bot.ws.messages(theirs, viewer=BEN)]
            )
        )
        only = approval_words.ONLY_THEY_MAY(people=f"<@{BEN}>")
        await bot.ws.until(lambda: only in [m["text"] for m in bot.ws.messages(direct, viewer=ADA)])


async def test_approved_for_the_thread_it_is_asked_once(redis_url: str) -> None:
    """The same channel is covered, and another one is not."""
    async with deployed(posts("One", "Two"), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post them!")
        asked = await card(bot, thread)
        assert "(same: Channel and people mentioned)" in str(asked["blocks"])
        await bot.ws.click(ADA, SALES, asked["ts"], APPROVE_THREAD)
        await bot.answered(SALES, thread)
        assert len(cards(bot, thread)) == 1
        assert len(elsewhere(bot)) == 2


async def test_all_of_a_long_text_can_be_looked_at(redis_url: str) -> None:
    """The card shows its beginning and its length."""
    text = "word " * 700 + "end"
    async with deployed(posts(text), redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        asked = await card(bot, thread)
        assert "3,503 characters in all" in str(asked["blocks"])
        await bot.ws.click(BEN, SALES, asked["ts"], SHOW_ALL)
        shown = json.dumps(await bot.ws.until(lambda: bot.ws.views(BEN)))
        assert "word end" in shown


async def test_several_calls_of_one_response_are_a_card_each(redis_url: str) -> None:
    """One after the other, as changes are made; one may be approved and the other denied."""
    both = calls(("post_message", wanted("One")), ("post_message", wanted("Two")))
    script = Script(
        [call("acquire_tools", {"names": ["post_message"]}), both, finish(answer("Posted."))]
    )
    async with deployed(script, redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post them!")
        first = await card(bot, thread)
        await bot.ws.click(ADA, SALES, first["ts"], DENY)
        await shows(bot, thread, f"Denied by <@{ADA}>")
        second = await card(bot, thread, 2)
        await bot.ws.click(ADA, SALES, second["ts"], APPROVE)
        await bot.answered(SALES, thread)
        [posted] = elsewhere(bot)
        assert "Two" in posted


@pytest.mark.parametrize("mode", ["never", "sensitive"])
async def test_a_post_is_no_message_of_the_run(redis_url: str, mode: Any) -> None:
    """With nothing to confirm it is posted at once; a stop while it waits takes the card back."""
    async with deployed(posts("Hello"), redis_url, access=Policy(confirm=mode)) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        if mode == "sensitive":
            await card(bot, thread)
            await bot.ws.say(ADA, SALES, "stop", thread_ts=thread)
            await shows(bot, thread, "Cancelled: work on this question has ended")
        await bot.answered(SALES, thread)
        assert len(elsewhere(bot)) == (mode == "never")


async def test_no_button_of_another_card_connects_an_account(redis_url: str) -> None:
    """(S7) What waits for an account is not approved by a forged press, even of the asker's own: only a
    connection decides it. Nor does anybody else decide to go on without it."""
    async with deployed(posts("Hi"), redis_url) as bot, open_stores(redis_url) as stores:
        request = asked("Hi", user=ADA).model_copy(
            update={"team": bot.ws.team_id, "channel": SALES}
        )
        waits = Waits(request, "run_1", stores.approvals, 1)
        with bound_request(RequestContext(request, "run_1", idempotency_key="run_1:r:c")):
            await waits.decision(Ask(kind=ACCOUNT, subject="notion", title="Connect"))
        [waiting] = await waits.records(ACCOUNT)
        value = Shown(id=waiting.approval.id, sha256=waiting.approval.sha256).model_dump_json()
        for user, action in (
            (ADA, APPROVE),
            (ADA, APPROVE_THREAD),
            (ADA, POST_IT),
            (BEN, GO_WITHOUT),
        ):
            direct = bot.ws.state.direct(user)
            assert direct is not None
            button = {"type": "button", "action_id": action, "value": value}
            await bot.ws.delivery.ask("interactive", press(bot, user, direct.id, "1.0", button))
        [waiting] = await waits.records(ACCOUNT)
        assert waiting.decision is None
