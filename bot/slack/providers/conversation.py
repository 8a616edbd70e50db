"""The thread, channels and files for tools, limited to what the asker can see."""

from __future__ import annotations

import asyncio
import mimetypes
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.core.context import RequestContext, current_request
from bot.core.errors import NotPermitted, ToolError
from bot.core.failpoints import failpoint
from bot.core.request import FileRef
from bot.slack.edge import files
from bot.slack.edge.client import error_code
from bot.slack.edge.text import clean
from bot.slack.edge.workspaces import Slack
from bot.slack.message.message_contents import file_refs
from bot.slack.message.message_metadata import is_of_run
from bot.slack.providers import outbound_text
from bot.slack.providers.channel_access import ReachableChannels, for_the_model, only_once
from bot.slack.providers.messages import ChannelItems, MessageReader, edited_at, ts_of
from bot.slack.ui.blocks import shortened
from bot.slack.ui.links import LinkGate
from bot.text.mentions import Mention
from bot.text.redaction import redacted
from bot.toolkit.provided.conversation import Clip, Download, FoundFiles, NewMessages, ThreadMessage

_PAGE = 200
_THREAD_PAGE = 1_000  # the most that Slack returns
_MAX_PAGES = 10
_DAY = 86_400.0
_SYSTEM_SUBTYPES = frozenset(
    {"tombstone", "channel_join", "channel_leave", "channel_archive", "channel_unarchive"}
)
_MAX_ALT = 1_000  # characters, files.getUploadURLExternal
_LINK = re.compile(r"/archives/(?P<channel>[CGD][A-Z0-9]{6,})/p(?P<ts>\d{10})(?P<micro>\d{6})")


NoteFile = Callable[[str, str], Awaitable[None]]
"""Record, under a run's id, the id of a file that the run shared in its thread."""


