"""Blocks and views as models, with Slack's limits.

Figures: https://docs.slack.dev/reference/block-kit/blocks, and for data blocks the pages of that name there.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from bot.local.workspace.block_parts import (
    Accessory,
    ActionElement,
    Button,
    FeedbackButtons,
    IconButton,
    Id,
    Image,
    InputElement,
    Mrkdwn,
    Overflow,
    Part,
    Plain24,
    Plain150,
    Plain199,
    Plain2000,
    PlainText,
    SlackFile,
    Text,
    Text150,
    Text200,
    Text2000,
    Text3000,
    Url,
)


class _Block(Part):
    block_id: Id | None = None


class Section(_Block):
    """Text, fields, and one element beside them."""

    type: Literal["section"]
    text: Text3000 | None = None
    fields: Annotated[list[Text2000], Field(min_length=1, max_length=10)] | None = None
    accessory: Accessory | None = None
    expand: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "Section":
        if self.text is None and self.fields is None:
            raise ValueError("must have text or fields")
        return self


class Divider(_Block):
    """A line."""

    type: Literal["divider"]


class Header(_Block):
    """A heading."""

    type: Literal["header"]
    text: Plain150
    level: Annotated[int, Field(ge=1, le=4)] | None = None


class Markdown(_Block):
    """Standard markdown; the total over a message is limited as well."""

    type: Literal["markdown"]
    text: Annotated[str, Field(min_length=1, max_length=12_000)]


class ImageBlock(_Block):
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


class Context(_Block):
    """Small print."""

    type: Literal["context"]
    elements: Annotated[
        list[Annotated[PlainText | Mrkdwn | Image, Field(discriminator="type")]],
        Field(min_length=1, max_length=10),
    ]


class ContextActions(_Block):
    """Feedback and icon buttons under an answer."""

    type: Literal["context_actions"]
    elements: Annotated[
        list[Annotated[FeedbackButtons | IconButton, Field(discriminator="type")]],
        Field(min_length=1, max_length=5),
    ]


class Actions(_Block):
    """Buttons and menus."""

    type: Literal["actions"]
    elements: Annotated[list[ActionElement], Field(min_length=1, max_length=25)]


class Input(_Block):
    """A labelled input."""

    type: Literal["input"]
    label: Plain2000
    element: InputElement
    hint: Plain2000 | None = None
    optional: bool | None = None
    dispatch_action: bool | None = None


class FileBlock(_Block):
    """A remote file."""

    type: Literal["file"]
    external_id: str
    source: Literal["remote"]


class Video(_Block):
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


class RichElement(Part):
    """One run inside rich text; what it holds depends on its type."""

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
        }
        key = keys.get(self.type)
        if key and not isinstance((self.model_extra or {}).get(key), str):
            raise ValueError(f"missing required field: {key}")
        return self


class RichSection(Part):
    """A run of rich text, a quote or preformatted text."""

    type: Literal["rich_text_section", "rich_text_quote", "rich_text_preformatted"]
    elements: list[RichElement]
    border: Literal[0, 1] | None = None
    language: str | None = None


class RichList(Part):
    """A list of runs."""

    type: Literal["rich_text_list"]
    style: Literal["bullet", "ordered"]
    elements: list[RichSection]
    indent: Annotated[int, Field(ge=0, le=8)] | None = None
    offset: Annotated[int, Field(ge=0)] | None = None
    border: Literal[0, 1] | None = None


class RichText(_Block):
    """What people's own messages are made of."""

    type: Literal["rich_text"]
    elements: list[Annotated[RichSection | RichList, Field(discriminator="type")]]


class RawText(Part):
    """A cell."""

    type: Literal["raw_text"]
    text: Annotated[str, Field(min_length=1)]


class RawNumber(Part):
    """A cell that sorts as a number."""

    type: Literal["raw_number"]
    value: float
    text: Annotated[str, Field(min_length=1)] | None = None


Cell = Annotated[RawText | RawNumber | RichText, Field(discriminator="type")]
Row = Annotated[list[Cell], Field(min_length=1, max_length=20)]


class ColumnSettings(Part):
    """How a column looks."""

    align: Literal["left", "center", "right"] | None = None
    is_wrapped: bool | None = None


