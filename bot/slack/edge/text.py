"""Text that people typed, made safe and readable: cleaned, with Slack's markup decoded."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping

from bot.text.invisible_text import readable
from bot.text.mentions import Mention

MAX_QUESTION = 40_000
"""Maximum characters of a question for the model, the limit of a Slack message."""

_MOST_NAMES = 30
"""Maximum names to look up: each may take a call, and Slack allows about a hundred a minute."""

NameOf = Callable[[str], Awaitable[str]]
"""Returns the display name of a user or a channel, by its id."""

_ENTITY = re.compile(r"<([^<>\n]{1,4000})>")
_MENTION = re.compile(r"<(?:@([UW][A-Z0-9]+)|#([CG][A-Z0-9]+)(?:\|[^<>\n]*)?)>")


def clean(text: str) -> str:
    """Return `text` in NFC, without invisible, direction-changing and unencodable characters."""
    return readable(text).strip()


def one_line(text: str, limit: int = 200) -> str:
    """Return `text` cleaned, on one line, and shortened to `limit` characters."""
    flat = " ".join(clean(text[: 10 * limit]).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def cap(text: str, limit: int = MAX_QUESTION) -> str:
    """Return `text`, cut to `limit` characters with a note for the model about the rest."""
    if len(text) <= limit:
        return text
    missing = len(text) - limit
    return (
        f"{text[:limit]}\n\n[The message was {len(text):,} characters long; its last {missing:,} "
        "were cut off. If they matter, ask for the text as an attached file.]"
    )


def without_mention(text: str, bot: str) -> str:
    """Return `text` without mentions of the bot itself."""
    return re.sub(rf"<@{re.escape(bot)}(\|[^>]*)?>[ \t]?", "", text)


def mentions(text: str, user: str) -> bool:
    """Return whether `text` mentions `user`."""
    return re.search(rf"<@{re.escape(user)}(\|[^>]*)?>", text) is not None


async def decode(text: str, name_of: NameOf) -> str:
    """Return Slack's markup as a person reads it.

    `<@U1>` becomes @Ada, `<#C1|general>` #general, `&lt;` <, and a link its text and its address.
    Only the first 30 ids are named.
    """
    found = list(_ENTITY.finditer(text))
    unnamed = (each[1].removesuffix("|") for each in found if each[1][0] in "@#")
    ids = dict.fromkeys(each[1:] for each in unnamed if "|" not in each)
    names = {each: await name_of(each) for each in list(ids)[:_MOST_NAMES]}
    decoded, last = [], 0
    for entity in found:
        decoded += [unescape(text[last : entity.start()]), _entity(entity[1], names)]
        last = entity.end()
    return "".join([*decoded, unescape(text[last:])])


def _entity(inside: str, names: Mapping[str, str]) -> str:
    target, _, label = inside.partition("|")
    label = unescape(label)
    if target.startswith(("@", "#")):
        return f"{target[0]}{label or names.get(target[1:], target[1:])}"
    if target.startswith("!"):
        return _special(target[1:], label)
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", target):
        return f"<{unescape(inside)}>"  # not Slack's markup: the author's own angle brackets
    url = unescape(target)
    if not label or label in (url, url.partition(":")[2], url.partition("://")[2]):
        return url.removeprefix("mailto:")
    return f"{label} ({url})"


def _special(command: str, label: str) -> str:
    name = label or command.partition("^")[0]
    return name if command.startswith("date^") else f"@{name.removeprefix('@')}"


def unescape(text: str) -> str:
    """Return `text` without mrkdwn's escapes of &, < and >."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


async def mentions_from(text: str, *, bot: str, name_of: NameOf) -> tuple[Mention, ...]:
    """Return the people and channels that a message mentions, except the bot.

    Each is named as `question_from` shows it. Angle brackets that the author typed are escaped by
    Slack, and are not mentions; neither is a person's id with a name given in the message.
    """
    written = _MENTION.finditer(without_mention(clean(text), bot))
    ids = {entity[0]: entity[1] or entity[2] for entity in written}
    return tuple(
        [
            Mention(id=id_, shown=clean(await decode(written, name_of)))
            for written, id_ in list(ids.items())[:_MOST_NAMES]
        ]
    )


async def question_from(text: str, *, bot: str, name_of: NameOf) -> str:
    """Return the question in a message: cleaned, decoded, capped, without the bot's mention."""
    return cap(clean(await decode(without_mention(clean(text), bot), name_of)))
