"""Images that people attached, shown to the model as images.

In the conversation and in the record an image is a reference; its bytes are fetched, as the person
who asked may see them, when a request goes out. So states stay small, and a chain that is made anew
has its images again as long as Slack has them.
"""

from __future__ import annotations

import base64
from dataclasses import replace

from typing_extensions import override

from bot.agent.hooks.chain import Hooks
from bot.agent.prompts import IMAGE_REFERENCE
from bot.core.chain import Item
from bot.core.errors import ToolError
from bot.model.types import ModelRequest
from bot.toolkit import Conversation

MAX_BYTES = 5 * 1024 * 1024
_MOST = 6  # images in one request; of more the latest are shown
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def _references(item: Item) -> list[str]:
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    urls = (part.get("image_url") for part in parts if part.get("type") == "input_image")
    return [url for url in urls if isinstance(url, str) and url.startswith(IMAGE_REFERENCE)]


class Images(Hooks):
    """For one run: puts the images themselves where references stand."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._parts: dict[str, Item] = {}

    @override
    async def transform_context(self, request: ModelRequest) -> ModelRequest:
        wanted = [url for item in request.input for url in _references(item)][-_MOST:]
        if not any(_references(item) for item in request.input):
            return request
        for url in wanted:
            if url not in self._parts:
                self._parts[url] = await self._fetched(url.removeprefix(IMAGE_REFERENCE))
        shown = tuple(self._with_images(item, set(wanted)) for item in request.input)
        return replace(request, input=shown)

    def _with_images(self, item: Item, wanted: set[str]) -> Item:
        references = _references(item)
        if not references:
            return item
        parts = [
            self._part(part["image_url"], wanted) if part.get("image_url") in references else part
            for part in item["content"]
        ]
        return {**item, "content": parts}

    def _part(self, url: str, wanted: set[str]) -> Item:
        return self._parts[url] if url in wanted else _text("(An earlier image.)")

    async def _fetched(self, file_id: str) -> Item:
        """The image, or a sentence that says why there is none."""
        try:
            download = await self._conversation.download(file_id, max_bytes=MAX_BYTES)
        except ToolError as error:
            return _text(f"(An image could not be shown: {error})")
        kind = _kind(download.data)
        if kind is None:
            return _text(f"({download.file.name} is no PNG, JPEG, GIF or WebP image.)")
        data = base64.b64encode(download.data).decode()
        url = f"data:{kind};base64,{data}"
        return {"type": "input_image", "image_url": url, "detail": "auto"}


def _kind(data: bytes) -> str | None:
    """What the bytes are, whatever their name says."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)


def _text(said: str) -> Item:
    return {"type": "input_text", "text": said}
