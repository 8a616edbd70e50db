"""Requests: what a person asked, as plain data that is stored and outlives any process."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from bot.core.ids import new_id
from bot.text.languages import locale_for
from bot.text.mentions import Mention
from bot.text.redaction import redacted


def _as_run_ids(value: Any) -> Any:
    # Older versions stored one run id or None, because a request replaced at most one run.
    return (value,) if isinstance(value, str) else value or ()


RunIds = Annotated[tuple[str, ...], BeforeValidator(_as_run_ids)]
Redacted = Annotated[str, AfterValidator(redacted)]
"""Text that a person wrote, with secrets redacted."""


NEXT_MESSAGE = "\n\n---\n\n"
"""Separates the texts when one request repeats the questions of several messages."""


class Entry(StrEnum):
    """How a request reached the bot."""

    MENTION = "mention"
    DIRECT_MESSAGE = "direct_message"
    THREAD_REPLY = "thread_reply"
    MESSAGE_SHORTCUT = "message_shortcut"
    GLOBAL_SHORTCUT = "global_shortcut"
    COMMAND = "command"
    WORKFLOW_STEP = "workflow_step"
    SCHEDULE = "schedule"
    HEADLESS = "headless"
    JOB = "job"
    RULE = "rule"


WORKFLOW = "workflow"
"""The user and the channel of a request that a workflow makes: nobody, in no channel."""


class RepeatReason(StrEnum):
    """Why a request repeats an earlier request."""

    RETRY = "retry"  # the earlier run failed
    REGENERATE = "regenerate"  # somebody wants another answer
    DEEPER = "deeper"  # somebody wants a more thorough answer
    EDITED = "edited"  # the author edited the message

    def event_id(self, request_id: str) -> str:
        """Return the event id of the repetition, so that each kind is accepted once per request."""
        return f"{self}:{request_id}"


class FileRef(BaseModel):
    """A file that somebody attached. `size` is in bytes, as the file's host declares it."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    media_type: str = "application/octet-stream"
    size: int = 0


