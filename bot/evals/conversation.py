"""Conversation of a case: its files, its thread and its channels."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

from bot.core.errors import ToolError
from bot.core.request import FileRef
from bot.evals.cases import Case, Said
from bot.toolkit.conversation import Download, OutsideSlack, ThreadMessage

_FIRST = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CaseConversation(OutsideSlack):
    """The toolkit's `Conversation` for a case; shared files are discarded."""

    refusal: ClassVar[str] = "Nothing is posted here: these are cases for an evaluation."

    files: Mapping[str, tuple[FileRef, Path]]
    messages: Sequence[ThreadMessage]
    channels: Mapping[str, Sequence[ThreadMessage]]
    attached: tuple[FileRef, ...]

    @classmethod
    def of(cls, case: Case) -> CaseConversation:
        """Return the conversation of `case`, with its files as F1, F2, …"""
        files: dict[str, tuple[FileRef, Path]] = {}

        def named(paths: Sequence[Path]) -> tuple[FileRef, ...]:
            refs = tuple(_ref(path, len(files) + n) for n, path in enumerate(paths, 1))
            files.update((ref.id, (ref, path)) for ref, path in zip(refs, paths, strict=True))
            return refs

        attached = named(case.files)
        thread = [_message(each, n, named(each.files)) for n, each in enumerate(case.thread)]
        for n, text in enumerate(case.before):  # as in Slack, questions are part of their thread
            said = Said(author="Someone", text=text)
            thread.append(_message(said, len(thread), () if n else attached))
        channels = {
            name.removeprefix("#"): [
                _message(each, n, named(each.files)) for n, each in enumerate(said)
            ]
            for name, said in case.channels.items()
        }
        return cls(files, thread, channels, attached)

    async def thread(self, *, limit: int, before: str | None = None) -> list[ThreadMessage]:
        """See `Conversation.thread`."""
        return [each for each in self.messages if before is None or each.ts < before][-limit:]

    async def history(
        self,
        channel: str | None,
        *,
        limit: int,
        oldest: datetime | None = None,
        latest: datetime | None = None,
    ) -> list[ThreadMessage]:
        """See `Conversation.history`."""
        said = self.channels.get((channel or "").removeprefix("#"))
        if said is None:
            known = ", ".join(f"#{each}" for each in self.channels) or "none"
            raise ToolError(f"There is no such channel that you can see. Channels: {known}.")
        begin, end = oldest or said[0].at, latest or said[-1].at
        return [each for each in said if begin <= each.at <= end][-limit:]

    async def download(self, file_id: str, *, max_bytes: int) -> Download:
        """See `Conversation.download`."""
        if file_id not in self.files:
            known = ", ".join(f"{ref.id} ({ref.name})" for ref, _ in self.files.values()) or "none"
            raise ToolError(f"There is no file {file_id}. Files here: {known}.")
        ref, path = self.files[file_id]
        if ref.size > max_bytes:
            raise ToolError(f"{ref.name} has {ref.size:,} bytes; at most {max_bytes:,} are read.")
        return Download(ref, path.read_bytes())

    async def share(self, data: bytes, *, name: str, comment: str = "") -> str | None:  # noqa: ARG002 - the protocol's
        """Return None: nobody sees shared files."""
        return None


def _ref(path: Path, number: int) -> FileRef:
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    size = path.stat().st_size
    return FileRef(id=f"F{number}", name=path.name, media_type=media_type, size=size)


def _message(said: Said, number: int, files: tuple[FileRef, ...]) -> ThreadMessage:
    at = said.at or _FIRST + timedelta(minutes=number)
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    ts = f"{at.timestamp():.6f}"
    url = f"https://example.slack.com/archives/C0EVAL/p{ts.replace('.', '')}"
    return ThreadMessage(ts, at, said.author, said.text, files, url=url)
