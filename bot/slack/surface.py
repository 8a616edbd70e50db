"""A run in its Slack thread: a placeholder at once, cards while it works, the terminal at its end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from slack_sdk.errors import SlackApiError

from bot.agent.events import Event, ToolEnded, ToolStarted
from bot.core.approvals import Approval, Asked
from bot.core.errors import BotError
from bot.core.failpoints import failpoint
from bot.core.outcome import Outcome, Silence
from bot.core.request import Request
from bot.runs.surface import RunPost
from bot.slack.cards import Cards
from bot.slack.client import NO_PLACE, TRANSPORT_ERRORS, error_code
from bot.slack.leaving import leave
from bot.slack.live import LiveMessage
from bot.slack.names import with_names
from bot.slack.poster import Poster
from bot.slack.progress import Progress, advance
from bot.slack.render import approval_words, words
from bot.slack.render.approval import parked_part
from bot.slack.render.outcome import DOCUMENT, render
from bot.slack.render.parts import Part, Rendered, Upload
from bot.slack.render.progress import waiting_part
from bot.slack.status import ThreadStatus
from bot.slack.text import NameOf
from bot.slack.ticks import Ticks

log = logging.getLogger(__name__)

ReadArtifact = Callable[[Request, str], Awaitable[bytes]]
"""The content of an artifact of the request's thread, by its handle. Raises BotError if gone."""

_GONE = NO_PLACE | {
    *("message_not_found", "cant_update_message", "edit_window_closed", "user_not_in_channel")
}
_INVALID = frozenset({"invalid_blocks", "invalid_blocks_format", "invalid_arguments"})
_TOO_LONG = frozenset({"msg_too_long", "msg_blocks_too_long"})
_NO_FILES = frozenset(
    {
        *("file_uploads_disabled", "file_uploads_except_images_disabled", "blocked_file_type"),
        *("file_type_not_allowed", "file_upload_size_restricted", "storage_limit_reached"),
        *("posting_to_channel_denied", "user_is_external_guest", "missing_scope"),
        "slack_connect_file_upload_sharing_blocked",
    }
)
"""What Slack says of files that it will not take (errors of files.getUploadURLExternal and
files.completeUploadExternal)."""


