"""What tools read and share in Slack: never more than the person who asked may see (reliability 9, 12)."""

import re
from dataclasses import replace

import pytest

from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.core.request import Entry, Request
from bot.dev.workspace import ADA, BEN, CHLOE, GUS, ExternalFile, FakeFile, Workspace
from bot.slack.edge.files import download
from bot.slack.providers import conversation
from bot.slack.providers.channel_access import ReachableChannels
from bot.slack.providers.conversation import SlackConversation
from bot.slack.ui.markdown import linked
from tests.unit.slack.rig import Rig, not_noted, wired

GENERAL = "C0GENERAL1"
SALES = "C0SALES001"
RANDOM = "C0RANDOM01"
FINANCE = "C0FINANCE1"


class Asked:
    """A conversation, and a way to work in it for somebody's question."""

    def __init__(self, ws: Workspace, rig: Rig) -> None:
        self.ws, self.rig = ws, rig
        self.conversation = SlackConversation(rig.slack, ReachableChannels(rig.slack), not_noted)

    async def by(self, user, channel=GENERAL, files=(), **changes):
        said = await self.ws.say(user, channel, "a question", files=files)
        request = Request(
            entry=Entry.MENTION,
            team=self.ws.team_id,
            channel=channel,
            thread=said["ts"],
            ts=said["ts"],
            user=user,
            text="a question",
        ).model_copy(update=changes)
        return request, bound_request(RequestContext(request=request, run_id="run_1"))


def rich_text(*runs: tuple[str, str, str]) -> dict[str, object]:
    """One line of it; each run with its type, the key of its value, and that."""
    elements = [{"type": kind, key: value} for kind, key, value in runs]
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "elements": [section]}


@pytest.fixture
async def asked(ws):
    async with wired(ws) as rig:
        yield Asked(ws, rig)


async def test_a_thread_reads_as_people_see_it(asked):
    request, bound = await asked.by(ADA)
    await asked.ws.say(BEN, GENERAL, f"<@{ADA}> sees <b>", thread_ts=request.thread)
    await asked.rig.clients.writes.chat_postMessage(
        channel=GENERAL,
        thread_ts=request.thread,
        text="Working on it…",
        metadata={"event_type": "run", "event_payload": {"run": "run_1", "part": 0}},
    )
    with bound:
        messages = await asked.conversation.thread(limit=10)
        last = await asked.conversation.thread(limit=1)
        before = await asked.conversation.thread(limit=10, before=messages[-1].ts)
    assert [(m.author, m.text) for m in messages] == [
        ("Ada Lovelace", "a question"),
        ("Ben Okafor", "@Ada Lovelace sees <b>"),
    ]
    assert last == messages[1:]
    assert before == messages[:1]
    assert f"archives/{GENERAL}/p" in messages[1].url
    assert f"thread_ts={request.thread}" in messages[1].url


async def test_what_the_bot_has_posted_is_its_own(asked):
    """As a chart that it drew: nothing that people attached."""
    request, bound = await asked.by(ADA)
    await asked.ws.say(BEN, GENERAL, "[alert]", bot_id="B0OTHER001", thread_ts=request.thread)
    await asked.rig.clients.writes.files_upload_v2(
        content="x", filename="chart.png", channel=GENERAL, thread_ts=request.thread
    )
    with bound:
        messages = await asked.conversation.thread(limit=10)
    assert [message.own for message in messages] == [False, False, True]
    assert messages[2].files[0].name == "chart.png"


async def test_what_other_apps_say_in_blocks_and_attachments_is_read(asked):
    """An alert has little text of its own, or none; a preview of a link is nobody's words."""
    request, bound = await asked.by(ADA)
    row = [{"type": "raw_text", "text": "eu-1"}, {"type": "raw_number", "value": 97}]
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Disk full"}},
        {"type": "section", "fields": [{"type": "mrkdwn", "text": "*Host*\ndb &amp; 1"}]},
        rich_text(("user", "user_id", ADA), ("emoji", "name", "fire")),
        {"type": "table", "rows": [row]},
        {"type": "actions", "elements": []},
    ]
    alert = {
        "fallback": "x",
        "title": "CPU",
        "title_link": "https://m.example/1",
        "text": "high",
        "fields": [{"title": "Since", "value": "09:00"}],
    }
    preview = {"from_url": "https://e.example", "text": "A page", "fallback": "y"}
    from_app = {"bot_id": "B0OTHER001", "thread_ts": request.thread}
    await asked.ws.say(BEN, GENERAL, "[alert]", blocks=blocks, **from_app)
    await asked.ws.say(BEN, GENERAL, "", attachments=[alert, preview], **from_app)
    odd = [None, {"fields": 3, "blocks": {"a": 1}, "message_blocks": "x", "is_share": True}]
    await asked.ws.say(BEN, GENERAL, "", attachments=odd, blocks=[{}], **from_app)
    with bound:
        first, second, third = (await asked.conversation.thread(limit=10))[1:]
    assert first.text == "Disk full\n*Host*\ndb & 1\n@Ada Lovelace:fire:\neu-1 | 97"
    assert second.text == "CPU (https://m.example/1)\nhigh\nSince: 09:00"
    assert third.text == ""


