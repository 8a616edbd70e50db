"""What a question about data says that no rule takes up: better said than left out in silence."""

from __future__ import annotations

import re
from dataclasses import replace

from . import asking
from .columns import (
    MONEY,
    columns_named,
    date_column,
    default_measure,
    has_row_for_each,
    identifies,
    one_word,
    with_columns_in_one_word,
)
from .conditions import COMPARISONS, STATES
from .findings import Findings
from .outputs import Table, sheet_of
from .query import Query, understand
from .times import MONTHS, OF_A_WEEK, WEEKS, mentions
from .words import STOP, has, listed, stem, stems, tokens

_WHEN = (
    r"(?:before|after) (?:that|this|then)|(?:the )?(?:day|week|month|quarter|year) (?:before|after)(?! \w)|weekends?|weekdays?|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mornings?|holidays?|"
    r"(?:last|past|next) (?:week|quarter|\d+ (?:days|weeks|months))|year[- ]to[- ]date|ytd|"
    r"(?:first|second|third|fourth|last) (?:week|weekend|days?|half) (?:of|in) \w+|(?:that|the same) (?:day|week|month|quarter|year)|weeks? \d+"
)
WHEN = re.compile(rf"\b(?:{_WHEN})\b", re.IGNORECASE)
"""Times that the rules have no words for: without them figures would be those of another time."""
TIMES = re.compile(
    rf"\b(?:{_WHEN}|(?:the )?next (?:\d+ )?(?:rows|ones|page)|"
    r"(?:top|bottom|best|worst) \d+(?= ?(?:%|percent))|(?:top|bottom|best|worst) (?:\d+ )?\w+ (?:(?:in|for|of) each|per) \w+|(?:best|worst|most|least|highest|lowest) (?:\w+ )?in each \w+|"
    r"(?:second|third|2nd|3rd|next|fourth) (?:best|worst|highest|lowest|biggest|largest|smallest)|how many (?:days|weeks|months|quarters|years)|per unit|he|she|his|her|(?:that|this|those|these) (?:together|altogether)|(?<!as )if (?:we|i|you|they|it|the|all|every)\b[^.?!,;]*)\b",
    re.IGNORECASE,
)
"""These, and suppositions, ranks and people that the rules have no words for."""
EXTREME = rf"{asking.DOWN}|{asking.UP}|first|last|latest|newest|most recent|oldest|earliest"
"""Of what "when" can be told."""
BY_WEEKDAY = re.compile(
    rf"\b(?:by|per|each|every|which|what|best|worst|\d+)\s+(?:{asking.PERIODS['weekday']})\b",
    re.IGNORECASE,
)
BOUND = re.compile(
    rf"\b(?:{'|'.join(COMPARISONS.values())})\s+\$?(?!(?:19|20)\d\d\b)\d[\d,.]*\d?", re.IGNORECASE
)
"""A bound, which some condition has to take up."""
NOT = re.compile(
    r"\b(?:(?:older|newer|younger|longer) than|why|predict\w*|forecast\w*|next (?:week|month|quarter|year)|without|except|excluding|never|nobody|no longer|(?:is|are|has|have|had|did|was|were|does)n't|(?<!do )(?<!can )(?<!or )not|(?:had|have|has|with) no|"
    r"(?:over|under|above|below|within) (?:the |its |their |our )?(?:budget|plan|target|quota|forecast))\b",
    re.IGNORECASE,
)
"""What turns a question round, or sets one column against another, where no rule knows how."""
WHO_NOT = re.compile(r"\b(?:who|which \w+)\b.*\b(?:not|never|\w+n't)\b", re.IGNORECASE)
"""Who has no such row is another question than which rows are others."""
OF_A_YEAR = re.compile(r"\bq[1-4]\b|\b(?:in|since|during) (?:19|20)\d\d\b", re.IGNORECASE)
"""Times, of which a table without dates tells nothing."""
OTHERS = re.compile(r"\b(?:all|the) (?:others?|rest)\b", re.IGNORECASE)
IS_NOT = re.compile(
    rf"\b(?:is|are|was|were)(?:n't| not)(?= (?:{'|'.join(STATES.values())})\b)", re.IGNORECASE
)
"""What some condition takes up."""
ATTRIBUTE = re.compile(
    r"\b(?:what(?:'?s| is| was| are| were) the (?P<of>\w+)|(?:which|what) (?P<which>\w+) (?:is|are|was|were)\b)",
    re.IGNORECASE,
)
"""What is told of one thing, which is no figure."""
TAKEN = re.compile(
    "|".join(
        rf"\b(?:{pattern})\b"
        for pattern in (
            *asking.PERIODS.values(), *asking.AGGREGATES.values(), *asking.CHARTS.values(),
            asking.DOWN, asking.UP, asking.CHART, asking.SHARE, asking.PART, asking.COMPARE, asking.SORT,
            asking.OVER_TIME, asking.PERCENT, asking.HOW_FAR, r"asc(?:ending)?|desc(?:ending)?", r"last|latest|newest|most recent|oldest|earliest", asking.ROWS, asking.ONE_ROW, *COMPARISONS.values(), *MONTHS, *(month[:3] for month in MONTHS),
            *asking.COUNTS, "q[1-4]",
        )
    ),
    re.IGNORECASE,
)  # fmt: skip
"""What the rules do take up, besides the names of columns and values."""
_AROUND = (
    "remove omit ignore great ok okay nice cool perfect document instead whats hows wheres whos send post hi hello hey please pls plz thank thanks thx ty help want need like know see look let think wonder question answer bot "
    "able work out calculate compute tell display present print "
    "since before after until till through starting half second "
    "break split group divide filter include exclude excluding without except between across among over under "
    "each every per also too and same again together now today so far yet ever still "
    "sell sold selling buy bought sale make made do did perform performed contribute earn earned bring brought "
    "develop evolve happen change add order deal transaction purchase invoice "
    "join turn into first right reset clear place placed submit submitted receive received "
    "explain preview read look inside everything anything something summary describe overview "
    "double check verify confirm sorry mean meant actually instead rather "
    "use using used "
    "spend spent paid pay "
    "come came go went have got get hold contain there here exist "
    "data dataset database db sql file sheet tab table column row record entry line csv xlsx excel spreadsheet attached "
    "figure number result report amount different distinct unique column stand "
    "well good popular name called full detail quick quickly short brief exactly actually really roughly "
    "entire pct much many kind way picture view one ones other others rest whole"
)
SECOND = re.compile(r"\band (?:also )?(?P<half>(?:which|what|who)\b.+)", re.IGNORECASE | re.DOTALL)
AROUND = frozenset(stem(word) for word in _AROUND.split())
"""Words around a question that ask for nothing of their own."""


