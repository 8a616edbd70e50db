"""Attaches the files of an answer, or says in its thread which one is missing and why."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.core.errors import BotError, LeaseLost, StoreUnavailable
from bot.slack.render import words
from bot.slack.render.parts import Part, Upload
from bot.slack.reply.message_writer import MessageWriter
from bot.slack.transport.client import error_code, is_definitive

log = logging.getLogger(__name__)

ATTEMPT_PAUSES = (1.0, 3.0)
"""Seconds between attempts at what Slack refuses for a moment."""


@dataclass(frozen=True, slots=True)
class Attachments:
    """For one answer. `read` returns the content of an artifact by its handle and raises BotError
    where it is gone; `say` puts message `number` of the answer up."""

    poster: MessageWriter
    read: Callable[[str], Awaitable[bytes]]
    say: Callable[[int, Part], Awaitable[object]]

    async def attach_or_say(self, number: int, upload: Upload, *, since: str | None) -> str:
        """Attach a file that is not among those of after `since`, or say in message `number` that it
        is missing: the answer is whole without.

        Returns the id of the file that is in the thread, or "". A refusal is final; what may pass,
        errors that nobody foresaw included, is tried again a few times.
        """
        reason = words.NO_FILE_OTHERWISE
        for pause in (*ATTEMPT_PAUSES, None):
            try:
                data = await self.read(upload.handle) if upload.handle else upload.data
                return await self.poster.attach(upload, data, since=since)
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
            await self.say(number, Part([], words.NO_FILE.format(name=name, reason=reason)))
        except SlackApiError as error:
            if not is_definitive(error):
                raise
            log.warning("Nobody could be told that attachment %d is missing: %s", number, error)


def _refusal_of(error: Exception) -> str | None:
    """Return why a file will never be attached, for people to read; None when it may be yet."""
    if isinstance(error, BotError):
        return words.NO_FILE_GONE
    if isinstance(error, SlackApiError) and is_definitive(error):
        code = error_code(error)
        return words.NO_FILE_REASONS.get(code, words.NO_FILE_REFUSED.format(code=code))
    if isinstance(error, aiohttp.ClientResponseError) and 400 <= error.status < 500:
        passes = error.status in (408, 429)
        return None if passes else words.NO_FILE_REFUSED.format(code=f"HTTP {error.status}")
    return None
