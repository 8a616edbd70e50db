"""Events over HTTP: Slack's signed requests, and a health check for the host."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

EVENTS_PATH = "/slack/events"
"""Where Slack sends events, interactions and commands alike."""

_MAX_BODY = 4 * 1024 * 1024  # bytes; Slack's own payloads stay far below

Healthy = Callable[[], Awaitable[bool]]


def http_app(app: AsyncApp, healthy: Healthy) -> web.Application:
    """The routes. Bolt checks the signature and answers url_verification."""

    async def events(request: web.Request) -> web.Response:
        response = await app.async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(response)

    async def health(_: web.Request) -> web.Response:
        if await healthy():
            return web.json_response({"ok": True})
        return web.json_response({"ok": False}, status=503)

    routes = web.Application(client_max_size=_MAX_BODY)
    routes.router.add_post(EVENTS_PATH, events)
    routes.router.add_get("/healthz", health)
    return routes


@asynccontextmanager
async def http_server(
    app: AsyncApp,
    *,
    port: int,
    healthy: Healthy,
    host: str = "0.0.0.0",  # noqa: S104 - a host's router must reach it
) -> AsyncGenerator[int]:
    """Serve until left; requests under way are answered first. Yields the port in use."""
    runner = web.AppRunner(http_app(app, healthy), access_log=None, shutdown_timeout=5)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
