"""A run in its Slack thread: a placeholder at once, cards while it works, the terminal at its end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from slack_sdk.errors import SlackApiError

from bot.agent.events import Event, ToolEnded, ToolStarted
from bot.core.approvals import Approval, ApprovalRecord
from bot.core.errors import BotError
from bot.core.failpoints import failpoint
from bot.core.outcome import Outcome, Silence
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.approvals.cards import Cards
from bot.slack.incoming.names import with_names
from bot.slack.incoming.text import NameOf
from bot.slack.render import approval_words, words
from bot.slack.render.approval import parked_part
from bot.slack.render.buttons import Stops
from bot.slack.render.outcome import DOCUMENT, render
from bot.slack.render.parts import Part, Rendered, Upload
from bot.slack.render.progress import waiting_part
from bot.slack.reply.attachments import ATTEMPT_PAUSES, Attachments
from bot.slack.reply.done_reactions import DoneReactions
from bot.slack.reply.live_message import LiveMessage
from bot.slack.reply.message_writer import MessageWriter
from bot.slack.reply.progress_state import Progress, advance
from bot.slack.reply.repost import leave
from bot.slack.reply.status import ThreadStatus
from bot.slack.transport.client import (
    NO_PLACE,
    TRANSPORT_ERRORS,
    WRONG_TOKEN,
    error_code,
    is_definitive,
    is_rate_limited,
)

log = logging.getLogger(__name__)

ReadArtifact = Callable[[Request, str], Awaitable[bytes]]
"""The content of an artifact of the request's thread, by its handle. Raises BotError if gone."""

NoteStale = Callable[[str], Awaitable[None]]
"""Told of a thread, by its key, whose status is not what it should be. Raises StoreUnavailable."""

_INVALID = frozenset({"invalid_blocks", "invalid_blocks_format", "invalid_arguments"})
_TOO_LONG = frozenset({"msg_too_long", "msg_blocks_too_long"})


