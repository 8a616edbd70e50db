"""The toolkit's `Conversation`, kept in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.core.request import Entry, FileRef, Request
from bot.core.text.mentions import Mention
from bot.toolkit.conversation import Download, ThreadMessage


@dataclass
class MemoryConversation:
    """A thread, channels by name, files by id; `shared` is what was posted, `fetched` what was
    downloaded."""

    messages: list[ThreadMessage] = field(default_factory=list)
    channels: dict[str, list[ThreadMessage]] = field(default_factory=dict)
    files: dict[str, tuple[FileRef, bytes]] = field(default_factory=dict)
    shared: list[tuple[str, bytes, str]] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    posted: list[tuple[str, str | None, str, datetime | None]] = field(default_factory=list)

    def attach(self, name: str, data: bytes, media_type: str = "application/octet-stream") -> str:
        file = FileRef(
            id=f"F{len(self.files) + 1}", name=name, media_type=media_type, size=len(data)
        )
        self.files[file.id] = (file, data)
        return file.id

    async def thread(self, *, limit: int, before: str | None = None) -> list[ThreadMessage]:
        return [each for each in self.messages if before is None or each.ts < before][-limit:]

    async def history(
        self,
        channel: str | None,
        *,
        limit: int,
        oldest: datetime | None = None,
        latest: datetime | None = None,
    ) -> list[ThreadMessage]:
        if (channel or "general") not in self.channels:
            raise ToolError(f"There is no channel {channel} that you and the bot can see.")
        return [
            each
            for each in self.channels[channel or "general"]
            if (oldest is None or each.at >= oldest) and (latest is None or each.at <= latest)
        ][-limit:]

    async def download(self, file_id: str, *, max_bytes: int) -> Download:
        if file_id not in self.files:
            raise ToolError(f"There is no file {file_id} in this thread.")
        file, data = self.files[file_id]
        if file.size > max_bytes:
            raise ToolError(f"{file.name} is too large.")
        self.fetched.append(file_id)
        return Download(file, data, f"https://files.example/{file_id}")

    async def share(self, data: bytes, *, name: str, comment: str = "") -> str | None:
        self.shared.append((name, data, comment))
        return f"https://files.example/shared/{len(self.shared)}"

    async def linked(self, url: str, *, limit: int) -> list[ThreadMessage]:
        return self.messages[:limit]

    async def react(self, url: str, emoji: str) -> None:
        self.posted.append((url, None, emoji, None))

    async def check_place(self, channel: str, *, thread: str | None = None) -> str:
        return channel

    async def channel_name(self, channel: str) -> str:
        return channel

    def mentioned_in(self, text: str) -> tuple[Mention, ...]:
        return ()

    async def post(self, text: str, *, channel: str, thread: str | None = None) -> str:
        self.posted.append((channel, thread, text, None))
        return f"https://slack.example/{len(self.posted)}"


@contextmanager
def asked(
    text: str = "?", *, time_zone: str = "UTC", **changes: object
) -> Iterator[RequestContext]:
    """A request of U1 in the thread C1/1.0, bound as the runner binds it."""
    request = Request(
        entry=Entry.MENTION,
        team="T1",
        channel="C1",
        thread="1.0",
        ts="1.0",
        user="U1",
        text=text,
        time_zone=time_zone,
    )
    context = RequestContext(request=request, run_id="run_1", **changes)  # type: ignore[arg-type]
    with bound_request(context):
        yield context
