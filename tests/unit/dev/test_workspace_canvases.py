"""Canvases and pins of the local workspace behave as Slack's."""

from __future__ import annotations

import pytest

from bot.dev.workspace import ADA, SlackFault
from bot.dev.workspace.store.sections import CELLS_MAX, SIZE_MAX, sections_of
from tests.unit.dev.refusals import error_of

GENERAL, RANDOM, DIRECT = "C0GENERAL1", "C0RANDOM01", "D0ADA00001"
TEXT = "# Plan\n\nSome *words*\nmore\n\n- one\n- two\n  - half\n\n| a | b |\n|---|---|\n| 1 | 2 |"


def content(text: str) -> dict[str, str]:
    return {"type": "markdown", "markdown": text}


async def test_a_canvas_is_a_file_of_its_channel(ws, client, session):
    """A canvas reads as it was written; a download is HTML with the ids of its sections."""
    made = await client.canvases_create(
        title="Plan", document_content=content(TEXT), channel_id=GENERAL
    )
    canvas = made["canvas_id"]
    assert (await client.canvases_getContent(canvas_id=canvas))["content"] == TEXT
    file = (await client.files_info(file=canvas))["file"]
    assert (file["filetype"], file["mode"], file["title"]) == ("quip", "quip", "Plan")
    assert (file["channels"], file["groups"], file["ims"]) == ([GENERAL], [], [])
    assert file["permalink"] == f"{ws.url}docs/{ws.team_id}/{canvas}"
    found = await client.canvases_sections_lookup(
        canvas_id=canvas, criteria={"section_types": ["any_header"]}
    )
    headers = {"Authorization": f"Bearer {ws.bot_token}"}
    async with session.get(file["url_private"], headers=headers) as response:
        assert f"id='{found['sections'][0]['id']}'>Plan<" in await response.text()


async def test_a_conversation_has_one_canvas_of_its_own(client):
    made = await client.conversations_canvases_create(
        channel_id=DIRECT, document_content=content("x")
    )
    again = client.conversations_canvases_create(channel_id=DIRECT, document_content=content("y"))
    assert await error_of(again) == "channel_canvas_already_exists"
    info = (await client.conversations_info(channel=DIRECT))["channel"]
    assert info["properties"]["canvas"]["file_id"] == made["canvas_id"]
    tabbed = client.canvases_create(document_content=content("x"), channel_id=DIRECT)
    assert await error_of(tabbed) == "canvas_tab_creation_failed"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#### Deep", "line 1: Unsupported heading level"),
        ("Fine\n\n> - a list", "line 3: Unsupported block type (List) within block quote"),
        ("| a |\n|---|\n" + "| 1 |\n" * CELLS_MAX, "cells"),
    ],
)
async def test_what_a_canvas_cannot_hold(ws, client, text, words):
    canvas = await ws.write_canvas(ADA, GENERAL, "Plan", "x")
    change = {"operation": "insert_at_end", "document_content": content(text)}
    assert await error_of(client.canvases_create(document_content=content(text))) == (
        "canvas_creation_failed"
    )
    edit = client.canvases_edit(canvas_id=canvas, changes=[change])
    assert await error_of(edit) == "canvas_editing_failed"
    assert words in ws.effects[-1].result["detail"]


def test_a_canvas_has_a_size():
    """One change has at most a megabyte."""
    with pytest.raises(SlackFault, match="canvas_editing_failed"):
        sections_of("x" * (SIZE_MAX + 1), "canvas_editing_failed")


async def test_changes_that_are_none(ws, client):
    """A call has one change, at an existing section, in a channel that the bot is in."""
    canvas = await ws.write_canvas(ADA, GENERAL, "Plan", TEXT)
    hidden = await ws.write_canvas(ADA, RANDOM, "Hidden", "x")
    add = {"operation": "insert_at_end", "document_content": content("x")}
    nowhere = {"operation": "delete", "section_id": "temp:C:none"}
    for changes, error in (
        ([add, add], "invalid_arguments"),
        ([], "invalid_arguments"),
        ([nowhere], "canvas_editing_failed"),
        ([{"operation": "delete"}], "canvas_editing_failed"),
    ):
        edit = client.canvases_edit(canvas_id=canvas, changes=changes)
        assert await error_of(edit) == error
    assert await error_of(client.canvases_edit(canvas_id=hidden, changes=[add])) == (
        "canvas_not_found"
    )
    assert await error_of(client.canvases_getContent(canvas_id=hidden)) == "canvas_not_found"
    assert await error_of(client.canvases_create(channel_id=RANDOM)) == "not_in_channel"
    everything = client.canvases_sections_lookup(canvas_id=canvas, criteria={})
    assert await error_of(everything) == "invalid_arguments"
    ws.state.missing_scopes.add("canvases:read")
    assert await error_of(client.canvases_getContent(canvas_id=canvas)) == "missing_scope"


async def test_pins_where_the_bot_is(ws, client):
    said = await ws.say(ADA, GENERAL, "Rules")
    await ws.pin(ADA, GENERAL, said["ts"])
    [item] = (await client.pins_list(channel=GENERAL))["items"]
    assert (item["created_by"], item["message"]["text"]) == (ADA, "Rules")
    assert item["message"]["pinned_to"] == [GENERAL]
    assert await error_of(client.pins_list(channel=RANDOM)) == "not_in_channel"
