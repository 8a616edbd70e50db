"""Attachments of an answer: share each file, or say in the thread which one is missing and why."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.core.errors import BotError, LeaseLost, StoreUnavailable
from bot.slack.edge.client import error_code, is_definitive
from bot.slack.message.message_writer import MessageWriter
from bot.slack.ui import words
from bot.slack.ui.parts import Part, Upload

log = logging.getLogger(__name__)

ATTEMPT_PAUSES = (1.0, 3.0)
"""Seconds to wait between attempts that Slack refused for a temporary reason."""


@dataclass(frozen=True, slots=True)
class Attachments:
    """The attachments of one answer.

    `read` returns the content of an artifact by its handle and raises BotError if it is gone.
    `say` posts message `number` of the answer.
    """

    writer: MessageWriter
    read: Callable[[str], Awaitable[bytes]]
    say: Callable[[int, Part], Awaitable[object]]

    async def attach_or_say(self, number: int, upload: Upload, *, since: str | None) -> str:
        """Share a file, or say in message `number` that it is missing.

        Returns the id of the file in the thread, or "" if it is missing. A file that the bot
        shared after the message `since` is found and not shared again. A definite refusal ends the
        attempts; every other error, even an unexpected one, is retried a few times, because the
        answer is useful without its attachment.
        """
        reason = words.NO_FILE_OTHERWISE()
        for pause in (*ATTEMPT_PAUSES, None):
            try:
                data = await self.read(upload.handle) if upload.handle else upload.data
                return await self.writer.attach(upload, data, since=since)
            except (LeaseLost, StoreUnavailable):
                raise
            except Exception as error:
                log.warning("Attachment %d failed: %s", number, error, exc_info=True)
                if (refusal := _refusal_of(error)) is not None:
                    reason = refusal
                    break
            if pause is not None:
                await asyncio.sleep(pause)
        await self._say_missing(number, upload.name, reason)
        return ""

    async def _say_missing(self, number: int, name: str, reason: str) -> None:
        try:
            await self.say(number, Part([], words.NO_FILE(name=name, reason=reason)))
        except SlackApiError as error:
            if not is_definitive(error):
                raise
            log.warning("Could not say that attachment %d is missing: %s", number, error)


def _refusal_of(error: Exception) -> str | None:
    """Return a sentence for people if the error is final; None if another attempt may succeed."""
    if isinstance(error, BotError):
        return words.NO_FILE_GONE()
    if isinstance(error, SlackApiError) and is_definitive(error):
        code = error_code(error)
        return words.NO_FILE_REASONS.get(code, words.NO_FILE_REFUSED)(code=code)
    if isinstance(error, aiohttp.ClientResponseError) and 400 <= error.status < 500:
        is_temporary = error.status in (408, 429)
        return None if is_temporary else words.NO_FILE_REFUSED(code=f"HTTP {error.status}")
    return None
