"""HTTP endpoints for operators: /healthz, /readyz and /metrics."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager, suppress

from aiohttp import web

from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.store import Receivers
from bot.text.translation import browser_locale, load_catalogue, reader

CHECK_SECONDS = 2.0  # hosts wait one to a few seconds for a probe
NOTE_SECONDS = 20.0

Check = Callable[[], Awaitable[bool]]
"""Returns whether a service that the process needs is available."""

MetricsText = Callable[[], Awaitable[bytes]]
"""Returns all metrics in Prometheus's text format."""


class Health:
    """The readiness of the process: it is serving, and everything it needs is available."""

    def __init__(self) -> None:
        self._serving = False
        self._needs: dict[str, Check] = {}

    def needs(self, name: str, check: Check) -> None:
        """Make readiness depend on `check`, which must return True within two seconds."""
        self._needs[name] = check

    @contextmanager
    def serving(self) -> Generator[None]:
        """Be ready only inside the context: neither while starting nor while draining."""
        self._serving = True
        try:
            yield
        finally:
            self._serving = False

    async def report(self) -> dict[str, bool]:
        """Return each condition of readiness by name."""
        names = list(self._needs)
        found = await asyncio.gather(*(self._holds(self._needs[name]) for name in names))
        return {"serving": self._serving, **dict(zip(names, found, strict=True))}

    async def note_while_ready(self, receivers: Receivers) -> None:
        """Keep this process among those that receive events while it is ready, until cancelled."""
        name = f"{socket.gethostname()}#{os.getpid()}"
        try:
            while True:
                is_ready = all((await self.report()).values())
                with suppress(StoreUnavailable):
                    if is_ready:
                        await receivers.note(name)
                await asyncio.sleep(NOTE_SECONDS if is_ready else 1.0)
        finally:
            with suppress(StoreUnavailable):
                await receivers.forget(name)

    async def _holds(self, check: Check) -> bool:
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                return await check()
        except TimeoutError:
            return False


def health_routes(health: Health) -> list[web.RouteDef]:
    """Return /healthz (alive: the event loop answers) and /readyz (ready: send it work)."""

    async def alive(_: web.Request) -> web.Response:
        return web.json_response({"alive": True})

    async def ready(_: web.Request) -> web.Response:
        report = await health.report()
        is_ready = all(report.values())
        return web.json_response({"ready": is_ready, **report}, status=200 if is_ready else 503)

    return [web.get("/healthz", alive), web.get("/readyz", ready)]


def metrics_route(metrics_text: MetricsText) -> web.RouteDef:
    """Return /metrics, for Prometheus to scrape."""

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=await metrics_text(), content_type="text/plain", charset="utf-8")

    return web.get("/metrics", metrics)


@web.middleware
async def _in_language_of_browser(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    locale = browser_locale(request.headers.get("Accept-Language", ""))
    await load_catalogue(locale)
    with reader(locale):
        return await handler(request)


@asynccontextmanager
async def http_server(
    routes: Iterable[web.RouteDef],
    *,
    port: int,
    host: str = "0.0.0.0",  # noqa: S104 - a host's router, and Prometheus, must reach it
    max_body: int = 1024**2,
) -> AsyncGenerator[int]:
    """Serve inside the context; answer open requests before leaving. Yield the port in use.

    Raises ConfigurationError when the port cannot be used.
    """
    app = web.Application(client_max_size=max_body, middlewares=[_in_language_of_browser])
    app.router.add_routes(routes)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise ConfigurationError(
                f"Port {port} cannot be used: {os.strerror(error.errno or 0)}. Set another one "
                "(PORT, BOT_METRICS_PORT, or the port in BOT_PUBLIC_URL)."
            ) from None
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