async def test_a_channel_by_name_or_id_newest_last(asked):
    for i in range(5):
        await asked.ws.say(BEN, SALES, f"number {i}")
    _, bound = await asked.by(ADA)
    with bound:
        for name in ("sales", "#sales", SALES, f"<#{SALES}|sales>"):
            found = await asked.conversation.history(name, limit=3)
            assert [m.text for m in found] == ["number 2", "number 3", "number 4"]


@pytest.mark.parametrize(
    ("who", "channel", "says"),
    [
        (ADA, RANDOM, "not in #random"),  # public, without the bot
        (ADA, FINANCE, "no such channel.* can invite the bot with /invite"),  # private, without it
        (GUS, SALES, "no such channel"),  # a guest who is not in it
        (ADA, "nowhere", "no channel"),
        (ADA, "C0NOWHERE99", "no such channel.* can invite the bot with /invite"),  # the same words
    ],
)
async def test_nobody_reads_what_they_or_the_bot_cannot_see(asked, who, channel, says):
    _, bound = await asked.by(who)
    with bound, pytest.raises(ToolError, match=says):
        await asked.conversation.history(channel, limit=5)


async def test_a_private_channel_is_read_for_its_members_only_and_told_to_them_alone(asked):
    asked.ws.channels[FINANCE].members.append(asked.ws.bot_user_id)
    await asked.ws.say(BEN, FINANCE, "the secret")
    _, chloes = await asked.by(CHLOE, asked.rig.direct(CHLOE))
    with chloes, pytest.raises(ToolError, match="no such channel"):
        await asked.conversation.history(FINANCE, limit=5)
    _, aloud = await asked.by(ADA)
    with aloud, pytest.raises(ToolError, match="others read this thread"):
        await asked.conversation.history(FINANCE, limit=5)
    _, alone = await asked.by(ADA, asked.rig.direct(ADA))
    with alone:
        assert [m.text for m in await asked.conversation.history(FINANCE, limit=5)] == [
            "the secret"
        ]


async def test_a_file_of_the_thread_is_downloaded(asked):
    request, bound = await asked.by(ADA, files=[("sales.csv", b"a,b\n1,2\n")])
    with bound:
        [message] = await asked.conversation.thread(limit=1)
        got = await asked.conversation.download(message.files[0].id, max_bytes=1_000)
    assert got.data == b"a,b\n1,2\n"
    assert got.file.name == "sales.csv"
    assert got.url
    assert request.channel == GENERAL


async def test_a_file_of_a_place_that_the_asker_is_not_in_is_not(asked):
    """The answer is that for a file that does not exist."""
    asked.ws.channels[FINANCE].members.append(asked.ws.bot_user_id)
    said = await asked.ws.say(BEN, FINANCE, "", files=[("bens.csv", b"x")])
    _, bound = await asked.by(CHLOE)
    with bound:
        for file in (said["files"][0]["id"], "F0NOWHERE1"):
            with pytest.raises(ToolError, match=f"No file {file}"):
                await asked.conversation.download(file, max_bytes=10)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (FakeFile("huge.csv", 500_000_000), "500.0 MB"),
        (ExternalFile("sheet", "https://elsewhere.example/sheet"), "outside Slack"),
    ],
)
async def test_a_file_that_may_not_be_opened_is_refused_before_it_is_fetched(asked, file, says):
    _, bound = await asked.by(ADA, files=[file])
    with bound:
        [message] = await asked.conversation.thread(limit=1)
        with pytest.raises(ToolError, match=says):
            await asked.conversation.download(message.files[0].id, max_bytes=10_000_000)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/x",
        "http://files.slack.com/x",
        "https://files.slack.com.evil.example/x",
        "https://files.slack.com@evil.example/x",
        "https://files.slack.com:8443/x",
        "http://127.0.0.1:1/x",
        "",
    ],
)
async def test_the_token_goes_to_slacks_file_host_only(asked, url):
    file = {"id": "F1", "name": "x", "size": 1, "url_private_download": url}
    with pytest.raises(ToolError, match="no address of its own"):
        await download(asked.rig.clients, file, max_bytes=10)


