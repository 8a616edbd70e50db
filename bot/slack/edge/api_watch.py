"""Health check of Slack's Web API: no connection shows whether Slack still takes the bot's token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from slack_sdk.errors import SlackApiError

from bot.core.errors import SlackUnavailable
from bot.slack.edge.client import TRANSPORT_ERRORS, WRONG_TOKEN, error_code

log = logging.getLogger(__name__)

_EVERY = 60.0
_GOOD_FOR = 150.0  # longer than two intervals, so that one failed call does not count


class SlackApiWatch:
    """A periodic check whether Slack answers the bot.

    `ask` makes one call every `every` seconds. `answers` makes none, so readiness probes may call
    it as often as they like: it is True for `good_for` seconds after each answer.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[object]],
        *,
        every: float = _EVERY,
        good_for: float = _GOOD_FOR,
    ) -> None:
        self._ask = ask
        self._every = every
        self._good_for = good_for
        self._last_answer = float("-inf")  # on the event loop's clock

    async def answers(self) -> bool:
        """Return whether Slack answered lately, and has not refused the bot's token since."""
        return asyncio.get_running_loop().time() - self._last_answer < self._good_for

    async def run(self) -> None:
        """Ask until cancelled. Log when Slack stops answering, and when it answers again."""
        logged = ""
        while True:
            failure = await self._failure()
            if failure and failure != logged:
                log.warning("Slack does not answer the bot: %s; see `bot doctor`", failure)
            elif logged and not failure:
                log.warning("Slack answers the bot again")
            logged = failure
            await asyncio.sleep(self._every)

    async def _failure(self) -> str:
        """Ask once. Return an error code or the name of an exception; "" when Slack answered."""
        try:
            await self._ask()
        except SlackApiError as error:
            if error_code(error) in WRONG_TOKEN:
                self._last_answer = float("-inf")
            return error_code(error) or "not an answer from Slack"
        except (SlackUnavailable, *TRANSPORT_ERRORS) as error:
            return type(error).__name__
        self._last_answer = asyncio.get_running_loop().time()
        return ""
