"""Response types: the typed answers that a run returns, and their parts.

Each class serves three purposes: schema of the `complete_task` tool, record in the store, and input
of a renderer. The model reads the docstrings and the field descriptions. To add a response type,
write one class here, one entry in `RESPONSE_TYPES` and two renderers: one for Slack (`RENDERERS` in
`slack/ui/outcome.py`) and one for the terminal (`SECTIONS` in `runs/results/result_markdown.py`).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Source(BaseModel):
    """Where a statement comes from."""

    model_config = ConfigDict(frozen=True)

    title: str = Field(description="Name of the page, file, message or table.")
    url: str | None = Field(default=None, description="As a tool gave it; null without.")
    supports: str = Field(description="The statement it supports.")
    quote: str | None = Field(
        default=None,
        description="Up to 25 words, exactly as they stand there; null for a table.",
    )


class Table(BaseModel):
    """At most 50 rows."""

    model_config = ConfigDict(frozen=True)

    caption: str = Field(description="What it shows, in a few words.")
    columns: list[str] = Field(description="Headings; with a handle its columns, [] for all.")
    rows: list[list[str]] = Field(
        default=[], description="Cells as text; numbers as in English: 1,234.5."
    )
    handle: str | None = Field(
        default=None, description="Of a table: its shown rows are filled in; rows null."
    )

    @model_validator(mode="before")
    @classmethod
    def _rows_of_null(cls, given: Any) -> Any:
        """Take null for no rows: they are filled in."""
        if isinstance(given, dict) and given.get("rows", ()) is None:
            return {**given, "rows": []}
        return given


class Result(BaseModel):
    """Base class of the response types.

    `text_field` names the field that holds a plain-text answer when the model does not call
    `complete_task`. All other fields can be empty; those with a default are optional for the model,
    which sends null to leave them out.
    """

    model_config = ConfigDict(frozen=True)

    text_field: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        """Drop nulls that mean "left out", so that defaults apply."""
        if not isinstance(given, dict):
            return given
        fields = cls.model_fields
        return {
            name: value
            for name, value in given.items()
            if value is not None or name not in fields or fields[name].is_required()
        }


class Answer(Result):
    """An answer."""

    text_field = "summary"

    summary: str = Field(
        description="One to three sentences of Markdown, or exactly the form or text asked for."
    )
    key_points: list[str] = Field(
        default=[],
        description="What supports or qualifies it; Markdown. [1] after a sentence names source 1.",
    )
    table: Table | None = None
    charts: list[str] = Field(default=[], description="Handles of charts.")
    sources: list[Source] = Field(default=[], description="All that it rests on.")
    gaps: list[str] = []
    follow_ups: list[str] = Field(default=[], description="Up to three to ask next.")
    confidence: Literal["high", "medium", "low"] | None = Field(
        default=None, description="Given the sources; null without any."
    )
    corrects: int | None = Field(
        default=None,
        description="1 if it corrects your last answer here, 2 the one before.",
    )


class Notice(Answer):
    """An answer to a message that nobody addressed to you, or nothing at all."""

    summary: str = Field(
        default="", description="One to three sentences of Markdown; null for nothing."
    )
    nothing_to_say: bool = Field(
        default=False,
        description="true if the instruction is not about this message, or you have nothing of use to "
        "add: then nothing is posted.",
    )


class Statement(BaseModel):
    """Something that came out of a conversation."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(description="What it is, in one sentence of Markdown that names who said it.")
    url: str | None = Field(
        default=None, description="Link to the message, as read_thread gave it."
    )


class Moment(BaseModel):
    """Something that happened, and when."""

    model_config = ConfigDict(frozen=True)

    when: str = Field(description="Day and time as read_thread gave them; the day once is enough.")
    what: str = Field(description="What happened, in one short sentence of Markdown.")


class ThreadSummary(Result):
    """The summary of a thread. Read all of the thread first; leave out what the bot itself said."""

    text_field = "about"

    about: str = Field(
        description="What the thread is about and where it stands now: one to three sentences."
    )
    decisions: list[Statement] = Field(
        default=[], description="What was decided, and still holds at the end."
    )
    open_questions: list[Statement] = Field(default=[], description="What nobody has answered yet.")
    participants: list[str] = Field(
        default=[], description="Names of the people who wrote, the bot left out."
    )
    timeline: list[Moment] = Field(
        default=[],
        description="The turning points in order, if the order matters for understanding.",
    )
    sources: list[Source] = Field(
        default=[], description="Files and pages it rests on, and key messages."
    )
    gaps: list[str] = Field(
        default=[], description="What could not be read or was left out, and why."
    )


class ActionItem(BaseModel):
    """Something that somebody is to do."""

    model_config = ConfigDict(frozen=True)

    task: str = Field(description="What is to be done, beginning with a verb; plain text.")
    owner: str | None = Field(
        default=None,
        description="Name of who took it or was given it, as the thread writes it; null if nobody.",
    )
    due: str | None = Field(
        default=None,
        description="When it is due: the date as YYYY-MM-DD if it is clear, else as it was said.",
    )
    url: str | None = Field(default=None, description="Link to the message it comes from.")


class ActionItems(Result):
    """What people in a thread are to do. Only what was said; invent no owners and no dates."""

    text_field = "summary"

    summary: str = Field(
        description="One sentence: how many there are and which is most urgent, or that none are."
    )
    items: list[ActionItem] = Field(description="All that is not done yet, the most urgent first.")
    gaps: list[str] = Field(
        default=[], description="What was too unclear to list, and what to ask whom."
    )


class DraftReply(Result):
    """A reply that the asker may copy, or have posted exactly so. You do not post it."""

    text_field = "draft"

    draft: str = Field(
        description="The reply, ready to post, in the asker's voice and the thread's language; "
        "Markdown; a [placeholder] where only the asker knows what to say."
    )
    tone: str = Field(
        default="", description='How it sounds, in a few words: "friendly and brief".'
    )
    assumptions: list[str] = Field(
        default=[],
        description="What it takes for granted and the asker should check before posting it.",
    )
    sources: list[Source] = Field(default=[], description="What its statements rest on.")
    gaps: list[str] = Field(
        default=[], description="What could not be found, and is a placeholder for that."
    )


RESPONSE_TYPES: dict[str, type[Result]] = {
    "Answer": Answer,
    "ThreadSummary": ThreadSummary,
    "ActionItems": ActionItems,
    "DraftReply": DraftReply,
    "Notice": Notice,
}
"""Response types by stored name. Renaming a class does not change its stored name."""

GIVEN = "GivenResult"
"""The stored name of a response type that the request itself defines, as a JSON schema."""

_STORED_NAMES: dict[type[BaseModel], str] = {model: name for name, model in RESPONSE_TYPES.items()}


def stored_name(model: type[BaseModel]) -> str:
    """Return the name under which requests and outcomes store a response type."""
    return _STORED_NAMES.get(model, GIVEN)


class Series(BaseModel):
    """One data series of a chart: a value for each label, null where a value is missing."""

    model_config = ConfigDict(frozen=True)

    name: str
    values: list[float | None]


class Chart(BaseModel):
    """A chart as data, saved as an artifact under a handle.

    `image` is the handle of a PNG of the same chart, for clients that cannot draw the data. Of the
    kind "image" there is only that.
    """

    model_config = ConfigDict(frozen=True)

    title: str
    kind: Literal["bar", "stacked", "line", "area", "pie", "scatter", "box", "heatmap", "image"]
    labels: list[str]
    series: list[Series]
    x_title: str = ""
    y_title: str = ""
    image: str = ""
