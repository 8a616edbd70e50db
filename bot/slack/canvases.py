"""Canvases as tools see them: those of channels that the person who asked and the bot both see."""

from __future__ import annotations

import re
from typing import Any

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.failpoints import failpoint
from bot.slack.client import Clients, Identity
from bot.slack.composed import document
from bot.slack.files import CANVAS, places_of
from bot.slack.people import People
from bot.slack.reachable import ReachableChannels
from bot.slack.refusals import for_the_model, only_once
from bot.slack.render.markdown import plain_text
from bot.slack.text import clean, one_line
from bot.toolkit.canvases import Canvas, CanvasEdit

_ID = re.compile(r"F[A-Z0-9]{6,}")
_LINK_END = re.compile(r"(?:docs|canvas)/(?:T[A-Z0-9]+/)?(F[A-Z0-9]{6,})(?:[?#].*)?")
_PERSON = re.compile(r"!\[\]\(@([UW][A-Z0-9]+)\)")  # how a canvas writes a mention
_BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s|#)")
_OPERATIONS = {"append": "insert_at_end", "prepend": "insert_at_start"}


class SlackCanvases:
    """See `bot.toolkit.canvases.Canvases`. Works for the request of the current context; who asks is
    never taken from an argument."""

    def __init__(
        self, clients: Clients, identity: Identity, people: People, channels: ReachableChannels
    ) -> None:
        self._clients = clients
        self._identity = identity
        self._people = people
        self._channels = channels

    async def read(self, canvas: str | None) -> Canvas:
        async with for_the_model():
            found = await self._find(canvas)
            return await self._with_text(found)

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

    async def edit(self, canvas: str, edit: CanvasEdit, *, title: str) -> Canvas:
        async with for_the_model(), only_once():
            found = await self._find(canvas)
            if found.title != one_line(title):
                raise ToolError(f"Its title is “{found.title}” by now. Read it before you edit it.")
            change = await self._change(found, edit)
            failpoint("elsewhere-posting")
            await self._clients.writes.canvases_edit(canvas_id=found.id, changes=[change])
        failpoint("elsewhere-posted")
        return found

    async def _find(self, wanted: str | None) -> Canvas:
        """Raises ToolError, NotPermitted, and what calls to Slack raise."""
        named = self._named(wanted or "")
        canvas = named or await self._own(wanted)
        file = (await self._clients.reads.files_info(file=canvas))["file"]
        if file.get("mimetype") != CANVAS:
            raise ToolError(f"{canvas} is a file and no canvas: read_file reads files.")
        if named:  # who sees a channel sees its own one, whatever is said of the file
            await self._channels.readable_in_any(places_of(file))
        return self._canvas(canvas, one_line(str(file.get("title") or "")))

    async def _own(self, channel: str | None) -> str:
        """The id of a channel's own canvas."""
        place = await self._channels.readable(channel)
        info = (await self._clients.reads.conversations_info(channel=place))["channel"]
        canvas = ((info.get("properties") or {}).get("canvas") or {}).get("file_id")
        if not canvas:
            raise ToolError(f"{channel or 'This channel'} has no canvas of its own.")
        return str(canvas)

    def _named(self, wanted: str) -> str | None:
        """The id of a canvas by that or by its link; None for what may be a channel."""
        named = wanted.strip().removeprefix("<").removesuffix(">").partition("|")[0]
        if _ID.fullmatch(named):
            return named
        if "://" not in named:
            return None
        found = _LINK_END.fullmatch(named.removeprefix(self._identity.url))
        if found is None:
            raise ToolError(
                f"{named[:200]} is no link to a canvas of this workspace. They look like "
                f"{self._identity.url}docs/{self._identity.team}/F0123ABCD."
            )
        return found[1]

    async def _with_text(self, canvas: Canvas) -> Canvas:
        answer = await self._clients.reads.canvases_getContent(canvas_id=canvas.id)
        text = str(answer.get("content") or "")
        for user in set(_PERSON.findall(text)):
            text = text.replace(f"![](@{user})", f"@{await self._people.name(user)}")
        return Canvas(canvas.id, canvas.title, canvas.url, clean(text))

    async def _change(self, canvas: Canvas, edit: CanvasEdit) -> dict[str, Any]:
        if edit.change == "rename":
            title = {"type": "markdown", "markdown": one_line(edit.text)}
            return {"operation": "rename", "title_content": title}
        change: dict[str, Any] = {"operation": _OPERATIONS.get(edit.change, edit.change)}
        if edit.section:
            change["section_id"] = await self._section(canvas, edit.section.strip())
        if edit.text:
            change["document_content"] = document(edit.text)
        return change

    async def _section(self, canvas: Canvas, block: str) -> str:
        """The id of the one section that is `block`. Slack finds sections by words that they hold
        and does not say what else stands there, so the text has to be a whole block of it."""
        text = (await self._with_text(canvas)).text
        if [each.strip() for each in _BLOCKS.split(text)].count(block) != 1:
            raise ToolError(
                "section is not exactly one whole block of the canvas: a paragraph, a heading or an "
                "item of a list, as read_canvas shows it. Read it again and copy one."
            )
        criteria: dict[str, Any] = {"contains_text": max(plain_text(block).split("\n"), key=len)}
        if marks := re.match(r"(#{1,3})\s", block):
            criteria["section_types"] = [f"h{len(marks[1])}"]
        answer = await self._clients.reads.canvases_sections_lookup(
            canvas_id=canvas.id, criteria=criteria
        )
        ids = [str(each["id"]) for each in answer["sections"]]
        if len(ids) != 1:
            raise ToolError(
                f"Slack finds {len(ids)} sections with these words, so nobody knows which would be "
                "changed. Choose another section, or append."
            )
        return ids[0]

    def _canvas(self, canvas: str, title: str) -> Canvas:
        return Canvas(canvas, title, f"{self._identity.url}docs/{self._identity.team}/{canvas}")
