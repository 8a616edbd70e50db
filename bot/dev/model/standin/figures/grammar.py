"""The sentences that are understood: how a question begins, and what may follow; all of it or nothing.

A sentence is a head ("total revenue", "which region sold most") and modifiers ("by month", "in May", "as a
chart"). Each takes whole words; a word that none takes makes the sentence one that is not understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..outputs import Table
from ..words import STOP
from .columns import columns_named, date_column
from .heads import HEADS
from .modifiers import FILES, KINDS, MODIFIERS
from .names import Named, name_all
from .patterns import HIGH, LOW, Scan
from .query import Query

LEAD = re.compile(
    r"(?:(?:please|hi|hello|hey|ok|okay|so|can|could|would|you|i|need|want|to|like|know|thanks|great|,) )*"
    r"(?P<leans>(?:(?:and|what about|how about|but|now|then|same|the same|instead|actually|no|sorry|i meant?|also|only|,) )*)"
    r"(?:(?:please|can|could|would|you) )*"
)
DRAWS = re.compile(
    r"(?:(?:plot|chart|draw|graph|visuali[sz]e)(?: me)? (?!it |this |that |these |them |the result|the table)|"
    r"(?:(?:show|make|create|draw|give|plot)(?: me)? )?(?:a |an |the )?(?P<kind>(?:bar|line|pie|area|column) )?(?:chart|graph|plot|diagram) (?:of|for|with|showing) (?!it |this |that ))"
)
"""What stands before a question of which a chart is to be drawn."""
_KINDS = r"(?:csv|excel|xlsx|spreadsheet|pdf|word|docx)"
SAVES = re.compile(
    rf"(?:export|download|save|share|send me|give me) (?=.*\b(?:as|to|in|into) (?:a |an )?{_KINDS}\b)|"
    rf"(?:make|create|write|generate|give|send)(?: me)? (?:a |an )?(?P<file>{_KINDS}) (?:report |file |document )?(?:of|with|from|for|on) "
)
"""What stands before a question the answer to which is to be a file."""
LEANS = re.compile(r"(?:and|what about|how about|but|same|instead|actually|no|i meant?|only)\b")
"""What says that a question changes the one before."""
WHICH = re.compile(
    rf"(?:and )?(?:which|what) <[a-z]*g[a-z]*\d+> (?:has|have|had|is|are|was|were) (?:the )?(?:{HIGH}|{LOW}) \Z"
)
"""What asks for the first of what was told: "which team has the most?"."""
VOCABULARY = (
    frozenset(
        word for known, _ in (*HEADS, *MODIFIERS) for word in re.findall(r"[a-z,]+", known.pattern)
    )
    | STOP
    | {"database"}
)
"""The words that some sentence has."""


@dataclass(frozen=True)
class Sentence:
    """A question as it was understood: what it asks, whether it changes the question before, and the
    words that nothing took."""

    query: Query
    leans: bool
    lost: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Those of them that mean nothing to the grammar or the table."""
    noun: bool = False
    """Whether it speaks of the table's own rows by their name."""
    named: bool = False
    """Whether it names anything that is in the table."""
    headed: bool = False
    """Whether it says by itself what it asks for."""
    twofold: tuple[str, ...] = ()
    """Words that are a value and name another date as well: "closed"."""

    def within(self, query: Query) -> Sentence:
        """The same as a part of what is asked: of a month, that in which it was "closed" may be meant."""
        of_a_time = query.period or any(each.dated and not each.named for each in query.filters)
        lost = dict.fromkeys((*self.lost, *self.twofold))
        return replace(self, lost=tuple(lost)) if of_a_time else self


def understand(text: str, table: Table, day: str) -> Sentence:
    """What a question asks of this table, on that day (ISO; "" when it is not known)."""
    named = name_all(text, table, day)
    lead = LEAD.match(named.text)
    leads = bool(lead and LEANS.search(lead["leans"]))
    rest = named.text[lead.end() :] if lead else named.text
    if saves := SAVES.match(rest):
        rest = rest[saves.end() :]
    if draws := DRAWS.match(rest):
        rest = rest[draws.end() :]
    found = _best(rest, named, table, leans=leads or WHICH.match(rest) is not None)
    if saves and saves["file"]:
        kind = saves["file"]
        found = replace(found, query=replace(found.query, file=FILES.get(kind, kind)))
    if draws and not found.query.chart:
        kind = (draws["kind"] or "auto").strip()
        found = replace(found, query=replace(found.query, chart=KINDS.get(kind, kind)))
    return found


def _best(rest: str, named: Named, table: Table, *, leans: bool) -> Sentence:
    """The head that leaves the fewest words; without one it is what changes the question before."""
    best: Sentence | None = None
    for head, build in HEADS:
        if match := head.match(rest):
            started = build(Scan(match, named, table))
            if started is None:
                continue
            found = _modified(started, rest[match.end() :], named, table, leans=leans)
            found = replace(found, headed=True)
            if not found.lost:
                return found
            best = found if best is None or len(found.lost) < len(best.lost) else best
    plain = _modified(Query(), rest, named, table, leans=True)
    plain = replace(plain, leans=leans or not plain.lost)
    return plain if best is None or len(plain.lost) < len(best.lost) else best


def _modified(query: Query, rest: str, named: Named, table: Table, *, leans: bool) -> Sentence:
    """The query with what follows its head."""
    lost: list[str] = []
    unknown: list[str] = []
    while rest:
        for modifier, modify in MODIFIERS:
            match = modifier.match(rest)
            if match and match.end() and (found := modify(Scan(match, named, table), query)):
                query, rest = found, rest[match.end() :]
                break
        else:
            word, _, rest = rest.partition(" ")
            lost.append(named.spelled(word))
            is_known = word in VOCABULARY or word[0] == "<" or any(columns_named(word, table))
            unknown += [] if is_known else [named.spelled(word)]
    both = (each for each in named.names if each.value and each.date)
    noun = any(name.noun for name in named.names)
    known = any(name.letters.strip("tpx") for name in named.names)
    return Sentence(
        _settled(query),
        leans,
        tuple(lost),
        tuple(unknown),
        noun,
        known,
        twofold=tuple(each.said for each in both if each.date != date_column(table)),
    ).within(query)


def _settled(query: Query) -> Query:
    """Rows that are told by something are counted; bounds of what is told by something are its own."""
    if query.listing and query.told_by and not query.sort:
        query = replace(query, listing=False, aggregate=query.aggregate or "count")
    if query.told_by and not query.listing and query.aggregate != "count":
        own = tuple(
            each
            for each in query.filters
            if each.operator in (">", ">=", "<", "<=") and each.column == query.measure
        )
        kept = tuple(each for each in query.filters if each not in own)
        query = replace(query, filters=kept, having=(*query.having, *own))
    return query
