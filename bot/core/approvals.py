"""Approvals: what a run waits for people to decide, and the decisions that they made.

Most are tool calls that a person must allow first. The other kinds wait in the same way: they are
stored, expire, survive a crash and are decided as a call is.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bot.core.errors import BotError
from bot.text.invisible_text import exact, readable
from bot.text.redaction import redacted
from bot.text.translation import Text, language_of, reader_locale

MENTIONED = "people mentioned"
"""Added to the fixed arguments of a standing approval: the mentioned people must be the same too."""


QUESTION_EDITED = Text("the question was edited before anybody decided")
QUESTION_DELETED = Text("the question was deleted")
"""Comments of decisions that nobody made; their English is stored."""


CALL = "call"
"""The kind of an approval by which a person allows a tool call; features bring the other kinds."""

_PRIVATE = "share"
"""The kind that earlier versions stored without `else_private`."""


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
    """An approval request: something that waits until a person allows or denies it.

    - `id`: the idempotency key of the call, or a `wait_id` of it. It begins with the run's id, and
      ends with the id of the call.
    - `tool`, `arguments`: the tool and canonical JSON of the exact call; for other kinds the
      `Ask`'s subject and details. `sha256` covers both and the ids in `mentioned`, so that a
      decision applies to this call only.
    - `titles`: the title in languages other than that of `title`, by their codes, for cards that
      others read. `labels`: the names that a tool gives its arguments for people.
    - `mentions`, `mentioned`: the people that the text mentions, as displayed and as ids. With
      `other_names` the text also has names that look like mentions but notify nobody.
    - `requester` asked for the call; only `approvers` may decide.
    - `asked_at`, `expires`: seconds since the epoch.
    - `standing`: key of the standing approval that approvers may give: this tool, with the same
      values of the arguments named in `fixed`, for `standing_hours`. "" when none is offered.
    - `mutates`: whether the call changes something; `destructive`: whether it may delete or
      overwrite something.
    - `private`: the request is private, so the thread shows no card.
    - `else_private`: unless it is allowed, its asker keeps to themselves what the run finds.
    - `done_elsewhere`: what is decided has happened already, or changes nothing by itself, so that a
      pause delays no decision.
    - `is_question`: the next message that the asker writes in the thread answers it, as a press
      does, unless it is private. An answer that came in time counts however late the run reads it.
    - `restored`: the run came back from the backup of that time, and may have made the call since.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    kind: str = CALL
    id: str
    thread_key: str
    tool: str
    title: str
    titles: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
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
    destructive: bool = False
    mentions: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    other_names: bool = False
    private: bool = False
    else_private: bool = False
    done_elsewhere: bool = False
    is_question: bool = False
    restored: datetime | None = None

    @property
    def run_id(self) -> str:
        return self.id.partition(":")[0]

    @property
    def shown_title(self) -> str:
        """The title in the reader's language, as far as the call was asked for in it."""
        return self.titles.get(language_of(reader_locale()), self.title)

    @property
    def subject(self) -> str:
        """What the approval is about, in a word or two for the audit log."""
        return self.tool if self.kind == CALL else f"{self.kind} {self.tool}"

    @property
    def details(self) -> dict[str, Any]:
        """The arguments of the call, or the details of the `Ask`."""
        return dict(json.loads(self.arguments))

    def is_of_call(self, call_key: str) -> bool:
        """Return whether the call with this idempotency key waits, or waited, for it."""
        run_id, _, call = call_key.partition(":")
        return self.run_id == run_id and self.id.endswith(f":{call}")

    def card_for(self, user: str) -> str:
        """Return the name under which the store keeps the card in the direct messages of `user`."""
        return f"{self.id}:{user}"


class Decision(BaseModel):
    """The decision about an approval.

    `by` is the user id of the approver, "" when no person decided, and `name` their display name.
    `comment` is the reason, if any. `at` is in seconds since the epoch. `answer` is what the person
    filled in, None when nothing was to be filled in.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    verdict: Verdict
    by: str = ""
    name: str = ""
    comment: str = ""
    at: int = Field(default_factory=lambda: int(time.time()))
    answer: dict[str, Any] | None = None

    @property
    def allows(self) -> bool:
        return self.verdict in (Verdict.APPROVED, Verdict.STANDING)

    @property
    def of_words_taken_back(self) -> bool:
        """Whether the decision was made because the author edited or deleted the question."""
        return not self.by and self.comment in (QUESTION_EDITED.english, QUESTION_DELETED.english)


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """An approval with its decision, None while open, and the progress of the approved call."""

    approval: Approval
    decision: Decision | None = None
    made: CallProgress | None = None

    @property
    def is_over(self) -> bool:
        """Whether the record is final: decided, and an allowed call was made or never will be."""
        if self.decision is None:
            return False
        waits_for_call = self.approval.kind == CALL and self.decision.allows
        return not waits_for_call or self.made not in (None, CallProgress.BEGUN)

    @property
    def keeps_private(self) -> bool:
        """Whether its asker keeps to themselves what the run finds; so it is without a decision."""
        decision = self.decision
        may_be = self.approval.else_private or self.approval.kind == _PRIVATE
        if not may_be or decision is None or decision.allows:
            return False
        return bool(decision.by) or decision.verdict is Verdict.EXPIRED


class Ask(BaseModel):
    """What a tool call needs its asker for before it can go on.

    - `subject`: a name that stays the same, such as the server's.
    - `title`: the request as people read it, such as "Connect Notion".
    - `details`: JSON for the card that asks, and for the call once there is a decision.
    - `by_details`: a question that reads differently when the call is made again is another one.
    - `else_private`, `done_elsewhere`, `is_question`: as in `Approval`.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    subject: str
    title: str
    details: dict[str, Any] = {}
    by_details: bool = False
    else_private: bool = False
    done_elsewhere: bool = False
    is_question: bool = False


class PersonNeeded(BotError):
    """A call cannot go on before its asker has decided `ask`; it was not made.

    A tool raises it. The run then waits, and makes the call again once there is a decision.
    """

    def __init__(self, ask: Ask) -> None:
        super().__init__(ask.title)
        self.ask = ask


def wait_id(call_key: str, ask: Ask) -> str:
    """Return the id of what the call with this idempotency key waits for besides its approval."""
    run_id, _, call = call_key.partition(":")
    named = [ask.kind, ask.subject]
    if ask.by_details:
        named.append(json.dumps(ask.details, sort_keys=True))
    about = hashlib.sha256("\n".join(named).encode()).hexdigest()[:12]
    return f"{run_id}:{ask.kind}-{about}:{call}"


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


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False)


def canonical(arguments: BaseModel) -> str:
    """Return arguments as JSON; equal values give equal text."""
    return _CANONICAL.encode(arguments.model_dump(mode="json"))


def digest(tool: str, arguments: str, mentioned: Sequence[str] = ()) -> str:
    """Return the SHA-256 that binds an approval to its call.

    `arguments` are canonical JSON, `mentioned` the ids of the mentioned people.
    """
    lines = "\n".join((tool, arguments, *mentioned))  # canonical JSON is one line
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
