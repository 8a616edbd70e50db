"""Figures with their names that stand in a message: their total, a table or a chart of them."""

from __future__ import annotations

import re

from .findings import Findings
from .outputs import Table, chart_handle, parse_tables
from .view import View
from .words import has, listed, shown

_LABEL = r"[^\W\d][\w'&-]*(?: (?!and\b|is\b)[^\W\d][\w'&-]*){0,2}"
_NUMBER = r"[$€£]?(?P<{}>\d[\d,]*(?:\.\d+)?)(?!\w|%)"
NAMED_FIRST = re.compile(rf"(?P<label>{_LABEL})\s*[:=]?\s*{_NUMBER.format('number')}", re.UNICODE)
NUMBER_FIRST = re.compile(
    rf"(?<![\w.]){_NUMBER.format('number')}\s+(?P<label>(?!and\b|or\b|to\b|of\b|plus\b|times\b)[^\W\d][\w'&-]*)"
)
SPLIT = re.compile(r"\s*[;\n]\s*|,\s+(?:and\s+)?|\s+and\s+|[.?!](?:\s+|$)")
WANTED = r"charts?|plot|graph|diagram|draw|pie|bars?|table|total|sum|add|average|mean|highest|lowest|most|least|biggest"
LEAD = re.compile(r"^\D*(?::\s+(?=[^\W\d])|\b(?:of|for|are|is|from)\s+)")
UP_TO_NUMBER = re.compile(r"^[^\d$€£]*(?=[$€£]?\d)")
"""What stands before the list itself."""
COUNTED = re.compile(r"(?<![\w.,])\d[\d,]*+(?:\.\d++)?")
Pair = tuple[str, float]


def is_asked(view: View) -> bool:
    """Whether a message holds several named figures, and asks for something of them."""
    alone = not view.turn.files and not has(view.text, r"file|database|time|remind|every")
    return alone and has(view.text, WANTED) and len(pairs(view.text)) > 1


def pairs(text: str) -> list[Pair]:
    """The names and figures of a list, as "Ann 3, Bob 5" or "3 apples and 5 pears"."""
    for pattern, before in ((NAMED_FIRST, LEAD), (NUMBER_FIRST, UP_TO_NUMBER)):
        pieces = [before.sub("", piece.strip()) for piece in SPLIT.split(text)]
        matches = [match for piece in pieces if (match := pattern.match(piece))]
        if len(matches) > 1 and len(matches) == len(COUNTED.findall(text)):  # none is left out
            return [
                (each["label"].strip(), float(each["number"].replace(",", ""))) for each in matches
            ]
    return []


def answer(view: View, found: Findings) -> None:
    """The total or the leader in words; a table; and a chart where one is wanted."""
    named = pairs(view.text)
    figures = [(label[:1].upper() + label[1:], _text(value)) for label, value in named]
    _tell(view, found, named)
    found.caption, found.columns = "Your figures", ["name", "figure"]
    found.rows = [[label, shown(value)] for label, value in figures]
    found.source("Your message", None, "The figures.")
    if not has(view.text, r"charts?|plot|graph|diagram|draw|pie|bars?"):
        found.follow_ups = ["As a bar chart"]
        return
    rows = "\n".join(["name,figure", *(f"{label},{value}" for label, value in figures)])
    made = view.do(
        "make_table",
        "I put your figures into a table.",
        name="Your figures",
        content=rows,
        also=("make_chart",),
    )
    tables = parse_tables(made)
    if tables:
        _chart(view, found, tables[0])


def _tell(view: View, found: Findings, named: list[Pair]) -> None:
    total = sum(value for _, value in named)
    top = max(named, key=lambda pair: pair[1])
    if has(view.text, r"average|mean"):
        found.summary = (
            f"The average of your {len(named)} figures is **{shown(_text(total / len(named)))}**."
        )
    elif has(view.text, r"highest|most|biggest|largest"):
        found.summary = f"**{top[0]}** is the highest, with {shown(_text(top[1]))}."
    elif has(view.text, r"lowest|least|smallest"):
        low = min(named, key=lambda pair: pair[1])
        found.summary = f"**{low[0]}** is the lowest, with {shown(_text(low[1]))}."
    else:
        names = listed([f"{label} {shown(_text(value))}" for label, value in named[:8]])
        found.summary = f"The total is **{shown(_text(total))}**: {names}."


def _chart(view: View, found: Findings, table: Table) -> None:
    kind = "pie" if has(view.text, "pie") else "line" if has(view.text, "line") else "bar"
    output = view.do(
        "make_chart", f"I draw a {kind} chart.", handle=table.handle, kind=kind, title=found.caption,
        label_column="name", value_columns=["figure"],
    )  # fmt: skip
    if handle := chart_handle(output):
        found.charts.append(handle)
    else:
        found.lower("The chart could not be made.")


def _text(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.2f}"
