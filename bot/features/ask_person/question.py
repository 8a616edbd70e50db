"""Questions of the model to the asker of its run, and their answers.

The model words a question, so its texts are data: they are drawn as plain text, and what a person
chooses among them proves nothing. An answer that the person words is theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.agent.calls.outputs import mark_as_data, new_mark
from bot.core.approvals import ApprovalRecord, Ask, Decision, Verdict
from bot.core.errors import MalformedPayload
from bot.core.request import FileRef
from bot.text.invisible_text import without_invisible
from bot.text.redaction import redacted
from bot.toolkit import ToolResult

QUESTION = "question"
"""The kind of a wait for the asker to answer a question of the model."""

MOST_OPTIONS = 5
MAX_QUESTION, MAX_OPTION, MAX_TEXT = 300, 75, 3_000  # characters; an option is a button of Slack

_AND = re.compile(r"[,;&+\n]|\s(?:and|und|et|y|e|と)\s")


class PersonQuestion(BaseModel):
    """A question with up to five options; of `several` more than one can be chosen. If nobody
    answers, the model assumes what `otherwise` says."""

    model_config = ConfigDict(frozen=True)

    question: str
    options: tuple[str, ...] = ()
    several: bool = False
    otherwise: str = ""

    @classmethod
    def of(
        cls, question: str, options: Sequence[str], otherwise: str, several: bool
    ) -> PersonQuestion:
        """Return what the model asks, without duplicates and what people cannot see."""
        distinct = dict[str, str]()
        for label in (_line(option)[:MAX_OPTION] for option in options):
            distinct.setdefault(label.casefold(), label)
        distinct.pop("", None)
        return cls(
            question=_line(question),
            options=tuple(distinct.values()),
            several=several,
            otherwise=_line(otherwise),
        )

    @classmethod
    def in_record(cls, record: ApprovalRecord) -> PersonQuestion:
        """Return the question that a wait is about."""
        return cls.model_validate(record.approval.details)

    @property
    def assume(self) -> str:
        """What the model is to do without an answer."""
        return f"Go on with what you assumed ({self.otherwise}), and say in the result that you assumed it."

    @property
    def ask(self) -> Ask:
        """What the run waits for."""
        return Ask(
            kind=QUESTION,
            subject="asker",
            title=self.question,
            details=self.model_dump(mode="json"),
            done_elsewhere=True,
            is_question=True,
        )


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """An answer: the options that were chosen, else a text, with the files of its message and
    what others say in the messages `quoted` with it."""

    chosen: tuple[str, ...] = ()
    text: str = ""
    files: tuple[FileRef, ...] = ()
    quoted: str = ""

    @property
    def in_words(self) -> str:
        """The answer as people read it."""
        return ", ".join(self.chosen) or self.text

    @classmethod
    def of(cls, question: PersonQuestion, decision: Decision) -> PersonAnswer:
        """Return the answer in a decision that gives one.

        A message that names options by their words, and brings nothing else, chooses them.
        """
        answer = decision.answer or {}
        if (places := answer.get("options")) is not None:
            return cls(chosen=tuple(question.options[place] for place in places))
        text = str(answer.get("text", ""))
        files = tuple(FileRef.model_validate(file) for file in answer.get("files", ()))
        quoted = str(answer.get("quoted", ""))
        chosen = () if files or quoted else named_options(question, text)
        return cls(chosen, "" if chosen else text, files, quoted)


def chosen(question: PersonQuestion, places: Sequence[object]) -> Mapping[str, Any]:
    """Return the answer that chooses the options at these places, as it is stored.

    Raises MalformedPayload for a place that the question does not have.
    """
    known = {str(place): place for place in range(len(question.options))}
    numbers = sorted({known.get(str(place), -1) for place in places})
    if not numbers or numbers[0] < 0 or (len(numbers) > 1 and not question.several):
        raise MalformedPayload("an option that the question does not have")
    return {"options": numbers}


def named_options(question: PersonQuestion, text: str) -> tuple[str, ...]:
    """Return the options that a text names and nothing else; () if it says anything else."""
    if option := _named(question, text):
        return (option,)
    if not question.several:
        return ()
    named = [_named(question, part) for part in parts_of(text)]
    return tuple(option for option in question.options if option in named) if all(named) else ()


def parts_of(text: str) -> list[str]:
    """Return the parts of a text that lists several things."""
    return [part.strip() for part in _AND.split(text) if part.strip()]


def _named(question: PersonQuestion, text: str) -> str:
    words = {_plain(option): option for option in question.options}
    return words.get(_plain(text), "")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!\"“”„'*_`")


def _line(text: str) -> str:
    return redacted(" ".join(without_invisible(text).split()))


def told(question: PersonQuestion, decision: Decision) -> ToolResult:
    """Return what the model is told. Options are its own words, which prove nothing."""
    assume = question.assume
    if decision.allows:
        answer = PersonAnswer.of(question, decision)
        files = [f"\n- {file.name} (file_id {file.id}, {file.media_type})" for file in answer.files]
        attached = f"\nAttached files:{''.join(files)}" if files else ""
        verb = "chose" if answer.chosen else "answered"
        quoted = f"\nWith this message:\n{mark_as_data(answer.quoted, new_mark())}"
        return ToolResult(
            f"{decision.name or 'They'} {verb}: {answer.in_words}{attached}"
            f"{quoted if answer.quoted else ''}",
            own=bool(answer.chosen),
        )
    if decision.verdict is Verdict.EXPIRED:
        return ToolResult(f"Nobody answered in time. {assume}", own=True)
    why = decision.comment or "they went on without an answer"
    return ToolResult(f"Not answered: {why}. {assume}", own=True)
