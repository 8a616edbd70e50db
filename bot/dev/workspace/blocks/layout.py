"""Layout blocks, with the limits of https://docs.slack.dev/reference/block-kit/blocks.

Only the blocks that the bot sends have a model; any other type is refused as unsupported. A new kind
of block needs its model here before it can be sent to the local workspace.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from bot.dev.workspace.blocks.data import DataVisualization, Table
from bot.dev.workspace.blocks.elements import (
    Accessory,
    ActionElement,
    FeedbackButtons,
    InputElement,
)
from bot.dev.workspace.blocks.parts import (
    Image,
    Mrkdwn,
    Part,
    Plain150,
    Plain2000,
    PlainText,
    SlackFile,
    Text,
    Text2000,
    Url,
)
from bot.dev.workspace.blocks.rich_text import LayoutBlock, RichText


class Section(LayoutBlock):
    """Text, fields, and one element beside them."""

    type: Literal["section"]
    text: Text | None = None
    fields: Annotated[list[Text2000], Field(min_length=1, max_length=10)] | None = None
    accessory: Accessory | None = None
    expand: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "Section":
        if self.text is None and self.fields is None:
            raise ValueError("must have text or fields")
        return self


class Divider(LayoutBlock):
    """A line."""

    type: Literal["divider"]


class Header(LayoutBlock):
    """A heading."""

    type: Literal["header"]
    text: Plain150
    level: Annotated[int, Field(ge=1, le=4)] | None = None


class Markdown(LayoutBlock):
    """Standard markdown; its total length over a message is limited as well."""

    type: Literal["markdown"]
    text: Annotated[str, Field(min_length=1, max_length=12_000)]


class ImageBlock(LayoutBlock):
    """A large image."""

    type: Literal["image"]
    alt_text: Annotated[str, Field(min_length=1, max_length=2000)]
    image_url: Url | None = None
    slack_file: SlackFile | None = None
    title: Plain2000 | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "ImageBlock":
        if (self.image_url is None) == (self.slack_file is None):
            raise ValueError("must have either image_url or slack_file")
        return self


class Context(LayoutBlock):
    """Small print."""

    type: Literal["context"]
    elements: Annotated[
        list[Annotated[PlainText | Mrkdwn | Image, Field(discriminator="type")]],
        Field(min_length=1, max_length=10),
    ]


class ContextActions(LayoutBlock):
    """Feedback buttons under an answer."""

    type: Literal["context_actions"]
    elements: Annotated[list[FeedbackButtons], Field(min_length=1, max_length=5)]


class Actions(LayoutBlock):
    """Buttons and menus."""

    type: Literal["actions"]
    elements: Annotated[list[ActionElement], Field(min_length=1, max_length=25)]


class Input(LayoutBlock):
    """A labelled input."""

    type: Literal["input"]
    label: Plain2000
    element: InputElement
    hint: Plain2000 | None = None
    optional: bool | None = None
    dispatch_action: bool | None = None


class UrlSource(Part):
    """A source of a task's result."""

    type: Literal["url"]
    url: Url
    text: Annotated[str, Field(min_length=1)]


class TaskCard(LayoutBlock):
    """A step of the work."""

    type: Literal["task_card"]
    task_id: Annotated[str, Field(min_length=1)]
    title: Annotated[str, Field(min_length=1)]
    status: Literal["pending", "in_progress", "complete", "error"]
    details: RichText | None = None
    output: RichText | None = None
    sources: list[UrlSource] | None = None


class Plan(LayoutBlock):
    """Several steps under one title."""

    type: Literal["plan"]
    title: Annotated[str, Field(min_length=1)]
    tasks: list[TaskCard] | None = None


AnyBlock = Annotated[
    Section
    | Divider
    | Header
    | Markdown
    | ImageBlock
    | Context
    | ContextActions
    | Actions
    | Input
    | RichText
    | Table
    | DataVisualization
    | TaskCard
    | Plan,
    Field(discriminator="type"),
]