class SlackConversation:
    """The conversation of the current request. See `bot.toolkit.provided.conversation.Conversation`.

    The asker is always the user of the current request, never an argument.
    """

    def __init__(self, slack: Slack, channels: ReachableChannels, note_file: NoteFile) -> None:
        self._clients = slack.clients
        self._identity = slack.identity
        self._channels = channels
        self._reader = MessageReader(slack)
        self._items = ChannelItems(slack.clients, channels, self._reader)
        self._note_file = note_file

    async def thread(self, *, limit: int, before: str | None = None) -> list[ThreadMessage]:
        """Return the last `limit` messages of the thread, oldest first, without the bot's progress."""
        request = current_request()
        async with for_the_model():
            all_messages = await self._thread_messages(request)
        earlier = [m for m in all_messages if before is None or float(m["ts"]) < float(before)]
        content = [m for m in earlier if _is_content(m, request.run_id)]
        return [await self._reader.message(m, request.channel) for m in content[-limit:]]

    async def new_in_thread(self, since: str, *, before: str, limit: int) -> NewMessages:
        """See `Conversation.new_in_thread`.

        Slack lists a thread from its beginning, up to 1,000 messages a page, or 15 for some apps. If
        there are more, those of the last day are read instead, page by page. Edits of messages that
        are more than a day older than `since` are not found.
        """
        request = current_request()
        start, last_day = float(since or 0) - _DAY, float(before) - _DAY

        def new(page: AsyncSlackResponse) -> list[dict[str, Any]]:
            return [
                message
                for message in page["messages"]
                if _is_content(message, request.run_id)
                and float(message["ts"]) < float(before)
                and max(float(message["ts"]), float(edited_at(message) or 0)) > float(since or 0)
            ]

        async with for_the_model():
            page = await self._thread_page(request, max(0.0, start))
            news = new(page)
            total = len(news)
            if page.get("has_more"):
                replies = int(page["messages"][0].get("reply_count") or 0)
                if start < last_day:
                    start = last_day
                    page = await self._thread_page(request, start)
                    news = new(page)
                root = request.thread  # each page has it
                for _ in range(_MAX_PAGES - 1):
                    if not (cursor := _next_cursor(page)):
                        break
                    page = await self._thread_page(request, max(0.0, start), cursor=cursor)
                    news += [each for each in new(page) if each["ts"] != root]
                total = max(total, len(news), 0 if since else replies)
        newest = news[-limit:]
        messages = [await self._reader.message(each, request.channel) for each in newest]
        return NewMessages(messages, total - len(newest))

    async def history(
        self,
        channel: str | None,
        *,
        limit: int,
        oldest: datetime | None = None,
        latest: datetime | None = None,
    ) -> list[ThreadMessage]:
        """Return the last `limit` messages of a channel, oldest first."""
        request = current_request()
        async with for_the_model():
            target = await self._channels.readable(channel)
            all_messages = await self._channel_messages(target, limit, oldest, latest)
        content = [m for m in all_messages if _is_content(m, request.run_id)]
        return [await self._reader.message(m, target) for m in reversed(content)]

    async def find_files(
        self,
        query: str,
        *,
        limit: int,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> FoundFiles:
        """See `Conversation.find_files`."""
        async with for_the_model():
            return await self._items.find(query, limit=limit, after=after, before=before)

    async def download(self, file_id: str, *, max_bytes: int) -> Download:
        """Return a file of the thread or the request, or of a channel that the asker may read."""
        file_object, refs = await self._seen_file(file_id)
        if file_object.get("mimetype") == files.CANVAS:
            raise ToolError(f"{file_id} is a canvas: read_canvas reads it.")
        data = await files.download(self._clients, file_object, max_bytes=max_bytes)
        [ref] = file_refs([file_object])
        is_own = file_object.get("user") == self._identity.user
        return Download(refs.get(file_id, ref), data, file_object.get("permalink"), is_own)

    async def clip(self, file_id: str) -> Clip:
        """See `Conversation.clip`; the transcript is Slack's, in the workspaces that have one."""
        file_object, _ = await self._seen_file(file_id)
        [ref] = file_refs([file_object])
        milliseconds = file_object.get("duration_ms")
        return Clip(
            ref,
            by=str(file_object.get("user") or ""),
            seconds=milliseconds / 1000 if isinstance(milliseconds, int | float) else None,
            url=file_object.get("permalink"),
            said=await files.transcript(self._clients, file_object),
            is_pending=files.is_being_transcribed(file_object),
        )

    async def share(self, data: bytes, *, name: str, comment: str = "") -> str | None:
        """Post a file to the thread, or to the asker's direct messages if the request is private.

        Returns its permalink, if Slack gives one.
        """
        request = current_request()
        name, comment = redacted(name), redacted(clean(comment))
        data = await asyncio.to_thread(outbound_text.file_content, name, data)
        async with for_the_model():
            channel, thread = await self._share_target(request)
            file = await files.upload(self._clients, data, name=name, alt=_alt(name, comment))
            if not request.request.private:
                # First: an edit of the question must find the file to delete it.
                await self._note_file(request.run_id, file)
            failpoint("file-sharing")
            shared = await self._clients.writes.files_completeUploadExternal(
                files=[{"id": file, "title": name}],
                channel_id=channel,
                thread_ts=thread,
                initial_comment=LinkGate().mrkdwn(comment) or None,
            )
        failpoint("file-shared")
        link = shared["files"][0].get("permalink")
        return str(link) if link else None

    async def check_place(self, channel: str, *, thread: str | None = None) -> str:
        """Return the id of a channel in which the asker could post, too.

        Checks that `thread` is a thread of it. Raises ToolError.
        """
        async with for_the_model():
            place = await self._channels.writable(channel)
            if thread:
                await self._clients.reads.conversations_replies(
                    channel=place.id, ts=thread, limit=1
                )
        return place.id

    async def channel_name(self, channel: str) -> str:
        """Return a phrase that names the channel within a sentence."""
        async with for_the_model():
            return await self._channels.slack.access.place(channel)

    def mentioned_in(self, text: str) -> tuple[Mention, ...]:
        """Return the people and channels that a message with this text mentions."""
        return outbound_text.mentioned_in(text)

    async def post(self, text: str, *, channel: str, thread: str | None = None) -> str:
        """Post in a channel in which the asker could post, too; return the permalink."""
        async with for_the_model(), only_once():
            target = (await self._channels.writable(channel)).id
            failpoint("elsewhere-posting")
            posted = await self._clients.writes.chat_postMessage(
                channel=target, thread_ts=thread, **outbound_text.message(text)
            )
        failpoint("elsewhere-posted")
        return self._reader.permalink(target, str(posted["ts"]), thread)

    async def linked(self, url: str, *, limit: int) -> list[ThreadMessage]:
        """Return the first `limit` messages of the thread of a linked message."""
        async with for_the_model():
            channel, ts = await self._linked_message(url)
            thread = parse_qs(urlsplit(url).query).get("thread_ts", [ts])[0]
            page = await self._clients.reads.conversations_replies(
                channel=channel, ts=thread, limit=limit, include_all_metadata=True
            )
        request = current_request()
        content = [m for m in page["messages"] if _is_content(m, request.run_id)]
        return [await self._reader.message(m, channel) for m in content]

    async def react(self, url: str, emoji: str) -> None:
        """Add a reaction to a linked message. Does nothing if the bot's reaction is there already."""
        async with for_the_model(), only_once():
            channel, ts = await self._linked_message(url)
            failpoint("elsewhere-posting")
            try:
                await self._clients.writes.reactions_add(channel=channel, timestamp=ts, name=emoji)
            except SlackApiError as error:
                if error_code(error) != "already_reacted":
                    raise
        failpoint("elsewhere-posted")

    async def _seen_file(self, file_id: str) -> tuple[dict[str, Any], dict[str, FileRef]]:
        """Return Slack's object of a file that the asker may read, and the files known here."""
        async with for_the_model():
            refs = {file.id: file for file in await self._known_files(current_request())}
            return await self._file_object(file_id, refs), refs

    async def _file_object(self, file_id: str, known: Mapping[str, FileRef]) -> dict[str, Any]:
        """Return Slack's file object.

        Raises ToolError unless the file is among `known` or in a channel that the asker may read.
        """
        names = ", ".join(f"{f.id} ({f.name})" for f in known.values()) or "none"
        hidden = ToolError(
            f"No file {file_id} in this thread, or in a channel that the person and the bot are both "
            f"in. Files here: {names}."
        )
        try:
            file_object = (await self._clients.reads.files_info(file=file_id))["file"]
            if file_id not in known:
                await self._channels.check_readable_in_any(files.places_of(file_object))
        except NotPermitted:
            raise hidden from None
        except SlackApiError as error:
            if file_id not in known and error_code(error) == "file_not_found":
                raise hidden from None
            raise
        return dict(file_object)

    async def _linked_message(self, url: str) -> tuple[str, str]:
        """Return the channel and ts of a linked message. Raises ToolError and NotPermitted."""
        link = _LINK.search(url)
        if link is None or not url.startswith(self._identity.url):
            raise ToolError(
                f"{url[:200]} is no link to a message of this workspace. They look like "
                f"{self._identity.url}archives/C0123ABCD/p1700000000000000."
            )
        return await self._channels.readable(link["channel"]), f"{link['ts']}.{link['micro']}"

    async def _share_target(self, request: RequestContext) -> tuple[str, str | None]:
        if not request.request.private:
            return request.channel, request.request.reply_to
        return await self._clients.direct(request.user), None

    async def _known_files(self, request: RequestContext) -> list[FileRef]:
        in_thread = await self._thread_messages(request)
        attached = [ref for m in in_thread for ref in file_refs(m.get("files") or ())]
        return [*request.request.files, *attached]

    async def _thread_messages(self, request: RequestContext) -> list[dict[str, Any]]:
        """Return the messages of the thread, oldest first, each once."""
        messages: dict[str, dict[str, Any]] = {}
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._thread_page(request, cursor=cursor)
            messages |= {
                message["ts"]: message for message in page["messages"]
            }  # each page has the root
            cursor = _next_cursor(page)
            if not cursor:
                break
        return [*messages.values()]

    async def _thread_page(
        self, request: RequestContext, oldest: float = 0.0, *, cursor: str | None = None
    ) -> AsyncSlackResponse:
        return await self._clients.reads.conversations_replies(
            channel=request.channel,
            ts=request.thread,
            oldest=f"{oldest:.6f}",
            limit=_THREAD_PAGE,
            cursor=cursor,
            include_all_metadata=True,
        )

    async def _channel_messages(
        self, channel: str, limit: int, oldest: datetime | None, latest: datetime | None
    ) -> list[dict[str, Any]]:
        """Return messages newest first, as Slack lists them."""
        messages: list[dict[str, Any]] = []
        cursor: str | None = None
        while len(messages) < limit:
            page = await self._clients.reads.conversations_history(
                channel=channel,
                limit=min(limit - len(messages), _PAGE),
                cursor=cursor,
                oldest=ts_of(oldest),
                latest=ts_of(latest),
                include_all_metadata=True,
            )
            messages += page["messages"]
            cursor = _next_cursor(page)
            if not cursor:
                break
        return messages[:limit]


def _next_cursor(page: AsyncSlackResponse) -> str | None:
    return (page.get("response_metadata") or {}).get("next_cursor") or None


def _alt(name: str, comment: str) -> str | None:
    """Return the alt text of an image; None for other files."""
    is_image = (mimetypes.guess_type(name)[0] or "").startswith("image/")
    return shortened(comment or name, _MAX_ALT) if is_image else None


def _is_content(message: Mapping[str, Any], run_id: str) -> bool:
    """Return False for progress of the run itself and for Slack's system messages."""
    return message.get("subtype") not in _SYSTEM_SUBTYPES and not is_of_run(message, run_id)
