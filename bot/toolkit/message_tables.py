"""Messages as a result: numbered lines for the model, and under a handle a table to count and query.

A line carries no address: `{{tbl_k3x8a2qd.link[3]}}` is that of message 3, which code fills in. It
does so from the result's sources, of which each message has one, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.core.answers import Source
from bot.core.context import current_request
from bot.text.time_zones import zone_of
from bot.toolkit.provided.artifacts import Column
from bot.toolkit.provided.conversation import ThreadMessage, message_line, message_time
from bot.toolkit.provided.tables import Tables
from bot.toolkit.tool import ToolResult

_COMPACT = 100  # characters
_COLUMNS = (
    *(Column(name="n", type="BIGINT"), Column(name="time", type="TIMESTAMP")),
    *(Column(name=name, type="VARCHAR") for name in ("channel", "person", "text")),
    *(Column(name=name, type="BIGINT") for name in ("replies", "reactions")),
    *(Column(name=name, type="VARCHAR") for name in ("emoji", "files", "link", "ts")),
)


async def messages_result(
    head: str,
    messages: Sequence[ThreadMessage],
    tables: Tables,
    *,
    name: str,
    channels: Sequence[str] = (),
    compact: bool = False,
) -> ToolResult:
    """Return a result with a line for each message below `head`; the table is called `name`.

    `channels` are the names of the messages' channels where these differ. A `compact` result has the
    beginning of each message; the table has the whole.
    """
    zone = zone_of(current_request().request.time_zone)
    lines = [f"{head} · times in {zone}"]
    if not messages:
        return ToolResult(lines[0])
    of_channels = channels or [""] * len(messages)
    rows = [
        [
            number,
            f"{message.at.astimezone(zone):%Y-%m-%d %H:%M:%S}",
            channel or None,
            message.author,
            message.text,
            message.replies,
            sum(times for _, times in message.reactions),
            ", ".join(f"{emoji} {times}" for emoji, times in message.reactions) or None,
            ", ".join(f"{file.name} {file.id}" for file in message.files) or None,
            message.url,
            message.ts,
        ]
        for number, (message, channel) in enumerate(zip(messages, of_channels, strict=True), 1)
    ]
    saved = await tables.save_rows(_COLUMNS, rows, name=name)
    columns = ", ".join(column.name for column in _COLUMNS)
    lines.append(
        f"handle: {saved.handle} · rows 1–{len(rows)} of {len(rows)} · columns: {columns} · write the "
        f"link of message 1 as {{{{{saved.handle}.link[1]}}}}"
    )
    for number, (message, channel) in enumerate(zip(messages, of_channels, strict=True), 1):
        author = f"#{channel} {message.author}" if channel else message.author
        shown = replace(_beginning(message) if compact else message, author=author, url=None)
        lines.append(f"{number} {message_line(shown, zone)}")
    return ToolResult("\n".join(lines), _sources(messages, of_channels), (saved.handle,))


def _sources(messages: Sequence[ThreadMessage], channels: Sequence[str]) -> tuple[Source, ...]:
    zone = zone_of(current_request().request.time_zone)
    return tuple(
        Source(
            title=f"{message.author} in #{channel}"
            if channel
            else f"{message.author}, {message_time(message, zone)}",
            url=message.url,
            supports="What was said.",
        )
        for message, channel in zip(messages, channels, strict=True)
    )


def _beginning(message: ThreadMessage) -> ThreadMessage:
    text = " ".join(message.text.split())
    return replace(message, text=text if len(text) <= _COMPACT else f"{text[:_COMPACT]}…")
