"""The Slack surface of a run: a placeholder, then progress and cards, then the final message.

A run that ends within a moment posts its final message alone.

Messages that joined the run stand below the message that it began with: the answer is then posted anew,
below the newest message that it answers.
"""

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
from bot.core.outcome import Outcome, SilentReason
from bot.core.request import Request
from bot.runs.context.answer_locale import locale_of_message
from bot.runs.surface import PostedMessages
from bot.slack.edge.client import (
    NO_PLACE,
    TRANSPORT_ERRORS,
    WRONG_TOKEN,
    error_code,
    is_definitive,
    is_rate_limited,
)
from bot.slack.edge.people_and_channels import with_names
from bot.slack.edge.status import ThreadStatus
from bot.slack.edge.text import NameOf
from bot.slack.message.approval_cards import Cards
from bot.slack.message.attachments import ATTEMPT_PAUSES, Attachments
from bot.slack.message.message_writer import MessageWriter
from bot.slack.message.repair import leave_thread, withdraw
from bot.slack.message.streams import LiveMessage
from bot.slack.ui import words
from bot.slack.ui.alone import ended_view, view_name
from bot.slack.ui.buttons import AnswerButton, Stops
from bot.slack.ui.outcome import DOCUMENT, below_schedule, render
from bot.slack.ui.parts import Part, Rendered, Upload
from bot.slack.ui.progress import Progress, advance, waiting_part
from bot.text.translation import reader

log = logging.getLogger(__name__)

ReadArtifact = Callable[[Request, str], Awaitable[bytes]]
"""Return the content of an artifact of the request's thread, by its handle. Raises BotError if gone."""

NoteStale = Callable[[str], Awaitable[None]]
"""Record, by its key, a thread whose status could not be set. Raises StoreUnavailable."""

_INVALID = frozenset({"invalid_blocks", "invalid_blocks_format", "invalid_arguments"})
_TOO_LONG = frozenset({"msg_too_long", "msg_blocks_too_long"})


