"""Material of a case: its conversation, canvases and web, in the place of Slack's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

from bot.core.errors import ToolError
from bot.core.request import FileRef
from bot.evals.cases import Case, Said
from bot.testing.conversation import MemoryConversation
from bot.toolkit import Canvas, CanvasEdit, Search, WebResult
from bot.toolkit.provided.conversation import ThreadMessage

_FIRST = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def conversation_of(case: Case) -> tuple[MemoryConversation, tuple[FileRef, ...]]:
    """Return the conversation of `case`, and the files attached to its first question."""
    made = MemoryConversation()
    attached = _attach(made, case.files)
    made.messages = _messages(made, case.thread)
    for number, text in enumerate(case.before):  # as in Slack, questions are part of their thread
        message = Said(author="Someone", text=text)
        files = () if number else attached
        made.messages.append(_message(message, len(made.messages), files))
    for name, messages in case.channels.items():
        made.channels[name.removeprefix("#")] = _messages(made, messages)
    return made, attached


def _messages(made: MemoryConversation, messages: Iterable[Said]) -> list[ThreadMessage]:
    return [
        _message(message, n, _attach(made, message.files)) for n, message in enumerate(messages)
    ]


def _attach(made: MemoryConversation, paths: Sequence[Path]) -> tuple[FileRef, ...]:
    return tuple(made.attach(path.name, path) for path in paths)


def _message(message: Said, number: int, files: tuple[FileRef, ...]) -> ThreadMessage:
    at = message.at or _FIRST + timedelta(minutes=number)
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    ts = f"{at.timestamp():.6f}"
    url = f"https://example.slack.com/archives/C0EVAL/p{ts.replace('.', '')}"
    return ThreadMessage(ts, at, message.author, message.text, files, url=url)


@dataclass(frozen=True, slots=True)
class CaseCanvases:
    """The toolkit's `Canvases` for a case: one per channel, titled with the channel's name."""

    texts: Mapping[str, str]

    async def read(self, canvas: str | None) -> Canvas:
        name = (canvas or "").lstrip("#")
        if name not in self.texts:
            raise ToolError(
                f"There is no canvas {name}. Channels with one: {', '.join(self.texts)}."
            )
        return Canvas(
            f"F{name.upper()}", name, f"https://slack.example/docs/{name}", self.texts[name]
        )

    async def create(self, title: str, text: str, *, channel: str | None) -> NoReturn:  # noqa: ARG002 - the protocol's
        """Raise ToolError: cases change nothing."""
        raise ToolError("Nothing is written here: these are cases for an evaluation.")

    async def edit(self, canvas: str, edit: CanvasEdit, *, title: str) -> NoReturn:
        """Raise ToolError: cases change nothing."""
        await self.create(title, edit.text, channel=canvas)


@dataclass(frozen=True, slots=True)
class CaseWebSearch:
    """The toolkit's `WebSearch` for a case: every search finds all `pages` (excerpts by address)."""

    pages: Mapping[str, str]

    async def search(self, wanted: Search) -> list[WebResult]:
        pages = [WebResult(title=url, url=url, excerpt=text) for url, text in self.pages.items()]
        return pages[: wanted.limit]
