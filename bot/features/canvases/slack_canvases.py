"""Canvases for tools, limited to channels that both the asker and the bot can see."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.failpoints import failpoint
from bot.slack.edge.files import CANVAS, places_of
from bot.slack.edge.text import clean, one_line
from bot.slack.edge.workspaces import Slack
from bot.slack.providers.channel_access import ReachableChannels, for_the_model, name_or, only_once
from bot.slack.providers.outbound_text import document
from bot.slack.ui.markdown import blocks_of, plain_text
from bot.text.invisible_text import exact
from bot.toolkit.provided.canvases import Canvas, CanvasEdit

_ID = re.compile(r"F[A-Z0-9]{6,}")
_LINK_END = re.compile(r"(?:docs|canvas)/(?:T[A-Z0-9]+/)?(F[A-Z0-9]{6,})(?:[?#].*)?")
_PERSON = re.compile(r"!\[\]\(@([UW][A-Z0-9]+)\)")  # how a canvas writes a mention
_CHECKBOX = re.compile(r"^\[[ xX]\]\s+")
_OPERATIONS = {"append": "insert_at_end", "prepend": "insert_at_start"}


class SlackCanvases:
    """The canvases of a workspace. See `bot.toolkit.provided.canvases.Canvases`.

    The asker is always the user of the current request, never an argument.
    """

    def __init__(self, slack: Slack, channels: ReachableChannels) -> None:
        self._clients = slack.clients
        self._identity = slack.identity
        self._people = slack.people
        self._channels = channels

    async def read(self, canvas: str | None) -> Canvas:
        async with for_the_model():
            canvas_id = await self._find(canvas)
            return replace(canvas_id, text=await self._with_names(await self._text(canvas_id)))

    async def create(self, title: str, text: str, *, channel: str | None) -> Canvas:
        name, content = one_line(title), document(text)
        async with for_the_model(), only_once():
            place = await self._channels.writable(channel or current_request().channel)
            failpoint("elsewhere-posting")
            if place.direct:
                made = await self._clients.writes.conversations_canvases_create(
                    channel_id=place.id, document_content=content, title=name
                )
            else:
                made = await self._clients.writes.canvases_create(
                    channel_id=place.id, document_content=content, title=name
                )
        failpoint("elsewhere-posted")
        return self._canvas(str(made["canvas_id"]), name)

    async def check_edit(self, canvas: str, edit: CanvasEdit, *, title: str) -> str:
        async with for_the_model():
            canvas_id, _ = await self._prepare_edit(canvas, edit, title)
        return canvas_id.id

    async def edit(self, canvas: str, edit: CanvasEdit, *, title: str) -> Canvas:
        async with for_the_model(), only_once():
            canvas_id, change = await self._prepare_edit(canvas, edit, title)
            failpoint("elsewhere-posting")
            await self._clients.writes.canvases_edit(canvas_id=canvas_id.id, changes=[change])
        failpoint("elsewhere-posted")
        return canvas_id

    async def _prepare_edit(
        self, canvas: str, edit: CanvasEdit, title: str
    ) -> tuple[Canvas, dict[str, Any]]:
        """Return the canvas and the change for Slack. Raises ToolError if its title differs."""
        canvas_id = await self._find(canvas)
        if exact(canvas_id.title) != exact(one_line(title)):
            raise ToolError(f"Its title is “{canvas_id.title}” by now. Read it before you edit it.")
        return canvas_id, await self._change(canvas_id, edit)

    async def _find(self, wanted: str | None) -> Canvas:
        """Return a canvas by its id or link, or the canvas of a channel; None means this channel.

        Raises ToolError, NotPermitted, SlackApiError and TRANSPORT_ERRORS.
        """
        named = self._canvas_id(wanted or "")
        canvas = named or await self._channel_canvas(wanted)
        file = (await self._clients.reads.files_info(file=canvas))["file"]
        if file.get("mimetype") != CANVAS:
            raise ToolError(f"{canvas} is a file and no canvas: read_file reads files.")
        # A channel's own canvas needs no check: everybody who sees the channel sees it, whatever
        # the file object says.
        if named:
            await self._channels.check_readable_in_any(places_of(file))
        return self._canvas(canvas, one_line(str(file.get("title") or "")))

    async def _channel_canvas(self, channel: str | None) -> str:
        """Return the id of a channel's own canvas."""
        place = await self._channels.readable(channel)
        info = (await self._clients.reads.conversations_info(channel=place))["channel"]
        canvas = ((info.get("properties") or {}).get("canvas") or {}).get("file_id")
        if not canvas:
            place_name = name_or(channel, otherwise="That channel") if channel else "This channel"
            raise ToolError(f"{place_name} has no canvas of its own.")
        return str(canvas)

    def _canvas_id(self, wanted: str) -> str | None:
        """Return the canvas id in an id or a link; None for text that may name a channel."""
        named = wanted.strip().removeprefix("<").removesuffix(">").partition("|")[0]
        if _ID.fullmatch(named):
            return named
        if "://" not in named:
            return None
        link = _LINK_END.fullmatch(named.removeprefix(self._identity.url))
        if link is None:
            raise ToolError(
                f"{named[:200]} is no link to a canvas of this workspace. They look like "
                f"{self._identity.canvas_link('F0123ABCD')}."
            )
        return link[1]

    async def _text(self, canvas: Canvas) -> str:
        answer = await self._clients.reads.canvases_getContent(canvas_id=canvas.id)
        return clean(str(answer.get("content") or ""))

    async def _with_names(self, text: str) -> str:
        for user in set(_PERSON.findall(text)):
            text = text.replace(f"![](@{user})", f"@{await self._people.name(user)}")
        return text

    async def _change(self, canvas: Canvas, edit: CanvasEdit) -> dict[str, Any]:
        if edit.change == "rename":
            title = {"type": "markdown", "markdown": one_line(edit.text)}
            return {"operation": "rename", "title_content": title}
        change: dict[str, Any] = {"operation": _OPERATIONS.get(edit.change, edit.change)}
        if edit.section.strip():
            change["section_id"] = await self._section(canvas, edit.section.strip())
        if edit.text.strip():
            change["document_content"] = document(edit.text)
        return change

    async def _section(self, canvas: Canvas, block: str) -> str:
        """Return the id of the only section whose text is `block`.

        Slack finds sections by words that they contain and does not return the rest of their text.
        So `block` must be a whole block of the canvas.
        """
        blocks = blocks_of(await self._text(canvas))
        matching = [
            candidate
            for candidate in blocks
            if exact(await self._with_names(candidate)) == exact(block)
        ]
        words = _search_words(matching[0]) if len(matching) == 1 else ""
        if not words:
            raise ToolError(
                "section is not exactly one whole block of the canvas: a paragraph, a heading or an "
                "item of a list, with words in it, as read_canvas shows it. Read it again and copy one."
            )
        criteria: dict[str, Any] = {"contains_text": words}
        if marks := re.match(r"(#{1,3})\s", block):
            criteria["section_types"] = [f"h{len(marks[1])}"]
        answer = await self._clients.reads.canvases_sections_lookup(
            canvas_id=canvas.id, criteria=criteria
        )
        ids = [str(section["id"]) for section in answer["sections"]]
        if len(ids) != 1:
            raise ToolError(
                f"Slack finds {len(ids)} sections with these words, so nobody knows which would be "
                "changed. Choose another section, or append."
            )
        return ids[0]

    def _canvas(self, canvas: str, title: str) -> Canvas:
        return Canvas(canvas, title, self._identity.canvas_link(canvas))


def _search_words(block: str) -> str:
    """Return the longest line of a block that Slack shows exactly as it is written."""
    lines = [line for part in _PERSON.split(block)[::2] for line in plain_text(part).split("\n")]
    return _CHECKBOX.sub("", max(lines, key=len)).strip()
