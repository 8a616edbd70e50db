"""Canvases: read and changed where the asker and the bot both are, and never twice (reliability 3, 9)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.core.request import Entry, Request
from bot.dev.workspace import ADA, CHLOE, Workspace
from bot.features.canvases.slack_canvases import SlackCanvases
from bot.features.canvases.tools import create_canvas, edit_canvas, read_canvas
from bot.services.artifact_documents import ArtifactDocuments
from bot.slack.providers.channel_access import ReachableChannels
from bot.slack.ui.buttons import APPROVE, DENY
from bot.testing.artifacts import MemoryArtifacts
from tests.security.model import question, won_over
from tests.support.deployment import deployed
from tests.unit.slack.rig import Rig, wired
from tests.unit.slack.test_approvals import card, shows

GENERAL, FINANCE, SALES, RANDOM = "C0GENERAL1", "C0FINANCE1", "C0SALES001", "C0RANDOM01"
PLAN = f"# Goals\n\nSell *more* of it.\nSoon.\n\n- Ask ![](@{ADA}) kindly\n- Ask Ben\n\n## Later\n\nRest"


class Desk:
    """Canvases as somebody's question in #general, or in a direct message, meets them."""

    def __init__(self, ws: Workspace, rig: Rig) -> None:
        self.ws = ws
        channels = ReachableChannels(rig.slack)
        self.canvases = SlackCanvases(rig.slack, channels)
        self.artifacts = MemoryArtifacts()

    def by(self, user: str, channel: str = GENERAL, text: str = "?"):
        request = Request(
            entry=Entry.MENTION,
            team=self.ws.team_id,
            channel=channel,
            thread="1.0",
            ts="1.0",
            user=user,
            text=text,
        )
        return bound_request(RequestContext(request=request, run_id="run_1"))

    async def read(self, canvas: str | None, **more: Any) -> str:
        return (
            await read_canvas(self.canvases, ArtifactDocuments(self.artifacts), canvas, **more)
        ).content

    async def edit(self, canvas: str, change: Any, section: str = "", text: str = "") -> None:
        title = self.ws.state.files[canvas].title
        await edit_canvas(canvas, title, change, self.canvases, section, text)

    def markdown(self, canvas: str) -> str:
        kept = self.ws.state.files[canvas].canvas
        assert kept is not None
        return kept.markdown

    def calls(self, method: str) -> list[dict[str, Any]]:
        return [each.args for each in self.ws.effects if each.method == method]


@pytest.fixture
async def desk(ws: Workspace) -> AsyncGenerator[Desk]:
    async with wired(ws) as rig:
        yield Desk(ws, rig)


async def test_a_canvas_by_id_by_link_and_as_its_channels_own(desk: Desk) -> None:
    canvas = await desk.ws.write_canvas(ADA, SALES, "Plan", PLAN, own=True)
    link = f"{desk.ws.url}docs/{desk.ws.team_id}/{canvas}"
    with desk.by(CHLOE):
        found = [await desk.read(each) for each in (canvas, link, f"<{link}>", "#sales")]
        assert "passages shown" in await desk.read(canvas, query="later")
        with pytest.raises(ToolError, match="no canvas of its own"):
            await desk.read(None)
        with pytest.raises(ToolError, match="no link to a canvas of this workspace"):
            await desk.read("https://evil.example/docs/T0LOCAL001/F0123456")
    with desk.by(CHLOE, SALES):
        found.append(await desk.read(None))
    assert len({each.partition("handle:")[0] for each in found}) == 1
    assert found[0].startswith(f"canvas: {canvas} · title: Plan\n")
    assert "- Ask @Ada Lovelace kindly\n- Ask Ben" in found[0]


