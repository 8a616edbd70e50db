"""The words by which a question about a table says what it wants."""

from __future__ import annotations

import re

from .words import has

PERIODS = {
    "weekday": r"weekdays?|days? of (?:the )?week",
    "month": r"month(?:ly|s)?", "week": r"week(?:ly|s)?", "day": r"dai?ly|days?|date",
    "quarter": r"quarter(?:ly|s)?", "year": r"year(?:ly|s)?|annual(?:ly)?",
}  # fmt: skip
AGGREGATES = {
    "min": r"cheapest", "max": r"priciest|most expensive",
    "count": r"how many|number of|count", "avg": r"average|mean|avg|typical", "median": r"median",
    "stddev": r"standard deviation|std ?dev|stddev",
    "sum": r"total|sum|overall|altogether|how much",
}  # fmt: skip
DOWN = r"priciest|expensive|most|highest|largest|biggest|top|best|greatest|maximum|max|strongest|leading|longest|busiest|richest"
UP = r"(?:oldest|earliest) first|cheapest|lowest|least|smallest|worst|bottom|fewest|minimum|min|weakest|shortest|slowest|quietest"
CHARTS = {
    "pie": r"pie|donut|shares? of", "area": r"area (?:chart|plot|graph)|stacked",
    "line": r"line|trend|curve|over time|development", "bar": r"bars?|column chart|histogram",
}  # fmt: skip
CHART = r"(?:stacked )?(?:bars?|pie|line) (?:of|for|by|per)|(?:as|into|in|with) (?:an? )?(?:pie|bars?|lines?|donut)|charts?|plot(?:ted)?|graphs?|diagram|visuali[sz]e|draw|trend"
ONES = r"which (?:ones?|are(?! (?:the|our|there)\b)|of (?:them|these|those))"
FOLLOW_UP = rf"cheapest|^\W*(?:{ONES}|actually|no|sorry|i mean|i meant|and|only|just|but|now|same|compared? (?:(?:it|that|this) )?(?:with|to)|what about|how about|as(?: an?)?|all of (?:them|these|those)|add|remove|reset|in an?|without|excluding|also|then|ok|okay)\b"
CORRECTS = r"\W*(?:actually|no|sorry|i mean|i meant)\b"
LEANS = (
    rf"(?:make|create|give)(?: me)? an? (?:csv|xlsx|excel|pdf|word|docx)(?: file)? (?:of|from|with) (?:it|this|that|these|them)|which (?:is|are|was|were) the (?:{DOWN}|{UP}) ones?(?=\W*$)|"
    r"(?:list|show|give)(?: me)?(?: the)? (?:oldest|newest|latest|first|last|top|bottom)(?: \d+| one)?(?=\W*$)|how did it|(?:show|list|name|draw|plot|make|put|give|share|sort|split|break|filter|export|turn)(?: me)? (?:it|this|that|these|them|those)(?! (?:file|table|sheet))"
)
AFRESH = r"our|we|everything|(?:list|show|give)(?: me)? all(?! (?:of )?(?:them|those|these|it)\b)|overall|altogether|in (?:total|all)|database|file|sheet|spreadsheet"
"""Who asks of the whole, or names the source, does not go on with the question before."""
FURTHER = r"stacked|split|(?:break|broken)(?: \w+)? down"
"""What tells apart further what was told apart."""
WIDER = r"all(?! (?:two|three|four|five|\d))|everything|reset|no filters?"
"""What drops the conditions of the questions before."""
THEIRS = r"they|their|theirs|them|those|these|(?:was|is|were|are) (?:that|this)"
WHOLE = (
    r"\W*(?:total|sum|average|mean|median|count|top|bottom|monthly|weekly|daily|yearly|quarterly|how|"
    r"what(?!'s with)|which|who|show|list|describe|compare|summari[sz]e|plot|chart|graph|draw|find)\b"
)
ALL_ROWS = r"(?:whole|entire|full|complete) (?:table|file|sheet|spreadsheet)|all (?:of )?(?:the |its )?(?:rows|lines)"
EVERY_ROW = 1_000_000
SHARE = (
    r"(?:make|create|give|write|generate|produce)\b[^.?!]*\b(?:csv|xlsx|excel|spreadsheet|pdf|word|docx)|"
    r"convert\w*|export|share (?:it|this|that|them|these|the|as|with|here)|save|download|upload|"
    r"(?:as )?(?:an? )(?:csv|xlsx|excel|pdf|word|docx)|as (?:csv|xlsx|excel|pdf|word|docx)|send me|^(?:csv|xlsx|excel|pdf)(?: file)?(?=\W*(?:pls|plz|please)?\W*$)"
)
PART = r"share of|percent(?:age)? of|proportion of|(?:what|which|how much) (?:share|percent(?:age)?|proportion)"
PERCENT = r"(?:in|as) (?:an? )?(?:percent\w*|shares?)|percentages?|shares? (?:by|per|of each)"
HOW_FAR = r"by how much|what(?:'s| is) the (?:difference|gap)|how much (?:more|less|better|worse)(?: is (?:it|that))?(?=\W*$)"
COMPARE = r"better|worse|beats?|outs(?:ell|old)s?|outperform(?:s|ed)?|than|compare[ds]?|comparing|versus|vs|against|difference between"
OVER_TIME = r"change[ds]? (?:from|between|since|over)|over time|trends?|develop(?:s|ed|ing|ment)|history|evolve|evolution|(?:go|going|goes|gone|went) (?:up|down)(?: (?:or|and) (?:up|down))?|rising|falling|declin\w+"
PERIOD_BEFORE = r"biggest|smallest|largest|greatest|busiest|quietest|slowest|by|per|each|every|over|which|what|and|best|worst|strongest|weakest|top|(?:top|best|worst) \d+|highest|lowest|rank(?:ed)?|month (?:over|on|by)|day (?:over|by)"
THEM = r"(?:show|list|name|give)(?: me)?(?: all(?: of)?)? (?:them|those|these)"
COUNTS = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1
    )
}
LATEST = re.compile(
    rf"\b(?:(?P<before>\d{{1,3}}|{'|'.join(COUNTS)})\s+)?(?:last|latest|newest|most recent|oldest|earliest|first(?=\s+(?:sale|order|ticket|customer|purchase|transaction|deal|entry)\b))(?=\s+\w)(?:\s+(?P<many>\d{{1,3}}|{'|'.join(COUNTS)}))?"
    r"(?:\s+(?!(?:\w+ )?(?:days?|weeks?|months?|quarters?|years?|time|night)\b|(?:one|first|last|is|are|was|in|of)\b)[a-z]+|(?<=\d)\W*$)|\blast(?=\W*$)|^\W*(?:and |which (?:is|was|one is) |what(?:'s| is) )*(?:the )?(?:(?P<alone>\d{1,3})\s+)?(?:newest|latest|most recent|oldest|earliest)(?: ones?)?(?=\W*$)",
    re.IGNORECASE,
)
LISTING = r"(?:show|list|give me|which|find)\b.*\b(?:everything|rows|entries|records|lines|orders|transactions|items|tickets|customers|products)"
NOUN = r"((?:(?!in\b|of\b|by\b|for\b|from\b|with\b)[a-z]+\s){0,3}?[a-z]{3,}s)\b"
SORT = (
    r"(?:newest|latest|oldest|earliest) first|sort(?:ed)?|order(?:ed)? by|arrange[ds]?|rank(?:ed)?"
)
ROWS = r"(?:(?:first|top|last|next|all|all the)?\s*\d{0,3}\s*(?:rows|lines|records|entries)|(?:whole|entire|full|complete) (?:table|list|data|sheet))"
ONE_ROW = r"(?:cheapest|priciest|most expensive)(?: \w+|(?=\W*$))|(?:single|individual|one)|(?:biggest|largest|smallest|highest|lowest|best|worst) (?:single )?(?:sale|order|deal|transaction|row|record|entry|purchase|invoice)"
GROUPERS = {"by", "per", "each", "every", "across", "among", "which", "what", "compare", "between"}
WHAT_SOLD = r"what (?:sells|sold|(?:do|did|does) (?:\w+ ){1,3}(?:sell|buy|order|purchase)|(?:is|was) (?:sold|bought))"
WHAT_BOUGHT = r"what (?:do|did|does) (?:\w+ ){1,4}(?:buy|order|purchase)"
THINGS = {"product", "item", "article", "sku"}
PER_PERIOD = (
    r"per (?:day|week|month|quarter|year)|(?:daily|weekly|monthly|quarterly|yearly) average"
)
PEOPLE = {
    *("name", "person", "employee", "seller", "salesperson"),
    *("rep", "agent", "owner", "customer"),
}
RANKERS = {
    *("top", "best", "worst", "popular", "selling", "rank"),
    *("cheapest", "priciest", "expensive"),
    *("sort", "rank", "biggest", "largest", "highest", "lowest"),
}
"""After these stands what the figures are of, as after those."""


