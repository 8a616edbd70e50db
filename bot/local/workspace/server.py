"""The workspace as a server on loopback."""

import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from bot.local.workspace.people import People
from bot.local.workspace.web_api import WebApi

BODY_MAX = 1024**3  # uploads up to Slack's 1 GB

Mount = Callable[[web.Application, "Workspace"], None]


class Workspace(People):
    """A stand-in Slack workspace; open it with `Workspace.open`."""

    app: web.Application

    @classmethod
    @asynccontextmanager
    async def open(
        cls, host: str = "127.0.0.1", port: int = 0, mount: Mount | None = None
    ) -> AsyncGenerator["Workspace"]:
        """Serve a fresh workspace; port 0 takes any. `mount` may add routes before it starts."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
        name = f"[{host}]" if ":" in host else host
        workspace = cls(f"http://{name}:{listener.getsockname()[1]}/")
        workspace.app = workspace._application()
        if mount is not None:
            mount(workspace.app, workspace)
        runner = web.AppRunner(workspace.app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            yield workspace
        finally:
            await workspace.delivery.close()
            await runner.cleanup()

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=BODY_MAX)
        app.router.add_route("*", "/api/{method}", WebApi(self).handle)
        app.router.add_get("/link/", self.delivery.sockets.handle)
        return app
