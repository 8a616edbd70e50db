"""The arguments of a call as people read them before they decide about it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from bot.core.approvals import Approval, laid_out
from bot.core.schedule import cron_in_words, is_said_whole
from bot.core.text.invisible_text import readable
from bot.core.text.time_zones import day_and_time
from bot.slack.incoming.text import clean
from bot.slack.render import approval_words
from bot.slack.render.parts import Block
from bot.slack.render.times import local_time_element

_CANVAS = re.compile(r"F[A-Z0-9]{6,}")
CHANNEL = re.compile(r"(?<![/=])#?\b([CG][A-Z0-9]{8,})\b")  # not in an address
_NAME = re.compile(r"[\w.$@:/-]{1,60}")  # of an argument, that says nothing else
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_MOST_VALUES = 50
_AS_IT_STANDS = re.compile(r"[\w #.,;!?'’()-]+")  # in a title too; there is nothing hidden in it
_ONE_LINE = 60  # characters of a value that stands beside its name


class Value(NamedTuple):
    """An argument: its name where it is one of our tools', whose meaning we know, what people call
    it, and its value; of a canvas, where it opens and how it is called."""

    kind: str
    label: str
    text: str
    url: str = ""
    title: str = ""


CanvasLink = Callable[[str], str]
"""Where a canvas opens, by its id."""


def values_of(approval: Approval, canvas_link: CanvasLink) -> list[Value]:
    """All of them, as exactly as they would be used."""
    is_of_server = "__" in approval.tool  # where a cron's 0 may be a Monday
    arguments = json.loads(approval.arguments)
    if len(arguments) > _MOST_VALUES or not all(map(_NAME.fullmatch, arguments)):
        # too many to show one by one, or named by the model, where a server takes any
        return [Value("", approval_words.DETAILS, laid_out(approval.arguments))]
    values = [
        Value("", _exact_label(name), _exactly(value))
        if is_of_server
        else Value(name, label_of(name), _as_text(value))
        for name, value in arguments.items()
        if is_of_server or value is not None
    ]
    title = clean(_as_text(arguments.get("title") or ""))
    return [
        each._replace(url=canvas_link(each.text), title=title)
        if title and each.kind == "canvas" and _CANVAS.fullmatch(each.text)
        else each
        for each in values
    ]


def unsaid(values: Sequence[Value], title: str) -> list[Value]:
    """Those that the call's `title` does not say already, letter by letter and in its own place.
    An empty one of our own tools is the same as none."""
    given = [each for each in values if each.text or not each.kind]
    last = [each for each in given if title.endswith(f": {each.text}")]
    return [each for each in given if not _is_said(each, title, ends=last == [each])]


def _is_said(value: Value, title: str, *, ends: bool) -> bool:
    """`ends`: it alone is what the title ends with."""
    if value.kind == "cron":
        return is_said_whole(value.text) and f" {cron_in_words(value.text)} (" in title
    if not _AS_IT_STANDS.fullmatch(value.text):
        return False
    match value.kind:
        case "channel":
            return value.text in (word.rstrip(":") for word in title.split())
        case "text" | "title":
            return ends or title.endswith(f" “{value.text}”")
        case "where" | "change":
            begins = title.startswith(f"{value.text.capitalize()} ")
            return begins or f" the {value.text}: " in title
        case _:
            return False


def label_of(name: str) -> str:
    """`post_at` as "Post at"."""
    if name in approval_words.ARGUMENTS:
        return approval_words.ARGUMENTS[name]
    words_of_it = name.replace("_", " ").strip()
    return words_of_it[:1].upper() + words_of_it[1:]


def _exact_label(name: str) -> str:
    """The name of a server's argument: two of them are never called alike."""
    return label_of(name) if _PLAIN_NAME.fullmatch(name) else name


def _exactly(value: object) -> str:
    """A value of a server's argument: a text that reads like another kind of value is in quotes."""
    if not isinstance(value, str):
        return _as_text(value)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value, ensure_ascii=False)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def rich_argument(argument: Value) -> Block:
    """A value as it stands: nothing in it becomes a link, a mention or a format. What cannot be seen
    is left out, and that is said. Before it, or instead where that says all, as people know it."""
    label, value = argument.label, argument.text
    seen = readable(value)
    hidden = approval_words.HAS_HIDDEN if len(seen) < len(value) else ""
    elements: list[Block] = [{"type": "text", "text": f"{label}{hidden} ", "style": {"bold": True}}]
    reading, whole = _reading(argument)
    if reading:
        elements += [reading, {"type": "text", "text": " "}]
    text: Block = {"type": "text", "text": seen or approval_words.EMPTY_VALUE}
    short = len(seen) <= _ONE_LINE and "\n" not in seen
    if short and not whole:
        elements.append(text | {"style": {"code": True}})
    blocks: list[Block] = [{"type": "rich_text_section", "elements": elements}]
    if not short:
        blocks.append({"type": "rich_text_preformatted", "elements": [text]})
    return {"type": "rich_text", "elements": blocks}


def _reading(argument: Value) -> tuple[Block | None, bool]:
    """A value as people know it: a channel by its name, a canvas by its title, which leads to it, a
    time by their own clock; and whether that says all. It does not where it is unknown what the argument is: there the same letters may be
    somebody's text, of which each counts."""
    kind, value = argument.kind, argument.text
    if argument.url:
        return {"type": "link", "url": argument.url, "text": argument.title}, True
    if channel := CHANNEL.fullmatch(value):
        return {"type": "channel", "channel_id": channel[1]}, kind == "channel"
    if when := _moment(value):
        whole = kind == "at" and _is_usual(when, value)
        if when.tzinfo is None:
            return {"type": "text", "text": day_and_time(when)}, whole
        return local_time_element(int(when.timestamp())), whole
    if kind == "cron" and (said := cron_in_words(value)) != value:
        return {"type": "text", "text": said}, is_said_whole(value)
    return None, False


def _is_usual(when: datetime, value: str) -> bool:
    """Whether a day and a time say all of it: it is a whole minute, and written in the usual way."""
    usual = {when.isoformat(timespec="minutes"), when.isoformat(timespec="seconds")}
    return value.replace("Z", "+00:00") in usual and when == when.replace(second=0, microsecond=0)


def _moment(value: str) -> datetime | None:
    """A moment that clients can work out."""
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    return when if 1970 < when.year < 9999 else None
