"""The URLs of the page."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from aiohttp import WSCloseCode, web

from bot.dev.page.actions import Actions
from bot.dev.page.files import file_response
from bot.dev.page.guard import Handler, guarded
from bot.dev.page.live import LivePage
from bot.dev.page.screens import Screens
from bot.dev.workspace import Workspace

Json = dict[str, Any]

_STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".csv": "text/csv",
    ".pdf": "application/pdf",
    ".wav": "audio/wav",
    ".png": "image/png",
}


def mount(
    app: web.Application,
    ws: Workspace,
    *,
    notice: str = "",
    shortcuts: Sequence[Json] = (),
    commands: Sequence[Json] = (),
    functions: Mapping[str, Json] | None = None,
) -> None:
    """Add the page to the workspace's server: `/` and everything under `/page/`.

    `notice` is a sentence shown on top of the page; `shortcuts` (name, type, callback_id,
    description), `commands` (command, description, usage_hint) and `functions` (workflow steps by
    callback id, with their parameters) come from the app manifest.
    """
    steps = functions or {}
    screens = Screens(ws, notice=notice, shortcuts=shortcuts, functions=steps)
    names = [command["command"] for command in commands]
    actions = Actions(ws, names, steps)
    live = _Live(ws, screens)
    routes: list[tuple[str, str, Handler]] = [
        ("GET", "/", _html(screens, screens.page)),
        ("GET", "/page/whole", _html(screens, screens.page)),
        ("GET", "/page/sidebar", _html(screens, screens.sidebar)),
        ("GET", "/page/pane", _html(screens, screens.pane)),
        ("GET", "/page/thread", _html(screens, screens.thread)),
        ("GET", "/page/live", live.handle),
        ("GET", "/page/files/{id}/{name}", _file(ws)),
        ("GET", "/page/static/{path:[a-z./_-]+}", _static()),
        ("GET", "/docs/{team}/{id}", _canvas(screens)),
        ("GET", "/archives/{channel}/p{digits:[0-9]{16}}", _permalink),
        ("POST", "/page/say", actions.say),
        ("POST", "/page/do", actions.do),
    ]
    for method, path, handler in routes:
        app.router.add_route(method, path, guarded(handler))
    app.on_shutdown.append(live.close)


def _html(screens: Screens, draw: Callable[..., str]) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        html = draw(screens.address(request.query))
        return web.Response(text=html, content_type="text/html")

    return handle


def _file(ws: Workspace) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        file = ws.state.files.get(request.match_info["id"])
        if (
            file is None
            or file.deleted
            or not _may_see(ws, request.query.get("user", ""), file.channels)
        ):
            raise web.HTTPNotFound(text="There is no such file.")
        if file.content is None:
            raise web.HTTPNotFound(text="This file has no bytes here.")
        return file_response(file, download="download" in request.query)

    return handle


def _canvas(screens: Screens) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        html = screens.canvas(request.match_info["id"], request.query.get("user", ""))
        if html is None:
            raise web.HTTPNotFound(text="There is no such canvas.")
        return web.Response(text=html, content_type="text/html")

    return handle


def _may_see(ws: Workspace, user: str, shared_in: Sequence[str]) -> bool:
    """Whether the person is in a conversation in which the file is shared."""
    return any(user in ws.channels[c].members for c in shared_in if c in ws.channels)


def _static() -> Handler:
    files = {path.relative_to(_STATIC).as_posix(): path for path in _STATIC.rglob("*.*")}

    async def handle(request: web.Request) -> web.FileResponse:
        path = files.get(request.match_info["path"])
        if path is None or path.suffix not in _TYPES:
            raise web.HTTPNotFound(text="There is no such file.")
        # Some machines map .js to text/plain, which nosniff refuses.
        return web.FileResponse(
            path, headers={"Content-Type": f"{_TYPES[path.suffix]}; charset=utf-8"}
        )

    return handle


async def _permalink(request: web.Request) -> web.Response:
    """Redirect Slack's own form of a link to a message."""
    digits = request.match_info["digits"]
    query = {"channel": request.match_info["channel"], "ts": f"{digits[:10]}.{digits[10:]}"}
    if thread := request.query.get("thread_ts"):
        query["thread"] = thread
    raise web.HTTPFound(f"/?{urlencode(query)}")


class _Live:
    """The open sockets, closed with the server."""

    def __init__(self, ws: Workspace, screens: Screens) -> None:
        self._ws = ws
        self._screens = screens
        self._open: set[web.WebSocketResponse] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(heartbeat=30, max_msg_size=64 * 1024)
        await socket.prepare(request)
        self._open.add(socket)
        at = self._screens.address(request.query)
        self._ws.be_in(at.user, request.query.get("zone", ""))
        try:
            await LivePage(self._ws, self._screens, socket, at).run()
        finally:
            self._open.discard(socket)
        return socket

    async def close(self, _: web.Application) -> None:
        for socket in list(self._open):
            await socket.close(code=WSCloseCode.GOING_AWAY)