def tell_lost(found: Findings, table: Table, words: list[str]) -> None:
    """Answer nothing, and say which words are not known: without them it would be another question."""
    names = listed([f"`{name}`" for name in table.columns if name not in table.joined])
    found.summary = (
        f"My rules do not know {_quoted(words)}, so I cannot tell. {table.source} has {names}."
    )
    found.confidence = "low"
    found.sources.clear()  # it rests on none


def tell_nothing_new(found: Findings, text: str) -> None:
    """Rather than the answer before once more, say that its question was not understood."""
    found.summary = (
        f"To my rules “{text.strip(' ?')}” changes nothing in the question before, so the answer above would only "
        "come again. Ask it in other words, please."
    )
    found.caption, found.columns, found.rows = "", [], []
    found.points, found.gaps, found.follow_ups, found.sources = [], [], [], []
    found.confidence = "low"


def tell_second(found: Findings, text: str, table: Table, query: Query) -> None:
    """Say that a second question of the sentence is not answered, where it is of another figure."""
    half = SECOND.search(text)
    measure = understand(half["half"], table).measure if half else None
    if half and measure not in (None, query.measure, *(column for _, column in query.more)):
        found.lower(
            f"I do one thing at a time: “{half['half'].strip(' ?.!')}” comes next if you ask for it."
        )


def tell(found: Findings, text: str, table: Table, query: Query) -> None:
    """Say which words were left out of account."""
    if unknown := left(text, table, query):
        them = "it" if len(unknown) == 1 else "them"
        found.lower(
            f"I left {_quoted(unknown)} out of account: my rules do not know {them}.", "low"
        )


def _quoted(words: list[str]) -> str:
    return listed([f"“{word}”" for word in words])


def left(text: str, table: Table, query: Query) -> list[str]:
    """The words that no rule takes up."""
    text = with_columns_in_one_word(text, table)
    if date_column(table):
        for told in (BY_WEEKDAY, OF_A_WEEK, WEEKS):
            text = re.sub(told, " ", text)
    text = IS_NOT.sub(" ", text)
    left_out = any(each.operator == "not in" for each in query.filters)
    denied = [] if left_out and not WHO_NOT.search(text) else NOT.findall(text)
    times = [time[0] for time in TIMES.finditer(text)]
    people = {*stems(" ".join([table.source, *query.groups]))} & asking.PEOPLE
    who = [] if people else re.findall(r"\bwho\b", text, re.IGNORECASE)
    bounded = query.having or any(each.operator in COMPARISONS for each in query.filters)
    bounds = [] if bounded else BOUND.findall(text)
    own = understand(text, table)
    found = [
        *_attribute(text, table, own),
        *([] if has(text, asking.COMPARE) else OTHERS.findall(text)),
        *_of_all(text, own, query),
        *_of_the_first(text, own),
        *(OF_A_YEAR.findall(text) + mentions(text) if date_column(table) is None else []),
        *_columns_left(text, table, query),
        *_sorted_by_a_value(text, query),
        *(["when"] if has(text, "when") and not has(text, EXTREME) else []),
        *(["where"] if has(text, "where") and not (query.groups and has(text, EXTREME)) else []),
        *denied,
        *bounds,
        *times,
        *who,
        *unknown(NOT.sub(" ", TIMES.sub(" ", text)), table, query),
    ]
    return found or _of_no_figure(text, own)


