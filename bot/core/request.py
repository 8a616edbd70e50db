"""What a person asked, as intake hands it on. Plain data; survives any process."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from bot.core.ids import new_id
from bot.core.text.mentions import Mention
from bot.core.text.redaction import redacted


def _runs(given: Any) -> Any:
    """What was kept by versions in which a request replaced one run at most."""
    return (given,) if isinstance(given, str) else given or ()


RunIds = Annotated[tuple[str, ...], BeforeValidator(_runs)]
Redacted = Annotated[str, AfterValidator(redacted)]
"""What a person wrote, without the secrets in it."""


NEXT_MESSAGE = "\n\n---\n\n"
"""Stands between the texts of several messages that one request asks anew."""


class Entry(StrEnum):
    """Where a request came in."""

    MENTION = "mention"
    DIRECT_MESSAGE = "direct_message"
    THREAD_REPLY = "thread_reply"
    MESSAGE_SHORTCUT = "message_shortcut"
    GLOBAL_SHORTCUT = "global_shortcut"
    COMMAND = "command"
    WORKFLOW_STEP = "workflow_step"
    SCHEDULE = "schedule"
    HEADLESS = "headless"


class Again(StrEnum):
    """Why a request repeats one that was made before."""

    RETRY = "retry"  # it failed
    REGENERATE = "regenerate"  # somebody wants another answer
    DEEPER = "deeper"  # somebody wants more work put into it
    EDITED = "edited"  # its author edited the message

    def event_id(self, request_id: str) -> str:
        """What a repetition of that request is taken in as: each is, once."""
        return f"{self}:{request_id}"


class FileRef(BaseModel):
    """A file that somebody attached. `size` is in bytes, as its host declares it."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    media_type: str = "application/octet-stream"
    size: int = 0


class Request(BaseModel):
    """One request: one run, one terminal message.

    `thread` is the ts of the thread's root; `ts` is that of the message that asked (for a modal,
    of the message that stands for it) and, with team and channel, what a request is told apart by.
    `author` and `place` are the names that people and the model read ("Ada", "#sales").
    `beside` names the channel that somebody has open while they write to the bot. `again` is set
    when it repeats another request, and says why. After an edit, `message` is the ts of what was
    edited, `before_edit` what it said, `own` what it says where `text` holds more that is to be
    answered with it, `revision` counts the edits, and `replaces` names the runs whose
    answers no longer hold, the newest last: its message is taken over, and theirs go. `revises` are
    the ids of the requests before it, the first one first; those are `superseded`. A request that
    was taken back is `withdrawn`, and without its words, until its run has ended what it
    showed. `private` means that only `user` may see the answer. A `late` one was
    found after nothing had listened for a while. `mentioned` are those whom `user` mentioned in it,
    and no one else did. `quoted` is the message that was forwarded with
    it, or that a shortcut was used on. `response_type` names what is wanted (C3); with a
    `response_schema`, it is data of that JSON schema. `suggested` means that its text is the
    model's, which `user` took up by a press of a button. `trace` is the W3C traceparent of the span
    that took it in, if any. `action_token` is Slack's for searching in the name of `user`, for a
    while. `schedule` is the id of what asked it by itself.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str = Field(default_factory=lambda: new_id("req"))
    entry: Entry
    team: str
    channel: str
    thread: str
    ts: str
    user: str
    author: str = "Someone"
    place: str = "Slack"
    beside: str = ""
    text: Redacted
    mentioned: tuple[Mention, ...] = ()
    quoted: Redacted = ""
    files: tuple[FileRef, ...] = ()
    private: bool = False
    again: Again | None = None
    replaces: RunIds = ()
    revises: tuple[str, ...] = ()
    message: str = ""
    before_edit: Redacted = ""
    own: Redacted = ""
    revision: int = 0
    superseded: bool = False
    withdrawn: bool = False
    late: bool = False
    suggested: bool = False
    response_type: str = "Answer"
    response_schema: dict[str, Any] | None = None
    locale: str = "en-US"
    time_zone: str = "UTC"
    trace: str = ""
    schedule: str = ""
    action_token: str = Field(default="", repr=False)
    received_at: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @property
    def counts(self) -> bool:
        """Whether its author wants it still, and as it is."""
        return not (self.superseded or self.withdrawn)

    @property
    def is_for_one(self) -> bool:
        """Whether nobody but `user` reads the answer: a direct message, or one asked for so."""
        return self.private or self.channel.startswith("D") or self.entry is Entry.HEADLESS

    @property
    def is_typed(self) -> bool:
        """Whether `user` wrote it as a message for all in the thread: no form, schedule, repetition."""
        typed = self.entry in (Entry.MENTION, Entry.DIRECT_MESSAGE, Entry.THREAD_REPLY)
        return typed and not self.private and self.again in (None, Again.EDITED)

    @property
    def opens_thread(self) -> bool:
        """Whether nothing can have been asked in its thread before."""
        return self.ts == self.thread and self.again is None

    @property
    def said(self) -> str:
        """What its own message says."""
        return self.own or self.text

    @property
    def thread_key(self) -> str:
        """Names the thread everywhere: mailbox, lease, chain, artifacts."""
        return f"{self.team}:{self.channel}:{self.thread}"
