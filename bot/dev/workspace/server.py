"""The workspace as a server on loopback."""

import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from bot.dev.workspace.api.file_server import FileServer
from bot.dev.workspace.api.response_urls import ResponseUrls
from bot.dev.workspace.api.web_api import WebApi
from bot.dev.workspace.client.people import People
from bot.dev.workspace.events.http_events import HttpEvents

BODY_MAX = 1024**3  # bytes; Slack takes uploads of up to 1 GB

Mount = Callable[[web.Application, "Workspace"], None]


class Workspace(People):
    """A local workspace; open it with `Workspace.open`."""

    app: web.Application
    _session: aiohttp.ClientSession

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        host: str = "127.0.0.1",
        port: int = 0,
        mount: Mount | None = None,
        *,
        app_name: str = "Bot",
        beside: "Workspace | None" = None,
    ) -> AsyncGenerator["Workspace"]:
        """Serve a fresh workspace; port 0 takes any free port.

        `mount` may add routes before the server starts; `app_name` is the app's name in its
        manifest. A workspace `beside` another has the same app, which reaches both through the API
        of the first; people and channels have the same ids in both.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
        name = f"[{host}]" if ":" in host else host
        workspace = cls(f"http://{name}:{listener.getsockname()[1]}/")
        workspace.state.app_name = app_name
        if beside is not None:
            workspace._share_app(beside)
        workspace.app = workspace._application()
        if mount is not None:
            mount(workspace.app, workspace)
        runner = web.AppRunner(workspace.app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        async with aiohttp.ClientSession() as workspace._session:
            try:
                await web.SockSite(runner, listener).start()
                yield workspace
            finally:
                await workspace.delivery.close()
                await runner.cleanup()

    async def listen_over_http(self, url: str, signing_secret: str | None = None) -> None:
        """Send signed HTTP requests to this URL of the app, instead of using Socket Mode.

        Raises NotAnswered when the app does not answer the url_verification challenge.
        """
        http = HttpEvents(url, signing_secret or self.signing_secret, self.clock, self._session)
        await http.verify(self.state.verification_token, self.delivery.ack_timeout)
        for each in self.oauth.workspaces:
            each.delivery.transport = http

    def _share_app(self, first: "Workspace") -> None:
        number = len(first.oauth.workspaces) + 1
        state, former = self.state, self.state.team_id
        state.team_id, state.team_name = f"T0LOCAL{number:03}", f"Local {number}"
        for person in state.people.values():
            if person.team_id == former:
                person.team_id = state.team_id
        for name in ("app_token", "signing_secret", "verification_token"):
            setattr(state, name, getattr(first.state, name))
        self.oauth = first.oauth
        self.oauth.workspaces.append(self)
        self.delivery.transport = first.delivery.transport

    async def refresh_sockets(self, reason: str = "refresh_requested") -> None:
        """Ask every Socket Mode connection to reconnect; with "warning", only announce it."""
        await self.delivery.sockets.refresh(reason)

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=BODY_MAX)
        app.router.add_route("*", "/api/{method}", WebApi(self).handle)
        app.router.add_get("/link/", self.delivery.sockets.handle)
        app.router.add_post("/actions/{team}/{key}", ResponseUrls(self).handle)
        files = FileServer(self)
        app.router.add_route("POST", "/upload/v1/{file}", files.upload)
        app.router.add_route("PUT", "/upload/v1/{file}", files.upload)
        app.router.add_get("/files-pri/{key}/{name:.+}", files.download)
        app.router.add_get("/files-tmb/{key}/file.vtt", files.captions)
        return app
