"""Attached files: images are shown, everything else is downloaded."""

from urllib.parse import quote

from aiohttp import web

from bot.dev.page.render.text import clean
from bot.dev.workspace import File


def file_response(file: File, *, download: bool) -> web.Response:
    """Return the bytes of a file: an image inline, anything else as an attachment."""
    content = file.content or b""
    image = _image_type(content)
    name = quote(clean(file.name), safe="")
    inline = image is not None and not download
    return web.Response(
        body=content,
        content_type=image or "application/octet-stream",
        headers={
            "Content-Disposition": "inline" if inline else f"attachment; filename*=UTF-8''{name}"
        },
    )


def _image_type(content: bytes) -> str | None:
    """Return the type of an image that runs no code in the browser; SVG may, so it is none."""
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    starts = {
        b"\x89PNG\r\n\x1a\n": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF8": "image/gif",
    }
    return next((kind for start, kind in starts.items() if content.startswith(start)), None)
