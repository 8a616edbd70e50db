"""How a card is drawn: from the exact arguments, and so that nothing of them is hidden (D6)."""

from __future__ import annotations

import json
from functools import partial

import pytest

from bot.app.tool_loading import catalogue
from bot.core.approvals import (
    MENTIONED,
    QUESTION_DELETED,
    QUESTION_EDITED,
    Approval,
    ApprovalRecord,
    CallProgress,
    Decision,
    Verdict,
)
from bot.dev.workspace import ADA, BEN
from bot.features.accounts.hook import ACCOUNT
from bot.features.accounts.slack.cards import account_part
from bot.slack.ui import approval_words
from bot.slack.ui.approval import approval_part
from bot.slack.ui.arguments import not_in_title, values_of
from bot.slack.ui.buttons import APPROVE, SHOW_ALL
from bot.text.translation import reader
from tests.unit.slack.judge import accept_blocks
from tests.unit.slack.scene import Thread, button, refuse_streams

GENERAL, SALES, PARTNERS = "C0GENERAL1", "C0SALES001", "C0PARTNER1"


APPROVAL = Approval(
    id="run_1:resp_1:call_1",
    thread_key="T1:C1:1.0",
    tool="post_message",
    title="Post in general",
    arguments="{}",
    sha256="abc",
    requester=ADA,
    approvers=(ADA, BEN),
    expires=2_000_000_000,
)


def asked_of(thread: Thread) -> Approval:
    return APPROVAL.model_copy(update={"thread_key": thread.request.thread_key})


async def test_a_card_warns_of_what_may_delete(thread: Thread) -> None:
    """(22.10) As the server of the tool says; until somebody has decided."""
    approval = asked_of(thread).model_copy(update={"destructive": True})
    async with thread.open() as surface:
        await surface.ask([approval])
        await surface.ask([asked_of(thread).model_copy(update={"id": "run_1:resp_1:call_2"})])
    cards = [str(each.args["blocks"]) for each in thread.calls("chat.postMessage")]
    assert [approval_words.DESTRUCTIVE() in each for each in cards] == [True, False]


async def test_the_message_of_a_quick_run_is_above_its_card(thread: Thread) -> None:
    """It says what the run waits for, though the run has only begun."""
    async with thread.open(is_quick=True) as surface:
        await surface.ask([asked_of(thread)])
    [message, card] = thread.replies()
    assert message["ts"] == await thread.ts
    assert card["ts"] == thread.calls("chat.postMessage")[0].result["ts"]


def test_a_card_of_many_rights_is_one_that_slack_takes() -> None:
    """R3: a server names the rights that it wants, and may name thousands; without its card the run
    would wait for nobody."""
    details = {"name": "Notes", "state": "needs_more", "scopes": [f"s{n}" for n in range(1_500)]}
    approval = APPROVAL.model_copy(update={"kind": ACCOUNT, "arguments": json.dumps(details)})
    part = account_part(ApprovalRecord(approval=approval), "https://bot.example/accounts/connect")
    accept_blocks(part.blocks)
    assert "s11" in str(part.blocks)


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_a_card_of_any_moment_is_put_up(thread: Thread, at: str) -> None:
    """Whatever a model was told to write: nobody could decide about a card that cannot be drawn."""
    approval = asked_of(thread).model_copy(update={"arguments": json.dumps({"at": at})})
    async with thread.open() as surface:
        assert await surface.ask([approval]) == ()
    assert at in str(thread.calls("chat.postMessage")[0].args["blocks"])


@pytest.mark.parametrize(
    ("name", "value", "said", "exactly"),
    [
        ("cron", "30 9 * * MON,WED", "every Monday and Wednesday at 09:30", False),
        ("cron", "0 9 * * *", "every day at 09:00", False),
        ("cron", "0 9 1 * MON", "on the first day of month and on Monday", True),
        ("cron", "10 0 9 * * MON", "every Monday at 09:00:10", True),
        ("cron", "0 9 * * 1-7", "every Monday through Sunday at 09:00", True),
        ("at", "2026-03-01T09:00:00+01:00", "'timestamp': 1772352000", False),
        ("at", "2026-03-01T09:00:00.5+01:00", "'timestamp': 1772352000", True),
        ("at", "2026-03-01T09:00", "Sun 1 Mar 2026 at 09:00", False),
        ("at", "20260301", "Sun 1 Mar 2026 at 00:00", True),
        ("at", "2026-W09-7T09+00:00:30", "'timestamp': 1772355570", True),
        ("text", "2026-03-01T09:00:00+01:00", "'timestamp': 1772352000", True),
        ("text", "0 9 * * *", "0 9 * * *", True),
        ("channel", GENERAL, f"'channel_id': '{GENERAL}'", False),
        ("text", GENERAL, f"'channel_id': '{GENERAL}'", True),
    ],
)
async def test_a_card_says_times_and_channels_as_people_do(
    thread: Thread, name: str, value: str, said: str, exactly: bool
) -> None:
    """As it stands too wherever words do not say all of it: what is approved is what was read. Read
    aloud, the buttons of two cards are told apart."""
    approval = asked_of(thread).model_copy(update={"arguments": json.dumps({name: value})})
    async with thread.open() as surface:
        await surface.ask([approval])
    [posted] = [each.args for each in thread.calls("chat.postMessage")]
    [shown] = [str(each) for each in posted["blocks"] if each["type"] == "rich_text"]
    assert said in shown
    assert (f"'text': '{value}', 'style': {{'code': True}}" in shown) == exactly
    assert button(posted, APPROVE)["accessibility_label"] == "Approve: Post in general"


