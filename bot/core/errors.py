"""Everything the bot raises on purpose.

    BotError
    ├─ ConfigurationError      a setting is wrong; one line that names the key (exit code 3)
    ├─ ToolDefinitionError     a tool was written in a way that cannot work; found at start
    ├─ ToolError               the model's to repair: becomes that call's output
    ├─ NotPermitted            the person may not do this; the text is shown to them
    ├─ ModelError              the model service failed; `kind` says how
    │  └─ CallRefused          a budget or the pause switch does not let a call be made
    ├─ SlackUnavailable        Slack did not answer; the event will come again
    └─ StoreError
       ├─ StoreUnavailable     Redis cannot be reached
       ├─ CorruptValue         a kept value cannot be read; it was set aside
       └─ LeaseLost            another worker holds this thread now; stop without a word

Anything else that is raised is a bug of ours and is left to fail loudly.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.core.outcome import StopReason


class BotError(Exception):
    """Root of the tree above."""


class ConfigurationError(BotError):
    """A setting is wrong. The message is one line that names the key and what to do."""


class ToolDefinitionError(BotError):
    """A tool cannot work as written. The message names the tool and the field."""


class ToolError(BotError):
    """A mistake the model can repair.

    The message goes back to the model as the call's output: what was wrong and what to do next.
    It must hold nothing that the person who asked may not see.
    """


class NotPermitted(BotError):
    """The person may not do this here. The message is a clear sentence for that person; `reason`
    says it in a word or two, for the audit log."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class ModelErrorKind(StrEnum):
    """What kind of failure the model service reported; decides retry, rebuild or notice."""

    OVERLOADED = "overloaded"  # 429, 5xx, timeouts after the SDK's own retries
    INTERRUPTED = "interrupted"  # the stream broke off, or ended without a terminal event
    QUOTA = "quota"  # billing: never retried
    AUTHENTICATION = "authentication"
    POLICY = "policy"  # the prompt was refused
    CONTEXT_OVERFLOW = "context_overflow"
    MISSING_PARENT = "missing_parent"  # previous_response_id cannot be used
    MISSING_MODEL = "missing_model"  # the service does not have the model, or not for this key
    NO_RESPONSES_API = "no_responses_api"  # something else answers at this address
    BAD_REQUEST = "bad_request"  # our bug, or a model that lacks a feature


class ModelError(BotError):
    """The model service failed.

    `request_id` is the service's id for support; it goes to logs and traces, never to Slack. So does
    `detail`: the part of the failure that quotes nobody, such as the status, or the host and why it
    could not be reached.
    """

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        *,
        request_id: str | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.request_id = request_id
        self.detail = detail


class CallRefused(ModelError):
    """A budget or the pause switch does not let this call be made; the service was not asked.

    `reason` is what the run ends with for it. With `may_close` the run may still make one last
    call, for which room was kept.
    """

    def __init__(self, reason: StopReason, *, may_close: bool = False) -> None:
        super().__init__(ModelErrorKind.QUOTA, f"The call was not made: {reason}.")
        self.reason = reason
        self.may_close = may_close


class SlackUnavailable(BotError):
    """Slack did not answer. Nothing was acknowledged, so it will be delivered again."""


class MalformedPayload(BotError):
    """What came in under Slack's name has not the shape that Slack documents; sending it again
    does not help."""


class StoreError(BotError):
    """Keeping or reading state failed."""


class StoreUnavailable(StoreError):
    """Redis cannot be reached; nothing was acknowledged."""


class CorruptValue(StoreError):
    """A kept value cannot be read (damaged, or from a newer version). It was set aside."""


class LeaseLost(StoreError):
    """A newer run holds this thread: nothing may be written or posted any more."""
