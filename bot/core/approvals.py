"""Approvals: tool calls that a person must allow first, and the decisions that people made."""

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
"""Added to the fixed arguments of a standing approval: the mentioned people must be the same too."""


QUESTION_EDITED = "the question was edited before anybody decided"
QUESTION_DELETED = "the question was deleted"


class Verdict(StrEnum):
    """How an approval was decided."""

    APPROVED = "approved"
    STANDING = "standing"  # approved, also for similar calls in this thread for some hours
    DENIED = "denied"
    EXPIRED = "expired"  # nobody decided in time, or the call was not made in time
    WITHDRAWN = "withdrawn"  # the run ended before a decision


class CallProgress(StrEnum):
    """How far an approved call has come."""

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
    CUT_OFF = "cut_off"  # the run ended during the call
    NEVER = "never"  # the run ended before the call


class Approval(BaseModel):
    """An approval request: a tool call that waits until a person allows or denies it.

    - `id`: the idempotency key of the call; it begins with the run's id.
    - `arguments`: canonical JSON of the exact call. `sha256` covers the tool, the arguments and the
      ids in `mentioned`, so that a decision applies to this call only.
    - `mentions`, `mentioned`: the people that the text mentions, as displayed and as ids. With
      `other_names` the text also has names that look like mentions but notify nobody.
    - `requester` asked for the call; only `approvers` may decide.
    - `asked_at`, `expires`: seconds since the epoch.
    - `standing`: key of the standing approval that approvers may give: this tool, with the same
      values of the arguments named in `fixed`, for `standing_hours`. "" when none is offered.
    - `mutates`: whether the call changes something.
    - `private`: the request is private, so the thread shows no card.
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
        """Return the name under which the store keeps the card in the direct messages of `user`."""
        return f"{self.id}:{user}"


class Decision(BaseModel):
    """The decision about an approval.

    `by` is the user id of the approver, "" when no person decided, and `name` their display name.
    `comment` is the reason, if any. `at` is in seconds since the epoch.
    """

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
        """Whether the decision was made because the author edited or deleted the question."""
        return not self.by and self.comment in (QUESTION_EDITED, QUESTION_DELETED)


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """An approval with its decision, None while open, and the progress of the approved call."""

    approval: Approval
    decision: Decision | None = None
    made: CallProgress | None = None

    @property
    def is_over(self) -> bool:
        """Whether the record is final."""
        if self.decision is None or not self.decision.allows:
            return self.decision is not None
        return self.made not in (None, CallProgress.BEGUN)


def exact_arguments(given: Any) -> Any:
    """Return the normalized form of a JSON value that is shown, hashed and sent.

    Strings and keys pass through `exact`, secrets are redacted and keys sorted, so that two calls
    that look the same to an approver are the same call.
    """
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
"""Longest pretty-printed arguments, in characters, that an approver can be shown in full."""


def laid_out(arguments: str) -> str:
    """Return canonical `arguments` as indented JSON for people to read."""
    values = json.loads(arguments)
    text = json.dumps(values, indent=1, ensure_ascii=False)
    return text if readable(text) == text else json.dumps(values, indent=1)


def holds_secret(arguments: str) -> bool:
    """Return whether canonical `arguments` contain a secret that approvers must not see.

    Some values look like secrets only beside the name of their argument, such as "password".
    """
    return redacted(arguments) != arguments


def canonical(arguments: BaseModel) -> str:
    """Return arguments as JSON; equal values give equal text."""
    return json.dumps(arguments.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)


def digest(tool: str, arguments: str, mentioned: Sequence[str] = ()) -> str:
    """Return the SHA-256 that binds an approval to its call.

    `arguments` are canonical JSON, `mentioned` the ids of the mentioned people.
    """
    lines = "\n".join((tool, arguments, *mentioned))  # canonical JSON is one line
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
