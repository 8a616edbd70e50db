"""Typed text with names turned into Slack's mentions, and back."""

import re
from collections.abc import Mapping
from html import unescape

_URL = re.compile(r"(?<![<|])\bhttps?://[^\s<>]+[^\s<>.,;:!?)'\"]")
_TOKEN = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")


def as_slack_text(typed: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Return the text as Slack's composer sends it; `people` and `channels` are name → id.

    "@Ada Lovelace" becomes `<@U…>`, "#general" `<#C…>`, "@here" `<!here>`, a URL `<https://…>`.
    Everything else, `& < >` included, stays as typed: the workspace escapes it.
    """
    pieces, end = [], 0
    for url in _URL.finditer(typed):
        pieces += [_with_mentions(typed[end : url.start()], people, channels), f"<{url[0]}>"]
        end = url.end()
    return "".join([*pieces, _with_mentions(typed[end:], people, channels)])


def as_typed(text: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Return a person's message as they typed it, for editing; the mappings are id → name."""

    def typed(token: re.Match[str]) -> str:
        mark, target, label = token.groups()
        names = {"@": people, "#": channels}.get(mark)
        if names is not None:
            return f"{mark}{names.get(target, label or target)}"
        return f"@{target}" if mark else target

    return unescape(_TOKEN.sub(typed, text))


def _with_mentions(text: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    text = _replace_names("@", people, "<@{}>", text)
    text = _replace_names("#", channels, "<#{}>", text)
    return re.sub(r"(?<!\S)@(here|channel|everyone)\b", r"<!\1>", text)


def _replace_names(mark: str, ids: Mapping[str, str], shape: str, text: str) -> str:
    by_name = {name.casefold(): id_ for name, id_ in ids.items() if name}
    if not by_name:
        return text
    longest_first = sorted(by_name, key=len, reverse=True)
    names = "|".join(re.escape(name) for name in longest_first)
    pattern = re.compile(rf"(?<![\w<]){mark}({names})(?![\w-])", re.IGNORECASE)
    return pattern.sub(lambda m: shape.format(by_name[m[1].casefold()]), text)
