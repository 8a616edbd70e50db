"""Attached images, shown to the model as images.

The conversation and the run's record hold only references; the bytes are downloaded with the asker's
permissions when a request to the model is sent. So states stay small, and a rebuilt conversation has
its images for as long as Slack keeps them.
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
_MOST = 6  # images in one request: the latest are shown
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
    """A hook of one run that replaces references by the images themselves."""

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
                self._parts[url] = await self._image_part(url.removeprefix(IMAGE_REFERENCE))
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

    async def _image_part(self, file_id: str) -> Item:
        """Return the image as a content part, or a text part that says why it is missing."""
        try:
            download = await self._conversation.download(file_id, max_bytes=MAX_BYTES)
        except ToolError as error:
            return _text(f"(An image could not be shown: {error})")
        media_type = _media_type(download.data)
        if media_type is None:
            return _text(f"({download.file.name} is no PNG, JPEG, GIF or WebP image.)")
        data = base64.b64encode(download.data).decode()
        url = f"data:{media_type};base64,{data}"
        return {"type": "input_image", "image_url": url, "detail": "auto"}


def _media_type(data: bytes) -> str | None:
    """Return the media type that the bytes show, whatever the file's name; None if unsupported."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for magic, media_type in _MAGIC if data.startswith(magic)), None)


def _text(text: str) -> Item:
    return {"type": "input_text", "text": text}
