"""Delivery to the app: events with Slack's retries, interactions without."""

import asyncio
import secrets
from collections.abc import Coroutine
from typing import Any, Protocol

from bot.dev.workspace.errors import NotAnswered
from bot.dev.workspace.events.socket_mode import SocketMode
from bot.dev.workspace.store.clock import Clock
from bot.dev.workspace.store.state import Json, State

# Seconds before the second, third and fourth attempt, https://docs.slack.dev/apis/events-api
RETRY_DELAYS = (0.0, 60.0, 300.0)
ACK_TIMEOUT = 3.0


class Transport(Protocol):
    """A way to send a request to the app and get its answer: Socket Mode or HTTP."""

    async def send(
        self, kind: str, payload: Json, *, within: float, retry: int = 0, reason: str | None = None
    ) -> Json:
        """Return the payload of the acknowledgement, {} without one.

        Raises:
            NotAnswered: no connection, no acknowledgement within `within` seconds, or a refusal.
        """
        ...


class Undeliverable(NotAnswered):
    """The app asked not to retry."""


class Delivery:
    """Sends to the app.

    Settable: `ack_timeout` (seconds), `retry_delays` (seconds before each retry).
    """

    def __init__(self, state: State, clock: Clock) -> None:
        self.ack_timeout = ACK_TIMEOUT
        self.retry_delays: tuple[float, ...] = RETRY_DELAYS
        self.sockets = SocketMode(state, clock)
        self.transport: Transport = self.sockets
        self.lost: list[Json] = []
        self._state = state
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()

    def event(self, event: Json, *, shared: bool, extra: Json | None) -> None:
        """Send an Events API event in the background, with Slack's retries."""
        self.spawn(self._deliver(self._wrap(event, shared) | (extra or {})))

    @property
    def under_way(self) -> int:
        """How many events are neither acknowledged nor lost."""
        return len(self._tasks)

    async def ask(self, kind: str, payload: Json) -> Json:
        """Send an interaction or slash command once, and return the payload of its acknowledgement.

        Raises:
            NotAnswered: the person sees a warning sign.
        """
        return await self.transport.send(kind, payload, within=self.ack_timeout)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background until it is done or the delivery is closed."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel everything that is still under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.sockets.close()

    async def _deliver(self, payload: Json) -> None:
        reason: str | None = None
        due = self._clock.now()
        for attempt, delay in enumerate((0.0, *self.retry_delays)):
            due += delay
            await self._clock.sleep_until(due)
            try:
                await self.transport.send(
                    "events_api", payload, within=self.ack_timeout, retry=attempt, reason=reason
                )
            except Undeliverable:
                break
            except NotAnswered as problem:
                reason = problem.reason
            else:
                return
        self.lost.append(payload)

    def _wrap(self, event: Json, shared: bool) -> Json:
        state = self._state
        authorization = {
            "enterprise_id": state.organisation,
            "team_id": None if state.organisation else state.team_id,
            "user_id": state.bot_user_id,
            "is_bot": True,
            "is_enterprise_install": state.organisation is not None,
        }
        return {
            "token": state.verification_token,
            "team_id": state.team_id,
            "enterprise_id": state.organisation,
            "context_team_id": state.team_id,
            "context_enterprise_id": state.organisation,
            "api_app_id": state.app_id,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{secrets.token_hex(5).upper()}",
            "event_time": int(float(event["event_ts"])),
            "authorizations": [authorization],
            "is_ext_shared_channel": shared,
            "event_context": f"4-{secrets.token_urlsafe(24)}",
        }
