"""Translation of Slack's errors into sentences that the model can act on."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted, SlackUnavailable, ToolError
from bot.slack.edge.client import (
    NO_PLACE,
    TRANSPORT_ERRORS,
    error_code,
    is_ambiguous,
    is_rate_limited,
)
from bot.slack.edge.text import one_line

_NOT_IN = "The bot is not in that channel. Somebody can invite it with /invite."
_DELETED = "That was deleted in Slack."
_NO_FILE = "The bot sees no such file: it must be shared in a channel that the bot is in."
_HAS_CANVAS = "That place has its canvas already. Read it and edit that one."
_CANNOT_POST = "Nobody may post there now, or not the bot."
_SENTENCES = {
    **dict.fromkeys(NO_PLACE, _CANNOT_POST),
    "not_in_channel": _NOT_IN,
    "channel_not_found": _NOT_IN,
    "thread_not_found": _DELETED,
    "message_not_found": _DELETED,
    "file_not_found": _NO_FILE,
    "canvas_not_found": _NO_FILE,
    "file_deleted": _DELETED,
    "canvas_deleted": _DELETED,
    "channel_canvas_already_exists": _HAS_CANVAS,
    "free_team_canvas_tab_already_exists": _HAS_CANVAS,
    "restricted_too_many": "Too much is scheduled for that time there. Choose another time.",
}
_SLOW_DOWN = "Slack asks to slow down. Ask for less at once, or go on without."
_UNKNOWN_OUTCOME = (
    "Slack did not answer: it may have been done or not. Look there before you say anything of it; "
    "do not do it again."
)


@asynccontextmanager
async def for_the_model() -> AsyncGenerator[None]:
    """Turn errors of Slack's API into ToolError with a sentence for the model."""
    try:
        yield
    except SlackApiError as error:
        raise ToolError(_sentence(error)) from error
    except NotPermitted as refusal:
        raise ToolError(f"{refusal} Do not try again; say that you may not look there.") from None
    except (SlackUnavailable, *TRANSPORT_ERRORS):
        raise ToolError("Slack did not answer. Try again once, then go on without.") from None


@asynccontextmanager
async def only_once() -> AsyncGenerator[None]:
    """Turn an unknown outcome of a call that must not be repeated into ToolError.

    The sentence tells the model to check the result and not to call again.
    """
    try:
        yield
    except Exception as error:
        if is_ambiguous(error):
            raise ToolError(_UNKNOWN_OUTCOME) from error
        raise


def _sentence(error: SlackApiError) -> str:
    code = error_code(error)
    if code == "missing_scope":
        needed = error.response.get("needed")
        return f"The bot lacks the permission {needed}; an admin has to grant it in Slack."
    if is_rate_limited(error):
        return _SLOW_DOWN
    detail = one_line(str(error.response.get("detail") or "")) if code else ""
    refused = f"Slack refused: {code or 'no reason given'}{f' ({detail})' if detail else ''}."
    return _SENTENCES.get(code, refused)
