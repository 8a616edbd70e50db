"""Blocks of text, actions and cards, with Slack's limits:
https://docs.slack.dev/reference/block-kit/blocks"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from bot.dev.workspace.blocks.data import DataTable, DataVisualization, Table
from bot.dev.workspace.blocks.elements import (
    Accessory,
    ActionElement,
    Button,
    FeedbackButtons,
    IconButton,
    InputElement,
    Overflow,
)
from bot.dev.workspace.blocks.parts import (
    Image,
    Mrkdwn,
    Part,
    Plain150,
    Plain199,
    Plain2000,
    PlainText,
    SlackFile,
    Text,
    Text150,
    Text200,
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
    """Standard markdown; the total over a message is limited as well."""

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
    """Feedback and icon buttons under an answer."""

    type: Literal["context_actions"]
    elements: Annotated[
        list[Annotated[FeedbackButtons | IconButton, Field(discriminator="type")]],
        Field(min_length=1, max_length=5),
    ]


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


class FileBlock(LayoutBlock):
    """A remote file."""

    type: Literal["file"]
    external_id: str
    source: Literal["remote"]


class Video(LayoutBlock):
    """An embedded video."""

    type: Literal["video"]
    title: Plain199
    video_url: Url
    thumbnail_url: Url
    alt_text: Annotated[str, Field(min_length=1)]
    title_url: Url | None = None
    author_name: Annotated[str, Field(max_length=49)] | None = None
    description: PlainText | None = None
    provider_name: str | None = None
    provider_icon_url: Url | None = None


class UrlSource(Part):
    """Where a task's result came from."""

    type: Literal["url"]
    url: Url
    text: Annotated[str, Field(min_length=1)]


class TaskCard(LayoutBlock):
    """One step of the work."""

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


class Alert(LayoutBlock):
    """A coloured notice."""

    type: Literal["alert"]
    text: Text
    level: Literal["default", "info", "warning", "error", "success"] | None = None


class Card(LayoutBlock):
    """A small card."""

    type: Literal["card"]
    hero_image: Image | None = None
    icon: Image | None = None
    title: Text150 | None = None
    subtitle: Text150 | None = None
    body: Text200 | None = None
    actions: (
        Annotated[
            list[Annotated[Button | Overflow, Field(discriminator="type")]], Field(min_length=1)
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def _says_something(self) -> "Card":
        if not (self.hero_image or self.title or self.actions or self.body):
            raise ValueError("must have hero_image, title, actions or body")
        return self


class Carousel(LayoutBlock):
    """Cards side by side."""

    type: Literal["carousel"]
    elements: Annotated[list[Card], Field(min_length=1, max_length=10)]


class Container(LayoutBlock):
    """Blocks in a frame."""

    type: Literal["container"]
    child_blocks: Annotated[list["Child"], Field(min_length=1, max_length=10)]
    title: Plain150 | None = None
    rich_text_title: RichText | None = None
    subtitle: Text150 | None = None
    icon: Image | None = None
    width: Literal["narrow", "standard", "wide", "full"] | None = None
    is_collapsible: bool | None = None
    default_collapsed: bool | None = None
    has_header_divider: bool | None = None

    @model_validator(mode="after")
    def _has_title(self) -> "Container":
        if self.title is None and self.rich_text_title is None:
            raise ValueError("must have title or rich_text_title")
        return self


Child = Annotated[
    Section
    | Divider
    | Header
    | Markdown
    | ImageBlock
    | Context
    | ContextActions
    | Actions
    | FileBlock
    | Video
    | RichText
    | Table
    | DataTable
    | DataVisualization
    | TaskCard
    | Plan
    | Alert
    | Card
    | Carousel,
    Field(discriminator="type"),
]
AnyBlock = Annotated[Child | Container | Input, Field(discriminator="type")]