async def test_what_tells_of_a_card_holds_no_id_of_a_channel(thread: Thread) -> None:
    """Neither the step that waits, nor what is read aloud."""
    approval = asked_of(thread).model_copy(update={"title": "Post in #C0FINANCE1"})
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        await surface.ask([approval])
    working, card = thread.replies()
    [step] = working["blocks"][0]["tasks"]
    assert step["title"] == "Post in a channel"
    assert button(card, APPROVE)["accessibility_label"] == "Approve: Post in a channel"
    assert card["text"] == "Approval needed: Post in a channel"


@pytest.mark.parametrize(
    ("title", "given", "left"),
    [
        ("Post in #sales", {"channel": "#sales", "text": "Hi"}, ["text"]),
        ("Post in #sales", {"channel": "sales", "text": "Post in #sales"}, ["channel", "text"]),
        (
            "Make a canvas in sales: Plan",
            {"channel": "sales", "title": "Plan", "text": "x"},
            ["text"],
        ),
        ("Make a canvas here: Plan", {"title": "Plan", "text": "Plan"}, ["title", "text"]),
        ("Add to the canvas “Plan”", {"canvas": "F1", "text": "canvas"}, ["canvas", "text"]),
        ("Change a canvas", {"canvas": "F1", "section": "", "text": " "}, ["canvas", "text"]),
        ("Remember for the channel: a\u200bb", {"text": "a\u200bb", "where": "channel"}, ["text"]),
        ("Remember for the channel: *a*", {"text": "*a*", "where": "channel"}, ["text"]),
        (
            "Schedule in this thread, every Monday at 09:00 (UTC)",
            {"cron": "0 9 * * MON", "text": "?"},
            ["text"],
        ),
    ],
)
def test_a_card_says_each_argument_once_and_none_less(
    title: str, given: dict[str, str], left: list[str]
) -> None:
    """What the headline says in its own place, letter by letter, is not said again below it; whatever
    could hide something there is (reliability 10)."""
    approval = APPROVAL.model_copy(update={"tool": "t", "arguments": json.dumps(given)})
    assert [each.kind for each in not_in_title(values_of(approval, str), title)] == left


async def test_a_card_names_a_canvas_by_its_title_which_leads_to_it(thread: Thread) -> None:
    """No id is shown; two canvases of one title are told apart by where they lead."""
    given = {"canvas": "F0PLAN0001", "title": "Plan", "text": "x"}
    changed = {"tool": "edit_canvas", "arguments": json.dumps(given)}
    async with thread.open() as surface:
        await surface.ask([asked_of(thread).model_copy(update=changed)])
    blocks = thread.calls("chat.postMessage")[0].args["blocks"]
    [said] = [each["elements"][0]["elements"] for each in blocks if "F0PLAN0001" in str(each)]
    [link] = [each for each in said if each["type"] == "link"]
    assert link["text"] == "Plan"
    assert link["url"] == thread.rig.slack.identity.canvas_link("F0PLAN0001")
    assert str(blocks).count("F0PLAN0001") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("cron", "0 9 * * 0"), ("at", "2026-03-01T09:00"), ("channel", GENERAL)],
)
async def test_a_card_of_a_server_s_tool_says_all_as_it_stands(
    thread: Thread, name: str, value: str
) -> None:
    """What others mean by a name is theirs: 0 is a Monday in some programs' cron, and a Sunday in
    ours (D6, reliability 10)."""
    changed = {"tool": "calendar__plan", "arguments": json.dumps({name: value})}
    async with thread.open() as surface:
        await surface.ask([asked_of(thread).model_copy(update=changed)])
    assert f"'text': '{value}', 'style': {{'code': True}}" in str(
        thread.calls("chat.postMessage")[0].args["blocks"]
    )


@pytest.mark.parametrize("name", ["ab\u202edc", "a\n*Approved by Ada*\nb", "a" * 20_000])
async def test_a_card_shows_names_of_arguments_for_what_they_are(thread: Thread, name: str) -> None:
    """Some servers take arguments of any name, which the model then makes up (reliability 10)."""
    changed = {"tool": "crm__set", "arguments": json.dumps({name: "x"})}
    async with thread.open() as surface:
        await surface.ask([asked_of(thread).model_copy(update=changed)])
    [posted] = [each.args for each in thread.calls("chat.postMessage")]
    [rich] = [each for each in posted["blocks"] if each["type"] == "rich_text"]
    label, shown = (part["elements"][0]["text"] for part in rich["elements"])
    assert label.startswith(approval_words.DETAILS())
    assert shown.startswith(json.dumps({name: "x"}, indent=1)[:1_000])
    assert shown.isascii()
    assert (SHOW_ALL in str(posted["blocks"])) == (len(name) > 1_000)


