"""What is to be done: what people took on, or asked of each other, with who and by when."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from .moments import DAYS, to_next
from .passages import cut
from .said import Said
from .times import MONTHS
from .words import STOP, has, sentences

_SHORT = [month[:3] for month in MONTHS]
_MONTH = rf"(?:{'|'.join((*MONTHS, *_SHORT))})\b"
WHEN = (
    rf"today|tonight|tomorrow|(?:next )?(?:{'|'.join(DAYS)})|next week|end of (?:the )?(?:week|month)|"
    rf"\d{{1,2}}(?:th|st|nd|rd)? {_MONTH}|{_MONTH} \d{{1,2}}"
)
DUE = re.compile(
    rf"(?<!\s)\s*+,?\s*+\b(?:(?:by|until|before|on|due)\s+)?(?P<when>{WHEN}|\d{{4}}-\d\d-\d\d)\b",
    re.I,
)
DEADLINE = rf"\b(?:(?:by|until|before|due)\s+(?:{WHEN}|\d{{4}}-\d\d-\d\d)|tomorrow|tonight)\b"
NAME = r"@?\b(?P<who>[A-Z]\w+)(?: [A-Z]\w+)?"
MINE = re.compile(
    rf"(?:\b(?:I(?:['’]ll| will| am going to|['’]m going to)|let me) |^will (?!.*\?))(?P<task>(?!do\b)\w.+)|"
    rf"\bI (?!can|could|would|should|might|may|am|was|were|had|did|have|think|guess|hope|want|need|like|prefer|\w+ed\b)(?P<dated>[a-z]+ .*{DEADLINE}.*)",
    re.I,
)
ASSIGNED = re.compile(
    r"(?:^\W*(?i:todo|to-do|action(?: item)?|task)\W+@?(?P<who>[A-Z]\w+)(?: [A-Z]\w+)?|^@(?P<at>\w+)(?: [A-Z]\w+)?|^(?P<named>[A-Z]\w+)(?: [A-Z]\w+)?(?=\s*(?:->|→|:)))\s*(?:->|[:,→–-])\s*(?:please )?"
    r"(?!(?:can|could|will|would|do|does|did|is|are|what|when|who|how|why) )(?P<task>\w.+)",
)
THEIRS = re.compile(
    rf"{NAME}(?:,? (?:please|can you|could you|would you|don['’]t forget(?: to)?)| (?:will|has to|needs to|must|to)) (?:please )?(?P<task>.+)"
)
DUTY = re.compile(r"\b(?P<who>[a-z]+) (?:has to|have to|needs to|need to) (?P<task>.+)")
"""Said of a team, as "legal has to check"."""
NOBODYS = re.compile(
    r"(?:(?<!most )(?<!least )(?<!all )\b(?:somebody|someone|we) (?:needs? to|must|ha(?:s|ve) to)|^(?:please|todo:?|action:|don['’]t forget(?: to)?)) "
    r"(?P<task>.+)",
    re.I,
)
DATED = re.compile(
    rf"^@?(?P<who>[A-Z]\w+)(?: [A-Z]\w+)? (?P<task>(?!is\b|was\b|has\b|does\b)[a-z]+s\b.*(?i:{DEADLINE}).*)"
)
""" "Chloe books the hotel by Friday"."""
NEXT = re.compile(
    r"(?:[,;]\s*(?:and |but )?|\s+and )"
    r"(?=I(?:['’]ll| will| am going to|['’]m going to) |@?[A-Z]\w+(?: [A-Z]\w+)? (?:will|has to|needs to|must|please|can you|could you|would you) |"
    r"(?:who|what|when|where|which|how)\b)"
)
"""Where one sentence goes on with what somebody else does, or asks."""
TALK_OF_IT = r"decide|talk about|discuss|think about|agree|know|see"
"""What is no task: it is being done."""
_NO_NAMES = "we it that this they he she you there what who i nobody everybody people yes no ok okay thanks but and so also action actions item items note notes todo date subject attendees decision proposal question answer"
NO_NAMES = STOP | frozenset(_NO_NAMES.split())


@dataclass(frozen=True, slots=True)
class Item:
    """Something to do. `due` is a date in ISO form where it is clear, else as it was said."""

    task: str
    owner: str | None
    due: str | None
    message: Said


def items_of(messages: Sequence[Said]) -> list[Item]:
    """What is to be done, as messages say; whoever wrote as well is named in full."""
    named = {name: name for each in messages for name in re.findall(r"@([A-Z]\w+)", each.text)}
    names = named | {each.author.split()[0]: each.author for each in messages}
    items = [item for message in messages for item in _of_message(message, names)]
    return [replace(item, owner=names.get(item.owner or "", item.owner)) for item in items]


def _of_message(message: Said, names: Container[str]) -> Iterator[Item]:
    before = ""
    for whole in sentences(message.text):
        for sentence in () if whole.endswith(":") else NEXT.split(whole):  # a heading
            if item := _read(sentence, message, before, names):
                yield item
            before = sentence


def _read(sentence: str, message: Said, before: str, names: Container[str]) -> Item | None:
    """The item of a sentence, by the first form that fits."""
    assigned = ASSIGNED.search(sentence)
    if assigned and _is_to_somebody(assigned, names):
        who = assigned["who"] or assigned["at"] or assigned["named"]
        return _item(assigned["task"], who, message, before)
    if mine := MINE.search(sentence):
        return _item(mine["task"] or mine["dated"], message.author, message, before)
    for form in (THEIRS, DUTY, DATED):
        theirs = form.search(sentence)
        known = form is not DATED or (theirs and (theirs["who"] in names or theirs[0][0] == "@"))
        if theirs and known and theirs["who"].lower() not in NO_NAMES:
            return _item(theirs["task"], theirs["who"], message, before)
    nobodys = NOBODYS.search(sentence)
    if nobodys and not sentence.endswith("?") and not re.match(TALK_OF_IT, nobodys["task"]):
        return _item(nobodys["task"], None, message, before)
    return None


def _is_to_somebody(assigned: re.Match[str], names: Container[str]) -> bool:
    """Whether what stands before a colon is a person: "Ben: draft the contract", not "Note: …"."""
    return not assigned["named"] or assigned["named"] in names or ">" in assigned[0]


PART_OF_DAY = r"^\s+(?:morning|noon|afternoon|evening|night)\b"


def _item(task: str, owner: str | None, message: Said, before: str) -> Item:
    due = DUE.search(task)
    # Within the words it stays, as they would make no sense without.
    ends = due and not re.sub(PART_OF_DAY, "", task[due.end() :]).strip(" .,!?;:")
    bare = (task[: due.start()] if due and ends else task).strip(" .,!?;:")
    if len(before.split()) > 2 and has(bare, r"it|this|that|them"):
        bare = f"{bare} ({before.strip(' .!')})"
    return Item(
        task=cut(bare[:1].upper() + bare[1:]),
        owner=owner and owner[:1].upper() + owner[1:],
        due=_day(due["when"].lower(), message.at) if due else None,
        message=message,
    )


def _day(when: str, said_at: str) -> str:
    """The day that was meant, as a date, counted from when it was said."""
    day = date.fromisoformat(said_at[:10])
    if when in ("today", "tonight"):
        return day.isoformat()
    if when == "tomorrow":
        return (day + timedelta(days=1)).isoformat()
    name = when.removeprefix("next ")
    if name in DAYS:
        return (day + to_next(name, day)).isoformat()
    return _of_calendar(when, day)


def _of_calendar(when: str, after: date) -> str:
    """ "15 December" or "dec 15th" as the next such day."""
    number, month = re.search(r"\d+", when), re.search(_MONTH, when, re.IGNORECASE)
    if "-" in when or not (number and month):
        return when
    try:
        named = date(after.year, _SHORT.index(month[0][:3]) + 1, int(number[0]))
    except ValueError:
        return when
    return (named if named >= after else named + timedelta(days=365)).isoformat()


def told(item: Item) -> str:
    """An item in a line: whose it is, what, by when, and who said so."""
    due = f", by {in_words(item.due)}" if item.due else ""
    by = "" if item.owner == item.message.author else f" ({item.message.author})"
    return f"**{item.owner or 'Nobody yet'}**: {item.task}{due}{by}"


def in_words(due: str) -> str:
    """A day as people write it; as it stands where it is no date."""
    try:
        day = date.fromisoformat(due)
    except ValueError:
        return due
    return f"{day:%A}, {day.day} {day:%B}"
