"""What the tests of the workspace say about refused calls."""

from collections.abc import Awaitable

import pytest
from slack_sdk.errors import SlackApiError


async def error_of(call: Awaitable[object]) -> str:
    """The error code of a call that Slack refuses."""
    with pytest.raises(SlackApiError) as raised:
        await call
    return str(raised.value.response["error"])
