"""Forms for questions and tasks, and parsing of their submissions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.core.errors import MalformedPayload
from bot.core.request import FileRef
from bot.features.shortcuts import words
from bot.features.shortcuts.tasks import TASKS, Task
from bot.slack.edge.payloads import chosen, element
from bot.slack.ui import words as ui_words
from bot.slack.ui.blocks import (
    Block,
    channel_input,
    choice_input,
    field,
    modal,
    notice_modal,
    option,
    rich,
    rich_text,
    shortened,
    text_element,
    text_input,
)
from bot.slack.ui.parts import context

ASK_ABOUT = "ask_about_message"
ASK_ANYWHERE = "ask_anywhere"

_QUESTION, _WHERE, _CHANNEL = "question", "where", "channel"
_MAX_QUESTION = 3_000
_MAX_QUOTE = 1_200  # so that its JSON, non-ASCII characters included, stays within 3,000
_MAX_METADATA = 3_000
_MAX_SHOWN = 300
_EMOJI = re.compile(r"(?<![\w:]):([a-z][a-z0-9_+-]*):(?![\w:])")
_MAX_FILES = 3
MODAL_ONLY_ME, MODAL_THREAD, MODAL_CHANNEL = "me", "thread", "channel"
_Option = tuple[str, str, str]  # label, value, description


class About(BaseModel):
    """The message that a modal is about, kept in the modal's metadata.

    `quoted` is in Slack's markup. `where` is the place of the answer if there is only one
    possibility; "" when the person chooses.
    """

    model_config = ConfigDict(frozen=True)

    channel: str
    thread: str
    where: str = ""
    quoted: str = ""
    files: tuple[FileRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Submission:
    """A submitted modal.

    `about` is None for the global shortcut. With a `task`, `question` is what the person added.
    """

    task: Task | None
    question: str
    where: str
    channel: str | None
    about: About | None


def ask_about_modal(about: About, shown: str, *, only_me: bool = False) -> Block:
    """Return the modal for a question about a message, whose readable text is `shown`.

    The person chooses who sees the answer; with `only_me` the default is nobody else.
    """
    blocks = [*_quote(ui_words.ABOUT(), shown), _question(), *_audience(about, only_me)]
    return _modal(ASK_ABOUT, blocks, _metadata(about))


def task_modal(task: Task, about: About, shown: str, *, only_me: bool = False) -> Block:
    """Return the modal of a task, with optional instructions and the choice who sees the result."""
    label = ui_words.ABOUT() if task.about_message else words.ABOUT_THREAD()
    audience = _audience(about, only_me or task.for_oneself)
    blocks = [*_quote(label, shown), _instruction(task.hint()), *audience]
    metadata = _metadata(about)
    return _modal(task.callback, blocks, metadata, title=task.title(), submit=task.submit())


def cannot_modal(task: Task | None, sentence: str) -> Block:
    """Return a modal that says why a task or a question is not possible."""
    return notice_modal(task.title() if task else words.ASK_TITLE(), sentence)


def ask_anywhere_modal(question: str = "") -> Block:
    """Return the global modal: the question, and where the answer goes, by default the DM."""
    where = _choice((words.IN_DM(), MODAL_ONLY_ME, ""), (words.IN_CHANNEL(), MODAL_CHANNEL, ""))
    return _modal(ASK_ANYWHERE, [_question(question), where, _channel()])


def submission_of(view: Mapping[str, Any]) -> Submission:
    """Return the fields of a submitted modal. Raises MalformedPayload for foreign metadata."""
    values = view["state"]["values"]
    channel = values.get(_CHANNEL, {}).get(_CHANNEL, {}).get("selected_conversation")
    metadata = view.get("private_metadata") or ""
    try:
        about = About.model_validate_json(metadata) if metadata else None
    except ValidationError as error:
        raise MalformedPayload("a modal with metadata that is not ours") from error
    return Submission(
        task=TASKS.get(view["callback_id"]),
        question=str(element(view, _QUESTION).get("value") or ""),
        where=about.where if about and about.where else chosen(view, _WHERE),
        channel=channel,
        about=about,
    )


def question_error(sentence: str) -> dict[str, str]:
    """Return the errors of a submission, shown at the question."""
    return {_QUESTION: sentence}


def place_error(form: Submission, sentence: str) -> dict[str, str]:
    """Return the errors of a submission, shown at the choice of the place."""
    if form.about is None:
        return {_CHANNEL if form.where == MODAL_CHANNEL else _WHERE: sentence}
    return {_QUESTION if form.about.where else _WHERE: sentence}


def _audience(about: About, only_me: bool) -> list[Block]:
    """Return the choice who sees the answer, or a note where there is no choice."""
    if about.where == MODAL_ONLY_ME:
        direct = about.channel.startswith("D")
        return [context(ui_words.ANSWERED_DIRECTLY() if direct else words.ANSWERED_AWAY()).block]
    if about.where:
        return []  # nobody else reads it there
    alone = (ui_words.ONLY_ME(), MODAL_ONLY_ME, words.ONLY_ME_WHERE())
    shared = (ui_words.IN_THREAD(), MODAL_THREAD, "")
    return [_choice(alone, shared) if only_me else _choice(shared, alone)]


def _metadata(about: About) -> str:
    """Return `about` as JSON, shortened to fit the metadata; the thread has the whole message."""
    small = about.model_copy(
        update={"quoted": shortened(about.quoted, _MAX_QUOTE), "files": about.files[:_MAX_FILES]}
    )
    text = small.model_dump_json()
    if len(text) <= _MAX_METADATA:
        return text
    return small.model_copy(
        update={"quoted": shortened(about.quoted, 300), "files": ()}
    ).model_dump_json()


def _modal(
    callback: str, blocks: list[Block], metadata: str = "", *, title: str = "", submit: str = ""
) -> Block:
    return modal(
        title or words.ASK_TITLE(),
        blocks,
        callback=callback,
        metadata=metadata,
        submit=submit or ui_words.ASK_SUBMIT(),
        close=ui_words.CLOSE(),
    )


def _quote(label: str, text: str) -> list[Block]:
    """Return a quote as rich text, in which nothing becomes a link, a mention or a format."""
    quoted = shortened(" ".join(text.split()), _MAX_SHOWN)
    if not quoted:
        return []
    return [rich_text(rich("section", *_with_emoji(label)), rich("quote", *_with_emoji(quoted)))]


def _with_emoji(text: str) -> list[Block]:
    """Split `text` into rich text elements: emoji like ":truck:" need an element of their own."""
    pieces = _EMOJI.split(text)
    return [
        {"type": "emoji", "name": piece} if place % 2 else text_element(piece)
        for place, piece in enumerate(pieces)
        if piece
    ]


def _question(initial: str = "") -> Block:
    element = text_input(initial, longest=_MAX_QUESTION, placeholder=words.QUESTION_HINT())
    focused = element | {"focus_on_load": True}
    return field(_QUESTION, words.QUESTION_LABEL(), focused, optional=False)


def _instruction(hint: str) -> Block:
    element = text_input(longest=_MAX_QUESTION, placeholder=hint)
    return field(_QUESTION, words.INSTRUCTION_LABEL(), element)


def _choice(*options: _Option) -> Block:
    """Return a choice of options, with the first one preselected."""
    first = options[0][1]
    choices = {value: option(label, value, under) for label, value, under in options}
    return field(_WHERE, words.WHERE_LABEL(), choice_input(choices, first), optional=False)


def _channel() -> Block:
    return field(_CHANNEL, words.CHANNEL_LABEL(), channel_input())
