"""Whether Slack answers the bot: over HTTP no connection says so, as Socket Mode's does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from slack_sdk.errors import SlackApiError

from bot.core.errors import SlackUnavailable
from bot.slack.transport.client import TRANSPORT_ERRORS, WRONG_TOKEN, error_code

log = logging.getLogger(__name__)

_EVERY = 60.0
_GOOD_FOR = 150.0  # so that one call may fail without a word


class SlackApiWatch:
    """Asks Slack every minute, with `ask`, and remembers when it last answered. `answers` makes no
    call: probes may come as often as they like."""

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
        self._answered = float("-inf")  # on the event loop's clock

    async def answers(self) -> bool:
        """Return whether Slack answered lately, and has not refused the bot's token since."""
        return asyncio.get_running_loop().time() - self._answered < self._good_for

    async def run(self) -> None:
        """Ask until cancelled; log when an answer stays out, and when one comes again."""
        said = ""
        while True:
            trouble = await self._trouble()
            if trouble and trouble != said:
                log.warning("Slack does not answer the bot: %s; see `bot doctor`", trouble)
            elif said and not trouble:
                log.warning("Slack answers the bot again")
            said = trouble
            await asyncio.sleep(self._every)

    async def _trouble(self) -> str:
        """Ask once. Return in a word what went wrong; "" when nothing did."""
        try:
            await self._ask()
        except SlackApiError as error:
            if error_code(error) in WRONG_TOKEN:
                self._answered = float("-inf")
            return error_code(error) or "no answer of Slack's"
        except (SlackUnavailable, *TRANSPORT_ERRORS) as error:
            return type(error).__name__
        self._answered = asyncio.get_running_loop().time()
        return ""
