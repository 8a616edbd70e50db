"""The names in a question: columns, values, times and figures of one table, each as one sign.

"Total revenue by region in May" becomes "total <m0> by <g1> in <t2>": a sign has a letter for each part
it can play, and stands in the sentences of `grammar`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..doing.moments import absolute
from ..outputs import Table, sheet_of
from ..words import stem, stems, tokens
from .columns import columns_named, date_column, identifies, words_of
from .times import ATOM, Time, apart, time_of
from .wording import plain

LONGEST = 6  # words of a name
GENERIC = (
    "row", "record", "entry", "order", "sale", "transaction", "deal", "purchase", "item",
)  # fmt: skip
"""What the rows of a file are called."""
PEOPLE = ("people", "person", "employee", "staff")
"""What those of a file with names are called as well."""
PERIODS = {
    "days of the week": "weekday", "day of the week": "weekday", "weekday": "weekday",
    "daily": "day", "day": "day", "weekly": "week", "week": "week", "monthly": "month", "month": "month",
    "quarterly": "quarter", "quarter": "quarter", "yearly": "year", "annually": "year", "year": "year",
}  # fmt: skip
COUNTS = {
    word: number
    for number, word in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], start=2
    )
}
TOKEN = re.compile(r"<\w+>|[qQhH]\d\b|\d[\d,]*(?:\.\d+)?|[^\W\d]+(?:'[^\W\d]+)?|\d+|[,<>=≥≤%]")
SIGNS = frozenset(",<>=≥≤")
"""What no name begins or ends with."""
OF_SOURCE = r"(?<!\w)(?:in|from|of|using|according to|on) "
WHOLE = r"(?:the|this|that|my|our|your) (?:attached )?(?:database|db|file|sheet|table|data|spreadsheet|csv|attachment|workbook)(?: above| in this thread)?"
BARE = frozenset(("id", "on", "at", "no", "of", "is", "by", "to", "in", "date", "day", "time"))
"""Words of columns' names by which none is meant."""
OF_GRAMMAR = frozenset((
    "total", "sum", "count", "cheapest", "priciest", "expensive", "rate",
    "when", "share", "draw", "chart", "line", "number", "most",
))  # fmt: skip
"""Other words for columns that the grammar has a use of its own for."""


@dataclass
class Name:
    """What one sign stands for, by the parts it can play."""

    said: str
    measure: str = ""
    group: str = ""
    date: str = ""
    flag: str = ""
    noun: str = ""
    period: str = ""
    value: tuple[str, str] | None = None
    """A column and one of its values."""
    time: Time | None = None
    number: str = ""

    @property
    def letters(self) -> str:
        """Its parts, as they stand in a sign."""
        parts: dict[str, object] = {
            "d": self.date, "f": self.flag, "g": self.group, "m": self.measure, "n": self.noun,
            "p": self.period, "t": self.time, "v": self.value, "x": self.number,
        }  # fmt: skip
        return "".join(letter for letter, part in parts.items() if part)


@dataclass
class Named:
    """A question with signs for names, and what they stand for."""

    text: str = ""
    names: list[Name] = field(default_factory=list)
    typed: dict[str, str] = field(default_factory=dict)
    """Words in small letters, as they were typed."""

    def sign(self, name: Name) -> str:
        """A new sign."""
        self.names.append(name)
        return f"<{name.letters}{len(self.names) - 1}>"

    def all(self, signs: str | None) -> list[Name]:
        """What the signs in a text stand for."""
        return [self.names[int(place)] for place in re.findall(r"<[a-z]+(\d+)>", signs or "")]

    def spelled(self, text: str) -> str:
        """A word as it was typed, and a sign as what was said for it."""
        text = self.typed.get(text, text)
        return re.sub(r"<[a-z]+(\d+)>", lambda sign: self.names[int(sign[1])].said, text)


def name_all(text: str, table: Table, day: str) -> Named:
    """The question with a sign for each name, in small letters, one space behind each word."""
    named = Named()
    source = "|".join(
        re.escape(each) for each in (table.source, sheet_of(table)) if each and table.handle
    )
    place = rf"{OF_SOURCE}(?:{WHOLE}|(?:the )?(?:sheet |file )?(?:{source or WHOLE})(?: sheet)?)(?![\w.])"
    text = re.sub(rf"(\b(?:are|is|were|was) ){place}", r"\1there ", text, flags=re.IGNORECASE)
    text = re.sub(place, " ", text, flags=re.IGNORECASE)
    text = apart(absolute(plain(text), day))
    text = re.sub(r"\bwhat['’]?s\b", "what is", text, flags=re.IGNORECASE)
    text = re.sub(r"['’]s\b", "", text.replace("&gt;", ">").replace("&lt;", "<"))
    text = re.sub(r"(?<=[a-zA-Z])-(?=[a-zA-Z])", " ", text)
    if "%" in table.units.values():  # its figures are in per cent themselves
        text = re.sub(r"(?<=\d) ?(?:%|per ?cent\b)", "", text, flags=re.IGNORECASE)
    if date_column(table):
        text = ATOM.sub(lambda said: _time(named, said), text)
    known = dict(_known(table))
    words = TOKEN.findall(text)
    named.typed = {word.lower(): word for word in words}
    at, out = 0, []
    while at < len(words):
        length, name = _longest(words, at, known, table)
        out.append(named.sign(name) if name else words[at].lower())
        at += length
    named.text = _merged(" ".join([*out, ""]), named)
    return named


