"""Messages to other places, now or later; somebody approves each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import Field

from bot.toolkit import (
    Conversation,
    Provided,
    Source,
    ToolError,
    ToolResult,
    current_request,
    tool,
    zone_of,
)

_LATEST = timedelta(days=120)  # Slack's own bound

_Channel = Field(min_length=1, max_length=80, description="Name or id of a channel the bot is in.")
_Text = Field(min_length=1, max_length=4_000, description="The whole message, as Markdown.")
_Thread = Field(description="To answer in a thread there: ts of its first message.")


@tool(
    group="slack",
    summary="Post a message in another channel or thread, once somebody has approved it",
    mutates=True,
    sensitive=True,
    standing=("channel",),
    timeout=60.0,
    title="Post in {channel}",
)
async def post_message(
    channel: Annotated[str, _Channel],
    text: Annotated[str, _Text],
    conversation: Provided[Conversation],
    thread: Annotated[str | None, _Thread] = None,
) -> ToolResult:
    """Post a message in another channel or thread, when the asker wants that. People approve
    exactly this text first; what the asker is to read belongs into the answer instead."""
    url = await conversation.post(text, channel=channel, thread=thread)
    source = Source(title=f"Message in {channel}", url=url, supports="What was posted.")
    return ToolResult(f"posted in {channel} · link: {url}", (source,))


@tool(
    group="slack",
    summary="Have a message posted later in a channel, once somebody has approved it",
    mutates=True,
    sensitive=True,
    standing=("channel",),
    timeout=60.0,
    title="Post in {channel} at {at}",
)
async def schedule_message(
    channel: Annotated[str, _Channel],
    text: Annotated[str, _Text],
    at: Annotated[
        str,
        Field(description='When, in ISO 8601, as "2026-03-01T09:00"; the asker\'s zone if none.'),
    ],
    conversation: Provided[Conversation],
    thread: Annotated[str | None, _Thread] = None,
) -> str:
    """Have Slack post a message later, within 120 days. People approve exactly this text first."""
    when = _moment(at)
    number = await conversation.schedule(text, channel=channel, thread=thread, at=when)
    return f"scheduled in {channel} for {when:%Y-%m-%d %H:%M %Z} · id: {number}"


def _moment(text: str) -> datetime:
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ToolError(f'{text!r} is not a time. Write it as "2026-03-01T09:00".') from None
    when = (
        when if when.tzinfo else when.replace(tzinfo=zone_of(current_request().request.time_zone))
    )
    now = datetime.now(UTC)
    if not now < when <= now + _LATEST:
        raise ToolError(
            f"{when.isoformat()} is past, or more than 120 days away. Now it is "
            f"{now.astimezone(when.tzinfo):%Y-%m-%dT%H:%M}."
        )
    return when