async def test_slacks_login_page_is_not_taken_for_the_file(asked):
    """A token without the right gets the login page, with status 200."""
    _, bound = await asked.by(ADA, files=[("sales.csv", b"a,b\n")])
    asked.ws.state.missing_scopes.add("files:read")
    with bound:
        [message] = await asked.conversation.thread(limit=1)
        file = asked.ws.state.files[message.files[0].id]
    url = f"{asked.ws.url}files-pri/{asked.ws.team_id}-{file.id}/sales.csv"
    facts = {"id": file.id, "name": file.name, "size": 4, "url_private_download": url}
    with pytest.raises(ToolError, match="files:read"):
        await download(asked.rig.clients, facts, max_bytes=1_000)


async def test_a_file_larger_than_it_claims_is_cut_off(asked):
    _, bound = await asked.by(ADA, files=[("big.txt", b"x" * 300_000)])
    with bound:
        [message] = await asked.conversation.thread(limit=1)
    file = asked.ws.state.files[message.files[0].id]
    url = f"{asked.ws.url}files-pri/{asked.ws.team_id}-{file.id}/big.txt"
    facts = {"id": file.id, "name": file.name, "size": 1, "url_private_download": url}
    with pytest.raises(ToolError, match="too large"):
        await download(asked.rig.clients, facts, max_bytes=1_000)


@pytest.mark.parametrize(
    ("size", "told"), [(5_242_881, "too large: I can"), (9_000_000, "too large with 9.0 MB: I can")]
)
async def test_a_file_that_is_too_large_is_not_said_to_have_what_could_be_opened(
    asked, size: int, told: str
):
    """U15: 5.2 MB of which up to 5.2 MB can be opened."""
    facts = {"id": "F1", "name": "a.csv", "size": size, "url_private": f"{asked.ws.url}files-pri/a"}
    with pytest.raises(ToolError, match=f"a.csv is {told} open up to 5.2 MB"):
        await download(asked.rig.clients, facts, max_bytes=5_242_880)


async def test_a_file_is_shared_in_the_thread(asked):
    request, bound = await asked.by(ADA)
    with bound:
        link = await asked.conversation.share(b"hello", name="hello.txt", comment="Here")
    shared = asked.ws.messages(GENERAL, request.thread)[-1]
    assert shared["files"][0]["name"] == "hello.txt"
    assert link


MARKDOWN = """\
[a](https://evil.example/?q=s) ![b](https://evil.example/b.png?q=s) <https://evil.example/c?q=s>
[d][1] [e](file:///etc/passwd) [f](//evil.example/f) <img src="https://evil.example/g?q=s"> [^1]
[g](https://good.example/g#q=s)

[1]: https://evil.example/d?q=s
[^1]: https://evil.example/h?q=s
"""


@pytest.mark.parametrize("name", ["r.md", "R.MD", "r.markdown"])
async def test_markdown_is_shared_without_images_and_made_up_links(asked, name: str):
    """An address that the model made up may hold what it read."""
    request, bound = await asked.by(ADA)
    with bound as context, bound_request(replace(context, links=("https://good.example/g",))):
        await asked.conversation.share(MARKDOWN.encode(), name=name)
    [file] = asked.ws.messages(GENERAL, request.thread)[-1]["files"]
    written = asked.ws.state.files[file["id"]].content.decode()
    assert linked(written) == {"https://good.example/g"}
    live = re.sub("`[^`]*`", "", written)  # code links to nothing
    assert "evil.example" not in live
    assert "![" not in live
    assert "[^1]:" not in live
    assert "<img" not in live.replace("\\<img", "")


async def test_markdown_without_links_is_shared_as_it_is(asked):
    text = "---\ntitle: x\n---\n\n* [ ] a_b *c* | d [1]\n"
    request, bound = await asked.by(ADA)
    with bound:
        await asked.conversation.share(text.encode(), name="r.md")
    [file] = asked.ws.messages(GENERAL, request.thread)[-1]["files"]
    assert asked.ws.state.files[file["id"]].content.decode() == text