def _time(named: Named, said: re.Match[str]) -> str:
    return f" {named.sign(Name(said[0], time=time_of(said)))} "


def _longest(
    words: list[str], at: int, known: dict[tuple[str, ...], Name], table: Table
) -> tuple[int, Name | None]:
    """The longest name that begins here, and of how many words it is."""
    if words[at].lower() == "since" and words[at + 1 : at + 2] and words[at + 1].startswith("<t"):
        return 1, None  # "since March", whatever column is called so
    for length in range(min(LONGEST, len(words) - at), 0, -1):
        said = words[at : at + length]
        found = None if {said[0], said[-1]} & SIGNS else known.get(_key(" ".join(said)))
        if found and found.date and length > 1 and said[0].lower() not in tokens(found.date):
            continue  # "orders on" a day are not what was "ordered on" it
        if found and found.date:
            found = _value_of(" ".join(said), table) or found  # "open" is not "opened"
        if found and not (found.letters == "n" and said[-1].lower().endswith(("ed", "ing"))):
            verb = length == 1 and (found.value or found.flag)  # "closed" is both
            date = found.date or (_dated_by(said[0].lower(), table) if verb else "")
            if date and found.value and found.value[1].lower() != said[0].lower():
                return length, Name(said[0], date=date)  # "opened" is not "open"
            return length, replace(found, said=" ".join(said), date=date)
    word = words[at].lower()
    if word[0].isdigit() or word in COUNTS:
        return 1, Name(word, number=str(COUNTS.get(word, word)).replace(",", ""))
    column = column_of(word, table)
    return 1, _of_column(column, table, word) if column else None


def _value_of(said: str, table: Table) -> Name | None:
    """The value that is written just so."""
    found = (each for each in table.values.items() if each[0].lower() == said.lower())
    return next((Name(value, value=(column, value)) for value, column in found), None)


def _key(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in re.findall(r"[^\W_]+", text.lower()))


def _known(table: Table) -> Iterator[tuple[tuple[str, ...], Name]]:
    """Everything that is called by its whole name; a column wins over a value, and a value over what
    rows are called."""
    for words, period in PERIODS.items() if date_column(table) else ():
        yield _key(words), Name(words, period=period)
    nouns = {_key(noun): noun for noun in _nouns(table)}
    for key, noun in nouns.items():
        column = column_of(noun, table)
        name = _of_column(column, table, noun) if column else Name(noun)
        name.noun = noun
        yield key, name
    for value, column in table.values.items():
        if len(value) > 1 and not value[0].isdigit():
            yield _key(value), Name(value, value=(column, value))
    for column in reversed(table.columns):
        name = _of_column(column, table, column)
        name.noun = nouns.get(_key(column), "") if not name.measure else ""
        if name.letters:
            yield tuple(words_of(column)), name
            yield _key(column), name


def _nouns(table: Table) -> list[str]:
    """What one row is called: by the table of a database, by the name of a file."""
    source = sheet_of(table) or table.source.rpartition(".")[0] or table.source
    own = stems(source)[-1:]
    people = PEOPLE if {*map(stem, tokens(" ".join(table.texts)))} & {"name", "employee"} else ()
    return [*own, *(() if table.handle == "" else (*GENERIC, *people)), "row", "record"]


def _dated_by(word: str, table: Table) -> str:
    """The column of dates that has a word in its name: "open" is not "opened"."""
    found = (each for each in table.columns if table.dated(each) and word in tokens(each))
    return next(found, "")


def column_of(word: str, table: Table) -> str:
    """The column that one word means: a part of its name, or another word for it; "" where it may be
    more than one figure."""
    if len(word) < 3 or stem(word) in BARE or word in OF_GRAMMAR:
        return ""
    for columns in columns_named(word, table):
        fitting = [each for each in columns if _fits(word, each, table)]
        if fitting:
            return "" if len([*filter(table.numeric, fitting)]) > 1 else fitting[0]
    return ""


def _fits(word: str, column: str, table: Table) -> bool:
    """Whether a column may be meant: "unit price" tells no "units", and "opened on" nothing open."""
    if table.numeric(column) and identifies(column):
        return False
    pieces = stems(column)
    is_first = stem(word) in pieces[:-1] and word not in tokens(column)
    is_verb = stem(word) in pieces and not word.endswith("ed") and word not in tokens(column)
    return not ((is_verb and table.dated(column)) or (is_first and table.numeric(column)))


def _of_column(column: str, table: Table, said: str) -> Name:
    if table.dated(column) or column == date_column(table):
        return Name(said, date=column, period=PERIODS.get(stem(said.lower()), ""))
    if table.flag(column):
        return Name(said, flag=column, group=column)
    if table.numeric(column):
        in_time = {*stems(column)} & {"year", "month", "quarter", "week"}
        return Name(
            said, measure="" if identifies(column) else column, group=column * bool(in_time)
        )
    return Name(said, group=column)


def _merged(text: str, named: Named) -> str:
    """The text with "the Free plan" and "plan Free" as the value alone."""

    def value(said: re.Match[str]) -> str:
        first, last = named.all(said[0])
        column, found = (first, last) if last.value else (last, first)
        own = found.value and found.value[0] == column.group
        return f"<{found.letters}{named.names.index(found)}> " if own else said[0]

    text = re.sub(r"<[a-z]*g[a-z]*\d+> (?:is |are |= |of )?<v\d+> ", value, text)
    return re.sub(r"<v\d+> <[a-z]*g[a-z]*\d+> ", value, text)
