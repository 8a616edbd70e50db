"""What people read of messages and forms: their words and buttons, as text."""

from __future__ import annotations

import html
import re
from typing import Any

_UNREAD = {
    *(
        "type",
        "value",
        "action_id",
        "block_id",
        "style",
        "url",
        "image_url",
        "slack_file",
        "metadata",
    ),
    *(
        "callback_id",
        "private_metadata",
        "id",
        "hash",
        "external_id",
        "app_id",
        "bot_id",
        "team_id",
    ),
    *("confirm", "task_id", "status", "initial_options", "icon_url", "accessibility_label"),
}
_ENTITY = re.compile(r"<([^<>|\n]+)(?:\|([^<>\n]*))?>")
_IDS = (
    (
        re.compile(r"\b(tbl|doc|img|chart|file|out|mcp|art|fig|sched|run|mem)_[0-9a-z]{6,}\b"),
        r"\1_…",
    ),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{32,}\b"), "…"),
    (re.compile(r"\b[FQ][0-9][0-9A-Z]{7,}\b"), "F…"),
    (re.compile(r"\bp?\d{10}(?:\.\d{6}|\d{6})?\b"), "…"),
    (re.compile(r"127\.0\.0\.1:\d+"), "…"),
    (re.compile(r"\[(data|end of data) \w+\]"), r"[\1 …]"),
    (re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[+-]\d\d:\d\d)?)?"), "DATE"),
    (re.compile(r"\b\d+(?:\.\d+)? s\b|< ?1 s\b"), "… s"),
)


def words_of(node: Any, names: dict[str, str]) -> str:
    """Return the words in blocks or a view, buttons in brackets, people by their names."""
    return re.sub(r"\n{2,}", "\n", html.unescape(_words(node, names))).strip()


def _words(node: Any, names: dict[str, str]) -> str:
    match node:
        case str():
            return _ENTITY.sub(lambda match: _entity(match, names), node)
        case list():
            return "\n".join(filter(None, (_words(item, names) for item in node)))
        case {"type": "user", "user_id": str(user)}:
            return f"@{names.get(user, user)}"
        case {"type": "link"}:
            return str(node.get("text") or node["url"])
        case {"type": "date"}:
            return str(node.get("fallback") or "DATE")
        case {"type": "emoji", "name": str(name)}:
            return f":{name}:"
        case {
            "type": "rich_text_section" | "rich_text_preformatted" | "rich_text_quote",
            "elements": list(inline),
        }:
            return "".join(_words(item, names) for item in inline)
        case {"type": "table" | "data_table", "rows": list(rows)}:
            lines = [" | ".join(_words(cell, names) for cell in row) for row in rows]
            return "\n".join([str(node.get("caption") or ""), *lines])
        case {"type": "button" | "workflow_button", "text": label}:
            return f"[{_words(label, names)}]"
        case dict():
            parts = (_words(node[key], names) for key in node if key not in _UNREAD)
            return "\n".join(filter(None, parts))
        case _:
            return ""


def _entity(match: re.Match[str], names: dict[str, str]) -> str:
    inside, label = match.groups()
    if inside.startswith("@"):
        return f"@{names.get(inside[1:], inside[1:])}"
    return label or inside


def masked(text: str) -> str:
    """Return `text` without ids, addresses, dates and durations, which differ each time."""
    for pattern, instead in _IDS:
        text = pattern.sub(instead, text)
    return text
