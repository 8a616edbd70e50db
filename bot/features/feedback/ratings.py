"""Ratings of answers, and the questions of those that were rated bad with a comment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.core.request import NEXT_MESSAGE, Redacted, Request
from bot.runs.trials import TrialCase

MAX_COMMENTS = 5  # kept of one question; the oldest go first
_MAX_QUESTION = 3_000  # characters


class Feedback(BaseModel):
    """One person's rating of one run. `message` is the ts of the answer, "" when unknown."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    run_id: str = Field(pattern=r"^run_\w{1,40}$")
    user: str
    verdict: Literal["good", "bad"]
    team: str
    channel: str
    message: str = ""
    comment: str = ""
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class RatedQuestion(BaseModel):
    """The question of an answer that people rated bad, with what they wrote.

    - `id`: the id of the request. `run_id`: its run.
    - `messages`: ts of all messages that the request asked. `again`: it repeated an earlier
      request, whose message is not known.
    - `asker`: "" when the question is no longer stored.
    - `question`: "" when its asker keeps it private, or when it is no longer stored.
    - `comments`: what was wrong, by user id.
    - `case`, `instruction`, `state`: what an admin made of it in an earlier release; `state` is
      "accepted" if the instruction became one of the channel's.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str
    team: str
    channel: str
    thread: str
    run_id: str
    messages: tuple[str, ...] = ()
    again: bool = False
    asker: str = ""
    question: Redacted = ""
    comments: Mapping[str, Redacted] = {}
    case: TrialCase = TrialCase()
    instruction: Redacted = ""
    state: Literal["open", "accepted"] = "open"
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @classmethod
    def of(
        cls, feedback: Feedback, requests: Sequence[Request], *, show_question: bool
    ) -> RatedQuestion:
        """Return the question that the rated run answers: `requests`, none if they have expired.

        Of a private answer it has the text only with `show_question`, which only its asker can
        choose.
        """
        place: dict[str, Any] = {
            "team": feedback.team,
            "channel": feedback.channel,
            "run_id": feedback.run_id,
        }
        if not requests:
            return cls(id=feedback.run_id, thread=feedback.message or "0", **place)
        first = requests[0]
        is_private = any(request.is_for_one for request in requests)
        is_shown = not is_private or (show_question and first.user == feedback.user)
        text = NEXT_MESSAGE.join(request.text for request in requests)
        return cls(
            id=first.id,
            thread=first.thread,
            messages=tuple(ts for r in requests for ts in (r.ts, r.message) if ts),
            again=any(request.again and not request.message for request in requests),
            asker=first.user,
            question=text[:_MAX_QUESTION] if is_shown else "",
            **place,
        )

    @property
    def name(self) -> str:
        """The name of the question within its workspace: channel, thread and id."""
        return f"{self.channel}:{self.thread}:{self.id}"

    def is_from(self, ts: str) -> bool:
        """Return whether the question may come from the message `ts` of its thread."""
        return self.again or ts in self.messages

    def with_comment(self, user: str, comment: str, question: str) -> RatedQuestion:
        """Return it with what a person wrote, and the question if it had none: now it is shown."""
        comments = {**self.comments, user: comment}
        return self.model_copy(
            update={
                "comments": dict([*comments.items()][-MAX_COMMENTS:]),
                "question": self.question or question,
            }
        )
