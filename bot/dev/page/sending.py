"""A message on its way from a composer to the workspace."""

from dataclasses import dataclass

from aiohttp import BodyPartReader, web

from bot.dev.page.render.text import clean

FILE_MAX = 100 * 1024 * 1024  # bytes a file; it is kept in memory
TEXT_MAX = 1_000_000  # bytes of a form field


@dataclass(frozen=True)
class SentMessage:
    """What a composer sent."""

    user: str
    channel: str
    text: str
    thread_ts: str | None
    files: list[tuple[str, bytes]]


async def read_form(request: web.Request) -> SentMessage:
    """Return what the composer sent. Raises HTTPBadRequest, HTTPRequestEntityTooLarge."""
    if not request.content_type.startswith("multipart/"):
        raise web.HTTPBadRequest(text="a multipart form is expected")
    fields: dict[str, str] = {}
    files: list[tuple[str, bytes]] = []
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            raise web.HTTPBadRequest(text="nested parts are not expected")
        # HTML forms encode a quotation mark in a file name like this.
        name = part.filename and part.filename.replace("%22", '"')
        content = await _read_part(part, TEXT_MAX if name is None else FILE_MAX, name)
        if name is None:
            fields[part.name or ""] = content.decode("utf-8", "replace")
        else:
            files.append((name, content))
    return SentMessage(
        fields.get("user", ""),
        fields.get("channel", ""),
        fields.get("text", ""),
        fields.get("thread_ts") or None,
        files,
    )


async def _read_part(part: BodyPartReader, limit: int, name: str | None) -> bytes:
    content = bytearray()
    while chunk := await part.read_chunk(64 * 1024):
        content += chunk
        if len(content) > limit:
            what = f"{clean(name)} is" if name is not None else "The message is"
            message = f"{what} too large for the local workspace: {limit // 1000:,} KB at most."
            raise web.HTTPRequestEntityTooLarge(limit, len(content), text=message)
    return bytes(content)
