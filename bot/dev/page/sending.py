"""A message on its way from a composer to the workspace."""

from dataclasses import dataclass

from aiohttp import BodyPartReader, web

from bot.dev.page.render.text import clean

FILE_MAX = 100 * 1024 * 1024  # bytes a file; it is kept in memory
TEXT_MAX = 1_000_000  # bytes of a form field


@dataclass(frozen=True)
class Said:
    """A message as it was sent from a composer."""

    user: str
    channel: str
    text: str
    thread_ts: str | None
    files: list[tuple[str, bytes]]
    broadcast: bool  # a reply that the channel shows too
    window: str


async def read_form(request: web.Request) -> Said:
    """What the composer sent; bad requests and files that are too large are refused."""
    if not request.content_type.startswith("multipart/"):
        raise web.HTTPBadRequest(text="a multipart form is expected")
    fields: dict[str, str] = {}
    files: list[tuple[str, bytes]] = []
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            raise web.HTTPBadRequest(text="nested parts are not expected")
        # Forms write a quotation mark in a file's name so (HTML, multipart/form-data).
        name = part.filename and part.filename.replace("%22", '"')
        content = await _read_part(part, TEXT_MAX if name is None else FILE_MAX, name)
        if name is None:
            fields[part.name or ""] = content.decode("utf-8", "replace")
        else:
            files.append((name, content))
    return Said(
        fields.get("user", ""),
        fields.get("channel", ""),
        fields.get("text", ""),
        fields.get("thread_ts") or None,
        files,
        fields.get("broadcast") == "true",
        fields.get("window", ""),
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