class RunMessage:
    """See `bot.runs.surface.Surface`."""

    def __init__(
        self,
        request: Request,
        post: PostedMessages,
        poster: MessageWriter,
        live: LiveMessage,
        status: ThreadStatus,
        read_artifact: ReadArtifact,
        cards: Cards,
        ticks: DoneReactions,
        *,
        name_of: NameOf,
        note_stale: NoteStale,
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
        self._note_stale = note_stale
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
            await self._end_status()
            return ()
        named = [
            each.model_copy(update={"title": await with_names(each.title, self._name_of)})
            for each in approvals
        ]
        part = parked_part(self._progress, named, stops=Stops.of(self._request))
        try:
            if ts := await self._post.message():
                await self._poster.update(ts, part)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("Run %s does not say that it waits: %s", self._post.run_id, error)
        if not await self._status.wait(channel, thread, approval_words.STATUS_PARKED):
            await self._note_stale(self._request.thread_key)
        return ()

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
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
            if not is_definitive(error) or error_code(error) == "missing_scope":
                raise
            await self._give_up(error_code(error), rendered)
        else:
            await self._add_files(rendered)
        await self._ticks.put(outcome)
        await self._end_status()

    async def wait_for_store(self) -> None:
        """Say that the run goes on once it can be saved again, by whichever worker."""
        await self._live.close()
        channel, thread = self._request.channel, self._request.thread
        await self._status.show(channel, thread, words.STATUS_WAITING)
        try:
            ts = None if self._request.private else await self._post.message()
            if ts and await self._post.decided() is None:
                part = waiting_part(self._progress, stops=Stops.of(self._request))
                await self._poster.update(ts, part)
        except (BotError, SlackApiError, *TRANSPORT_ERRORS) as error:
            log.info("Run %s waits without a word: %s", self._post.run_id, type(error).__name__)

    async def _hush(self, why: Silence) -> None:
        """Say nothing: what is up goes, or is left for the run that takes its message over."""
        if why is Silence.SUPERSEDED:
            return
        if ts := await self._post.message():
            await self._post.may_write()
            await self._poster.take_back(ts)
        await self._remove([self._post.run_id])
        await self._end_status()

    async def _end_status(self) -> None:
        """Clear the status. What Slack does not take now is tried again in the background, also when
        this process is no more."""
        if not await self._status.end(self._request.channel, self._request.thread):
            await self._note_stale(self._request.thread_key)

    async def _put_up(self, rendered: Rendered) -> None:
        up = await self._post.posted_parts()
        for number, part in enumerate(rendered.parts):
            if number >= up:
                await self._place_or_fall_back(number, part, rendered)
                await self._post.save_part(number + 1)
                failpoint("part-saved")

    async def _add_files(self, rendered: Rendered) -> None:
        """Attach what belongs to the answer, whose words are up: no refusal ends a run from here on."""
        up = await self._post.posted_parts()
        if self._request.replaces:  # before a file of the same name may be taken for this one's
            await self._remove(self._request.replaces)
        for number, upload in enumerate(rendered.uploads, len(rendered.parts)):
            if number >= up:
                file = await self._attach_or_say(number, upload)
                await self._post.save_part(number + 1, file)

    async def _remove(self, run_ids: Sequence[str]) -> None:
        """Delete what else is up of answers that do not count any more."""
        try:
            await self._poster.remove_all_of(run_ids, await self._post.files_of(run_ids))
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("Run %s leaves parts of an old answer: %s", self._post.run_id, error)

    async def _place_or_fall_back(self, number: int, part: Part, rendered: Rendered) -> None:
        """A message that Slack refuses for its form is posted as plain text, all of it in a file
        where that is shorter: an ugly answer is better than none."""
        try:
            await self._place(number, part)
        except SlackApiError as error:
            code = error_code(error)
            if not is_definitive(error) or code in NO_PLACE | {"missing_scope"} or not part.blocks:
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
        elif number:
            await self._poster.post(number, part)
        else:
            await self._place_first(part)

    async def _place_first(self, part: Part) -> None:
        """Make the run's message say its end. One that Slack refuses to change is replaced: only a
        refused post says that the place is gone.

        The new message is saved last: until then every worker finds that the old one cannot be
        changed, and then the new one by its metadata.
        """
        known = await self._post.message()
        if known and self._is_old(known) and await leave(known, self._post, self._poster):
            known = None
        ts = known or await self._poster.first()  # one may be up that was never saved
        if ts is None or not await self._updated(ts, part):
            posted = await self._poster.post(0, part)
            if ts and ts != posted:
                await self._poster.retire(ts)
                failpoint("message-replaced")
            ts = posted
        if ts != known:
            await self._post.save_message(ts)

    async def _updated(self, ts: str, part: Part) -> bool:
        """Update a message; False when Slack refuses to change it, whatever it is to say, or fails
        at it again and again: a post finds what such an update may have done."""
        code = ""
        for pause in (*ATTEMPT_PAUSES, None):
            try:
                await self._poster.update(ts, part)
            except SlackApiError as error:
                code = error_code(error)
                if is_rate_limited(error) or code in WRONG_TOKEN:
                    raise
                if is_definitive(error):
                    if part.blocks and code in _INVALID | _TOO_LONG:
                        raise
                    break
            else:
                return True
            if pause is not None:
                await asyncio.sleep(pause)
        log.warning("Message %s of run %s is posted anew: %s", ts, self._post.run_id, code)
        return False

    def _is_old(self, ts: str) -> bool:
        """Whether nobody looks at the run's message any more. A revised answer stays where it is."""
        return not self._request.replaces and time.time() - float(ts) >= self._edit_seconds

    async def _attach_or_say(self, number: int, upload: Upload) -> str:
        attaching = Attachments(
            self._poster, partial(self._read_artifact, self._request), self._say_beside
        )
        return await attaching.attach_or_say(number, upload, since=await self._post.message())

    async def _say_beside(self, number: int, part: Part) -> None:
        if self._request.private:
            await self._poster.whisper(part)
        else:
            await self._poster.post(number, part)

    async def _give_up(self, code: str, rendered: Rendered) -> None:
        """Tell the person once that nothing can be posted there, and remove the unfinished message."""
        log.warning("The answer of run %s has no place any more: %s", self._post.run_id, code)
        reason = words.GONE_REASONS.get(code, words.GONE_OTHERWISE)
        unfinished = None if await self._post.posted_parts() else await self._post.message()
        await self._post.save_part(len(rendered.parts) + len(rendered.uploads))
        try:
            sentence = words.GONE_DIRECT if self._request.channel.startswith("D") else words.GONE
            told = sentence.format(channel=self._request.channel, reason=reason)
            await self._poster.tell_directly(told)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("Nor could the person be told: %s", type(error).__name__)
        if unfinished and not self._request.replaces:  # then it is an answer, if an old one
            await self._poster.retire(unfinished)