class SlackSurface:
    """See `bot.runs.surface.Surface`."""

    def __init__(
        self,
        request: Request,
        post: RunPost,
        poster: Poster,
        live: LiveMessage,
        status: ThreadStatus,
        read_artifact: ReadArtifact,
        cards: Cards,
        ticks: Ticks,
        *,
        name_of: NameOf,
        edit_seconds: float,
    ) -> None:
        self._request = request
        self._post = post
        self._poster = poster
        self._live = live
        self._status = status
        self._read_artifact = read_artifact
        self._cards = cards
        self._ticks = ticks
        self._name_of = name_of
        self._edit_seconds = edit_seconds
        self._progress = Progress()

    async def show(self, event: Event) -> None:
        """Fold the event in; the writer shows it when its turn comes."""
        self._ticks.note(event)
        if isinstance(event, ToolStarted | ToolEnded):
            event = replace(event, title=await with_names(event.title, self._name_of))
        progress = advance(self._progress, event)
        if progress is not self._progress:
            self._progress = progress
            self._live.note(progress)

    async def ask(self, approvals: Sequence[Approval]) -> tuple[()]:
        """Put up the cards, and say in the run's message that it waits."""
        await self._live.close()
        await self._cards.put_up(approvals)
        channel, thread = self._request.channel, self._request.thread
        if self._request.private:  # nobody else in the thread learns of it
            await self._status.end(channel, thread)
            return ()
        named = [
            each.model_copy(update={"title": await with_names(each.title, self._name_of)})
            for each in approvals
        ]
        part = parked_part(self._progress, named, thread_key=self._request.thread_key)
        try:
            if ts := await self._post.message():
                await self._poster.update(ts, part)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("Run %s does not say that it waits: %s", self._post.run_id, error)
        await self._status.wait(channel, thread, approval_words.STATUS_PARKED)
        return ()

    async def settle(self, asked: Sequence[Asked]) -> None:
        """Show on each card who decided, and what came of it."""
        await self._cards.settle(asked)

    async def finish(self, outcome: Outcome) -> None:
        """Put up what is not up yet of the terminal, then clear the status."""
        await self._live.close()
        if outcome.silent:
            await self._hush(outcome.silent)
            return
        # In a thread: parsing 40,000 characters of hostile Markdown takes seconds.
        rendered = await asyncio.to_thread(render, outcome, self._request)
        try:
            await self._put_up(rendered)
        except SlackApiError as error:
            if error_code(error) not in _GONE:
                raise
            await self._give_up(error_code(error), rendered)
        await self._ticks.put(outcome)
        await self._status.end(self._request.channel, self._request.thread)

    async def wait_for_store(self) -> None:
        """Say that the run goes on once it can be saved again, by whichever worker."""
        await self._live.close()
        channel, thread = self._request.channel, self._request.thread
        await self._status.show(channel, thread, words.STATUS_WAITING)
        try:
            ts = None if self._request.private else await self._post.message()
            if ts and await self._post.decided() is None:
                part = waiting_part(self._progress, thread_key=self._request.thread_key)
                await self._poster.update(ts, part)
        except (BotError, SlackApiError, *TRANSPORT_ERRORS) as error:
            log.info("Run %s waits without a word: %s", self._post.run_id, type(error).__name__)

    async def _hush(self, why: Silence) -> None:
        """Nothing is to be said: the message goes, or is left for the run that takes it over."""
        ts = await self._post.message()
        if why is Silence.WITHDRAWN:
            if ts:
                await self._post.may_write()
                await self._poster.take_back(ts)
            await self._status.end(self._request.channel, self._request.thread)

    async def _put_up(self, rendered: Rendered) -> None:
        up = await self._post.posted_parts()
        for number, part in enumerate(rendered.parts):
            if number >= up:
                await self._place_or_fall_back(number, part, rendered)
                await self._post.save_part(number + 1)
                failpoint("part-saved")
        if self._request.replaces:  # before a file of the same name may be taken for this one's
            await self._remove_replaced()
        for number, upload in enumerate(rendered.uploads, len(rendered.parts)):
            if number >= up:
                file = await self._attach_or_say(number, upload)
                await self._post.save_part(number + 1, file)

    async def _remove_replaced(self) -> None:
        """What else is up of the answers that this one replaces."""
        replaced = self._request.replaces
        await self._poster.remove_all_of(replaced, await self._post.files_of(replaced))

    async def _place_or_fall_back(self, number: int, part: Part, rendered: Rendered) -> None:
        """A message that Slack refuses for its form is posted as plain text, all of it in a file
        where that is shorter: an ugly answer is better than none."""
        try:
            await self._place(number, part)
        except SlackApiError as error:
            code = error_code(error)
            if code not in _INVALID | _TOO_LONG:
                raise
            log.exception("Slack refuses message %d of run %s", number, self._post.run_id)
            if code in _TOO_LONG or part.text_is_cut:
                document = rendered.document.encode("utf-8", errors="replace")
                after = len(rendered.parts) + len(rendered.uploads)
                await self._attach_or_say(after + number, Upload(DOCUMENT, document))
            await self._place(number, Part([], part.plain))

    async def _place(self, number: int, part: Part) -> None:
        if self._request.private:
            await self._poster.whisper(part)
            return
        ts = await self._post.message() if number == 0 else None
        if ts and not (self._is_old(ts) and await leave(ts, self._post, self._poster)):
            await self._poster.update(ts, part)
            return
        ts = await self._poster.post(number, part)
        if number == 0:
            await self._post.save_message(ts)
            # It may have been found rather than posted: an older try's, which says less.
            await self._poster.update(ts, part)

    def _is_old(self, ts: str) -> bool:
        """Whether nobody looks at the run's message any more. A revised answer stays where it is."""
        return not self._request.replaces and time.time() - float(ts) >= self._edit_seconds

    async def _attach_or_say(self, number: int, upload: Upload) -> str:
        """Where no such file may be uploaded the answer is whole without, and says that it is
        missing, in message `number`. Returns the id of a file that stands in the thread, or ""."""
        try:
            return await self._attach(upload)
        except SlackApiError as error:
            if error_code(error) not in _NO_FILES:
                raise
            log.warning("Slack does not take %s: %s", upload.name, error_code(error))
            said = Part([], words.NO_FILE.format(name=upload.name))
            if self._request.private:
                await self._poster.whisper(said)
            else:
                await self._poster.post(number, said)
            return ""

    async def _attach(self, upload: Upload) -> str:
        data = upload.data
        if upload.handle:
            try:
                data = await self._read_artifact(self._request, upload.handle)
            except BotError as error:
                log.warning("File %s of run %s is gone: %s", upload.name, self._post.run_id, error)
                return ""
        return await self._poster.attach(upload, data, since=await self._post.message())

    async def _give_up(self, code: str, rendered: Rendered) -> None:
        """Nothing can be posted there any more: tell the person once, and leave it."""
        log.warning("The answer of run %s has no place any more: %s", self._post.run_id, code)
        reason = words.GONE_REASONS.get(code, words.GONE_OTHERWISE)
        await self._post.save_part(len(rendered.parts) + len(rendered.uploads))
        try:
            sentence = words.GONE_DIRECT if self._request.channel.startswith("D") else words.GONE
            told = sentence.format(channel=self._request.channel, reason=reason)
            await self._poster.tell_directly(told)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("Nor could the person be told: %s", type(error).__name__)
