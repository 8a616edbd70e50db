"""canvases.*: creating, reading and editing documents, with one change per call."""

from typing import Any

from bot.dev.workspace.api.arguments import JsonList, JsonObject
from bot.dev.workspace.api.methods.method import method, open_channel
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.canvas_files import make_canvas, store_content
from bot.dev.workspace.store.sections import Section, sections_of
from bot.dev.workspace.store.state import File, Json

NEXT_TO_SECTION = {"insert_before": 0, "insert_after": 1}
IN_CANVAS = ("insert_at_start", "insert_at_end", "replace")


@method("canvases.create", scope="canvases:write", tier=2)
async def create(
    core: Core,
    *,
    title: str = "",
    document_content: JsonObject | None = None,
    channel_id: str | None = None,
) -> Json:
    """Create a canvas of the bot; with a channel, in a tab that everybody there can edit."""
    conversations = [open_channel(core, channel_id)] if channel_id else []
    if conversations and conversations[0].is_direct:
        raise SlackFault("canvas_tab_creation_failed")
    text = _markdown(document_content, "canvas_creation_failed")
    return {"canvas_id": make_canvas(core, core.bot_user_id, title, text, conversations).id}


@method("conversations.canvases.create", scope="canvases:write", tier=2)
async def create_own(
    core: Core, *, channel_id: str, document_content: JsonObject | None = None, title: str = ""
) -> Json:
    """Create the one canvas that is a conversation's own."""
    conversation = open_channel(core, channel_id)
    if conversation.canvas:
        raise SlackFault("channel_canvas_already_exists")
    text = _markdown(document_content, "canvas_creation_failed")
    conversation.canvas = make_canvas(
        core, core.bot_user_id, title or conversation.name, text, [conversation]
    ).id
    return {"canvas_id": conversation.canvas}


@method("canvases.getContent", scope="canvases:read")
async def content(core: Core, *, canvas_id: str, content_type: str = "markdown") -> Json:
    """Return the whole text of a canvas that the bot can see."""
    file = _canvas(core, canvas_id)
    if content_type == "html":
        return {"content": (file.content or b"").decode()}
    if content_type != "markdown" or file.canvas is None:
        raise SlackFault("invalid_arguments")
    return {"content": file.canvas.markdown}


@method("canvases.sections.lookup", scope="canvases:read")
async def lookup(core: Core, *, canvas_id: str, criteria: JsonObject) -> Json:
    """Return the ids of sections by their text and heading level."""
    words, kinds = criteria.get("contains_text"), criteria.get("section_types")
    known = {"h1", "h2", "h3", "any_header"}
    if not (words or kinds) or set(criteria) - {"contains_text", "section_types"}:
        raise SlackFault("invalid_arguments")
    if kinds is not None and not (1 <= len(kinds) <= 3 and set(kinds) <= known):
        raise SlackFault("invalid_arguments")

    def fits(section: Section) -> bool:
        wanted = {section.heading, "any_header"} if section.heading else set()
        return (not kinds or bool(wanted & set(kinds))) and str(words or "") in section.text

    canvas = _canvas(core, canvas_id).canvas
    return {
        "sections": [{"id": each.id} for each in (canvas.sections if canvas else []) if fits(each)]
    }


@method("canvases.edit", scope="canvases:write")
async def edit(core: Core, *, canvas_id: str, changes: JsonList) -> Json:
    """Carry out one change, if the bot may write there."""
    if len(changes) != 1:
        raise SlackFault("invalid_arguments")
    file, change = _canvas(core, canvas_id), dict(changes[0])
    if all(core.channels[each].archived for each in file.channels):
        raise SlackFault("restricted_action")
    if change.get("operation") == "rename":
        file.title = file.name = _markdown(change.get("title_content"), "canvas_editing_failed")
    else:
        _edit(file, change)
        store_content(file)
    core.changed("file", user=core.bot_user_id, data={"id": file.id})
    return {}


def _edit(file: File, change: dict[str, Any]) -> None:
    assert file.canvas is not None  # noqa: S101 - `_canvas` returns only canvases
    sections, operation = file.canvas.sections, change.get("operation")
    at = _position(sections, change.get("section_id"))
    if operation == "delete" and at is not None:
        del sections[at]
        return
    new = sections_of(
        _markdown(change.get("document_content"), "canvas_editing_failed"), "canvas_editing_failed"
    )
    if operation in NEXT_TO_SECTION and at is not None:
        position = at + NEXT_TO_SECTION[operation]
        sections[position:position] = new
    elif operation == "replace":
        sections[at if at is not None else 0 : None if at is None else at + 1] = new
    elif operation in IN_CANVAS and at is None:
        position = 0 if operation == "insert_at_start" else len(sections)
        sections[position:position] = new
    else:
        raise SlackFault("canvas_editing_failed", detail="invalid operation")


def _position(sections: list[Section], section_id: str | None) -> int | None:
    if section_id is None:
        return None
    for number, each in enumerate(sections):
        if each.id == section_id:
            return number
    raise SlackFault("canvas_editing_failed", detail="section not found")


def _markdown(given: Json | None, failure: str) -> str:
    if given is None:
        return ""
    if given.get("type") != "markdown" or not isinstance(given.get("markdown"), str):
        raise SlackFault(failure, detail="'content' error: markdown expected")
    return str(given["markdown"])


def _canvas(core: Core, key: str) -> File:
    file = core.state.files.get(key)
    if file is None or file.deleted or file.canvas is None:
        raise SlackFault("canvas_not_found")
    if file.user != core.bot_user_id and not any(
        core.bot_user_id in core.channels[each].members for each in file.channels
    ):
        raise SlackFault("canvas_not_found")
    return file