async def test_a_private_requests_file_goes_to_the_person(asked):
    request, bound = await asked.by(ADA, private=True)
    with bound:
        await asked.conversation.share(b"hello", name="hello.txt")
    assert len(asked.ws.messages(GENERAL, request.thread)) == 1
    assert asked.ws.messages(asked.rig.direct(ADA))[-1]["files"]


async def test_slack_failing_is_something_the_model_can_act_on(asked):
    _, bound = await asked.by(ADA)
    asked.ws.faults.fail("conversations.history", "missing_scope")
    with bound, pytest.raises(ToolError, match="permission"):
        await asked.conversation.history(None, limit=5)


async def test_what_is_new_in_a_thread_is_its_end_with_edits_and_runs(asked):
    """U2: the bot's answers are told apart by their run, also in a thread of more than a page."""
    request, bound = await asked.by(ADA)
    first = await asked.ws.say(BEN, GENERAL, "first", thread_ts=request.thread)
    await asked.rig.clients.writes.chat_postMessage(
        channel=GENERAL,
        thread_ts=request.thread,
        text="Two.",
        metadata={"event_type": "run", "event_payload": {"run": "run_0", "part": 0}},
    )
    asks = await asked.ws.say(ADA, GENERAL, "and?", thread_ts=request.thread)
    await asked.ws.say(BEN, GENERAL, "later", thread_ts=request.thread)
    with bound:
        every = await asked.conversation.new_in_thread("", before=asks["ts"], limit=10)
        await asked.ws.edit(BEN, GENERAL, first["ts"], "first of all")
        edited = await asked.conversation.new_in_thread(asks["ts"], before="9" * 10, limit=10)
        one = await asked.conversation.new_in_thread("", before=asks["ts"], limit=1)
    assert [(m.text, m.run) for m in every.messages] == [
        ("a question", ""),
        ("first", ""),
        ("Two.", "run_0"),
    ]
    assert [(m.text, bool(m.edited)) for m in edited.messages] == [
        ("first of all", True),
        ("later", False),
    ]
    assert (one.messages, one.left_out, every.left_out) == (every.messages[-1:], 2, 0)


async def test_the_latest_messages_are_new_however_small_slacks_pages_are(asked, monkeypatch):
    """U2: some apps get 15 messages a page; nothing at the end is lost or counted twice."""
    monkeypatch.setattr(conversation, "_THREAD_PAGE", 15)
    request, bound = await asked.by(ADA)
    for n in range(40):
        await asked.ws.say(BEN, GENERAL, f"number {n}", thread_ts=request.thread)
    asks = await asked.ws.say(ADA, GENERAL, "and?", thread_ts=request.thread)
    with bound:
        last = await asked.conversation.new_in_thread("", before=asks["ts"], limit=2)
        every = await asked.conversation.new_in_thread("", before=asks["ts"], limit=99)
    assert [m.text for m in last.messages] == ["number 38", "number 39"]
    assert [m.text for m in every.messages] == [
        "a question",
        *(f"number {n}" for n in range(40)),
    ]


async def test_of_a_very_long_thread_the_last_day_is_read_and_the_rest_counted(asked):
    """U2: two calls at most, however long it is."""
    request, bound = await asked.by(ADA)
    for n in range(1_100):
        await asked.ws.say(BEN, GENERAL, f"number {n}", thread_ts=request.thread)
    asked.ws.clock.advance(2 * 86_400)
    await asked.ws.say(BEN, GENERAL, "still there?", thread_ts=request.thread)
    await asked.ws.say(CHLOE, GENERAL, "yes", thread_ts=request.thread)
    asks = await asked.ws.say(ADA, GENERAL, "and?", thread_ts=request.thread)
    before = len(asked.ws.effects)
    with bound:
        new = await asked.conversation.new_in_thread("", before=asks["ts"], limit=2)
        last = await asked.conversation.thread(limit=1)
    reads = [e for e in asked.ws.effects[before:] if e.method == "conversations.replies"]
    assert [m.text for m in new.messages] == ["still there?", "yes"]
    assert new.left_out == 1 + 1_100
    assert [m.text for m in last] == ["and?"]
    assert len(reads) == 2 + 2
