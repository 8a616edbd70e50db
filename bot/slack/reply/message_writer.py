"""Puts the messages of a run into its thread, each exactly once.

Slack takes no idempotency key. Every message carries the run and its number in its metadata;
before one is posted, and after a post that nobody knows the end of, it is looked for.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.surface import Fenced
from bot.slack.providers.files import upload as upload_bytes
from bot.slack.render.parts import Part, Upload
from bot.slack.reply import message_metadata
from bot.slack.reply.streams import Stream, Streams, end_stream
from bot.slack.transport.client import TRANSPORT_ERRORS, Clients, Identity, error_code, is_ambiguous

log = logging.getLogger(__name__)

Message = Mapping[str, Any]

_NO_PREVIEW: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}


class MessageWriter:
    """Posts for one run. Every write asks first whether this worker still holds the thread."""

    def __init__(
        self,
        request: Request,
        post: Fenced,
        *,
        clients: Clients,
        identity: Identity,
        streams: Streams,
    ) -> None:
        self._request = request
        self._post = post
        self._clients = clients
        self._identity = identity
        self._streams = streams
        self._taken_back: set[str] = set()  # which Slack may show a moment longer

    async def begin(self, part: Part, own: Sequence[Message]) -> tuple[str, Stream | None]:
        """Post the run's first message, unless it is among `own`; returns its ts. It is streamed where
        Slack streams, and says `part` elsewhere."""
        if found := self._numbered(own, 0):
            return found, self.adopted(found)
        try:
            stream = await self._streams.begin(self._request, self._post)
        except Exception as error:
            found = await self.first() if is_ambiguous(error) else None
            if found is None:
                raise
            return found, self.adopted(found)
        return (stream.ts, stream) if stream else (await self._put(0, part, self.first), None)

    def adopted(self, ts: str) -> Stream:
        """The run's message of which nobody knows what it shows, nor whether it still streams."""
        return Stream(self._request, self._post, ts, clients=self._clients)

    async def first(self) -> str | None:
        """Return the ts of the run's first message, whatever it says; None when there is none."""
        return await self._find(0)

    async def post(self, number: int, part: Part) -> str:
        """Post message `number` of the run's end, unless it is there; returns its ts.

        A message that still shows the run under way is not that: Slack may refuse to change it.
        """
        return await self._put(number, part, lambda: self._find(number, ended=True))

    async def _put(self, number: int, part: Part, find: Callable[[], Awaitable[str | None]]) -> str:
        found = await find()
        if found:
            return found
        await self._post.may_write()
        failpoint("message-posting")
        try:
            posted = await self._clients.writes.chat_postMessage(
                channel=self._request.channel,
                thread_ts=self._request.thread,
                metadata=message_metadata.metadata(self._post.run_id, number),
                **_content(part),
                **_NO_PREVIEW,
            )
        except Exception as error:
            if not is_ambiguous(error):
                raise
            found = await find()
            if found is None:
                raise
            return found
        failpoint("message-posted")
        return str(posted["ts"])

    async def update(self, ts: str, part: Part) -> None:
        """Make the run's first message say `part`. Safe to repeat."""
        await self._post.may_write()
        await self.restore(ts, part)

    async def _rewrite(self, ts: str, part: Part) -> None:
        failpoint("message-updating")
        await self._clients.updates.chat_update(
            channel=self._request.channel,
            ts=ts,
            metadata=message_metadata.metadata(self._post.run_id, 0),
            **_content(part),
        )
        failpoint("message-updated")

    async def restore(self, ts: str, part: Part) -> None:
        """Make the run's first message say its end again, whoever holds the thread."""
        try:
            await self._rewrite(ts, part)
        except SlackApiError as error:
            if error_code(error) != "streaming_state_conflict":
                raise
            metadata = message_metadata.metadata(self._post.run_id, 0)
            await end_stream(self._clients, self._request.channel, ts, metadata)
            await self._rewrite(ts, part)

    async def is_there(self, ts: str) -> bool:
        """Whether that message of the bot's own is in the thread still."""
        return any(message["ts"] == ts for message in await self.own_messages())

    async def stands(self, ts: str) -> bool:
        """Whether that message is the run's first one still: an edited question's next run writes
        its answer over it."""
        return any(
            message["ts"] == ts and message_metadata.part_number(message, self._post.run_id) == 0
            for message in await self.own_messages()
        )

    async def doubled(self) -> list[list[str]]:
        """Messages of the run that are there more than once: the ts of each group of equals."""
        groups: dict[int, list[str]] = defaultdict(list)
        for message in await self.own_messages():
            number = message_metadata.part_number(message, self._post.run_id)
            if number is not None:
                groups[number].append(str(message["ts"]))
        return [group for group in groups.values() if len(group) > 1]

    async def take_back(self, ts: str) -> None:
        """Delete a message of the bot's own. Safe to repeat."""
        channel = self._request.channel
        await end_stream(
            self._clients, channel, ts, message_metadata.metadata(self._post.run_id, 0)
        )
        try:
            await self._clients.updates.chat_delete(channel=channel, ts=ts)
        except SlackApiError as error:
            if error_code(error) != "message_not_found":
                raise
        self._taken_back.add(ts)

    async def remove_orphans(
        self, own: Sequence[Message], is_open: Callable[[str], Awaitable[bool]]
    ) -> None:
        """Delete those of the bot's `own` messages in the thread that show another run under way, and
        that nobody will end: one run at a time has the thread. One whose run `is_open` is spared."""
        for message in own:
            run_id = message_metadata.run_of(message)
            is_other = (
                run_id and run_id != self._post.run_id and message_metadata.is_under_way(message)
            )
            if is_other and not await is_open(str(run_id)):
                log.warning("Message %s shows a run that is lost: %s", message["ts"], run_id)
                await self.retire(str(message["ts"]))

    async def retire(self, ts: str) -> None:
        """Delete a message that another took the place of. Where Slack refuses that it stays."""
        await self._post.may_write()
        try:
            await self.take_back(ts)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            reason = error_code(error) if isinstance(error, SlackApiError) else type(error).__name__
            log.warning("Message %s of run %s stays: %s", ts, self._post.run_id, reason)

    async def remove_all_of(self, run_ids: Sequence[str], files: frozenset[str]) -> None:
        """Delete what these runs have in the thread, `files` as well: the question that they answered
        was edited or deleted."""
        for message in await self.own_messages():
            shared = files.intersection(file["id"] for file in message.get("files") or ())
            if shared or any(message_metadata.is_of_run(message, run_id) for run_id in run_ids):
                await self.retire(str(message["ts"]))
                for file in shared:  # the workspace would keep it where nobody looks
                    await self._delete_file(file)

    async def _delete_file(self, file: str) -> None:
        try:
            await self._clients.updates.files_delete(file=file)
        except SlackApiError as error:
            if error_code(error) not in ("file_deleted", "file_not_found"):
                log.warning("File %s of an old answer stays: %s", file, error_code(error))

    async def whisper(self, part: Part) -> None:
        """Show `part` to the person who asked, and to nobody else. Nothing of it can be found
        again: after an ambiguous failure it is shown twice rather than not at all."""
        await self._post.may_write()
        failpoint("whisper-posting")
        await self._clients.writes.chat_postEphemeral(
            channel=self._request.channel,
            user=self._request.user,
            thread_ts=await self._live_thread(),
            **_content(part),
        )
        failpoint("whisper-posted")

    async def attach(self, upload: Upload, data: bytes, *, since: str | None) -> str:
        """Share a file in the thread, unless the bot did so after `since`; a private run's file
        goes to the person directly. Returns the file's id."""
        private = self._request.private
        if not private and (found := await self._file(upload.name, since)):
            return found
        channel = await self._direct_channel() if private else self._request.channel
        file = await upload_bytes(self._clients, data, name=upload.name, alt=upload.alt or None)
        await self._post.may_write()
        failpoint("file-sharing")
        await self._clients.writes.files_completeUploadExternal(
            files=[{"id": file, "title": upload.name}],
            channel_id=channel,
            thread_ts=None if private else self._request.thread,
        )
        failpoint("file-shared")
        return file

    async def tell_directly(self, sentence: str) -> None:
        """Write to the person who asked, because their thread cannot be written to."""
        failpoint("person-telling")
        await self._clients.writes.chat_postMessage(
            channel=await self._direct_channel(), text=sentence, **_NO_PREVIEW
        )
        failpoint("person-told")

    async def _direct_channel(self) -> str:
        opened = await self._clients.writes.conversations_open(users=self._request.user)
        return str(opened["channel"]["id"])

    async def _live_thread(self) -> str | None:
        """The thread, if it has replies: what only one person is to see is shown in no other; then
        it stands beside the thread's first message instead."""
        try:
            page = await self._clients.reads.conversations_replies(
                channel=self._request.channel, ts=self._request.thread, limit=2
            )
        except SlackApiError:
            return None
        return self._request.thread if len(page["messages"]) > 1 else None

    async def _find(self, number: int, *, ended: bool = False) -> str | None:
        return self._numbered(await self.own_messages(), number, ended=ended)

    def _numbered(self, own: Sequence[Message], number: int, *, ended: bool = False) -> str | None:
        for message in own:
            is_it = message_metadata.part_number(message, self._post.run_id) == number
            if is_it and not (ended and message_metadata.is_under_way(message)):
                return str(message["ts"])
        return None

    async def _file(self, name: str, since: str | None) -> str | None:
        """The id of a file of that name that the bot shared."""
        found = (
            str(file["id"])
            for message in await self.own_messages()
            if since is None or float(message["ts"]) > float(since)
            for file in message.get("files") or ()
            if file.get("name") == name
        )
        return next(found, None)

    async def own_messages(self) -> list[Message]:
        """Return what the bot has in the thread, with metadata, oldest first."""
        cursor: str | None = None
        own: list[Message] = []
        while True:
            page = await self._clients.reads.conversations_replies(
                channel=self._request.channel,
                ts=self._request.thread,
                include_all_metadata=True,
                limit=200,
                cursor=cursor,
            )
            own += [m for m in page["messages"] if self._is_own(m)]
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return own

    def _is_own(self, message: Message) -> bool:
        return message.get("user") == self._identity.user and message["ts"] not in self._taken_back


def _content(part: Part) -> dict[str, Any]:
    """Without blocks of its own a message would keep those it had."""
    return {"text": part.text, "blocks": part.blocks}
