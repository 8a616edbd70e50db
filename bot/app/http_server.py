"""What the process says of itself: over HTTP, and on which port; and to a collector.

PORT carries Slack's events where they come over HTTP, and the probes of the host. `bot web` always
listens there, since hosts expect that of it; `bot serve` when it takes events there, when the app
is installed from there, or PORT is set; `bot worker` never: it often shares its environment with a
`bot web` beside it. BOT_METRICS_PORT carries the probes and the figures for every command; without
it the figures are on PORT. Both listen on all interfaces: who may reach them is for the host's
network to say.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from aiohttp import web

from bot.core.errors import StoreUnavailable
from bot.ops.health import CHECK_SECONDS, Health, health_routes, http_server, metrics_route
from bot.ops.metrics import Metrics
from bot.ops.tracing import telemetry
from bot.runs.observers import Observer
from bot.settings import Settings
from bot.slack.transport.http import MAX_BODY, SlackRequests
from bot.slack.transport.install_flow import InstallPages
from bot.store import Stores

DEFAULT_PORT = 8080


class ProcessStatus:
    """What is told of the process, and who watches for that. `health` gets its needs, and
    `slack_requests` its app, as the process starts."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.watches: tuple[Observer, ...] = (self.metrics,)
        self.health = Health()
        self.slack_requests = SlackRequests(self.metrics.request_refused)
        self.install_pages = InstallPages()
        self._stores: Stores | None = None

    def looks_into(self, stores: Stores) -> None:
        """Readiness needs this Redis from now on, and the figures say what waits there."""
        self._stores = stores
        self.slack_requests.refusals.keep = stores.refused.save
        self.health.needs("redis", stores.takes_writes)

    async def figures(self) -> bytes:
        """All metrics."""
        waiting, undelivered = await self._backlog()
        self.metrics.queues(waiting=waiting, undelivered=undelivered)
        return self.metrics.text()

    async def _backlog(self) -> tuple[float, float]:
        if self._stores is not None:
            with suppress(TimeoutError, StoreUnavailable):
                async with asyncio.timeout(CHECK_SECONDS):
                    return await self._stores.backlog()
        return math.nan, math.nan  # nobody knows


@asynccontextmanager
async def serving(settings: Settings, *, intake: bool, work: bool) -> AsyncGenerator[ProcessStatus]:
    """Listen from now on: alive, not ready. Raises ConfigurationError when a port is taken."""
    process = ProcessStatus()
    port, metrics_port = _port(settings, intake=intake, work=work), settings.bot_metrics_port
    async with AsyncExitStack() as stack:
        collected = telemetry(settings.otel_exporter_otlp_endpoint)
        process.watches += await stack.enter_async_context(collected)
        if port is not None:
            routes: list[web.RouteDef] = [
                *health_routes(process.health),
                process.slack_requests.route,
            ]
            if settings.slack_client_id:
                routes += process.install_pages.routes
            if metrics_port in (None, port):
                routes.append(metrics_route(process.figures))
            await stack.enter_async_context(http_server(routes, port=port, max_body=MAX_BODY))
        if metrics_port not in (None, port):
            routes = [*health_routes(process.health), metrics_route(process.figures)]
            await stack.enter_async_context(http_server(routes, port=metrics_port))
        yield process


def _port(settings: Settings, *, intake: bool, work: bool) -> int | None:
    over_http = settings.slack_app_token is None or settings.slack_client_id is not None
    if not intake or (work and not over_http and settings.port is None):
        return None
    return DEFAULT_PORT if settings.port is None else settings.port
