"""Chunks of a streamed message.

The limits are those of https://docs.slack.dev/reference/methods/chat.appendStream
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from bot.dev.workspace.blocks import check_blocks
from bot.dev.workspace.blocks.layout import UrlSource
from bot.dev.workspace.blocks.parts import Part
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.content import MARKDOWN_TEXT_MAX
from bot.dev.workspace.store.state import Json

Short = Annotated[str, Field(min_length=1, max_length=256)]


class MarkdownText(Part):
    """Text that continues the text before it."""

    type: Literal["markdown_text"]
    text: Annotated[str, Field(min_length=1)]


class TaskUpdate(Part):
    """A task card, new or changed."""

    type: Literal["task_update"]
    id: Short
    title: Short
    status: Literal["pending", "in_progress", "complete", "error"]
    details: Short | None = None
    output: Short | None = None
    sources: list[UrlSource] | None = None


class PlanUpdate(Part):
    """The title above the task cards."""

    type: Literal["plan_update"]
    title: Short


class Blocks(Part):
    """Blocks, checked like those of a message."""

    type: Literal["blocks"]
    blocks: list[Json]


_CHUNK: TypeAdapter[MarkdownText | TaskUpdate | PlanUpdate | Blocks] = TypeAdapter(
    Annotated[MarkdownText | TaskUpdate | PlanUpdate | Blocks, Field(discriminator="type")]
)


def checked_chunks(markdown_text: str | None, chunks: list[Json] | None) -> list[Json]:
    """Return the chunks of one call.

    Raises SlackFault cannot_provide_both_markdown_text_and_chunks, msg_too_long, invalid_chunks,
    invalid_blocks.
    """
    if markdown_text is not None and chunks is not None:
        raise SlackFault("cannot_provide_both_markdown_text_and_chunks")
    if markdown_text is not None:
        _check_length(markdown_text)
        return [{"type": "markdown_text", "text": markdown_text}] if markdown_text else []
    for index, chunk in enumerate(chunks or []):
        _check(index, chunk)
    return chunks or []


def _check(index: int, given: Json) -> None:
    try:
        chunk = _CHUNK.validate_python(given)
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_context=False, include_input=False)
        where = "/".join(["", "chunks", str(index), *map(str, first["loc"][1:])])
        line = f"[ERROR] {first['msg']} [json-pointer:{where}]"
        raise SlackFault("invalid_chunks", response_metadata={"messages": [line]}) from None
    if isinstance(chunk, Blocks):
        check_blocks(chunk.blocks)
    elif isinstance(chunk, MarkdownText):
        _check_length(chunk.text)


def _check_length(text: str) -> None:
    if len(text) > MARKDOWN_TEXT_MAX:
        raise SlackFault("msg_too_long")
