"""The bytes of files: uploads, and downloads with the bot's token."""

import mimetypes

from aiohttp import web

from bot.dev.workspace.api.faults import Failure
from bot.dev.workspace.core import Core
from bot.dev.workspace.store.record import Effect
from bot.dev.workspace.store.state import File

# Slack answers a download without a good token with this page, and with status 200.
LOGIN_PAGE = (
    "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body>Sign in</body></html>"
)
PIECE = b"0123456789abcde\n" * 4096


class FileServer:
    """Serves /upload/v1/<file>, /files-pri/<team>-<file>/… and /files-tmb/<team>-<file>/file.vtt"""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """Take the bytes of an upload of the announced length: the raw body, or a form."""
        file = self._core.state.files.get(request.match_info["file"])
        if file is None or file.is_there:
            raise web.HTTPNotFound(text="no such upload")
        if failure := self._core.faults.failure_of("upload"):
            return _failed(request, failure)
        content = await _body(request)
        if len(content) != file.size:
            raise web.HTTPBadRequest(text=f"expected {file.size} bytes, got {len(content)}")
        file.content = content
        args = {"file": file.id, "name": file.name, "size": file.size}
        self._core.record.effect(
            Effect("upload", args, self._core.clock.now(), True, None, {"ok": True})
        )
        return web.Response(text=f"OK - {file.size}")

    async def download(self, request: web.Request) -> web.StreamResponse:
        """Return the bytes, or the login page without a good token."""
        file = self._seen(request)
        if file is None:
            return web.Response(text=LOGIN_PAGE, content_type="text/html")
        if file.is_fake:
            return await _generated(request, file)
        return web.Response(body=file.content, content_type=_type(file))

    async def captions(self, request: web.Request) -> web.StreamResponse:
        """Return what Slack wrote down of a clip, as a download returns its bytes."""
        file = self._seen(request)
        if file is None:
            return web.Response(text=LOGIN_PAGE, content_type="text/html")
        if file.transcript is None or not file.transcript.has_captions:
            raise web.HTTPNotFound(text=LOGIN_PAGE, content_type="text/html")
        return web.Response(text=file.transcript.captions, content_type="text/vtt")

    def _seen(self, request: web.Request) -> File | None:
        """Return the file of a request; None without a good token."""
        team, _, key = request.match_info["key"].partition("-")
        file = self._core.state.files.get(key)
        if team != self._core.team_id or not self._allowed(request):
            return None
        if file is None or file.deleted or not file.is_there or not self._shared_with_bot(file):
            raise web.HTTPNotFound(text=LOGIN_PAGE, content_type="text/html")
        return file

    def _allowed(self, request: web.Request) -> bool:
        state = self._core.state
        given = request.headers.get("Authorization", "")
        good = state.owns(given.removeprefix("Bearer ")) and not state.token_revoked
        return good and "files:read" not in state.missing_scopes

    def _shared_with_bot(self, file: File) -> bool:
        core = self._core
        own = file.user == core.bot_user_id
        return own or any(core.bot_user_id in core.channels[c].members for c in file.channels)


def _failed(request: web.Request, failure: Failure) -> web.Response:
    """Fail as the file host does: a status without Slack's JSON, or a dropped connection."""
    if not isinstance(failure.error, int):
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)
    return web.Response(status=failure.error, text="upload failed")


async def _body(request: web.Request) -> bytes:
    if request.content_type != "multipart/form-data":
        return await request.read()
    for value in (await request.post()).values():
        if isinstance(value, web.FileField):
            return value.file.read()
    raise web.HTTPBadRequest(text="no file in the form")


async def _generated(request: web.Request, file: File) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"Content-Type": _type(file), "Content-Length": str(file.size)}
    )
    await response.prepare(request)
    left = file.size
    while left > 0:
        await response.write(PIECE[:left])
        left -= len(PIECE)
    return response


def _type(file: File) -> str:
    if file.canvas:
        return "text/html"
    return mimetypes.guess_type(file.name)[0] or "application/octet-stream"
