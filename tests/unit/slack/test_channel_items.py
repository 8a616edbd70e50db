"""What a channel keeps, as its members see it, and files of it that are read (reliability 9)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from bot.core.errors import ToolError
from bot.dev.workspace import ADA, BEN, CHLOE, Workspace
from tests.unit.slack.rig import wired
from tests.unit.slack.test_directory import FINANCE, GENERAL, SALES, Lookup
from tools.channels import list_channel_items


@pytest.fixture
async def look(ws: Workspace) -> AsyncGenerator[Lookup]:
    async with wired(ws) as rig:
        yield Lookup(ws, rig)


async def test_files_canvases_and_pins_of_a_channel(look: Lookup) -> None:
    """By name, the newest first, each with what is needed to read it."""
    ws = look.ws
    old = await ws.say(BEN, SALES, "Our <rules>", files=[("rules.pdf", b"%PDF-")])
    new = await ws.say(ADA, SALES, "", files=[("sales.csv", b"a\n1\n")])
    await ws.say(ADA, GENERAL, "", files=[("other.csv", b"a\n1\n")])
    canvas = await ws.write_canvas(ADA, SALES, "Plan", "x")
    await ws.pin(ADA, SALES, new["ts"])
    await ws.pin(ADA, SALES, old["ts"])
    with look.by(CHLOE):
        files = await list_channel_items("files", look.directory, "sales")
        canvases = await list_channel_items("canvases", look.directory, SALES)
        pins = await list_channel_items("pins", look.directory, "#sales")
        one = await list_channel_items("pins", look.directory, "#sales", query="RULES ben")
        none = await list_channel_items("pins", look.directory)
    assert [line.split(" · ")[:2] for line in files.content.split("\n")[1:]] == [
        [new["files"][0]["id"], "sales.csv"],
        [old["files"][0]["id"], "rules.pdf"],
    ]
    assert canvases.content.split("\n")[1].startswith(f"{canvas} · Plan · ")
    assert canvases.sources[0].url == f"{ws.url}docs/{ws.team_id}/{canvas}"
    first, second = pins.content.split("\n")[1:]
    assert "Ben Okafor: Our <rules> (file: rules.pdf " in first
    assert f"(file: sales.csv {new['files'][0]['id']})" in second
    assert one.content.startswith("1 pins of #sales")
    assert none.content.startswith("0 pins of this channel")


async def test_what_a_private_channel_keeps_is_its_members(look: Lookup) -> None:
    look.ws.channels[FINANCE].members.append(look.ws.bot_user_id)
    for user, why in ((CHLOE, "no channel"), (ADA, "private")):
        with look.by(user):
            for what in ("files", "pins"):
                with pytest.raises(ToolError, match=why):
                    await list_channel_items(what, look.directory, "finance")
    asked = {each.method for each in look.ws.effects}
    assert not asked & {"files.list", "pins.list"}


async def test_a_file_of_a_channel_can_be_read(look: Lookup) -> None:
    """Also when it was said elsewhere than in this thread; a canvas by the tool for canvases."""
    said = await look.ws.say(ADA, SALES, "", files=[("sales.csv", b"a\n1\n")])
    canvas = await look.ws.write_canvas(ADA, SALES, "Plan", "x")
    question = await look.ws.say(BEN, GENERAL, "?")
    with look.by(BEN, thread=question["ts"]):
        found = await look.conversation.download(said["files"][0]["id"], max_bytes=100)
        with pytest.raises(ToolError, match="is a canvas: read_canvas"):
            await look.conversation.download(canvas, max_bytes=100)
        with pytest.raises(ToolError, match="No file F0NOWHERE"):
            await look.conversation.download("F0NOWHERE1", max_bytes=100)
    assert (found.file.name, found.data) == ("sales.csv", b"a\n1\n")
