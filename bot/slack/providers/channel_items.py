"""Items that a channel keeps besides its messages: pins, files and canvases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.slack.edge.client import Clients
from bot.slack.edge.files import CANVAS
from bot.slack.edge.text import one_line
from bot.slack.message.message_contents import file_refs
from bot.slack.providers.channel_access import ReachableChannels
from bot.slack.providers.message_reading import MessageReader, ts_of
from bot.toolkit.provided.conversation import ThreadMessage
from bot.toolkit.provided.directory import SharedFile

_PAGE = 100
_MAX_PAGES = 10


@dataclass(frozen=True, slots=True)
class ChannelItems:
    """The pins, files and canvases of channels that the current request may read.

    Raises ToolError, NotPermitted, SlackApiError and TRANSPORT_ERRORS.
    """

    clients: Clients
    channels: ReachableChannels
    reader: MessageReader

    async def pins(self, channel: str | None) -> list[ThreadMessage]:
        """Return pinned messages, the latest pin first."""
        place = await self.channels.readable(channel)
        items = (await self.clients.reads.pins_list(channel=place))["items"]
        messages = [each["message"] for each in items if each.get("type") == "message"]
        return [await self.reader.message(each, place) for each in messages]

    async def files(
        self, channel: str | None, *, after: datetime | None, before: datetime | None
    ) -> list[SharedFile]:
        """Return files and canvases, newest first, from at most a thousand that Slack lists."""
        place = await self.channels.readable(channel)
        found: list[SharedFile] = []
        for page_number in range(1, _MAX_PAGES + 1):
            page = await self.clients.reads.files_list(
                channel=place,
                count=_PAGE,
                page=page_number,
                ts_from=ts_of(after),
                ts_to=ts_of(before),
            )
            found += [await self._shared_file(each) for each in page["files"] if file_refs([each])]
            if page_number >= int((page.get("paging") or {}).get("pages") or 0):
                break
        return found

    async def _shared_file(self, facts: Mapping[str, Any]) -> SharedFile:
        [file] = file_refs([facts])
        is_canvas = file.media_type == CANVAS
        if is_canvas:  # people know a canvas by its title; Slack generates its file name
            file = file.model_copy(update={"name": one_line(str(facts.get("title") or ""))})
        user = str(facts.get("user") or "")
        return SharedFile(
            file=file,
            at=datetime.fromtimestamp(float(facts.get("created") or 0), UTC),
            author=await self.reader.slack.people.name(user) if user else "somebody",
            url=str(facts.get("permalink") or "") or None,
            is_canvas=is_canvas,
        )
