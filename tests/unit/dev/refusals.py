"""The error codes of refused calls."""

from collections.abc import Awaitable

import pytest
from slack_sdk.errors import SlackApiError


async def error_of(call: Awaitable[object]) -> str:
    """Return the error code of a call that Slack refuses."""
    with pytest.raises(SlackApiError) as raised:
        await call
    return str(raised.value.response["error"])
