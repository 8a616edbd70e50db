"""Keeps the statuses of threads true where no run does it: after a call that failed, after a question
that was deleted, and while a question waits for a free place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.core.errors import BotError
from bot.core.request import Request
from bot.slack.render import words
from bot.slack.transport.workspaces import Workspaces
from bot.store import Mailbox, StaleStatuses

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0

_FIRST_IN_LINE = timedelta(seconds=5)  # so long everybody waits for a moment
_MOST = 30
"""How many in line have their status renewed each time: at one call a second, well below Slack's limit."""

InLine = Callable[[], Awaitable[Sequence[Request]]]
"""The requests that wait for a free place, the next first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSweep:
    """For all workspaces of a deployment; any number of processes may run one.

    `renew_seconds` is how often those in line are told their place. Slack clears a status line after
    120 seconds.
    """

    workspaces: Workspaces
    mailbox: Mailbox
    stale: StaleStatuses
    in_line: InLine
    renew_seconds: float

    async def run(self) -> None:
        """Go on until cancelled. Trouble is logged, and it is tried again at the next look."""
        while True:
            try:
                for thread_key in await self.stale.due():
                    await self._correct(thread_key)
                if await self.stale.take_turn(self.renew_seconds):
                    await self._renew_line()
            except BotError as error:
                log.warning("Statuses of threads may be out of date: %s", error)
            except Exception:
                log.exception("Looking after the statuses of threads failed")
            await asyncio.sleep(LOOK_SECONDS)

    async def _correct(self, thread_key: str) -> None:
        """Clear the status of a thread that has nothing to do, and suspend the session of one that
        waits for people. A run that is under way or to come shows its own."""
        team, channel, thread = thread_key.split(":", 2)
        slack = await self.workspaces.of(team)
        settled = True
        if slack is None:
            pass
        elif not await self.mailbox.waiting(thread_key):
            settled = await slack.status.end(channel, thread)
        elif await self.mailbox.is_waiting_for_people(thread_key):
            settled = await slack.status.session(channel, thread, "suspended")
        if settled:
            await self.stale.remove(thread_key)

    async def _renew_line(self) -> None:
        places = enumerate(await self.in_line(), 1)
        for place, request in list(places)[:_MOST]:
            slack = await self.workspaces.of(request.team)
            if slack and datetime.now(UTC) - request.received_at > _FIRST_IN_LINE:
                line = words.STATUS_PLACE_IN_LINE.format(place=place)
                await slack.status.show(request.channel, request.thread, line)
