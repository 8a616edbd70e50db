"""A conversation in memory, and a request to run tools in."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.core.request import Entry, FileRef, Request
from bot.text.mentions import Mention
from bot.toolkit.narrowing import has_words
from bot.toolkit.provided.conversation import (
    Clip,
    Download,
    FoundFiles,
    NewMessages,
    SharedFile,
    ThreadMessage,
)


@dataclass
class MemoryConversation:
    """The toolkit's `Conversation` in memory.

    Tools read the thread `messages`, the `channels` by name and the `files` by id; `clips` says by id what
    is known of clips among these. Their actions are
    recorded: `shared` has name, content and comment of each file, `posted` has channel, thread and
    text of each message, `reactions` has address and emoji, and `fetched` the ids of downloads.
    With a `refusal`, everything outside of the thread raises ToolError with that text.
    """

    messages: list[ThreadMessage] = field(default_factory=list)
    channels: dict[str, list[ThreadMessage]] = field(default_factory=dict)
    files: dict[str, tuple[FileRef, bytes | Path]] = field(default_factory=dict)
    clips: dict[str, Clip] = field(default_factory=dict)
    refusal: str = ""
    shared: list[tuple[str, bytes, str]] = field(default_factory=list)
    posted: list[tuple[str, str | None, str]] = field(default_factory=list)
    reactions: list[tuple[str, str]] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def attach(self, name: str, data: bytes | Path, media_type: str = "") -> FileRef:
        """Add a file, in memory or on disk, and return the reference that a request carries."""
        ref = FileRef(
            id=f"F{len(self.files) + 1}",
            name=name,
            media_type=media_type or mimetypes.guess_type(name)[0] or "application/octet-stream",
            size=len(data) if isinstance(data, bytes) else data.stat().st_size,
        )
        self.files[ref.id] = (ref, data)
        return ref

    async def thread(self, *, limit: int, before: str | None = None) -> list[ThreadMessage]:
        """See `Conversation.thread`."""
        return [message for message in self.messages if before is None or message.ts < before][
            -limit:
        ]

    async def new_in_thread(self, since: str, *, before: str, limit: int) -> NewMessages:
        """See `Conversation.new_in_thread`."""
        new = [
            message
            for message in self.messages
            if message.ts < before and max(message.ts, message.edited) > since
        ]
        return NewMessages(new[-limit:], len(new[:-limit]))

    async def history(
        self,
        channel: str | None,
        *,
        limit: int,
        oldest: datetime | None = None,
        latest: datetime | None = None,
    ) -> list[ThreadMessage]:
        """See `Conversation.history`; the current channel is #general."""
        self._check_allowed()
        messages = self.channels.get((channel or "general").removeprefix("#"))
        if messages is None:
            known = ", ".join(f"#{name}" for name in self.channels) or "none"
            raise ToolError(f"There is no such channel that you can see. Channels: {known}.")
        return [
            message
            for message in messages
            if (oldest is None or message.at >= oldest) and (latest is None or message.at <= latest)
        ][-limit:]

    async def find_files(
        self,
        query: str,
        *,
        limit: int,
        after: datetime | None = None,  # noqa: ARG002 - files in memory have no time
        before: datetime | None = None,  # noqa: ARG002
    ) -> FoundFiles:
        """See `Conversation.find_files`; these are the files of the thread."""
        self._check_allowed()
        at = datetime.fromtimestamp(0, UTC)
        shared = [
            SharedFile(ref, at, "somebody", None, is_canvas=False) for ref, _ in self.files.values()
        ]
        fitting = [each for each in shared if has_words(each.file.name, query)]
        return FoundFiles(
            fitting[:limit], "the files of this thread", [] if fitting else shared[:3]
        )

    async def download(self, file_id: str, *, max_bytes: int) -> Download:
        """See `Conversation.download`."""
        ref, data = self._file(file_id)
        if ref.size > max_bytes:
            raise ToolError(
                f"{ref.name} is too large: {ref.size:,} bytes; at most {max_bytes:,} are read."
            )
        self.fetched.append(file_id)
        if isinstance(data, Path):  # nothing opens it for a person
            return Download(ref, data.read_bytes())
        return Download(ref, data, f"https://files.example/{file_id}")

    async def clip(self, file_id: str) -> Clip:
        """See `Conversation.clip`."""
        return self.clips.get(file_id) or Clip(self._file(file_id)[0])

    def _file(self, file_id: str) -> tuple[FileRef, bytes | Path]:
        if file_id not in self.files:
            known = ", ".join(f"{ref.id} ({ref.name})" for ref, _ in self.files.values()) or "none"
            raise ToolError(f"There is no file {file_id}. Files here: {known}.")
        return self.files[file_id]

    async def share(self, data: bytes, *, name: str, comment: str = "") -> str | None:
        """See `Conversation.share`."""
        self.shared.append((name, data, comment))
        return f"https://files.example/shared/{len(self.shared)}"

    async def check_place(self, channel: str, *, thread: str | None = None) -> str:  # noqa: ARG002 - the protocol's
        """See `Conversation.check_place`; every channel may be written to."""
        self._check_allowed()
        return channel

    async def channel_name(self, channel: str) -> str:
        """Return `channel` unchanged."""
        return channel

    def mentioned_in(self, text: str) -> tuple[Mention, ...]:  # noqa: ARG002 - the protocol's
        """Return nothing: nobody can be mentioned."""
        return ()

    async def post(self, text: str, *, channel: str, thread: str | None = None) -> str:
        """See `Conversation.post`."""
        self._check_allowed()
        self.posted.append((channel, thread, text))
        return f"https://slack.example/{len(self.posted)}"

    async def linked(self, url: str, *, limit: int) -> list[ThreadMessage]:
        """See `Conversation.linked`; messages of channels have no replies."""
        self._check_allowed()
        if any(message.url == url for message in self.messages):
            return self.messages[:limit]
        for messages in self.channels.values():
            if linked := [message for message in messages if message.url == url]:
                return linked
        raise ToolError(f"There is no message at {url} that you can see.")

    async def react(self, url: str, emoji: str) -> None:
        """See `Conversation.react`."""
        self._check_allowed()
        self.reactions.append((url, emoji))

    def _check_allowed(self) -> None:
        if self.refusal:
            raise ToolError(self.refusal)


@contextmanager
def asked(text: str = "?", *, time_zone: str = "UTC", **changes: Any) -> Iterator[RequestContext]:
    """Bind a request of the user U1 in the thread C1/1.0, as the bot does for each run.

    `changes` are fields of its `RequestContext`, such as `extra` or `dry_run`.
    """
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
    context = RequestContext(request=request, run_id="run_1", **changes)
    with bound_request(context):
        yield context
