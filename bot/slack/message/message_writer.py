"""Writes of a run to its thread, so that each message appears exactly once.

Slack takes no idempotency key. Every message therefore carries its run and its number as metadata.
The thread is searched for that metadata before each post, and after a post with an unknown
outcome. The messages of a run that has ended name the questions that it answered as well.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.surface import WriteFence
from bot.slack.edge.client import (
    TRANSPORT_ERRORS,
    Clients,
    Identity,
    error_code,
    error_reason,
    is_ambiguous,
)
from bot.slack.edge.files import upload as upload_bytes
from bot.slack.message import message_metadata
from bot.slack.message.message_metadata import messages_around
from bot.slack.message.streams import Stream, Streams, end_stream
from bot.slack.ui.blocks import Block
from bot.slack.ui.buttons import Stops
from bot.slack.ui.parts import Part, Upload
from bot.slack.ui.progress import Progress, progress_part

log = logging.getLogger(__name__)

Message = Mapping[str, Any]

QuestionsOf = Callable[[Request, str], Awaitable[Sequence[str]]]
"""Return the ts of each message that a run of a request answers."""


async def names_none(_request: Request, _run_id: str) -> Sequence[str]:
    """Name no questions: the message is no run's answer."""
    return ()


_NO_PREVIEW: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}


@dataclass(frozen=True, slots=True)
class PostFence:
    """A fence around messages that no run posts: `run_id` tells them apart, `check` says whether
    this process may still write them. See `bot.runs.surface.WriteFence`."""

    run_id: str
    check: Callable[[], Awaitable[None]]

    async def may_write(self) -> None:
        """Raise LeaseLost when another process may."""
        await self.check()