async def test_a_canvas_of_a_place_that_one_is_not_in(desk: Desk) -> None:
    """(reliability 9) Neither read nor changed; nor by somebody who is, where others read along."""
    desk.ws.channels[FINANCE].members.append(desk.ws.bot_user_id)
    pay = await desk.ws.write_canvas(ADA, FINANCE, "Pay", "CANARY", own=True)
    for user, channel, why in ((CHLOE, "D0CHLOE001", "in no channel"), (ADA, GENERAL, "private")):
        with desk.by(user, channel):
            for named in (pay, "finance"):
                with pytest.raises(ToolError, match=f"{why}|no channel"):
                    await desk.read(named)
            with pytest.raises(ToolError, match=why):
                await desk.edit(pay, "append", text="x")
    with desk.by(ADA, "D0ADA00001"):
        assert "CANARY" in await desk.read(pay)
    assert desk.calls("canvases.edit") == []
    assert len(desk.calls("canvases.getContent")) == 1


async def test_a_canvas_where_the_bot_is_not_and_a_file_that_is_none(desk: Desk) -> None:
    hidden = await desk.ws.write_canvas(ADA, RANDOM, "Hidden", "x")
    said = await desk.ws.say(ADA, GENERAL, "", files=[("a.csv", b"a\n1\n")])
    with desk.by(ADA):
        with pytest.raises(ToolError, match="bot sees no such file"):
            await desk.read(hidden)
        with pytest.raises(ToolError, match="no canvas: read_file"):
            await desk.read(said["files"][0]["id"])


async def test_a_new_canvas_stands_in_its_channel(desk: Desk) -> None:
    """(reliability 11) Without images, and with the asker's own links alone."""
    text = (
        "# Notes\n\n![x](https://evil.example/?d=CANARY) and [ours](https://ours.example/a)\n\n"
        "https://evil.example/CANARY"
    )
    with desk.by(ADA, text="Note https://ours.example/a"):
        made = await create_canvas("Notes", text, desk.canvases, "sales")
    [args] = desk.calls("canvases.create")
    file = next(each for each in desk.ws.state.files.values() if each.canvas)
    assert made.sources[0].url == f"{desk.ws.url}docs/{desk.ws.team_id}/{file.id}"
    assert (file.title, file.channels) == ("Notes", [SALES])
    written = args["document_content"]["markdown"]
    assert "[ours](https://ours.example/a)" in written
    assert "![" not in written
    assert "](https://evil" not in written
    assert "`evil.example/CANARY`" in written


async def test_a_direct_message_has_one_canvas(desk: Desk) -> None:
    with desk.by(ADA, "D0ADA00001"):
        await create_canvas("Mine", "x", desk.canvases)
        with pytest.raises(ToolError, match="has its canvas already"):
            await create_canvas("Mine", "y", desk.canvases)
        assert "title: Mine" in await desk.read(None)


@pytest.mark.parametrize(
    ("change", "section", "text", "left"),
    [
        ("append", "", "End", f"{PLAN}\n\nEnd"),
        ("prepend", "", "Start", f"Start\n\n{PLAN}"),
        ("insert_after", "# Goals", "New", PLAN.replace("# Goals", "# Goals\n\nNew")),
        ("replace", "Sell *more* of it.\nSoon.", "Sell.", PLAN.replace("Sell *more* of it.\nSoon.", "Sell.")),
        ("delete", "- Ask @Ada Lovelace kindly", "", PLAN.replace(f"- Ask ![](@{ADA}) kindly\n", "")),
        ("delete", "- Ask Ben", "", PLAN.replace("\n- Ask Ben", "")),
        ("rename", "", "Better", PLAN),
    ],
)  # fmt: skip
async def test_one_change_at_a_time(
    desk: Desk, change: Any, section: str, text: str, left: str
) -> None:
    canvas = await desk.ws.write_canvas(ADA, SALES, "Plan", PLAN)
    with desk.by(CHLOE):
        await desk.edit(canvas, change, section, text)
    assert desk.markdown(canvas) == left
    assert desk.ws.state.files[canvas].title == ("Better" if change == "rename" else "Plan")
    assert [len(each["changes"]) for each in desk.calls("canvases.edit")] == [1]


