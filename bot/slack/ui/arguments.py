"""Arguments of a call in the form in which people read them before a decision."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from bot.core.approvals import Approval, laid_out
from bot.core.schedule import is_said_whole, often_of
from bot.slack.edge.text import clean
from bot.slack.ui import approval_words
from bot.slack.ui.blocks import Block, rich, rich_text, text_element
from bot.slack.ui.parts import local_time_element
from bot.text.invisible_text import readable
from bot.text.time_zones import day_and_time

_CANVAS = re.compile(r"F[A-Z0-9]{6,}")
CHANNEL = re.compile(r"(?<![/=])#?\b([CG][A-Z0-9]{8,})\b")  # not in an address
_NAME = re.compile(r"[\w.$@:/-]{1,60}")  # an argument name that cannot carry a sentence
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_MAX_VALUES = 50
_PLAIN_TEXT = re.compile(r"[\w #.,;!?'’()-]+")  # shown unchanged in a title, with nothing hidden
_ONE_LINE = 60  # characters; a longer value is shown below its name


class Value(NamedTuple):
    """One argument of a call.

    - `kind`: the argument's name if the tool is built in, because its meaning is known; else "".
    - `label`: the name that people read.
    - `text`: the value.
    - `url` and `title`: link and title of a canvas; else "".
    """

    kind: str
    label: str
    text: str
    url: str = ""
    title: str = ""


CanvasLink = Callable[[str], str]
"""Return the link to a canvas by its id."""


def values_of(approval: Approval, canvas_link: CanvasLink) -> list[Value]:
    """Return all arguments of a call exactly as they would be used."""
    is_of_server = bool(server_of(approval))  # the meaning of a server's arguments is unknown
    arguments = json.loads(approval.arguments)
    if len(arguments) > _MAX_VALUES or not all(map(_NAME.fullmatch, arguments)):
        # Too many to list, or names that the model may have invented.
        return [Value("", approval_words.DETAILS(), laid_out(approval.arguments))]
    values = [
        Value("", _exact_label(name), _exact_text(value))
        if is_of_server
        else Value(name, label_of(approval, name), _as_text(value))
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


def server_of(approval: Approval) -> str:
    """Return the MCP server whose tool would be called; "" for a tool of ours."""
    server, mark, _ = approval.tool.partition("__")
    return server if mark else ""


def not_in_title(values: Sequence[Value], title: str) -> list[Value]:
    """Return the values that the call's `title` does not contain literally, in their usual place.

    An empty argument of a built-in tool counts as missing.
    """
    filled = [value for value in values if value.text or not value.kind]
    last = [each for each in filled if title.endswith(f": {each.text}")]
    return [each for each in filled if not _is_in_title(each, title, ends=last == [each])]


def _is_in_title(value: Value, title: str, *, ends: bool) -> bool:
    """Return whether the title contains the value. `ends`: the title ends with this value alone."""
    if value.kind == "cron":
        return is_said_whole(value.text) and f" {often_of(value.text)} (" in title
    if not _PLAIN_TEXT.fullmatch(value.text):
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


def label_of(approval: Approval, name: str) -> str:
    """Return the label of an argument of a tool: the tool's own title for it, else in the reader's
    language if the name is one of our tools'."""
    if name in approval.labels:
        return clean(approval.labels[name])
    if name in approval_words.ARGUMENTS:
        return approval_words.ARGUMENTS[name]()
    return _spelt(name)


def _spelt(name: str) -> str:
    """Turn a name of code into words: `post_at` becomes "Post at"."""
    label = name.replace("_", " ").strip()
    return label[:1].upper() + label[1:]


def _exact_label(name: str) -> str:
    """Return the label of a server's argument; different names never get the same label."""
    return _spelt(name) if _PLAIN_NAME.fullmatch(name) else name


def _exact_text(value: object) -> str:
    """Return a server's value as text, in quotes if it would read as another JSON type."""
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
    """Return a value as a block in which nothing becomes a link, a mention or a format.

    Invisible characters are left out, and the label says so. A readable form, such as a channel's
    name or a local time, comes first; it replaces the value if it is equally exact.
    """
    label, value = argument.label, argument.text
    visible = readable(value)
    hidden = approval_words.HAS_HIDDEN() if len(visible) < len(value) else ""
    elements: list[Block] = [text_element(f"{label}{hidden} ", bold=True)]
    readable_form, is_exact = _readable_form(argument)
    if readable_form:
        elements += [readable_form, text_element(" ")]
    text: Block = text_element(visible or approval_words.EMPTY_VALUE())
    short = len(visible) <= _ONE_LINE and "\n" not in visible
    if short and not is_exact:
        elements.append(text | {"style": {"code": True}})
    blocks: list[Block] = [rich("section", *elements)]
    if not short:
        blocks.append(rich("preformatted", text))
    return rich_text(*blocks)


def _readable_form(argument: Value) -> tuple[Block | None, bool]:
    """Return the readable form of a value, and whether it says as much as the value itself.

    Channels get their name, canvases a link with their title, times the reader's time zone. If the
    meaning of the argument is unknown, the same characters may be free text, so the form never
    replaces them.
    """
    kind, value = argument.kind, argument.text
    if argument.url:
        return {"type": "link", "url": argument.url, "text": argument.title}, True
    if channel := CHANNEL.fullmatch(value):
        return {"type": "channel", "channel_id": channel[1]}, kind == "channel"
    if when := _moment(value):
        whole = kind == "at" and _is_usual(when, value)
        if when.tzinfo is None:
            return text_element(day_and_time(when)), whole
        return local_time_element(int(when.timestamp())), whole
    if kind == "cron" and (sentence := often_of(value)) != value:
        return text_element(sentence), is_said_whole(value)
    return None, False


def _is_usual(when: datetime, value: str) -> bool:
    """Return whether a date and a time in minutes express the whole value, in the usual notation."""
    usual = {when.isoformat(timespec="minutes"), when.isoformat(timespec="seconds")}
    return value.replace("Z", "+00:00") in usual and when == when.replace(second=0, microsecond=0)


def _moment(value: str) -> datetime | None:
    """Parse a time within the range that Slack's clients can show; None otherwise."""
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    return when if 1970 < when.year < 9999 else None
