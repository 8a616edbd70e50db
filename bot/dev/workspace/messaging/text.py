"""Typed text in Slack's notation: escaped, and as a rich_text block."""

import re

from bot.dev.workspace.store.state import Json

# <@U123>, <#C123|name>, <!here>, <https://…|label>: the only angle brackets that Slack does not escape.
TOKEN = re.compile(r"<(?:@[UW][A-Z0-9]+|#[CGD][A-Z0-9]+|![a-z]+|https?://|mailto:)[^<>]*>")


def escape(text: str) -> str:
    """Return the text with `& < >` as entities, except in mentions and links."""
    pieces, end = [], 0
    for match in TOKEN.finditer(text):
        pieces += [_entities(text[end : match.start()]), match.group()]
        end = match.end()
    return "".join([*pieces, _entities(text[end:])])


def mentions(text: str, user: str) -> bool:
    """Whether the text mentions this user."""
    return f"<@{user}>" in text or f"<@{user}|" in text


def rich_text(text: str, block_id: str) -> list[Json]:
    """Return the block that Slack's composer makes of typed text."""
    if not text:
        return []
    elements: list[Json] = []
    end = 0
    for match in TOKEN.finditer(text):
        elements += [*_plain(text[end : match.start()]), _element(match.group())]
        end = match.end()
    elements += _plain(text[end:])
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": block_id, "elements": [section]}]


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(text: str) -> list[Json]:
    return [{"type": "text", "text": text}] if text else []


def _element(token: str) -> Json:
    target, _, label = token[1:-1].partition("|")
    if target.startswith("@"):
        return {"type": "user", "user_id": target[1:]}
    if target.startswith("#"):
        return {"type": "channel", "channel_id": target[1:]}
    if target.startswith("!"):
        return {"type": "broadcast", "range": target[1:]}
    return {"type": "link", "url": target} | ({"text": label} if label else {})


def has_words(text: str, query: str) -> bool:
    """Whether every word of the query begins a word of the text.

    "lease" matches "leases", but not "please".
    """
    lowered = text.casefold()
    return all(
        re.search(rf"(?<!\w){re.escape(word)}", lowered) for word in query.casefold().split()
    )
