"""Conversation of a case: its files, its thread and its channels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.core.request import FileRef
from bot.evals.cases import Case, Said
from bot.testing.conversation import MemoryConversation
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
    return [_message(each, n, _attach(made, each.files)) for n, each in enumerate(messages)]


def _attach(made: MemoryConversation, paths: Sequence[Path]) -> tuple[FileRef, ...]:
    return tuple(made.attach(path.name, path) for path in paths)


def _message(message: Said, number: int, files: tuple[FileRef, ...]) -> ThreadMessage:
    at = message.at or _FIRST + timedelta(minutes=number)
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    ts = f"{at.timestamp():.6f}"
    url = f"https://example.slack.com/archives/C0EVAL/p{ts.replace('.', '')}"
    return ThreadMessage(ts, at, message.author, message.text, files, url=url)
