"""What is to be done: what people took on, or asked of each other, with who and by when."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from ..doing.moments import DAYS, to_next
from ..figures.times import MONTHS, month_of
from ..texts.passages import cut
from ..words import STOP, has, sentences
from .said import Said

DUE = re.compile(
    rf",?\s+(?:(?:by|until|before|on|due)\s+)?(?P<when>today|tomorrow|(?:next )?(?:{'|'.join(DAYS)})|"
    r"\d{4}-\d\d-\d\d|\d{1,2}(?:st|nd|rd|th)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\W*$",
    re.IGNORECASE,
)
KNOWN_BY = (
    "what is to be done by “I will”, “we need to”, or a name with “please”, “will” or “should”"
)
NAMED = re.compile(r"(?P<day>\d{1,2})(?:st|nd|rd|th)? (?P<month>[a-z]{3})[a-z]*")
MINE = re.compile(
    r"\bI(?:['’]ll| will| can(?= (?!do (?:that|this|it)\b)[^?]*\b(?:by|until|before|on|today|tomorrow)\b)) (?P<task>\w.+)"
)
THEIRS = re.compile(
    r"@?\b(?P<who>[A-Z]\w+)(?: [A-Z]\w+)?(?:(?:,? please|,? can you|,? could you| will| should| must| has to| needs to) (?:please )?|"
    r"\s*(?P<list>:|->)\s*(?:please )?)(?P<task>\w.+)"
)
NOBODYS = re.compile(
    r"\b(?:we|somebody|someone) (?:need to|needs to|have to|has to|must) (?P<task>\w.+)|"
    r"^(?:please|todo:?) (?P<asked>\w.+)",
    re.IGNORECASE,
)
NEXT = re.compile(
    r"[,;] (?:and )?(?=I(?:['’]ll| will) |@?[A-Z]\w+ (?:will|should|must|has to|needs to|please) )"
)
"""Where one sentence goes on with what somebody else does."""
NO_NAME = re.compile(
    rf"(?:any|every|some|no)\w+|{'|'.join((*STOP, *DAYS, *MONTHS))}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Item:
    """Something to do. `due` is a date in ISO form where it is clear, else as it was said."""

    task: str
    owner: str | None
    due: str | None
    message: Said


def items_of(messages: Sequence[Said]) -> list[Item]:
    """What is to be done, as messages say; owners by their whole names where they wrote as well."""
    names = {name: name for each in messages for name in re.findall(r"@([A-Z]\w+)", each.text)}
    names |= {each.author.split()[0]: each.author for each in messages}
    return [item for message in messages for item in _of_message(message, names)]


def _of_message(message: Said, names: Mapping[str, str]) -> Iterator[Item]:
    before = ""
    for whole in sentences(message.text):
        for sentence in NEXT.split(whole):
            if item := _read(sentence, message, before, names):
                yield item
            before = sentence


def _read(sentence: str, message: Said, before: str, names: Mapping[str, str]) -> Item | None:
    """The item of a sentence, by the first form that fits."""
    if mine := MINE.search(sentence):
        return _item(mine["task"], message.author, message, before)
    theirs = THEIRS.search(sentence)
    is_name = theirs and (
        theirs["who"] in names if theirs["list"] else not NO_NAME.fullmatch(theirs["who"])
    )
    if theirs and is_name:  # "Contractors: no idea"
        return _item(theirs["task"], names.get(theirs["who"], theirs["who"]), message, before)
    nobodys = NOBODYS.search(sentence)
    if nobodys and not sentence.endswith("?"):
        return _item(nobodys["task"] or nobodys["asked"], None, message, before)
    return None


def _item(task: str, owner: str | None, message: Said, before: str) -> Item:
    due = DUE.search(task)
    bare = (task[: due.start()] if due else task).strip(" .,!?;:")
    if len(before.split()) > 2 and has(bare, r"it|this|that|them"):
        bare = f"{bare} ({before.strip(' .!')})"
    return Item(
        task=cut(bare[:1].upper() + bare[1:]),
        owner=owner,
        due=_day(due["when"], date.fromisoformat(message.at[:10])) if due else None,
        message=message,
    )


def _day(when: str, said_on: date) -> str:
    """The day that was meant, counted from when it was said."""
    name = when.lower().removeprefix("next ")
    if name in DAYS:
        return (said_on + to_next(name, said_on)).isoformat()
    if named := NAMED.fullmatch(name):
        return _next(int(named["day"]), month_of(named["month"]), said_on) or when
    ahead = {"today": 0, "tomorrow": 1}.get(name)
    return when if ahead is None else (said_on + timedelta(ahead)).isoformat()


def _next(day: int, month: int, said_on: date) -> str:
    """A day of this year, or of the next one where it has passed; "" where it has none."""
    year = said_on.year + ((month, day) < (said_on.month, said_on.day))
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def told(item: Item) -> str:
    """An item in a line: whose it is, what, by when, and who said so."""
    due = f", by {in_words(item.due)}" if item.due else ""
    by = "" if item.owner == item.message.author else f" (said by {item.message.author})"
    return f"**{item.owner or 'Nobody yet'}**: {item.task}{due}{by}"


def in_words(due: str) -> str:
    """A day as people write it; as it stands where it is no date."""
    try:
        day = date.fromisoformat(due)
    except ValueError:
        return due
    return f"{day:%A}, {day.day} {day:%B}"
