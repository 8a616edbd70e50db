"""The base of all blocks, and rich text.

The rules are those of https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from bot.dev.workspace.blocks.parts import Id, Part


class LayoutBlock(Part):
    """The base of all blocks."""

    block_id: Id | None = None


class RichElement(Part):
    """An inline element of rich text; its other keys depend on its type."""

    model_config = ConfigDict(extra="allow")
    type: Literal[
        "text",
        "link",
        "user",
        "channel",
        "usergroup",
        "emoji",
        "broadcast",
        "date",
        "color",
        "team",
        "file",
        "image",
    ]

    @model_validator(mode="after")
    def _has_its_key(self) -> "RichElement":
        keys = {
            "user": "user_id",
            "channel": "channel_id",
            "link": "url",
            "emoji": "name",
            "text": "text",
            "date": "format",
        }
        key, extra = keys.get(self.type), self.model_extra or {}
        if key and not isinstance(extra.get(key), str):
            raise ValueError(f"missing required field: {key}")
        if self.type == "date" and not isinstance(extra.get("timestamp"), int):
            raise ValueError("missing required field: timestamp")
        return self


class RichSection(Part):
    """A paragraph, a quote or preformatted text."""

    type: Literal["rich_text_section", "rich_text_quote", "rich_text_preformatted"]
    elements: list[RichElement]
    border: Literal[0, 1] | None = None
    language: str | None = None


class RichList(Part):
    """A list."""

    type: Literal["rich_text_list"]
    style: Literal["bullet", "ordered"]
    elements: list[RichSection]
    indent: Annotated[int, Field(ge=0, le=8)] | None = None
    offset: Annotated[int, Field(ge=0)] | None = None
    border: Literal[0, 1] | None = None


class RichText(LayoutBlock):
    """Rich text, the block of people's own messages."""

    type: Literal["rich_text"]
    elements: list[Annotated[RichSection | RichList, Field(discriminator="type")]]
