"""Lessons: what admins may learn from an answer that somebody rated bad and commented on.

A lesson changes nothing by itself. An admin reads it, edits the proposals and accepts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from bot.core.request import Redacted

MAX_LINES = 10  # of what an answer must or must not say


class LessonState(StrEnum):
    """What an admin made of a lesson. A dismissed lesson is deleted."""

    OPEN = "open"
    ACCEPTED = "accepted"


class LessonCase(BaseModel):
    """An evaluation case: a question, and what its answer must and must not say."""

    model_config = ConfigDict(frozen=True)

    question: Redacted = ""
    must_say: tuple[Redacted, ...] = ()
    must_not_say: tuple[Redacted, ...] = ()

    @property
    def can_run(self) -> bool:
        """Whether the case has a question and expects something."""
        return bool(self.question and (self.must_say or self.must_not_say))


class CaseRun(BaseModel):
    """One run of a case, passed when `reasons` is empty.

    `said` is the answer; `cost` in dollars.
    """

    model_config = ConfigDict(frozen=True)

    reasons: tuple[str, ...] = ()
    said: str = ""
    cost: float | None = None

    @property
    def passed(self) -> bool:
        return not self.reasons


class Trial(BaseModel):
    """The runs of a case: with the channel's instructions as they were, and with `instruction`."""

    model_config = ConfigDict(frozen=True)

    case: LessonCase
    instruction: Redacted = ""
    before: CaseRun
    after: CaseRun
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class Lesson(BaseModel):
    """One answer that people rated bad, with what they wrote and what was made of it.

    - `id`: the id of the request. `run_id`, `answer`: its run, and the ts of the answer.
    - `messages`: ts of all messages that the request asked. `again`: it repeated an earlier
      request, whose message is not known.
    - `asker`: "" when the question is no longer stored.
    - `question`: "" when the admins may not read it, or when it is no longer stored.
    - `private`: only the asker saw the answer.
    - `comments`: what was wrong, by user id.
    - `case`, `instruction`: the proposals. `suggested_by` names the model that wrote them.
    - `problem`: why the last draft or trial failed, in a sentence.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str
    team: str
    channel: str
    thread: str
    run_id: str
    answer: str = ""
    messages: tuple[str, ...] = ()
    again: bool = False
    asker: str = ""
    question: Redacted = ""
    private: bool = False
    comments: Mapping[str, Redacted] = {}
    case: LessonCase = LessonCase()
    instruction: Redacted = ""
    suggested_by: str = ""
    trial: Trial | None = None
    problem: str = ""
    state: LessonState = LessonState.OPEN
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @property
    def name(self) -> str:
        """The name of the lesson within its workspace: channel, thread and id."""
        return f"{self.channel}:{self.thread}:{self.id}"

    def is_about(self, ts: str) -> bool:
        """Return whether the question may come from the message `ts` of its thread."""
        return self.again or ts in self.messages
