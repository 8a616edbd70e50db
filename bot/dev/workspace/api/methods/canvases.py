"""canvases.*: documents, made, read and edited; one change in a call."""

from typing import Any

from bot.dev.workspace.api.arguments import JsonList, JsonObject
from bot.dev.workspace.api.methods.method import method, open_channel
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.canvas_files import keep, make_canvas
from bot.dev.workspace.store.sections import Section, sections_of
from bot.dev.workspace.store.state import File, Json

BESIDE = {"insert_before": 0, "insert_after": 1}
WHOLE = ("insert_at_start", "insert_at_end", "replace")


@method("canvases.create", scope="canvases:write", tier=2)
async def create(
    core: Core,
    *,
    title: str = "",
    document_content: JsonObject | None = None,
    channel_id: str | None = None,
) -> Json:
    """A canvas of the bot's; with a channel, in a tab of it, for everybody there to edit."""
    places = [open_channel(core, channel_id)] if channel_id else []
    if places and places[0].is_direct:
        raise SlackFault("canvas_tab_creation_failed")
    text = _markdown(document_content, "canvas_creation_failed")
    return {"canvas_id": make_canvas(core, core.bot_user_id, title, text, places).id}


@method("conversations.canvases.create", scope="canvases:write", tier=2)
async def create_own(
    core: Core, *, channel_id: str, document_content: JsonObject | None = None, title: str = ""
) -> Json:
    """The one canvas that is a conversation's own."""
    place = open_channel(core, channel_id)
    if place.canvas:
        raise SlackFault("channel_canvas_already_exists")
    text = _markdown(document_content, "canvas_creation_failed")
    place.canvas = make_canvas(core, core.bot_user_id, title or place.name, text, [place]).id
    return {"canvas_id": place.canvas}


@method("canvases.getContent", scope="canvases:read")
async def content(core: Core, *, canvas_id: str, content_type: str = "markdown") -> Json:
    """All of a canvas that the bot can see."""
    file = _canvas(core, canvas_id)
    if content_type == "html":
        return {"content": (file.content or b"").decode()}
    if content_type != "markdown" or file.canvas is None:
        raise SlackFault("invalid_arguments")
    return {"content": file.canvas.markdown}


@method("canvases.sections.lookup", scope="canvases:read")
async def lookup(core: Core, *, canvas_id: str, criteria: JsonObject) -> Json:
    """The ids of sections, by what they say and what heading they are."""
    words, kinds = criteria.get("contains_text"), criteria.get("section_types")
    known = {"h1", "h2", "h3", "any_header"}
    if not (words or kinds) or set(criteria) - {"contains_text", "section_types"}:
        raise SlackFault("invalid_arguments")
    if kinds is not None and not (1 <= len(kinds) <= 3 and set(kinds) <= known):
        raise SlackFault("invalid_arguments")

    def fits(section: Section) -> bool:
        of_kind = (
            not kinds or section.heading in kinds or ("any_header" in kinds and section.heading)
        )
        return bool(of_kind) and str(words or "") in section.text

    canvas = _canvas(core, canvas_id).canvas
    return {
        "sections": [{"id": each.id} for each in (canvas.sections if canvas else []) if fits(each)]
    }


@method("canvases.edit", scope="canvases:write")
async def edit(core: Core, *, canvas_id: str, changes: JsonList) -> Json:
    """Carry out one change, by whoever may write there."""
    if len(changes) != 1:
        raise SlackFault("invalid_arguments")
    file, change = _canvas(core, canvas_id), dict(changes[0])
    if all(core.channels[each].archived for each in file.channels):
        raise SlackFault("restricted_action")
    if change.get("operation") == "rename":
        file.title = file.name = _markdown(change.get("title_content"), "canvas_editing_failed")
    else:
        _edit(file, change)
        keep(file)
    core.changed("file", user=core.bot_user_id, data={"id": file.id})
    return {}


def _edit(file: File, change: dict[str, Any]) -> None:
    assert file.canvas is not None  # noqa: S101 - looked up as one
    sections, operation = file.canvas.sections, change.get("operation")
    at = _place(sections, change.get("section_id"))
    if operation == "delete" and at is not None:
        del sections[at]
        return
    new = sections_of(
        _markdown(change.get("document_content"), "canvas_editing_failed"), "canvas_editing_failed"
    )
    if operation in BESIDE and at is not None:
        place = at + BESIDE[operation]
        sections[place:place] = new
    elif operation == "replace":
        sections[at if at is not None else 0 : None if at is None else at + 1] = new
    elif operation in WHOLE and at is None:
        place = 0 if operation == "insert_at_start" else len(sections)
        sections[place:place] = new
    else:
        raise SlackFault("canvas_editing_failed", detail="invalid operation")


def _place(sections: list[Section], section_id: str | None) -> int | None:
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