def _attribute(text: str, table: Table, own: Query) -> list[str]:
    """What is asked of one thing that is named, if that is no figure; `own` is the query of the question
    by itself."""
    found = ATTRIBUTE.search(text)
    figure = own.measure or own.aggregate or own.descending is not None or own.listing
    named = any(":" not in (each.column or "") for each in own.filters)
    if not (found and named) or figure or own.having:
        return []
    columns = columns_named((found["of"] or found["which"]).lower(), table)
    return [found[0]] if {*columns} & {*own.groups, *table.texts} else []


def _columns_left(text: str, table: Table, query: Query) -> list[str]:
    """Columns that are named and not told."""
    told = {query.measure, query.sort, *query.beside, *(column for _, column in query.more)}
    told |= {*query.groups, *(each.column for each in query.filters)}
    return [
        column
        for column in table.columns
        if not (identifies(column) or table.dated(column) or query.listing or column in told)
        and re.search(rf"(?<!\w){re.escape(one_word(column))}(?!\w)", text, re.IGNORECASE)
    ]


def _sorted_by_a_value(text: str, query: Query) -> list[str]:
    """An order by what is no column, as "sorted by Kitchen", of columns that values made."""
    said = re.search(rf"\b(?:{asking.SORT}) (?:by )?(?P<by>\w+)", text, re.IGNORECASE)
    values = {value.lower() for each in query.filters for value in each.values}
    return [said[0]] if said and said["by"].lower() in values else []


def _of_all(text: str, own: Query, query: Query) -> list[str]:
    """A share of all, where only some are told of: it would be of those."""
    kept = any(each not in own.filters and ":" not in (each.column or "") for each in query.filters)
    return (
        re.findall(r"percent of (?:all|the (?:total|whole))\b", text, re.IGNORECASE) if kept else []
    )


def _of_the_first(text: str, own: Query) -> list[str]:
    """The first few, as "the average price of the top 5", of which no one figure is worked out."""
    told_apart = own.groups or own.period or own.listing or own.sort
    if (own.limit or 0) < 2 or told_apart or not (own.aggregate or own.measure):
        return []
    return re.findall(r"\b(?:top|bottom|first|best|worst|last) \w+", text, re.IGNORECASE)[:1]


def _of_no_figure(text: str, own: Query) -> list[str]:
    """What "which items are new" asks: for some of them, and for no figure."""
    found = re.match(
        r"\W*(?:and\W+)?(?:which|what) \w+ (?=(?:is|are|was|were)\b)", text, re.IGNORECASE
    )
    silent = replace(own, groups=(), noun="rows") == Query()
    return [found[0].strip()] if found and own.groups and silent else []


def unknown(text: str, table: Table, query: Query) -> list[str]:
    """The words that name nothing in the table, and ask for nothing that the rules know."""
    values = (value for each in query.filters for value in (each.column or "", *each.values))
    named = (
        *values,
        *query.part,
        *table.values,
        query.noun if {*stems(query.noun)} & {*stems(table.source), *AROUND, "row"} else "",
        table.source,
        sheet_of(table),
        table.handle or "",
    )
    apart = (each for each in query.filters if each.column in query.groups)
    of_two = any(len(each.values) > 1 for each in apart)
    known = {
        *AROUND,
        *stems(" ".join(named)),
        *(["ratio"] if of_two else []),
        *(["value"] if {*stems(default_measure(table) or "")} & {*MONEY} else []),
        *(["people", "person"] if has_row_for_each(asking.PEOPLE, table) else []),
        *(["both"] if any(each.values[1:] for each in query.filters) else []),
    }
    return [
        word
        for word in dict.fromkeys(tokens(TAKEN.sub(" ", text)))
        if len(word) > 2
        and not word[0].isdigit()
        and word not in STOP
        and stem(word) not in known
        and not columns_named(word, table)
    ]
