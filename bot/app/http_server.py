"""HTTP ports of the process: Slack's events, health probes and metrics; and its telemetry.

PORT serves Slack's events when they come over HTTP, and the host's health probes. `bot web` always
listens on it, because hosts expect that. `bot serve` listens when events come over HTTP, when
people install the app or connect accounts here, or when PORT is set. `bot worker` never listens on
it, because it often shares its environment with a `bot web` beside it. BOT_METRICS_PORT serves
probes and metrics for every command; without it the metrics are on PORT. Both listen on all
interfaces: the host's network decides who can reach them. If BOT_PUBLIC_URL is an address of this
machine alone, the pages of features are on its port, on loopback.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from aiohttp import web

from bot.core.errors import StoreUnavailable
from bot.runs.queue.workers import live_workers
from bot.runs.watching import Observer
from bot.settings import Settings
from bot.slack.edge.http import MAX_BODY, SlackRequests
from bot.slack.edge.install_flow import InstallPages
from bot.store import Stores
from bot.telemetry.health import CHECK_SECONDS, Health, health_routes, http_server, metrics_route
from bot.telemetry.metrics import Metrics
from bot.telemetry.tracing import telemetry

DEFAULT_PORT = 8080


class ProcessStatus:
    """The process as operators see it: its metrics, health, observers and HTTP endpoints.

    While the process starts, it adds its checks to `health` and gives `slack_requests` its app.
    """

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.observers: tuple[Observer, ...] = (self.metrics,)
        self.health = Health()
        self.slack_requests = SlackRequests(self.metrics.request_refused)
        self.install_pages = InstallPages()
        self.events_from = "Socket Mode"
        self._stores: Stores | None = None

    def use_stores(self, stores: Stores) -> None:
        """Make readiness depend on this Redis, and include its queues in the metrics."""
        self._stores = stores
        self.slack_requests.refusals.keep = stores.refused.save
        self.health.needs("redis", stores.takes_writes)

    async def metrics_text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        (workers, waiting, undelivered), report = await asyncio.gather(
            self._deployment(), self.health.report()
        )
        self.metrics.ready(report)
        self.metrics.deployment(workers=workers, waiting=waiting, undelivered=undelivered)
        return self.metrics.text()

    async def _deployment(self) -> tuple[float, float, float]:
        if self._stores is not None:
            with suppress(TimeoutError, StoreUnavailable):
                async with asyncio.timeout(CHECK_SECONDS):
                    workers = await live_workers(self._stores.redis)
                    return len(workers), *await self._stores.backlog()
        return math.nan, math.nan, math.nan  # unknown while Redis does not answer


@asynccontextmanager
async def process_status(
    settings: Settings, *, intake: bool, work: bool, pages: Sequence[web.RouteDef] = ()
) -> AsyncGenerator[ProcessStatus]:
    """Serve the process's status over HTTP, and the `pages` of features: alive at once, ready only
    when the caller says so.

    Raises ConfigurationError when a port is taken.
    """
    process = ProcessStatus()
    here, public = (pages, ()) if settings.loopback_port is not None else ((), pages)
    port = _port(settings, intake=intake, work=work, has_pages=bool(public))
    metrics_port = settings.bot_metrics_port
    async with AsyncExitStack() as stack:
        exporting = telemetry(settings.otel_exporter_otlp_endpoint)
        process.observers += await stack.enter_async_context(exporting)
        if settings.slack_app_token is None:
            process.events_from = f"HTTP on port {port} (/slack/events)"
        if port is not None:
            routes: list[web.RouteDef] = [
                *health_routes(process.health),
                process.slack_requests.route,
            ]
            if settings.slack_client_id:
                routes += process.install_pages.routes
            routes += public
            if metrics_port in (None, port):
                routes.append(metrics_route(process.metrics_text))
            await stack.enter_async_context(http_server(routes, port=port, max_body=MAX_BODY))
        if metrics_port not in (None, port):
            routes = [*health_routes(process.health), metrics_route(process.metrics_text)]
            await stack.enter_async_context(http_server(routes, port=metrics_port))
        if intake and here and settings.loopback_port is not None:
            opened = http_server(here, port=settings.loopback_port, host="127.0.0.1")
            await stack.enter_async_context(opened)
        yield process


def _port(settings: Settings, *, intake: bool, work: bool, has_pages: bool) -> int | None:
    """Return the port for events and probes; None when the process does not listen on one."""
    over_http = settings.slack_app_token is None or settings.slack_client_id is not None
    if not intake or (work and not over_http and not has_pages and settings.port is None):
        return None
    return DEFAULT_PORT if settings.port is None else settings.port
