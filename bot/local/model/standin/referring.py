"""What “it”, “its” and “they” mean in a question about figures: whom the answer before was about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from .asking import LEANS, PEOPLE, SHARE, THEM, is_descending, limit_of
from .conversation import COMPLETE, Turn
from .filters import Filter
from .moments import absolute
from .times import MONTHS, month_of
from .view import View
from .words import listed, stems

ONE = re.compile(
    r"\b(?:(?P<whose>its|his|her(?= \w))|it|he|she|him|(?:that|this) (?:one|customer|product|region|person|item|team))\b",
    re.IGNORECASE,
)
SEVERAL = re.compile(r"\b(?:(?P<whose>their)|they|them|those|these)\b", re.IGNORECASE)
OF_THE_ANSWER = re.compile(
    rf"\b(?:{LEANS}|{SHARE}|{THEM}|\w+ (?:it|them|these|those)(?= (?:by|as|in|into|to|with|out|down|up)\b|\W*$)|"
    r"how (?:did|does|has|have|do) (?:it|they) \w+|(?:does|did) it (?:take|mean)|is it(?= (?:true|right|possible)\b))",
    re.IGNORECASE,
)
"""Where they stand for the answer itself, or for nothing."""
EACH = re.compile(
    r"\b(?:do|does|did|has|have) each(?: of (?:them|these|those))?(?: (?:has|have|make))?\b|\beach(?=\W*\Z)",
    re.IGNORECASE,
)
PART = re.compile(r"\b(?:all|whole|rest|most|part|some) of \Z", re.IGNORECASE)
OF_SOME = re.compile(r"\b(?:all|rest|most|part|each|none|some|which|how many) of \Z", re.IGNORECASE)
OBJECT = re.compile(
    r"\b(?:of|for|from|by|to|about|with|at|on|than|(?<!what is )(?<!what's )(?<!whats )in) \w+\W*\Z",
    re.IGNORECASE,
)
LEADS = re.compile(r"\A\*\*(?P<name>[^*]+)\*\* (?:(?P<rank>has the)|makes up)\b")
FOR = re.compile(
    r"\A(?:The|(?P<counts>There (?:is|are)|Here are)) [^*]*?(?:\*\*[^*]+\*\* [^*]*?)?\bfor (?P<name>[^*]+?)"
    r"(?= (?:in|on|from|to|after|before|with|without|for|whose|is|are|per|went|\w+ed in)\b|[.,])"
)
EARLIER = re.compile(
    r"\A\W*(?:(?:and|or|what about|how about|in|for)\s+)*the (?:(?P<unit>month|year) before|previous (?P<of>month|year))(?=\W*\Z)",
    re.IGNORECASE,
)
MONTH = re.compile(rf"\b({'|'.join(MONTHS)}) (20\d\d)\b", re.IGNORECASE)
DECLINED = re.compile(r"(?:To my|My) rules\b|The question before was not answered")
MOST = 10


def name_all(view: View) -> None:
    """Put names for the pronouns of each question of the conversation, where the answer before has
    one; what is left is told by `left`."""
    turns = view.turns
    for place, turn in enumerate(turns[1:], 1):
        turn.text = _earlier(named(turn.text, turns[:place]), turns[:place])


def named(text: str, turns: Sequence[Turn]) -> str:
    """The question with the name that was told for “it”, and the names for “they”."""
    before = turns[-1]
    said = _answer(before)
    name, counts = _told(said.get("summary") or "", ranked=is_descending(before.text) is not None)
    first = _first(turns, said)
    text = (
        EACH.sub(f"by {said['table']['columns'][0]} for {listed(first)}", text) if first else text
    )
    text = _put(text, ONE, name, but=PART)
    if first:
        return _put(text, SEVERAL, listed(first), but=PART)
    people = {*stems(((said.get("table") or {}).get("columns") or ["person"])[0])} & PEOPLE
    return _put(text, SEVERAL, name if people and not counts else "", but=OF_SOME)


def no_longer(view: View, filters: Sequence[Filter]) -> str:
    """Whom alone the answer before was about, where this question is of all; else ""."""
    told = (_answer(turn).get("summary") or "" for turn in reversed(view.turns[:-1]))
    found = FOR.match(next((each for each in told if not DECLINED.match(each)), ""))
    name = found["name"] if found else ""
    of_others = any(":" not in (each.column or "") for each in filters)
    return "" if of_others or name.lower() in view.text.lower() else name


def left(text: str, *, several: bool) -> str:
    """The first pronoun that has no name; "" if none. One of `several` may go on with all that was told."""
    patterns = (ONE, EACH) if several else (ONE, SEVERAL, EACH)
    found = (match for pattern in patterns for match in _pronouns(text, pattern, OF_SOME))
    return next((match[0] for match in found), "")


def _earlier(text: str, turns: Sequence[Turn]) -> str:
    """The question with "the month before" as the one before the last that was named."""
    said = EARLIER.search(text)
    for turn in reversed(turns if said else ()):
        asked = absolute(turn.text, turn.day)
        months, years = MONTH.findall(asked), re.findall(r"\b20\d\d\b", asked)
        if said and len(months) == 1 and (said["unit"] or said["of"]).lower() == "month":
            name, year = months[0]
            before = date(int(year), month_of(name), 1) - timedelta(1)
            return f"and in {before:%B %Y}?"
        if said and len(years) == 1 and (said["unit"] or said["of"]).lower() == "year":
            return f"and in {int(years[0]) - 1}?"
        if months or years:
            break
    return text


def _put(text: str, pattern: re.Pattern[str], name: str, *, but: re.Pattern[str]) -> str:
    """“its price” becomes “the price for Kettle”."""
    for found in reversed(_pronouns(text, pattern, but) if name else []):
        before, after = text[: found.start()], text[found.end() :]
        if found["whose"]:
            end = re.search(r"\W*\Z", after)
            at = end.start() if end else len(after)
            text = f"{before}the{after[:at]} for {name}{after[at:]}"
        else:
            text = f"{before}{name}{after}"
    return text


def _pronouns(text: str, pattern: re.Pattern[str], but: re.Pattern[str]) -> list[re.Match[str]]:
    """Where the text has them, if they do not stand for the answer itself, or behind `but` "all of"."""
    spans = [found.span() for found in OF_THE_ANSWER.finditer(text)]
    return [
        found
        for found in pattern.finditer(text)
        if not but.search(text[: found.start()])
        and (
            not any(start <= found.start() < end for start, end in spans)
            or OBJECT.search(text[: found.end()])
        )
    ]


def _answer(turn: Turn) -> dict[str, Any]:
    steps = (step for step in reversed(turn.steps) if step.tool == COMPLETE)
    return next((step.arguments for step in steps), {})


def _told(summary: str, *, ranked: bool) -> tuple[str, bool]:
    """The one name that an answer leads with because its question `ranked` them, or that its figure
    is for; whether that counts things, which are "they"."""
    found = LEADS.match(summary) or FOR.match(summary)
    if found is None or re.search(r",| and ", found["name"]):
        return "", False
    if found.groupdict().get("rank") and not ranked:
        return "", False
    return found["name"], bool(found.groupdict().get("counts"))


def _first(turns: Sequence[Turn], said: dict[str, Any]) -> list[str]:
    """The names in the table of a question for the first few, or of one that goes on with it."""
    limit = next((limit for turn in reversed(turns) if (limit := limit_of(turn.text))), 0)
    rows = (said.get("table") or {}).get("rows") or []
    return [row[0] for row in rows] if 1 < limit <= MOST and len(rows) == limit else []
