"""Messages that people wrote, as the tools that read threads and channels show them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

LINE = re.compile(
    r"^\[(?P<at>\d{4}-\d\d-\d\d[^\]]*)\] (?P<author>[^:\n]{1,80}): "
    r"(?P<text>.*(?:\n(?!\[\d{4}-).*)*)",
    re.M,
)
LINK = re.compile(r"\s*\(link: (?P<url>[^)\s]+)\)")
EXTRAS = re.compile(r"\s*\((?:files: [^)]*|(?P<replies>\d+) replies)\)")
READ = re.compile(r"\A[\d,]+ messages?\b")
MARKED = re.compile(r"(?<![\w*_~`])([*_~`])(?=\S)([^*_~`\n]*\S)?\1(?![\w*_~`])")
QUOTE = re.compile(r"^> ?", re.M)
BOT = re.compile(r"(?:.*\W)?bot", re.IGNORECASE)
TO_BOT = re.compile(r"@(?:\w+ )?\w*bot\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """One message."""

    author: str
    at: str
    text: str
    url: str | None
    is_answered: bool = False
    """Whether it has replies that are not among the messages that were read."""

    @property
    def is_of_bot(self) -> bool:
        """Whether no person wrote it."""
        return bool(BOT.fullmatch(self.author))

    @property
    def is_to_bot(self) -> bool:
        """Whether it begins with a mention of the bot."""
        return bool(TO_BOT.match(self.text))

    @property
    def to_bot(self) -> str:
        """The text without the mention of the bot that it begins with."""
        return TO_BOT.sub("", self.text, count=1).strip(" ,:") if self.is_to_bot else self.text

    def repeats(self, text: str) -> bool:
        """Whether it is that text, or holds it, wherever its lines end."""
        return " ".join(_plain(text).split()) in " ".join(self.text.split())


def was_read(output: str) -> bool:
    """Whether a thread or a channel could be read, be it that nobody wrote there."""
    return bool(READ.match(output))


def of_days(messages: list[Said], days: str, today: str) -> list[Said]:
    """Those of "today", "yesterday", "this week" or "last week"."""
    day = date.fromisoformat(today)
    monday = day - timedelta(day.weekday())
    start, end = {
        "today": (day, day),
        "yesterday": (day - timedelta(1), day - timedelta(1)),
        "this week": (monday, day),
        "last week": (monday - timedelta(7), monday - timedelta(1)),
    }[days.lower()]
    return [each for each in messages if str(start) <= each.at[:10] <= str(end)]


def messages_of(output: str) -> list[Said]:
    """The messages that read_thread or read_channel gave."""
    return [_said(line) for line in LINE.finditer(output)]


def _said(line: re.Match[str]) -> Said:
    link = LINK.search(line["text"])
    text = _plain(EXTRAS.sub("", LINK.sub("", line["text"])).strip())
    alone = 1 if TO_BOT.match(text) else 0  # the bot's own reply
    counts = (int(extra["replies"] or 0) for extra in EXTRAS.finditer(line["text"]))
    replied = max(counts, default=0) > alone
    return Said(line["author"].strip(), line["at"], text, link["url"] if link else None, replied)


def _plain(text: str) -> str:
    """The text without Slack's marks, which a part of it would have by halves."""
    return QUOTE.sub("", MARKED.sub(r"\2", text))