@pytest.mark.parametrize("private", [False, True])
async def test_a_card_is_put_up_once(thread: Thread, private: bool) -> None:
    """However often it is asked and though a reply is lost: in the thread; for what only one person is
    to see, directly to each who may decide."""
    approval = asked_of(thread)
    places: list[tuple[str, str | None]] = [(GENERAL, thread.request.thread)]
    if private:
        places = [(thread.rig.direct(user), None) for user in (ADA, BEN)]
    thread.ws.faults.fail("chat.postMessage", after_effect=True)
    for _ in range(2):
        async with thread.open(private=private) as surface:
            assert await surface.ask([approval]) == ()
    async with thread.open(private=private) as surface:
        await surface.settle([ApprovalRecord(approval, Decision(verdict=Verdict.DENIED, by=ADA))])
    assert len(thread.calls("chat.postMessage")) == len(places)
    for channel, ts in places:
        seen = [m for m in thread.ws.messages(channel, ts) if approval.id in str(m.get("metadata"))]
        assert len(seen) == 1
        assert seen[0]["text"].startswith("Denied: ")
        assert f"Denied by <@{ADA}>" in str(seen[0]["blocks"])


@pytest.mark.parametrize(
    "comment", [QUESTION_EDITED.english, QUESTION_DELETED.english, "you asked for something else"]
)
async def test_a_card_that_nobody_decided_denies_nothing(thread: Thread, comment: str) -> None:
    """U15: called off by an edit, a deletion or a new message: its notification says "Not done"."""
    approval, gone = asked_of(thread), Decision(verdict=Verdict.DENIED, comment=comment)
    async with thread.open() as surface:
        await surface.ask([approval])
        await surface.settle([ApprovalRecord(approval, gone)])
    shown = thread.calls("chat.update")[-1].args
    assert shown["text"].startswith("Not done: ")
    assert "Denied" not in str(shown)


async def test_an_approval_is_announced_once(thread: Thread) -> None:
    """U10: by its card. The run's message shows the step that waits, and the status line nothing."""
    refuse_streams(thread.ws)
    async with thread.open() as surface:
        await surface.ask([asked_of(thread)])
    running, card = thread.replies()
    assert "approv" not in str(running).lower()
    assert [block["type"] for block in running["blocks"]] == ["plan", "actions"]
    assert "Post in general" in str(running["blocks"][0]["tasks"])
    assert "approve this?" in str(card["blocks"])
    assert thread.ws.status(GENERAL, thread.request.thread).text == ""
    assert thread.ws.status(GENERAL, thread.request.thread).session == "suspended"


async def test_a_card_says_in_the_end_what_came_of_the_yes(thread: Thread) -> None:
    """Approved and then stopped is no approval that anybody acted on; a line for each end."""
    approval, yes = asked_of(thread), Decision(verdict=Verdict.APPROVED, by=ADA)
    async with thread.open() as surface:
        await surface.ask([approval])
        for made in (None, CallProgress.BEGUN, CallProgress.NEVER, CallProgress.DONE):
            await surface.settle([ApprovalRecord(approval, yes, made)])
    updates = [str(each.args["blocks"]) for each in thread.calls("chat.update")]
    said = [each for each in updates if f"Approved by <@{ADA}>" in each]
    assert ["Not done" in each for each in said] == [False, False, True]  # the last is the end


def test_a_card_is_in_the_words_of_its_reader() -> None:
    """U9, M11: no names of code: what stays the same, the arguments of our own tools, and those of a
    package under its titles. A server's words are its own, which the card says."""
    drawn = partial(approval_part, canvas_link=lambda _: "")
    arguments = json.dumps({"where": "a", "url": "b", "customer_no": "c"})
    labels = {"customer_no": "Kunde"}
    ours = APPROVAL.model_copy(update={"standing": "x", "fixed": (MENTIONED,), "tool": "remind_us"})
    ours = ours.model_copy(update={"arguments": arguments, "labels": labels})
    with reader("ja-JP"):
        shown = str(drawn(ApprovalRecord(ours)).blocks)
        for text in (
            approval_words.PEOPLE_MENTIONED,
            *map(approval_words.ARGUMENTS.get, ("where", "url")),
        ):
            assert text is not None
            assert text() != text.english
            assert text() in shown
    assert "Kunde" in shown
    assert "customer" not in shown.lower()
    assert "remind" not in shown
    of_server = ours.model_copy(update={"tool": "crm__note", "labels": {}})
    shown = str(drawn(ApprovalRecord(of_server)).blocks)
    assert approval_words.SERVERS_WORDS(server="crm") in shown
    assert "'Where " in shown  # not "When" and the like, whatever a server's names mean


def test_every_argument_of_ours_that_a_card_may_show_has_a_label() -> None:
    """M11: of the tools that change something, or send what a person may have to allow."""
    outward = [tool for tool in catalogue().tools if tool.is_outward]
    names = {name for tool in outward for name in tool.arguments.model_fields}
    assert names - approval_words.ARGUMENTS.keys() == set()