async def test_what_was_not_shown_to_who_approved_is_not_changed(desk: Desk) -> None:
    """Part of a block, a block that stands there twice or not any more, another canvas than was
    named on the card: none is touched."""
    code = "```\nfirst\n\nsecond\n\nthird\n```"
    text = f"{PLAN}\n\n---\n\nAgain\n\nAgain\n\nRest here\n\n{code}\n\n- [x] done\n  - half"
    canvas = await desk.ws.write_canvas(ADA, SALES, "Plan", text)
    with desk.by(ADA):
        for section in ("Soon.", "Again", "Gone", "second", "- [x] done\n  - half", "---"):
            with pytest.raises(ToolError, match="not exactly one whole block"):
                await desk.edit(canvas, "delete", section)
        with pytest.raises(ToolError, match="finds 2 sections"):
            await desk.edit(canvas, "delete", "Rest")
        with pytest.raises(ToolError, match="“Plan” by now"):
            await edit_canvas(canvas, "Menu", "append", desk.canvases, "", "x")
        with pytest.raises(ToolError, match="delete takes section, and nothing else"):
            await edit_canvas(canvas, "Plan", "delete", desk.canvases, "- Ask Ben", "x")
        assert desk.calls("canvases.edit") == []
        for section in (code, "- [x] done"):
            await desk.edit(canvas, "delete", section)
    assert desk.markdown(canvas) == text.replace(f"{code}\n\n- [x] done\n", "")


async def test_a_reply_that_is_lost_is_no_second_change(desk: Desk) -> None:
    """(reliability 3) It is said that nobody knows; a refusal says what is wrong with the text."""
    canvas = await desk.ws.write_canvas(ADA, SALES, "Plan", PLAN)
    desk.ws.faults.fail("canvases.edit", after_effect=True)
    desk.ws.faults.fail("canvases.create", after_effect=True)
    with desk.by(ADA):
        with pytest.raises(ToolError, match="may have been done or not"):
            await desk.edit(canvas, "append", text="Once")
        with pytest.raises(ToolError, match="may have been done or not"):
            await create_canvas("Notes", "x", desk.canvases)
        with pytest.raises(ToolError, match=r"canvas_editing_failed.*heading level"):
            await desk.edit(canvas, "append", text="#### Deep")
        desk.ws.state.missing_scopes.add("canvases:write")
        with pytest.raises(ToolError, match="lacks the permission canvases:write"):
            await desk.edit(canvas, "append", text="x")
    assert desk.markdown(canvas).count("Once") == 1
    assert len([each for each in desk.ws.state.files.values() if each.canvas]) == 2


async def test_who_asked_approves_and_exactly_that_is_written(redis_url: str) -> None:
    """(D6) The card shows the change as it would be made: once approved it is made once, denied
    never."""
    change = {"canvas": "sales", "title": "Plan", "change": "replace"}
    change |= {"section": "- Ask Ben", "text": "- Ask Chloe"}
    async with deployed(won_over, redis_url) as bot:
        canvas = await bot.ws.write_canvas(ADA, SALES, "Plan", PLAN, own=True)
        kept = bot.ws.state.files[canvas].canvas
        assert kept is not None
        for action, said in ((DENY, "Denied by"), (APPROVE, "Approved by")):
            assert kept.markdown == PLAN
            thread = await bot.ask(ADA, SALES, question(("edit_canvas", change)))
            asked = await card(bot, thread)
            assert "Replace a part of the canvas “Plan”" in str(asked["blocks"])
            for name, value in change.items():  # the title stands in the headline
                shown = f"'text': '{value}'" in str(asked["blocks"])
                assert shown or name in ("title", "change", "canvas")
            assert f"/{canvas}'" in str(asked["blocks"])  # a link, by its id
            await bot.ws.click(ADA, SALES, asked["ts"], action)
            await shows(bot, thread, said)
            await bot.answered(SALES, thread)
    assert kept.markdown == PLAN.replace("- Ask Ben", "- Ask Chloe")
    assert [each.ok for each in bot.ws.effects if each.method == "canvases.edit"] == [True]