class Table(_Block):
    """A plain table: 100 rows of 20 cells."""

    type: Literal["table"]
    rows: Annotated[list[Row], Field(min_length=1, max_length=100)]
    column_settings: Annotated[list[ColumnSettings | None], Field(max_length=20)] | None = None

    @model_validator(mode="after")
    def _is_small(self) -> "Table":
        _same_width(self.rows)
        return self


class DataTable(_Block):
    """A table people can sort and page: a header and 100 rows."""

    type: Literal["data_table"]
    caption: Annotated[str, Field(min_length=1)]
    rows: Annotated[list[Row], Field(min_length=1, max_length=101)]
    page_size: Annotated[int, Field(ge=1, le=100)] | None = None
    row_header_column_index: Annotated[int, Field(ge=0, le=19)] | None = None
    column_settings: Annotated[list[ColumnSettings | None], Field(max_length=20)] | None = None

    @model_validator(mode="after")
    def _is_small(self) -> "DataTable":
        _same_width(self.rows)
        if sum(_size(cell) for row in self.rows for cell in row) > 10_000:
            raise ValueError("must be less than 10001 characters in all")
        return self


class Point(Part):
    """A value with its name."""

    label: Annotated[str, Field(min_length=1, max_length=20)]
    value: float


class Segment(Part):
    """A slice; none is empty."""

    label: Annotated[str, Field(min_length=1, max_length=20)]
    value: Annotated[float, Field(gt=0)]


class Pie(Part):
    """Up to six slices."""

    type: Literal["pie"]
    segments: Annotated[list[Segment], Field(min_length=1, max_length=6)]


class Series(Part):
    """Values along the axis."""

    name: Annotated[str, Field(min_length=1, max_length=20)]
    data: Annotated[list[Point], Field(min_length=1, max_length=20)]


class Axis(Part):
    """The x axis' categories, and the titles of both."""

    categories: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=20)]], Field(min_length=1, max_length=20)
    ]
    x_label: Annotated[str, Field(max_length=50)] | None = None
    y_label: Annotated[str, Field(max_length=50)] | None = None


class Plot(Part):
    """Up to six series over the same categories."""

    type: Literal["bar", "line", "area"]
    series: Annotated[list[Series], Field(min_length=1, max_length=6)]
    axis_config: Axis

    @model_validator(mode="after")
    def _fits_its_axis(self) -> "Plot":
        names = [one.name for one in self.series]
        if len(set(names)) < len(names):
            raise ValueError("series names must be unique")
        for one in self.series:
            if {p.label for p in one.data} != set(self.axis_config.categories):
                raise ValueError("data labels must match the axis categories")
        return self


class DataVisualization(_Block):
    """A chart."""

    type: Literal["data_visualization"]
    title: Annotated[str, Field(min_length=1, max_length=50)]
    chart: Annotated[Pie | Plot, Field(discriminator="type")]


class UrlSource(Part):
    """Where a task's result came from."""

    type: Literal["url"]
    url: Url
    text: Annotated[str, Field(min_length=1)]


class TaskCard(_Block):
    """One step of the work."""

    type: Literal["task_card"]
    task_id: Annotated[str, Field(min_length=1)]
    title: Annotated[str, Field(min_length=1)]
    status: Literal["pending", "in_progress", "complete", "error"]
    details: RichText | None = None
    output: RichText | None = None
    sources: list[UrlSource] | None = None


class Plan(_Block):
    """Several steps under one title."""

    type: Literal["plan"]
    title: Annotated[str, Field(min_length=1)]
    tasks: list[TaskCard] | None = None


class Alert(_Block):
    """A coloured notice."""

    type: Literal["alert"]
    text: Text
    level: Literal["default", "info", "warning", "error", "success"] | None = None


class Card(_Block):
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


class Carousel(_Block):
    """Cards side by side."""

    type: Literal["carousel"]
    elements: Annotated[list[Card], Field(min_length=1, max_length=10)]


class Container(_Block):
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


def _same_width(rows: list[list[Any]]) -> None:
    if len({len(row) for row in rows}) > 1:
        raise ValueError("all rows must have the same number of cells")


def _size(cell: RawText | RawNumber | RichText) -> int:
    match cell:
        case RawText():
            return len(cell.text)
        case RawNumber():
            return len(cell.text or str(cell.value))
        case _:
            return len(str(cell.model_dump(exclude_none=True)))
