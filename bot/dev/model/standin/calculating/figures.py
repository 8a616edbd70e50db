"""Figures with their names that stand in a message: a table or a chart of them."""

from __future__ import annotations

import re

from ..findings import Findings
from ..outputs import chart_handle, parse_tables
from ..phrasing import phrase
from ..view import View
from ..words import shown

ASKED = phrase(
    r"(?:make|draw|create|show)(?: me)? an? (?:(?P<kind>bar|pie|line) )?(?P<what>chart|table) (?:of|with|from|for):? (?P<list>.+)"
)
_NUMBER = r"[$€£]?(?P<{}>\d[\d,]*+(?:\.\d++)?)"
ITEM = re.compile(
    rf"(?P<label>[^\W\d][^\d:=]*?)\s*[:=]?\s*{_NUMBER.format('figure')}|{_NUMBER.format('count')} (?P<counted>[^\W\d][^\d]*)"
)
Pair = tuple[str, str]


def is_asked(view: View) -> bool:
    """Whether a chart or a table is wanted of figures that the message lists."""
    return not view.turn.files and len(pairs(view.text)) > 1


def pairs(text: str) -> list[Pair]:
    """The names and figures of the list, as "Ann 3, Bob 5" or "3 apples and 5 pears"; none unless all
    of it is such a list."""
    asked = ASKED.fullmatch(text)
    pieces = re.split(r"\s*[;\n]\s*|,\s+(?:and\s+)?|\s+and\s+", asked["list"]) if asked else []
    items = [ITEM.fullmatch(piece) for piece in pieces]
    return [
        ((item["label"] or item["counted"]).strip().capitalize(),
         (item["figure"] or item["count"]).replace(",", ""))
        for item in items if item
    ] if all(items) else []  # fmt: skip


def answer(view: View, found: Findings) -> None:
    """The figures as a table, and as a chart where one is wanted."""
    named, asked = pairs(view.text), ASKED.fullmatch(view.text)
    total = sum(float(figure) for _, figure in named)
    found.summary = f"These are your {len(named)} figures, **{shown(f'{total:.2f}'.removesuffix('.00'))}** in total."
    found.caption, found.columns = "Your figures", ["name", "figure"]
    found.rows = [[label, shown(figure)] for label, figure in named]
    found.source("Your message", None, "The figures.")
    if asked and asked["what"].lower() == "chart":
        _chart(view, found, named, (asked["kind"] or "bar").lower())


def _chart(view: View, found: Findings, named: list[Pair], kind: str) -> None:
    rows = "\n".join(["name,figure", *(f"{label},{figure}" for label, figure in named)])
    made = view.do(
        "make_table", "I put your figures into a table.", also=("make_chart",), name=found.caption,
        content=rows,
    )  # fmt: skip
    tables = parse_tables(made)
    output = tables and view.do(
        "make_chart", f"I draw a {kind} chart.", handle=tables[0].handle, kind=kind, title=found.caption,
        label_column="name", value_columns=["figure"],
    )  # fmt: skip
    if handle := chart_handle(output or ""):
        found.charts.append(handle)
    else:
        found.lower("The chart could not be made.")
