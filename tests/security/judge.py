"""What somebody in Slack could click, load or be called by, in what the bot sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

READER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_ADDRESS = re.compile(
    r"(?:https?:)?//\w[^\s<>|`)\]]+|\b[\w-]+(?:\.[\w-]+)*\.example\b[^\s<>|`)\]]*", re.I
)
_CODE = re.compile(r"```.*?```|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", re.DOTALL)
_ENTITY = re.compile(r"<([^<>|\n]+)(?:\|[^<>\n]*)?>")
_CALL = re.compile(
    r"<!(?:channel|here|everyone|subteam)|(?<![\w`])@(?:channel|here|everyone)\b", re.I
)
_ADDRESS_KEYS = ("url", "image_url", "title_url", "thumb_url", "external_url", "value_url")


def links(sent: Iterable[dict[str, Any]]) -> set[str]:
    """Every address that could be clicked or would be loaded."""
    return {link for kind, text in _texts(sent) for link in _READ[kind](text)}


def calls(sent: Iterable[dict[str, Any]]) -> set[str]:
    """Every piece of text that would call a channel together."""
    return {text for kind, text in _texts(sent) if kind != "address" and _CALL.search(text)}


def _texts(sent: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for arguments in sent:
        for key in ("text", "initial_comment", "status"):
            if isinstance(arguments.get(key), str):
                yield "mrkdwn", arguments[key]
        yield from _inside(arguments.get("blocks"))
        yield from _inside((arguments.get("view") or {}).get("blocks"))


def _inside(node: object) -> Iterator[tuple[str, str]]:
    if isinstance(node, list):
        for each in node:
            yield from _inside(each)
    if not isinstance(node, dict):
        return
    kind = node.get("type")
    if kind in ("mrkdwn", "markdown"):
        yield str(kind), node["text"]
    for key, value in node.items():
        if key in _ADDRESS_KEYS and isinstance(value, str):
            yield "address", value
        else:
            yield from _inside(value)


def _in_mrkdwn(text: str) -> set[str]:
    bare = _CODE.sub(" ", text)
    entities = {found for found in _ENTITY.findall(bare) if found[0] not in "@#!"}
    return entities | set(_ADDRESS.findall(_ENTITY.sub(" ", bare)))


def _in_markdown(text: str) -> set[str]:
    found: set[str] = set()
    for token in READER.parse(text):
        found |= set(_in_inline(token.children or []))
    return found


def _in_inline(children: list[Token]) -> Iterator[str]:
    depth, words = 0, ""
    for child in children:
        yield from (str(child.attrs[key]) for key in ("href", "src") if key in child.attrs)
        depth += (child.type == "link_open") - (child.type == "link_close")
        if child.type == "text" and not depth:
            words += child.content
        elif child.type in ("code_inline", "softbreak", "hardbreak"):
            words += "\n"
    yield from _ADDRESS.findall(words)


_READ: dict[str, Callable[[str], set[str]]] = {
    "mrkdwn": _in_mrkdwn,
    "markdown": _in_markdown,
    "address": lambda text: {text},
}
