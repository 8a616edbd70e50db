"""A periodic job that corrects the statuses of threads when no run can.

That is after a failed call, after a question was deleted, and while a question waits for a worker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.core.budgets import Pause
from bot.core.errors import BotError
from bot.core.request import Request
from bot.slack.edge.workspaces import Workspaces
from bot.slack.ui import words
from bot.store import Mailbox, StaleStatuses
from bot.text.translation import load_catalogue, reader

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0

_MIN_WAIT = timedelta(seconds=5)  # a shorter wait is normal and not worth a status
_MAX_RENEWED = 30
"""How many statuses are renewed each time: one call a second, well below Slack's limit."""

InLine = Callable[[], Awaitable[Sequence[Request]]]
"""Return the requests that wait for a worker, the next one first."""

Paused = Callable[[], Awaitable[Pause | None]]
"""Return the pause of the bot, None if it is not paused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSweep:
    """The job for all workspaces of a deployment; any number of processes may run it.

    `renew_seconds` is the interval at which waiting requests show their place in line. It must be
    below the 120 seconds after which Slack clears a status line.
    """

    workspaces: Workspaces
    mailbox: Mailbox
    stale: StaleStatuses
    in_line: InLine
    paused: Paused
    renew_seconds: float

    async def run(self) -> None:
        """Run until cancelled. Errors are logged, and the next pass tries again."""
        while True:
            try:
                for thread_key in await self.stale.due():
                    await self._correct(thread_key)
                if await self.stale.take_turn(self.renew_seconds):
                    await self._renew_line()
            except BotError as error:
                log.warning("Statuses of threads may be out of date: %s", error)
            except Exception:
                log.exception("The status sweep failed")
            await asyncio.sleep(LOOK_SECONDS)

    async def _correct(self, thread_key: str) -> None:
        """Clear the status of an idle thread; suspend the session of a thread that waits for people.

        A thread with a run that is active or queued is skipped, because the run sets its own
        status.
        """
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
        pause = await self.paused()
        places = enumerate(await self.in_line(), 1)
        for place, request in list(places)[:_MAX_RENEWED]:
            slack = await self.workspaces.of(request.team)
            if slack and datetime.now(UTC) - request.received_at > _MIN_WAIT:
                await load_catalogue(request.locale)
                with reader(request.locale):
                    line = waiting_line(place, pause)
                await slack.status.show(request.channel, request.thread, line)


def waiting_line(place: int, pause: Pause | None) -> str:
    """Return the status line of a request that waits in the reader's language."""
    if pause:
        return words.STATUS_PAUSED(name=pause.name)
    return words.STATUS_PLACE_IN_LINE(place=place)
