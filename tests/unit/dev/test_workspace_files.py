"""Files and canvases of the local workspace."""

from __future__ import annotations

import pytest

from bot.dev.workspace import ADA, ExternalFile, FakeFile, SlackFault
from bot.dev.workspace.store.sections import CELLS_MAX, SIZE_MAX, sections_of
from tests.unit.dev.refusals import error_of

GENERAL, RANDOM = "C0GENERAL1", "C0RANDOM01"


async def download(ws, session, url: str, token: str | None = None) -> tuple[str, bytes]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with session.get(url, headers=headers) as response:
        assert response.status == 200
        return response.content_type, await response.read()


async def test_a_shared_file_comes_with_its_message(ws, app):
    said = await ws.say(ADA, GENERAL, "look", files=[("sales.csv", b"a,b\n1,2\n")])
    message, shared = (await app.next())["event"], (await app.next())["event"]
    assert (message["subtype"], message["files"][0]["name"]) == ("file_share", "sales.csv")
    assert (message["files"][0]["size"], message["files"][0]["mimetype"]) == (8, "text/csv")
    assert (shared["type"], shared["file_id"]) == ("file_shared", said["files"][0]["id"])


async def test_only_the_bots_token_gets_the_bytes(ws, session):
    said = await ws.say(ADA, GENERAL, "", files=[("sales.csv", b"a,b\n")])
    url = said["files"][0]["url_private_download"]
    assert await download(ws, session, url, ws.bot_token) == ("text/csv", b"a,b\n")
    kind, body = await download(ws, session, url)
    assert kind == "text/html"
    assert b"Sign in" in body
    assert (await download(ws, session, url, "xoxb-wrong"))[0] == "text/html"


async def test_a_file_where_the_bot_is_not_is_not_found(ws, client):
    said = await ws.say(ADA, RANDOM, "", files=[("secret.txt", b"x")])
    assert await error_of(client.files_info(file=said["files"][0]["id"])) == "file_not_found"


async def test_a_huge_file_only_claims_its_size(ws, session):
    said = await ws.say(ADA, GENERAL, "", files=[FakeFile("huge.csv", 500_000_000)])
    file = said["files"][0]
    assert file["size"] == 500_000_000
    headers = {"Authorization": f"Bearer {ws.bot_token}"}
    async with session.get(file["url_private_download"], headers=headers) as response:
        assert response.content_length == 500_000_000
        assert len(await response.content.readexactly(100_000)) == 100_000


async def test_an_external_file_has_nothing_to_download(ws):
    said = await ws.say(
        ADA, GENERAL, "", files=[ExternalFile("Plan", "https://docs.example.com/d/1")]
    )
    file = said["files"][0]
    assert (file["mode"], file["url_private"]) == ("external", "https://docs.example.com/d/1")
    assert "url_private_download" not in file


async def test_the_sdk_uploads_in_three_steps(ws, client, session):
    root = await ws.say(ADA, GENERAL, "draw")
    answer = await client.files_upload_v2(
        content=b"\x89PNG",
        filename="chart.png",
        channel=GENERAL,
        thread_ts=root["ts"],
        initial_comment="here",
    )
    message = ws.messages(GENERAL, root["ts"])[1]
    assert (message["text"], message["bot_id"], message["files"][0]["name"]) == (
        "here",
        ws.bot_id,
        "chart.png",
    )
    assert (await download(ws, session, answer["file"]["url_private"], ws.bot_token))[
        1
    ] == b"\x89PNG"
    assert "upload" in [e.method for e in ws.effects]
    assert (await client.files_info(file=answer["file"]["id"]))["file"]["shares"]["public"][GENERAL]
    await client.files_delete(file=answer["file"]["id"])
    assert await error_of(client.files_info(file=answer["file"]["id"])) == "file_deleted"


async def test_an_upload_is_as_long_as_announced(ws, client, session):
    begun = await client.files_getUploadURLExternal(filename="a.txt", length=3)
    complete = client.files_completeUploadExternal
    unfinished = complete(files=[{"id": begun["file_id"], "title": "a"}], channel_id=GENERAL)
    assert await error_of(unfinished) == "file_not_found"
    async with session.post(begun["upload_url"], data=b"four") as response:
        assert response.status == 400
    async with session.put(begun["upload_url"], data=b"123") as response:
        assert response.status == 200
    elsewhere = complete(files=[{"id": begun["file_id"], "title": "a"}], channel_id=RANDOM)
    assert await error_of(elsewhere) == "not_in_channel"
    await complete(files=[{"id": begun["file_id"], "title": "a"}], channel_id=GENERAL)
    assert len((await client.files_list(channel=GENERAL))["files"]) == 1


async def test_only_ones_own_file_can_be_deleted(ws, client):
    said = await ws.say(ADA, GENERAL, "", files=[("a.txt", b"x")])
    assert await error_of(client.files_delete(file=said["files"][0]["id"])) == "cant_delete_file"


@pytest.mark.parametrize("name", ["a b.csv", "50%#?.csv", "../up.csv", "täglich.csv", "\udcff.csv"])
async def test_any_name_can_be_downloaded(ws, session, name):
    said = await ws.say(ADA, GENERAL, "", files=[(name, b"x")])
    url = said["files"][0]["url_private_download"]
    assert (await download(ws, session, url, ws.bot_token))[1] == b"x"


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
