"""Surfaces that hold blocks: messages, modals and Home tabs, https://docs.slack.dev/reference/views"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from bot.dev.workspace.blocks.layout import AnyBlock
from bot.dev.workspace.blocks.parts import Part, Plain24


class Message(Part):
    """The blocks of a message."""

    blocks: Annotated[list[AnyBlock], Field(max_length=50)]


class View(Part):
    """A modal or a Home tab."""

    type: Literal["modal", "home"]
    blocks: Annotated[list[AnyBlock], Field(min_length=1, max_length=100)]
    title: Plain24 | None = None
    submit: Plain24 | None = None
    close: Plain24 | None = None
    callback_id: Annotated[str, Field(max_length=255)] | None = None
    external_id: Annotated[str, Field(max_length=255)] | None = None
    private_metadata: Annotated[str, Field(max_length=3000)] | None = None
    clear_on_close: bool | None = None
    notify_on_close: bool | None = None
    submit_disabled: bool | None = None

    @model_validator(mode="after")
    def _fits_its_type(self) -> "View":
        if self.type == "home" and (self.title or self.submit or self.close):
            raise ValueError("a home tab has no title, submit or close")
        if self.type == "modal" and self.title is None:
            raise ValueError("missing required field: title")
        if (
            self.type == "modal"
            and self.submit is None
            and any(b.type == "input" for b in self.blocks)
        ):
            raise ValueError("submit is required when there is an input block")
        return self