class RunMessage:
    """The Slack message of one run. See `bot.runs.surface.Surface`."""

    def __init__(
        self,
        request: Request,
        posted: PostedMessages,
        writer: MessageWriter,
        live: LiveMessage,
        status: ThreadStatus,
        read_artifact: ReadArtifact,
        cards: Cards,
        *,
        name_of: NameOf,
        note_stale: NoteStale,
        edit_seconds: float,
        answer_buttons: Sequence[AnswerButton] = (),
    ) -> None:
        self._request = request
        self._posted = posted
        self._writer = writer
        self._live = live
        self._status = status
        self._read_artifact = read_artifact
        self._cards = cards
        self._name_of = name_of
        self._note_stale = note_stale
        self._edit_seconds = edit_seconds
        self._answer_buttons = answer_buttons
        self._reader = request
        self._is_line_cleared = False
        self._progress = Progress()

    async def begin(self) -> None:
        """Post the run's message now, if it is still to have one. Raises LeaseLost."""
        await self._live.begin()

    async def show(self, event: Event) -> None:
        """Fold the event into the progress, which `LiveMessage` shows with its next update."""
        if isinstance(event, ToolStarted | ToolEnded):
            event = replace(event, title=await with_names(event.title, self._name_of))
        progress = advance(self._progress, event)
        if progress is not self._progress:
            self._progress = progress
            self._live.note(progress)

    async def ask(self, approvals: Sequence[Approval], *, meanwhile: bool = False) -> tuple[()]:
        """Post the approval cards, and say in the run's message that the run waits."""
        await self.begin()  # above the cards
        if meanwhile:  # its steps say so
            await self._cards.post(approvals)
            return ()
        await self._live.close()
        await self._cards.post(approvals)
        channel, thread = self._request.channel, self._request.thread
        if self._request.private:  # the thread must not show that a private run waits
            await self._end_status()
            return ()
        named = [
            approval.model_copy(update={"title": await with_names(approval.title, self._name_of)})
            for approval in approvals
        ]
        stops = Stops.of(self._request)
        waits = self._cards.waits
        part = waits.waiting_part(self._progress, named, self._request.author, stops=stops)
        try:
            if ts := await self._posted.message():
                await self._writer.update(ts, below_schedule(part, self._request))
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("Run %s could not say that it waits: %s", self._posted.run_id, error)
        if not await self._status.wait(channel, thread):
            await self._note_stale(self._request.thread_key)
        return ()

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
        """Show on each card who decided and how the call ended."""
        await self._cards.settle(asked)

    async def finish(self, outcome: Outcome) -> None:
        """Post the messages and files of the outcome that are still missing, then clear the status."""
        await self._live.close()
        if outcome.silent:
            await self._end_silently(outcome.silent)
            return
        await self._writer.name_questions()
        await leave_thread(self._request, self._posted, self._writer)
        with reader(locale_of_message(outcome, self._request)):
            await self._post_answer(outcome)
        if self._request.private:
            await self._end_view()
        await self._end_status()

    async def _post_answer(self, outcome: Outcome) -> None:
        """Post what is missing of the answer, in its language."""
        if outcome.accounts:  # the files of the answer are stored for its asker alone
            self._reader = self._request.model_copy(update={"private": True})
        # In a thread: parsing 40,000 characters of hostile Markdown takes seconds.
        buttons = self._answer_buttons
        rendered = await asyncio.to_thread(render, outcome, self._request, buttons)
        try:
            await self._post_parts(rendered)
        except SlackApiError as error:
            if not is_definitive(error) or error_code(error) == "missing_scope":
                raise
            await self._give_up(error_code(error), rendered)
        else:
            await self._post_files(rendered)

    async def _end_view(self) -> None:
        """Say in the modal of a private question, if it is still open, that the answer is there."""
        request = self._request
        with reader(request.locale):
            view = ended_view(request, self._writer.link_to_thread())
        await self._writer.replace_view(view_name(request), view)

    async def wait_for_store(self) -> None:
        """Say that the run continues as soon as any worker can save again."""
        try:
            await self.begin()
        except BotError as error:
            log.info("Run %s has no message yet: %s", self._posted.run_id, error)
        await self._live.close()
        channel, thread = self._request.channel, self._request.thread
        await self._status.show(channel, thread, words.STATUS_WAITING())
        try:
            ts = None if self._request.private else self._live.ts or await self._posted.message()
            if ts and await self._posted.decided() is None:
                part = waiting_part(self._progress, stops=Stops.of(self._request))
                await self._writer.update(ts, part)
        except (BotError, SlackApiError, *TRANSPORT_ERRORS) as error:
            log.info(
                "Run %s could not say that it waits for the store: %s",
                self._posted.run_id,
                type(error).__name__,
            )

    async def _end_silently(self, reason: SilentReason) -> None:
        """End without an answer: delete all messages of the run.

        The message of a superseded run stays, because the next run takes it over. A run that nobody
        asked for has none before its answer.
        """
        if reason in (SilentReason.SUPERSEDED, SilentReason.NOTHING):
            return
        if ts := await self._posted.message():
            await self._posted.may_write()
            await self._writer.delete(ts)
        await self._remove([self._posted.run_id])
        await self._end_status()

    async def _end_status(self) -> None:
        """Clear the status. A failure is recorded, and the status sweep of any process tries again."""
        channel, thread = self._request.channel, self._request.thread
        if not await self._status.end(channel, thread, is_line_cleared=self._is_line_cleared):
            await self._note_stale(self._request.thread_key)

    async def _post_parts(self, rendered: Rendered) -> None:
        posted = await self._posted.posted_parts()
        for number, part in enumerate(rendered.parts):
            if number >= posted:
                await self._place_or_fall_back(number, part, rendered)
                await self._posted.save_part(number + 1)
                failpoint("part-saved")

    async def _post_files(self, rendered: Rendered) -> None:
        """Attach the files of the answer. Its text is posted, so no refusal ends the run from here on."""
        posted = await self._posted.posted_parts()
        if (
            self._request.replaces
        ):  # first: an old file with the same name would be taken for the new one
            await self._remove(self._request.replaces)
        for number, upload in enumerate(rendered.uploads, len(rendered.parts)):
            if number >= posted:
                file = await self._attach_or_say(number, upload)
                await self._posted.save_part(number + 1, file)

    async def _remove(self, run_ids: Sequence[str]) -> None:
        """Delete the messages and files of answers that no longer apply."""
        try:
            await self._writer.remove_all_of(run_ids, await self._posted.files_of(run_ids))
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning(
                "Run %s could not delete all of an old answer: %s", self._posted.run_id, error
            )

    async def _place_or_fall_back(self, number: int, part: Part, rendered: Rendered) -> None:
        """Post message `number`, as plain text if Slack refuses its blocks.

        If the plain text is too long for a message, the whole answer is attached as a file.
        """
        try:
            await self._place(number, part)
        except SlackApiError as error:
            code = error_code(error)
            if not is_definitive(error) or code in NO_PLACE | {"missing_scope"} or not part.blocks:
                raise
            log.exception("Slack refuses message %d of run %s", number, self._posted.run_id)
            if code in _TOO_LONG or part.text_is_cut:
                document = rendered.document.encode("utf-8", errors="replace")
                after = len(rendered.parts) + len(rendered.uploads)
                await self._attach_or_say(after + number, Upload(DOCUMENT, document))
            await self._place(number, Part([], part.plain))

    async def _place(self, number: int, part: Part) -> None:
        if self._request.kept_private:
            await self._writer.post_directly(number, part)
        elif self._request.private:
            await self._writer.whisper(part)
        elif number:
            await self._writer.post(number, part)
        else:
            await self._place_first(part)

    async def _place_first(self, part: Part) -> None:
        """Make the run's first message its final message.

        If Slack refuses to change the message, a new one replaces it: only a refused post shows
        that the place itself is gone. The new ts is saved last. Until then every worker sees that
        the old message cannot be changed, and finds the new one by its metadata.
        """
        known = await self._posted.message()
        if known and self._is_misplaced(known):
            known = None if await withdraw(known, self._posted, self._writer) else known
        own = () if known else await self._writer.own_messages()
        await self._writer.remove_orphans(own, self._posted.is_open)
        ts = known or self._writer.first_among(own)  # a message may be posted but not saved
        if ts is None or not await self._try_update(ts, part):
            posted = await self._writer.post(0, part, is_missing=ts is None)
            if ts and ts != posted:
                await self._writer.retire(ts)
                failpoint("message-replaced")
            ts, self._is_line_cleared = posted, not self._request.top_level
        if ts != known:
            await self._posted.save_message(ts)

    async def _try_update(self, ts: str, part: Part) -> bool:
        """Update a message; return False if Slack refuses any change of it or keeps failing.

        The caller then posts the message, and the search before that post finds an update that
        succeeded after all. Raises SlackApiError for rate limits, a wrong token, and invalid
        blocks.
        """
        code = ""
        for pause in (*ATTEMPT_PAUSES, None):
            try:
                await self._writer.update(ts, part)
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
        log.warning(
            "Message %s of run %s cannot be updated and is posted again: %s",
            ts,
            self._posted.run_id,
            code,
        )
        return False

    def _is_misplaced(self, ts: str) -> bool:
        """Return whether people no longer look at the message, or it stands above a message that it
        answers. What was there before the run stays."""
        if self._request.replaces or self._request.has_placeholder:
            return False
        is_old = time.time() - float(ts) >= self._edit_seconds
        return is_old or float(self._writer.newest_question) > float(ts)

    async def _attach_or_say(self, number: int, upload: Upload) -> str:
        attaching = Attachments(
            self._writer, partial(self._read_artifact, self._reader), self._post_or_whisper
        )
        return await attaching.attach_or_say(number, upload, since=await self._posted.message())

    async def _post_or_whisper(self, number: int, part: Part) -> None:
        if self._request.private:
            await self._place(number, part)
        else:
            await self._writer.post(number, part)

    async def _give_up(self, code: str, rendered: Rendered) -> None:
        """Tell the asker that the answer cannot be posted there, and delete the unfinished message."""
        log.warning("The answer of run %s can no longer be posted: %s", self._posted.run_id, code)
        unfinished = None if await self._posted.posted_parts() else await self._posted.message()
        await self._posted.save_part(len(rendered.parts) + len(rendered.uploads))
        try:
            is_direct = self._request.channel.startswith("D")
            with reader(self._request.locale):
                sentence = words.GONE_DIRECT() if is_direct else words.GONE()
                reason = words.GONE_REASONS.get(code, words.GONE_OTHERWISE)()
            sentence = sentence.format(channel=self._request.channel, reason=reason)
            await self._writer.tell_directly(sentence)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("Could not tell the asker either: %s", type(error).__name__)
        if (
            unfinished and not self._request.replaces
        ):  # a replaced message still shows the old answer
            await self._writer.retire(unfinished)
