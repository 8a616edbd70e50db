"""Exceptions that the bot raises on purpose.

    BotError
    ├─ ConfigurationError      a setting is wrong; one line that names the key (exit code 3)
    ├─ ToolDefinitionError     a tool is written in a way that cannot work; found at start
    ├─ ToolError               a mistake that the model can fix; becomes the call's output
    │  ├─ TemporaryError       a service cannot answer now; a tool with `retries` is called again
    │  └─ AccountProblem       the asker's account cannot be used (in `accounts`)
    ├─ ConnectError            an account could not be connected (in `accounts`)
    ├─ PersonNeeded            a call waits for its asker (in `approvals`)
    ├─ NotPermitted            the person may not do this; the text is shown to them
    ├─ ModelError              the model service failed; `kind` says how
    │  └─ CallRefused          a budget or the pause switch forbids the model call
    ├─ SlackUnavailable        Slack did not answer; it will deliver the event again
    ├─ MalformedPayload        Slack's payload does not have the documented shape
    └─ StoreError
       ├─ StoreUnavailable     Redis cannot be reached
       ├─ CorruptValue         a stored value cannot be read; it was set aside
       └─ LeaseLost            another worker holds the thread; stop without posting

Any other exception is a bug in the bot and fails loudly.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.core.chain import Usage
    from bot.core.outcome import StopReason


class BotError(Exception):
    """Base class of all exceptions that the bot raises on purpose."""


class ConfigurationError(BotError):
    """A setting is wrong. The message is one line that names the key and says what to do."""


class ToolDefinitionError(BotError):
    """A tool cannot work as written. The message names the tool and the field."""


class ToolError(BotError):
    """A mistake that the model can fix.

    The message is sent to the model as the call's output: what was wrong and what to do next. It
    must contain nothing that the asker may not see.
    """


class TemporaryError(ToolError):
    """A service cannot answer now, and another attempt may succeed.

    A tool with `retries` is called again, after `after` seconds if the service named a time. After
    the last attempt the message goes to the model, as for any ToolError.
    """

    def __init__(self, message: str, *, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


class NotPermitted(BotError):
    """The person may not do this here.

    The message is a clear sentence for that person; `reason` is a word or two for the audit log.
    """

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class ModelErrorKind(StrEnum):
    """How the model service failed: decides whether to retry, to rebuild the chain or to give up."""

    OVERLOADED = "overloaded"  # 429, 5xx, no answer in time, after the SDK's own retries
    UNREACHABLE = "unreachable"  # no connection: refused, no such host, a wrong certificate
    INTERRUPTED = "interrupted"  # the stream broke off, or ended without its final event
    QUOTA = "quota"  # billing: never retried
    AUTHENTICATION = "authentication"
    POLICY = "policy"  # the prompt was refused
    CONTEXT_OVERFLOW = "context_overflow"
    MISSING_PARENT = "missing_parent"  # previous_response_id cannot be used
    MISSING_MODEL = "missing_model"  # the service does not have the model, or not for this key
    NO_RESPONSES_API = "no_responses_api"  # something else answers at this address
    UNREADABLE_CALLS = "unreadable_calls"  # the model's calls arrive as text
    BAD_REQUEST = "bad_request"  # our bug, or a model that lacks a feature


class ModelError(BotError):
    """The model service failed.

    `request_id` is the service's id for support. `detail` describes the failure without quoting
    anybody: the HTTP status, or the host and why it could not be reached. `said` are the service's
    own words in one line, without what it quotes from the request. All three go to logs and traces,
    never to Slack. `usage` is what the call used, if the service said so.
    """

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        *,
        request_id: str | None = None,
        detail: str = "",
        said: str = "",
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.usage = usage
        self.request_id = request_id
        self.detail = detail
        self.said = said


class CallRefused(ModelError):
    """A budget or the pause switch forbids the model call; nothing was sent to the service.

    `reason` is the stop reason of the run. With `may_close` the run may still make its last call,
    for which budget was reserved.
    """

    def __init__(self, reason: StopReason, *, may_close: bool = False) -> None:
        super().__init__(ModelErrorKind.QUOTA, f"The call was not made: {reason}.")
        self.reason = reason
        self.may_close = may_close


class SlackUnavailable(BotError):
    """Slack did not answer. The event was not acknowledged, so Slack will deliver it again."""


class MalformedPayload(BotError):
    """A payload from Slack does not have the documented shape; delivering it again does not help."""


class StoreError(BotError):
    """Reading or writing stored state failed."""


class StoreUnavailable(StoreError):
    """Redis cannot be reached or accepts no writes; nothing was acknowledged."""


class CorruptValue(StoreError):
    """A stored value is damaged or from a newer version of the bot. It was set aside."""


class LeaseLost(StoreError):
    """A newer run holds the thread: this one must not write or post any more."""