class MessageWriter:
    """The writer of one run. It checks that this worker still holds the thread before each write.

    Its methods raise LeaseLost if another worker holds the thread, SlackApiError, and
    TRANSPORT_ERRORS.
    """

    def __init__(
        self,
        request: Request,
        post: WriteFence,
        *,
        clients: Clients,
        identity: Identity,
        streams: Streams,
        questions_of: QuestionsOf = names_none,
    ) -> None:
        self._request = request
        self._post = post
        self._clients = clients
        self._identity = identity
        self._streams = streams
        self._questions_of = questions_of
        self._answers: Sequence[str] = ()
        self._deleted: set[str] = set()  # Slack may still list these for a moment

    async def name_questions(self) -> None:
        """Let every message written from now on name what the run has answered, as it has ended."""
        self._answers = await self._questions_of(self._request, self._post.run_id)

    @property
    def newest_question(self) -> str:
        """The ts of the newest message that the run has answered, as far as they were named."""
        asked = (claim.partition("/")[0] for claim in self._answers)
        return max(asked, key=float, default="0")

    def _metadata(self, number: int) -> dict[str, Any]:
        return message_metadata.metadata(self._post.run_id, number, self._answers)

    async def begin(self, progress: Progress, own: Sequence[Message]) -> tuple[str, Stream | None]:
        """Post the run's first message unless it is among `own`; return its ts and its stream.

        The message shows the progress. It is streamed if Slack allows it; otherwise the stream is
        None.
        """
        if posted := self.first_among(own):
            return posted, self.existing_stream(posted)
        try:
            stream = await self._streams.begin(self._request, self._post, progress)
        except Exception as error:
            posted = await self.first() if is_ambiguous(error) else None
            if posted is None:
                raise
            return posted, self.existing_stream(posted)
        if stream:
            return stream.ts, stream
        part = progress_part(progress, stops=Stops.of(self._request))
        return await self._put(0, part, self.first), None

    def existing_stream(self, ts: str) -> Stream:
        """Return a stream for an existing message, whose content and state are unknown."""
        return Stream(self._request, self._post, ts, clients=self._clients)

    async def first(self) -> str | None:
        """Return the ts of the run's first message, whatever it shows; None if there is none."""
        return await self._find(0)

    def first_among(self, own: Sequence[Message]) -> str | None:
        """Return the ts of the run's first message if it is among the bot's `own` ones."""
        return self._numbered(own, 0)

    async def post(self, number: int, part: Part, *, is_missing: bool = False) -> str:
        """Post final message `number` of the run unless it is there; return its ts.

        A message that still shows progress does not count: Slack may refuse to change it. With
        `is_missing` the caller has just looked, and it is not there.
        """
        find = partial(self._find, number, ended=True)
        return await (self._post_new if is_missing else self._put)(number, part, find)

    async def _put(self, number: int, part: Part, find: Callable[[], Awaitable[str | None]]) -> str:
        return await find() or await self._post_new(number, part, find)

    async def _post_new(
        self, number: int, part: Part, find: Callable[[], Awaitable[str | None]]
    ) -> str:
        await self._post.may_write()
        failpoint("message-posting")
        try:
            posted = await self._clients.writes.chat_postMessage(
                channel=self._request.channel,
                thread_ts=self._request.reply_to,
                metadata=self._metadata(number),
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
        """Replace the content of the run's first message with `part`. Safe to repeat."""
        await self._post.may_write()
        await self.restore(ts, part)

    async def _rewrite(self, ts: str, part: Part) -> None:
        failpoint("message-updating")
        await self._clients.updates.chat_update(
            channel=self._request.channel,
            ts=ts,
            metadata=self._metadata(0),
            **_content(part),
        )
        failpoint("message-updated")

    async def restore(self, ts: str, part: Part) -> None:
        """Replace the content of the run's first message without a check of the lease.

        Only the repair after a lost lease calls it directly, with the recorded end of the run.
        """
        try:
            await self._rewrite(ts, part)
        except SlackApiError as error:
            if error_code(error) != "streaming_state_conflict":
                raise
            metadata = self._metadata(0)
            await end_stream(self._clients, self._request.channel, ts, metadata)
            await self._rewrite(ts, part)

    async def is_there(self, ts: str) -> bool:
        """Return whether the bot's message is still in the thread."""
        return any(message["ts"] == ts for message in await self.own_messages())

    async def is_first_message(self, ts: str) -> bool:
        """Return whether the message is still the run's first one.

        The next run of an edited question takes over the message for its own answer.
        """
        return any(
            message["ts"] == ts and message_metadata.part_number(message, self._post.run_id) == 0
            for message in await self.own_messages()
        )

    async def duplicates(self) -> list[list[str]]:
        """Return each group of messages of the run with the same number, as lists of ts."""
        groups: dict[int, list[str]] = defaultdict(list)
        for message in await self.own_messages():
            number = message_metadata.part_number(message, self._post.run_id)
            if number is not None:
                groups[number].append(str(message["ts"]))
        return [group for group in groups.values() if len(group) > 1]

    async def delete(self, ts: str) -> None:
        """Delete one of the bot's messages. Safe to repeat."""
        channel = self._request.channel
        await end_stream(self._clients, channel, ts, self._metadata(0))
        try:
            await self._clients.updates.chat_delete(channel=channel, ts=ts)
        except SlackApiError as error:
            if error_code(error) != "message_not_found":
                raise
        self._deleted.add(ts)

    async def remove_orphans(
        self, own: Sequence[Message], is_open: Callable[[str], Awaitable[bool]]
    ) -> None:
        """Delete the messages in `own` that show progress of another run which nobody will finish.

        A thread has one run at a time, so such a run is lost unless `is_open` returns True for its
        id.
        """
        for message in own:
            run_id = message_metadata.run_of(message)
            is_other = (
                run_id and run_id != self._post.run_id and message_metadata.is_under_way(message)
            )
            if is_other and not await is_open(str(run_id)):
                log.warning("Message %s shows a lost run: %s", message["ts"], run_id)
                await self.retire(str(message["ts"]))

    async def retire(self, ts: str) -> None:
        """Delete a replaced message. If Slack refuses, log it and leave the message."""
        await self._post.may_write()
        try:
            await self.delete(ts)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            reason = error_reason(error)
            log.warning(
                "Message %s of run %s could not be deleted: %s", ts, self._post.run_id, reason
            )

    async def remove_all_of(self, run_ids: Sequence[str], files: frozenset[str]) -> None:
        """Delete all messages of these runs, and `files`, after their question was edited or deleted."""
        for message in await self.own_messages():
            shared = files.intersection(file["id"] for file in message.get("files") or ())
            if shared or any(message_metadata.is_of_run(message, run_id) for run_id in run_ids):
                await self.retire(str(message["ts"]))
                for file in shared:  # deleting the message leaves the file in the workspace
                    await self._delete_file(file)

    async def _delete_file(self, file: str) -> None:
        try:
            await self._clients.updates.files_delete(file=file)
        except SlackApiError as error:
            if error_code(error) not in ("file_deleted", "file_not_found"):
                log.warning(
                    "File %s of an old answer could not be deleted: %s", file, error_code(error)
                )

    async def whisper(self, part: Part) -> None:
        """Post an ephemeral message that only the asker sees.

        Ephemeral messages cannot be found again, so after an ambiguous failure the run posts it
        twice rather than never.
        """
        await self._post.may_write()
        failpoint("whisper-posting")
        await self._clients.writes.chat_postEphemeral(
            channel=self._request.channel,
            user=self._request.user,
            thread_ts=await self._live_thread(),
            **_content(part),
        )
        failpoint("whisper-posted")

    def link_to_thread(self) -> str:
        """Return the address of the message that the run's thread begins with."""
        return self._identity.message_link(self._request.channel, self._request.thread)

    async def replace_view(self, name: str, view: Block) -> None:
        """Replace a modal that may still be open, by its `external_id`. Safe to repeat."""
        try:
            await self._clients.writes.views_update(external_id=name, view=view)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            if error_reason(error) != "not_found":  # its person closed it
                log.info("Run %s leaves a modal: %s", self._post.run_id, error_reason(error))

    async def post_directly(self, number: int, part: Part) -> None:
        """Post final message `number` of the run in the asker's direct messages unless it is there.

        The asker left the thread to read it alone, and finds it there as long as any message.
        """
        channel = await self._clients.direct(self._request.user)
        if await self._has_direct(channel, number):
            return
        await self._post.may_write()
        failpoint("whisper-posting")
        try:
            await self._clients.writes.chat_postMessage(
                channel=channel,
                metadata=self._metadata(number),
                **_content(part),
                **_NO_PREVIEW,
            )
        except Exception as error:
            if not is_ambiguous(error) or not await self._has_direct(channel, number):
                raise
        failpoint("whisper-posted")

    async def _has_direct(self, channel: str, number: int) -> bool:
        """Return whether the message is among the latest 100 of the direct message."""
        page = await self._clients.reads.conversations_history(
            channel=channel, limit=100, include_all_metadata=True
        )
        own = [message for message in page["messages"] if self._is_own(message)]
        return self._numbered(own, number) is not None

    async def attach(self, upload: Upload, data: bytes, *, since: str | None) -> str:
        """Share a file in the thread unless the bot did so after `since`; return the file's id.

        The file of a private run goes to the asker's direct messages.
        """
        private = self._request.private
        if not private and (posted := await self._shared_file(upload.name, since)):
            return posted
        channel = (
            await self._clients.direct(self._request.user) if private else self._request.channel
        )
        file = await upload_bytes(self._clients, data, name=upload.name, alt=upload.alt or None)
        await self._post.may_write()
        failpoint("file-sharing")
        await self._clients.writes.files_completeUploadExternal(
            files=[{"id": file, "title": upload.name}],
            channel_id=channel,
            thread_ts=None if private else self._request.reply_to,
        )
        failpoint("file-shared")
        return file

    async def tell_directly(self, sentence: str) -> None:
        """Send the asker a direct message, because their thread is not writable."""
        failpoint("person-telling")
        await self._clients.writes.chat_postMessage(
            channel=await self._clients.direct(self._request.user), text=sentence, **_NO_PREVIEW
        )
        failpoint("person-told")

    async def _live_thread(self) -> str | None:
        """Return the thread's ts if it has replies, else None.

        Slack shows ephemeral messages only in threads with replies. Without a thread the message
        appears in the channel, next to the thread's first message.
        """
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

    async def _shared_file(self, name: str, since: str | None) -> str | None:
        """Return the id of a file with this name that the bot shared after `since`, if any."""
        found = (
            str(file["id"])
            for message in await self.own_messages()
            if since is None or float(message["ts"]) > float(since)
            for file in message.get("files") or ()
            if file.get("name") == name
        )
        return next(found, None)

    async def own_messages(self) -> list[Message]:
        """Return the bot's messages where the run is answered, with metadata, oldest first."""
        return [m async for m in messages_around(self._clients, self._request) if self._is_own(m)]

    def _is_own(self, message: Message) -> bool:
        return message.get("user") == self._identity.user and message["ts"] not in self._deleted


def _content(part: Part) -> dict[str, Any]:
    """Return text and blocks. Always both: without blocks an updated message keeps its old ones."""
    return {"text": part.text, "blocks": part.blocks}
