"""What a person must decide about before it is done, and what they decided (D6, reliability 10)."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bot.core.text.invisible_text import exact, readable
from bot.core.text.redaction import redacted

MENTIONED = "people mentioned"
"""Stands beside the arguments that are the same wherever an approval for the thread counts."""


QUESTION_EDITED = "the question was edited before anybody decided"
QUESTION_DELETED = "the question was deleted"


class Verdict(StrEnum):
    """What became of a question."""

    APPROVED = "approved"
    STANDING = "standing"  # approved, and so is the like of it in this thread for a while
    DENIED = "denied"
    EXPIRED = "expired"  # nobody decided in time, or nobody acted on it in time
    WITHDRAWN = "withdrawn"  # the run ended first


class Made(StrEnum):
    """What became of a call that was approved."""

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
    CUT_OFF = "cut_off"  # the run ended in the middle of it
    NEVER = "never"  # the run ended before it


class Approval(BaseModel):
    """A question put to people: may this call be made?

    `id` is the call's idempotency key, which begins with the run. `arguments` is the canonical JSON
    of exactly what will be done, and `sha256` that of tool and arguments: what is approved is
    nothing else. `mentions` are those whom its text mentions, as they are shown, and `mentioned` their
    ids, which `sha256` holds as well; with `other_names` more in it looks like a mention, and is none.
    `requester` asked for it; only `approvers` may decide; `asked_at` and `expires`
    are in seconds since the epoch. `standing` names what an approval for the thread would cover:
    this tool with the same values of the arguments `fixed`, for `standing_hours`; "" when none is
    offered. `mutates`: the call changes something, and does not only read.
    What a `private` question asks for has no card in the thread.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str
    thread_key: str
    tool: str
    title: str
    arguments: str
    sha256: str
    requester: str
    approvers: tuple[str, ...]
    asked_at: int = Field(default_factory=lambda: int(time.time()))
    expires: int
    standing: str = ""
    fixed: tuple[str, ...] = ()
    standing_hours: float = 24.0
    mutates: bool = True
    mentions: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    other_names: bool = False
    private: bool = False

    @property
    def run_id(self) -> str:
        return self.id.partition(":")[0]

    def card_for(self, user: str) -> str:
        """The name under which a card is kept that `user` has in their direct messages."""
        return f"{self.id}:{user}"


class Decision(BaseModel):
    """What was decided: by whom (a user's id, "" when by nobody), and when, in seconds since the
    epoch. `name` is what people call them; `comment` says why, if somebody or something did."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    verdict: Verdict
    by: str = ""
    name: str = ""
    comment: str = ""
    at: int = Field(default_factory=lambda: int(time.time()))

    @property
    def allows(self) -> bool:
        return self.verdict in (Verdict.APPROVED, Verdict.STANDING)

    @property
    def of_words_taken_back(self) -> bool:
        """Whether nobody decided, as the words that it is about were edited or deleted."""
        return not self.by and self.comment in (QUESTION_EDITED, QUESTION_DELETED)


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """A question, its answer once there is one, and what came of a yes."""

    approval: Approval
    decision: Decision | None = None
    made: Made | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing of it changes any more."""
        if self.decision is None or not self.decision.allows:
            return self.decision is not None
        return self.made not in (None, Made.BEGUN)


def exact_arguments(given: Any) -> Any:
    """Return the JSON value `given` in the one form in which arguments are shown, hashed and sent:
    texts and keys as `exact` has them, secrets redacted, keys in order. Two calls that look alike
    are the same call."""
    match given:
        case str():
            return redacted(exact(given))
        case list():
            return [exact_arguments(each) for each in given]
        case dict():
            exactly = {exact(key): exact_arguments(value) for key, value in given.items()}
            return dict(sorted(exactly.items()))
        case _:
            return given


MOST_SHOWN = 100_000
"""Characters of arguments, laid out to be read, that people can be shown whole."""


def laid_out(arguments: str) -> str:
    """Return canonical `arguments` as people read them where they are many or deep."""
    values = json.loads(arguments)
    text = json.dumps(values, indent=1, ensure_ascii=False)
    return text if readable(text) == text else json.dumps(values, indent=1)


def holds_secret(arguments: str) -> bool:
    """Whether canonical `arguments` hold what must not be shown to those who approve them: what
    looks like a secret only beside the name of its argument."""
    return redacted(arguments) != arguments


def canonical(arguments: BaseModel) -> str:
    """Arguments as JSON, the same for the same values."""
    return json.dumps(arguments.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)


def digest(tool: str, arguments: str, mentioned: Sequence[str] = ()) -> str:
    """What an approval is bound to; `arguments` are canonical, `mentioned` ids of people."""
    lines = "\n".join((tool, arguments, *mentioned))  # canonical JSON is one line
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