def limit_of(text: str) -> int | None:
    """How many of the first or last are wanted; more than there are where all are."""
    if has(text, ALL_ROWS):
        return EVERY_ROW
    number = rf"(\d{{1,3}}|{'|'.join(COUNTS)})"
    if re.search(r"\b(?:in|for|of) each\b", text, re.IGNORECASE):  # of each, which no rule knows
        return None
    found = re.search(
        rf"\b(?:top|bottom|first|best|worst|largest|biggest|highest|lowest)\s+{number}\b(?!\s?(?:%|percent))|"
        rf"\b{number}\s+(?:best|worst|largest|biggest|highest|lowest|most|top)\b",
        text.lower(),
    )
    if found is None:
        return None
    said = found[1] or found[2]
    return COUNTS.get(said) or int(said)


def chart_of(text: str) -> str | None:
    """The kind of chart that is wanted; "auto" where none was named."""
    kind = next((kind for kind, pattern in CHARTS.items() if has(text, pattern)), None)
    goes_on = re.search(FOLLOW_UP, text, re.IGNORECASE) or has(text, LEANS) or len(text.split()) < 3
    if has(text, CHART) or (kind and goes_on):
        return kind or "auto"
    return None


def is_descending(text: str, *, of_figures: bool = True) -> bool | None:
    """Whether the greatest come first; None where the question says neither. What is sorted goes from
    the greatest figure down, and from the first name or day up."""
    if has(text, f"{DOWN}|desc(?:ending)?|(?:newest|latest) first"):
        return True
    if has(text, f"{UP}|asc(?:ending)?"):
        return False
    return of_figures if has(text, SORT) else None


def aggregate_of(text: str) -> str | None:
    """What is to be worked out, by the words that ask for it."""
    for name, pattern in AGGREGATES.items():
        if has(text, pattern):
            return name
    return None


def lists_rows(text: str, groups: tuple[str, ...]) -> bool:
    """Whether the rows themselves are wanted."""
    if groups or has(text, "how many|number of|count"):
        return False
    plain = re.fullmatch(
        rf"\W*(?:(?:show|give|list|me|the|please)\W+)*{ROWS}\W*", text, re.IGNORECASE
    )
    sorts = has(text, SORT) and not has(text, "rank(?:ed)?") and aggregate_of(text) is None
    bought = has(text, WHAT_BOUGHT) and not has(text, f"{DOWN}|{UP}|they|he|she|we|people")
    return (
        bool(plain)
        or bought
        or (has(text, f"{THEM}|{ONES}") and chart_of(text) is None)
        or sorts
        or (has(text, LISTING) and aggregate_of(text) is None)
    )
