"""A rule: a standing instruction for one channel, and why it does or does not answer a message."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from bot.core.ids import new_id
from bot.features.triggers.settings import LONGEST_AGE

MOST_NAMED = 50  # people, apps or words of a rule

_Id = Annotated[str, StringConstraints(pattern=r"^[A-Z0-9]{2,30}$")]
_Ids = Annotated[tuple[_Id, ...], Field(max_length=MOST_NAMED)]
_Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
_Sentence = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
_Instruction = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=3_000)
]


class RuleState(StrEnum):
    """What a rule does now: only one that is ON answers."""

    WAITING = "waiting"  # for somebody's approval
    ON = "on"
    PAUSED = "paused"  # `Rule.rest` says why


class Rest(StrEnum):
    """Why a rule is paused."""

    PERSON = "person"  # its owner paused it
    ADMIN = "admin"  # an operator did, or somebody who may approve it
    OWNER_GONE = "owner_gone"  # the owner's account has ended
    OWNER_LEFT = "owner_left"  # the owner is not in the channel
    OWNER_REFUSED = "owner_refused"  # the owner may not ask there
    FAILED = "failed"  # its runs failed, several in a row


class Rule(BaseModel):
    """A rule as it is stored. `revision` counts its changes by people.

    Which messages it is for:

    - `anyone`: those of all who may ask the bot there. Also of `people`, by user ids. `apps`: those of
      other apps, by app ids (A…), or bot ids (B…) of integrations without; `anyone` leaves them out.
    - `replies`: replies in threads, too. `again`: also in threads where it has answered before.
    - `words`: only those with one of these words or phrases, in any case. `pattern`: only those of
      which a line matches this regular expression, in any case. Without either all messages.
    - `question`: only those of which a small model says yes to this; "" asks nothing.
    - `age_minutes`: only those that are no older when the bot sees them.

    What it does, and may spend: its `instruction`, `runs_per_hour` and `runs_per_day`, and
    `daily_dollars` in US dollars for runs and questions together, a day being one in UTC.

    `stamp` is another after each change, so that of two processes that change the same only one has done it.
    `owner` is whose name and rights its runs have. `failures` are those of its last runs in a row, of
    which `last_failed` is the last.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str = Field(default_factory=lambda: new_id("rule"))
    team: str
    channel: str
    owner: str
    anyone: bool = False
    people: _Ids = ()
    apps: _Ids = ()
    replies: bool = False
    again: bool = False
    words: Annotated[tuple[_Word, ...], Field(max_length=MOST_NAMED)] = ()
    pattern: Annotated[str, StringConstraints(max_length=500)] = ""
    question: _Sentence = ""
    instruction: _Instruction
    age_minutes: Annotated[int, Field(gt=0, le=LONGEST_AGE)] = 15
    runs_per_hour: Annotated[int, Field(gt=0)] = 10
    runs_per_day: Annotated[int, Field(gt=0)] = 50
    daily_dollars: Annotated[float, Field(gt=0)] = 5.0
    state: RuleState = RuleState.WAITING
    rest: Rest | None = None
    revision: int = 1
    stamp: str = ""
    failures: int = 0
    last_failed: str = ""
    created_by: str = ""
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    approved_by: str = ""
    approved_at: datetime | None = None

    @model_validator(mode="after")
    def _is_for_somebody(self) -> Self:
        if not (self.anyone or self.people or self.apps):
            raise ValueError("a rule needs to say whose messages it is for")
        return self

    @property
    def version_approved(self) -> str:
        """Which of its versions is approved, "" for none: each approval and approved change makes another."""
        return self.approved_at.isoformat() if self.approved_at else ""

    def watches(self, at: float, now: float) -> bool:
        """Return whether the rule looks `now` at a message that was posted `at` (seconds since the epoch):
        it is on, the message is not too old, and was not there before the rule was approved."""
        since = self.approved_at.timestamp() if self.approved_at else 0.0
        return self.state is RuleState.ON and max(since, now - self.age_minutes * 60) <= at

    def is_for(self, user: str, app: str) -> bool:
        """Return whether the rule is for what this person or, if `app` is not "", this app posts."""
        return app in self.apps if app else self.anyone or user in self.people

    def has_word(self, text: str) -> bool:
        """Return whether the text has one of the words, as whole words; True without any."""
        return not self.words or any(has_word(text, word) for word in self.words)


class Outcome(StrEnum):
    """What becomes of a message under one rule, in the order in which it is found out."""

    OTHERS = "others"  # the rule is not for whoever posted it
    REPLY = "reply"  # it is a reply in a thread
    NO_MATCH = "no_match"  # no word of the rule is in it, or its pattern does not match
    TOO_SLOW = "too_slow"  # the pattern took too long, or cannot be read
    ANSWERED_THREAD = "answered_thread"  # the rule has answered in its thread
    TOO_MANY = "too_many"  # the runs of the hour or the day are used up
    NO_MONEY = "no_money"  # the day's budget is used up
    NOT_ASKED = "not_asked"  # the small model could not be asked, or not today
    MODEL_SAID_NO = "model_said_no"
    TOO_LATE = "too_late"  # it is too old, or the bot is paused
    GONE = "gone"  # the rule is not on any more, or has changed
    RUN = "run"


def has_word(text: str, word: str) -> bool:
    """Return whether a text has a word or phrase, as whole words in any case."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
