"""Reads what people said to each other in this thread and in channels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..outputs import reason
from ..phrasing import ANYWHERE, Sentence, shown_channel
from ..view import Missing, OutOfTurns, View
from .said import Said, messages_of, was_read

REPLIES = "read_linked_thread"
THREAD = "this thread"
MOST_THREADS = 5
"""Threads of a channel that are read: each takes a call."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What people said in a place, or why that could not be read."""

    place: str
    messages: list[Said] = field(default_factory=list)
    refused: str = ""


def talks(view: View, asked: Sentence) -> Iterator[Talk]:
    """The place that is named; where none is this thread, then its channel. Raises Need."""
    if asked.channel or asked.here == "channel":
        yield _channel(view, asked)
        return
    yield this_thread(view)
    if not asked.here and view.turn.place.startswith("#"):
        yield _channel(view, ANYWHERE)


def this_thread(view: View) -> Talk:
    """What people said here."""
    told = view.do("read_thread", "I read this thread first.", fresh=True, limit=100)
    if not was_read(told):
        return Talk(THREAD, refused=reason(told))
    messages = _people_only(view, messages_of(told))  # the first says that it has replies
    return Talk(THREAD, [replace(each, is_answered=False) for each in messages])


def _channel(view: View, asked: Sentence) -> Talk:
    in_channel = view.turn.place.startswith("#")
    channel = asked.channel or ("" if in_channel else view.turn.beside) or None
    own = view.turn.place if in_channel else "this conversation"
    place = shown_channel(channel) if channel else own
    thought = f"I read the recent messages of {place}."
    told = view.do("read_channel", thought, fresh=True, channel=channel, limit=100)
    if not was_read(told):
        return Talk(place, refused=reason(told))
    return Talk(place, _people_only(view, _with_replies(view, messages_of(told))))


def _people_only(view: View, messages: Sequence[Said]) -> list[Said]:
    """Messages of people to people: not the bot's, and not what it was asked."""
    asked = {turn.text for turn in (*view.turns, *view.open) if turn.text}
    return [
        each
        for each in messages
        if not (each.is_of_bot or each.is_to_bot or any(map(each.repeats, asked)))
    ]


def _with_replies(view: View, messages: Sequence[Said]) -> list[Said]:
    """The messages of a channel, below each of the last few its replies: those of people first."""
    answered = [each for each in messages if each.is_answered and each.url]
    threads = sorted(answered, key=lambda each: not each.is_to_bot)[-MOST_THREADS:]
    told: list[Said] = []
    for message in messages:
        replies = _replies(view, message) if message in threads else None
        told.append(message if replies is None else replace(message, is_answered=False))
        told += replies or []
    return told


def _replies(view: View, message: Said) -> list[Said] | None:
    if not view.knows(REPLIES):
        return None
    try:
        thought = "I read what was replied to it."
        output = view.do(REPLIES, thought, fresh=True, url=message.url, limit=50)
    except (Missing, OutOfTurns):
        return None
    _, *replies = messages_of(output) or [message]
    return [replace(each, url=message.url) for each in _to_people(message, replies)]


def _to_people(first: Said, replies: Sequence[Said]) -> Iterator[Said]:
    """The replies without what the one who began asked the bot there, alone with it: that needs no mention."""
    authors, has_bot = {first.author}, False
    for each in replies:
        if each.is_of_bot:
            has_bot = True
            continue
        authors.add(each.author)
        if len(authors) > 1 or not has_bot:
            yield each