class Job(BaseModel):
    """Work that a person started with a button, done by a worker in that person's name.

    `kind` names the work and `subject` what it is about, in that `version` if it has several. `view` is
    the id of the modal that shows the result if it is still open.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    subject: str
    version: str = ""
    view: str = ""


class Request(BaseModel):
    """A request: answered by one run with one final message.

    Where it came from:

    - `thread`: ts of the thread's root message. `ts`: ts of the message that asks (for a modal, of
      the message posted for it); team, channel and ts identify a request.
    - `author`, `place`: names that people and the model read ("Ada", "#sales").
    - `top_level`: asked in a direct message outside threads, and answered there.
    - `open_channel`: the channel that the user had open while writing to the bot.
    - `trace`: W3C traceparent of the span that received the request, if any.
    - `schedule`: id of the schedule that asked, if any. `scheduled`, `due`: when it was made, and the
      time for which it was set.
    - `late`: catch-up found the message after a time in which no process listened.
    - `restored`: when the backup was made from which this request came back: what its run did since
      is not known.
    - `job`: the request is no question, but this work. That of a rule is to look at somebody's message,
      and to answer it if the rule is for it; its subject is the rule's id.

    What it asks:

    - `mentioned`: people and channels that `user` mentioned in the message.
    - `quoted`: a message forwarded with it, or the message that a shortcut was used on.
    - `private`: only `user` may see the answer. `kept_private`: it became so while the bot worked,
      so the thread shows that there was a question, and the answer goes to a direct message.
    - `suggested`: the model wrote the text as a suggestion, and `user` pressed its button.
    - `response_type`: the wanted response type; with `response_schema`, data of that JSON schema.
    - `action_token`: Slack's short-lived token for searching on behalf of `user`.

    Repetitions and edits:

    - `again`: why this request repeats an earlier one, if it does.
    - `message`, `before_edit`, `revision`: ts of the edited message, its text before the edit, and
      how many edits it had.
    - `own`: the text of the message itself, where `text` also has questions answered together with
      it.
    - `replaces`: ids of the runs whose answers are obsolete, the newest last. The new run takes
      over the newest run's message and deletes the others.
    - `revises`: ids of the earlier versions of this request, the oldest first; these are
      `superseded`.
    - `withdrawn`: the author deleted the message. The stored request has no text and remains until
      its run has removed what it posted.
    """

    model_config = ConfigDict(frozen=True, validate_by_name=True, serialize_by_alias=True)

    version: int = 1
    id: str = Field(default_factory=lambda: new_id("req"))
    entry: Entry
    team: str
    channel: str
    thread: str
    top_level: bool = False
    ts: str
    user: str
    author: str = "Someone"
    place: str = "Slack"
    open_channel: str = Field(default="", validation_alias="beside", serialization_alias="beside")
    text: Redacted
    mentioned: tuple[Mention, ...] = ()
    quoted: Redacted = ""
    files: tuple[FileRef, ...] = ()
    private: bool = False
    kept_private: bool = False
    again: RepeatReason | None = None
    replaces: RunIds = ()
    revises: tuple[str, ...] = ()
    message: str = ""
    before_edit: Redacted = ""
    own: Redacted = ""
    revision: int = 0
    superseded: bool = False
    withdrawn: bool = False
    late: bool = False
    restored: datetime | None = None
    suggested: bool = False
    response_type: str = "Answer"
    response_schema: dict[str, Any] | None = None
    locale: str = "en-US"
    time_zone: str = "UTC"
    trace: str = ""
    schedule: str = ""
    scheduled: datetime | None = None
    due: datetime | None = None
    job: Job | None = None
    action_token: str = Field(default="", repr=False)
    received_at: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @property
    def is_current(self) -> bool:
        """Whether the request was neither edited nor withdrawn by its author."""
        return not (self.superseded or self.withdrawn)

    @property
    def spoken_locale(self) -> str:
        """The locale of the bot's words in the thread before there is an answer.

        It is that of the question if its language is plain, else the asker's. An answer has its own:
        `Outcome.locale`.
        """
        return locale_for((self.said,), reader=self.locale)

    @property
    def is_for_one(self) -> bool:
        """Whether only `user` reads the answer: private, a direct message or headless."""
        return self.private or self.channel.startswith("D") or self.entry is Entry.HEADLESS

    @property
    def is_of_program(self) -> bool:
        """Whether a program takes the result, so that there is no thread in which people read it."""
        return self.entry in (Entry.WORKFLOW_STEP, Entry.HEADLESS)

    @property
    def has_asker(self) -> bool:
        """Whether a person asks. Nobody's rights and accounts are those of a workflow."""
        return self.user != WORKFLOW

    @property
    def is_by_rule(self) -> bool:
        """Whether a standing instruction of `user` asks about a message, which is `quoted`.

        Nobody asked in the thread, so it shows nothing of the run unless there is an answer. Whoever
        wrote the message made the run begin, so it has only what everybody in the channel has.
        """
        return self.entry is Entry.RULE

    @property
    def rule(self) -> str:
        """The id of the rule that asks, "" if none does."""
        return self.job.subject if self.is_by_rule and self.job else ""

    @property
    def is_attended(self) -> bool:
        """Whether `user` has just asked, and so can be asked something."""
        return self.has_asker and self.entry not in (Entry.SCHEDULE, Entry.JOB, Entry.RULE)

    @property
    def is_personal(self) -> bool:
        """Whether the run may use what is kept of `user` alone: accounts, memories, wishes."""
        return self.has_asker and not self.is_by_rule

    @property
    def claim(self) -> str:
        """What identifies the request in its channel: the ts of the message that asks, and for a rule,
        which asks about somebody else's message, the ts of that with the rule's id."""
        return f"{self.ts}/{self.rule}" if self.rule else self.ts

    @property
    def is_typed(self) -> bool:
        """Whether `user` typed it as a message for everybody in the thread, or edited one."""
        typed = self.entry in (Entry.MENTION, Entry.DIRECT_MESSAGE, Entry.THREAD_REPLY)
        return typed and not self.private and self.again in (None, RepeatReason.EDITED)

    @property
    def has_placeholder(self) -> bool:
        """Whether a message of the bot itself asks, which then becomes the answer: a schedule's."""
        return self.due is not None and not self.private

    @property
    def opens_thread(self) -> bool:
        """Whether this is the first request of its thread."""
        return self.ts == self.thread and self.again is None

    @property
    def reply_to(self) -> str | None:
        """The ts of the thread in which the answer goes, None for the conversation itself."""
        return None if self.top_level else self.thread

    @property
    def said(self) -> str:
        """The text of the request's own message."""
        return self.own or self.text

    @property
    def thread_key(self) -> str:
        """The key of the thread in the store: mailbox, lease, chain and artifacts."""
        return f"{self.team}:{self.channel}:{self.thread}"
