"""Tools that post messages in other channels, now or later. A person approves each message."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, cast

from pydantic import Field

from bot.toolkit import (
    Changes,
    Conversation,
    Provided,
    Reads,
    ScheduledMessages,
    Services,
    Source,
    Text,
    ToolError,
    ToolResult,
    current_request,
    day_and_time,
    tool,
    zone_of,
)

_LATEST = timedelta(days=120)  # Slack's own bound

_Channel = Field(min_length=1, max_length=80, description="Name or id of a channel the bot is in.")
_Text = Field(
    min_length=1,
    max_length=4_000,
    description="The whole message, as Markdown: what the asker wrote as *bold* is **bold**. @Name and "
    "#channel, written as the asker did, mention whom the asker mentioned; nobody else can be mentioned.",
)
_Thread = Field(description="To answer in a thread there: ts of its first message.")


async def _can_be_posted(call: Any, services: Services) -> Any:
    """Return the call with the id of its channel: another channel can have the name by approval."""
    conversation = cast(Conversation, services[Conversation])
    place = await conversation.check_place(call.channel, thread=call.thread)
    return call.model_copy(update={"channel": place})


async def _can_be_scheduled(call: Any, services: Services) -> Any:
    _moment(call.at)
    return await _can_be_posted(call, services)


async def _can_be_cancelled(call: Any, services: Services) -> None:
    messages = cast(ScheduledMessages, services[ScheduledMessages])
    await messages.check_waits(call.id, text=call.text)


_POST_ON = Text("Post in {channel} on {time}")


_ASKED = (
    r"\b(?:post|announce) (?:this|that|it|them|the|a|an|in|to|into|my|our)\b",
    r"\b(?:send|write|tell|sag|dis|dile|diga|schreib\w*|schick\w*|sende|écri\w*|envoie\w*|escrib\w*|env[íi]a\w*|escrev\w*)\b"
    r".{0,80}[#＃]",
    r"\b(?:poste|posten|veröffentlich\w*|poster|postez|publi(?:e|er|ez|ca|car|que|quen?)|postea\w*|postar)\b",
    r"投稿|ポストして|[#＃].{0,40}(?:送って|書いて|書き込んで|流して)",
)


@tool(
    group="slack",
    summary="Post a message in another channel or thread, once somebody has approved it",
    safety=Changes(sensitive=True, standing=("channel",), mentions="text", check=_can_be_posted),
    asked_as=_ASKED,
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
    name = await conversation.channel_name(channel)
    source = Source(title=f"Message in {name}", url=url, supports="What was posted.")
    return ToolResult(f"posted in {name} · link: {url}", (source,))


@tool(
    group="slack",
    summary="Have a message posted later in a channel, once somebody has approved it",
    safety=Changes(sensitive=True, standing=("channel",), mentions="text", check=_can_be_scheduled),
    timeout=60.0,
    title=lambda arguments: _POST_ON(channel=arguments.channel, time=_said(arguments.at)),
)
async def schedule_message(
    channel: Annotated[str, _Channel],
    text: Annotated[str, _Text],
    at: Annotated[
        str,
        Field(description='When, in ISO 8601, as "2026-03-01T09:00"; the asker\'s zone if none.'),
    ],
    messages: Provided[ScheduledMessages],
    thread: Annotated[str | None, _Thread] = None,
) -> str:
    """Have Slack post a message later, within 120 days. People approve exactly this text first."""
    when = _moment(at)
    number = await messages.add(text, channel=channel, thread=thread, at=when)
    when = when.astimezone(zone_of(current_request().request.time_zone))
    return f"scheduled for {when:%Y-%m-%d %H:%M %Z} · id: {number}"


@tool(
    group="slack",
    summary="The asker's messages that wait to be posted",
    safety=Reads(foreign=True, repeatable=False),
    timeout=60.0,
    title="List scheduled messages",
    narrowing=("limit",),
)
async def list_scheduled_messages(
    messages: Provided[ScheduledMessages],
    limit: Annotated[int, Field(ge=1, le=100, description="At most so many.")] = 30,
) -> str:
    """List what schedule_message left to be posted for the asker, the next first, with ids.
    Questions and reminders are told by list_schedules."""
    zone = zone_of(current_request().request.time_zone)
    scheduled, hidden = await messages.all()
    lines = [
        f"{message.id} · {message.at.astimezone(zone):%a %Y-%m-%d %H:%M} in {message.place} · {message.text}"
        for message in scheduled[:limit]
    ]
    more = " · more wait that are told of in a direct message only" if hidden else ""
    return "\n".join([f"{len(scheduled)} waiting{more} · times in {zone}", *lines])


@tool(
    group="slack",
    summary="Cancel a message that waits to be posted, once somebody has approved it",
    safety=Changes(sensitive=True, check=_can_be_cancelled),
    title="Cancel the message “{text}”",
)
async def cancel_scheduled_message(
    id: Annotated[str, Field(description="As list_scheduled_messages gives it.")],
    text: Annotated[
        str,
        Field(min_length=1, description="How it begins, for those who approve; it is checked."),
    ],
    messages: Provided[ScheduledMessages],
) -> str:
    """Cancel one of the asker's scheduled messages, when they want that."""
    await messages.cancel(id, text=text)
    return "cancelled"


def _said(at: str) -> str:
    """Write a time from the model for people, who may be in other zones than the asker.

    Text that is not a time is returned unchanged.
    """
    try:
        return day_and_time(_read(at))
    except ValueError:
        return at


def _read(text: str) -> datetime:
    """Parse a time, in the asker's zone if it names none. Raises ValueError."""
    when = datetime.fromisoformat(text.strip())
    return (
        when if when.tzinfo else when.replace(tzinfo=zone_of(current_request().request.time_zone))
    )


def _moment(text: str) -> datetime:
    try:
        when = _read(text)
    except ValueError:
        raise ToolError(f'{text!r} is not a time. Write it as "2026-03-01T09:00".') from None
    now = datetime.now(UTC)
    if not now < when <= now + _LATEST:
        raise ToolError(
            f"{when.isoformat()} is past, or more than 120 days away. Now it is "
            f"{now.astimezone(when.tzinfo):%Y-%m-%dT%H:%M}."
        )
    return when
