"""Downloads of files that people attached, and uploads.

The bot's token is sent to Slack's file host and to no other host.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from bot.core.errors import ToolError
from bot.slack.edge.client import Clients

FILE_HOST = "files.slack.com"
CANVAS = "application/vnd.slack-docs"
"""The media type of canvases, which Slack stores as files."""

_SLACK_API = "slack.com"
_ID = re.compile(r"F[A-Z0-9]{8,}")
_DOWNLOAD_TIMEOUT = 60.0  # seconds for the whole file
_CHUNK = 64 * 1024
_MOST_CAPTIONS = 2_000_000  # bytes: those of a day


def is_id(name: str) -> bool:
    """Return whether `name` is the id of a file."""
    return _ID.fullmatch(name) is not None


def places_of(file: Mapping[str, Any]) -> list[str]:
    """Return the conversations in which Slack's file object says that it is shared."""
    channels = [channel for key in ("channels", "groups", "ims") for channel in file.get(key) or ()]
    linked = file.get("linked_channel_id")
    return [*channels, linked] if linked else channels


async def download(clients: Clients, file: Mapping[str, Any], *, max_bytes: int) -> bytes:
    """Return the content of a Slack file, at most `max_bytes`.

    Raises ToolError, with a sentence for the model, if the file cannot or must not be fetched.
    """
    name = str(file.get("name") or file.get("id"))
    url = str(file.get("url_private_download") or file.get("url_private") or "")
    if file.get("is_external") or file.get("mode") == "external":
        raise ToolError(f"{name} is kept outside Slack, so I cannot open it. Ask for an upload.")
    if not url or not _is_on_file_host(url, clients.base_url):
        raise ToolError(f"{name} cannot be downloaded: Slack gave no address of its own for it.")
    size = int(file.get("size") or 0)
    if size > max_bytes:
        raise _too_large(name, max_bytes, size)
    try:
        async with asyncio.timeout(_DOWNLOAD_TIMEOUT):
            return await _fetch(clients, url, file, name, max_bytes)
    except (aiohttp.ClientError, TimeoutError):
        raise ToolError(f"{name} could not be downloaded from Slack now. Try again.") from None


async def transcript(clients: Clients, file: Mapping[str, Any]) -> str:
    """Return all that Slack wrote down of a clip: WebVTT with times, else plain text; "" if it wrote
    down nothing, or only a part is there."""
    state = file.get("transcription")
    if not isinstance(state, Mapping) or state.get("status") != "complete":
        return ""
    captions = {"name": "captions", "mimetype": "text/vtt", "url_private": file.get("vtt")}
    if file.get("vtt"):
        try:
            data = await download(clients, captions, max_bytes=_MOST_CAPTIONS)
            return data.decode("utf-8", "replace")
        except ToolError:
            pass  # the preview may be whole
    preview = state.get("preview")
    if not isinstance(preview, Mapping) or preview.get("has_more"):
        return ""
    return str(preview.get("content") or "")


def is_being_transcribed(file: Mapping[str, Any]) -> bool:
    """Return whether Slack is still writing down what is said in a clip."""
    state = file.get("transcription")
    return isinstance(state, Mapping) and state.get("status") == "processing"


async def _fetch(
    clients: Clients, url: str, file: Mapping[str, Any], name: str, max_bytes: int
) -> bytes:
    headers = {"Authorization": f"Bearer {await clients.token()}"}
    async with clients.session.get(url, headers=headers, allow_redirects=False) as response:
        if response.status != 200:
            raise ToolError(f"{name} could not be downloaded: Slack answered {response.status}.")
        if _is_login_page(response, file):
            raise ToolError(f"{name} could not be downloaded: the bot may lack files:read.")
        data = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK):
            data += chunk
            if len(data) > max_bytes:  # more than Slack said; nobody knows how much
                raise _too_large(name, max_bytes)
        return bytes(data)


async def upload(clients: Clients, data: bytes, *, name: str, alt: str | None) -> str:
    """Upload a file and return its id. Nobody sees the file until the upload is completed."""
    place = await clients.writes.files_getUploadURLExternal(
        filename=name, length=len(data), alt_txt=alt
    )
    async with clients.session.post(place["upload_url"], data=data) as response:
        response.raise_for_status()
    return str(place["file_id"])


def _is_on_file_host(url: str, base_url: str) -> bool:
    """Return whether the URL is on Slack's file host, or on the local workspace if that is in use."""
    parts, base = urlsplit(url), urlsplit(base_url)
    if parts.scheme == "https" and parts.netloc == FILE_HOST:
        return True
    local = base.hostname != _SLACK_API and not str(base.hostname).endswith(f".{_SLACK_API}")
    return local and (parts.scheme, parts.netloc) == (base.scheme, base.netloc)


def _is_login_page(response: aiohttp.ClientResponse, file: Mapping[str, Any]) -> bool:
    """Detect the login page that Slack returns, with status 200, to a token without permission."""
    return response.content_type == "text/html" and file.get("mimetype") != "text/html"


def _too_large(name: str, max_bytes: int, size: int = 0) -> ToolError:
    """Return the error for a file of `size` bytes, 0 if unknown, which a limit must not seem to equal."""
    has, limit = (f"{count / 1e6:,.1f} MB" for count in (size, max_bytes))
    told = f" with {has}" if size and has != limit else ""
    return ToolError(
        f"{name} is too large{told}: I can open up to {limit}. Ask for a smaller file or for the part "
        "that matters."
    )
