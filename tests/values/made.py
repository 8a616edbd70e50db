"""Made tables whose values are known: every notation beside every other, from a seed."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

Values = tuple[list[str], list[Any]]
"""The cells of a column as they are written, and what they mean."""


@dataclass(frozen=True)
class Made:
    """A file; `written` and `meant` have the cells of its columns below the header, by column."""

    name: str
    data: bytes
    names: list[str]
    written: list[list[str]]
    meant: list[list[Any]]


def made(seed: int) -> Made:
    """Make a table of 3 to 8 columns and up to 60 rows."""
    rng = random.Random(seed)
    mark = rng.choice(".,")  # of decimals
    delimiter = rng.choice(";\t|" if mark == "," else ",,,;\t|")
    rows = rng.choice([4, 12, 60])
    kinds = rng.choices(list(_KINDS), k=rng.randint(2, 7))
    columns = [_words(rng, rows), *(_KINDS[kind](rng, rows, mark) for kind in kinds)]
    columns = [_with_gaps(rng, *each) for each in columns]
    names = ["what", *(f"{kind}_{at}" for at, kind in enumerate(kinds))]
    out = io.StringIO()
    if rng.random() < 0.2:
        out.write("Report of the year\n")
    writer = csv.writer(
        out,
        delimiter=delimiter,
        quoting=csv.QUOTE_ALL if rng.random() < 0.5 else csv.QUOTE_MINIMAL,
        lineterminator=rng.choice(["\n", "\r\n"]),
    )
    writer.writerow(names)
    writer.writerows(zip(*(written for written, _ in columns), strict=True))
    encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    return Made(
        f"{'-'.join(kinds)}.csv",
        out.getvalue().encode(encoding),
        names,
        *([list(each) for each in side] for side in zip(*columns, strict=True)),
    )


def _with_gaps(rng: random.Random, written: list[str], meant: list[Any]) -> Values:
    """Some columns have gaps: blank, or written out."""
    gap = rng.choice([None, None, "", "NA", "-", "n/a"])
    if gap is None:
        return written, meant
    at = set(rng.sample(range(len(meant)), k=len(meant) // 4))
    texts = [gap if n in at else each for n, each in enumerate(written)]
    return texts, [None if n in at else each for n, each in enumerate(meant)]


def _words(rng: random.Random, rows: int) -> Values:
    words = ["Ada", "naïve", "a, b", 'say "x"', "l;r", "two\nlines", "Zoë", "5 kg", "x|y", "café"]
    found = [f"{rng.choice(words)} {n}" for n in range(rows)]
    return found, list(found)


def _wholes(rng: random.Random, rows: int, mark: str) -> Values:
    found = [rng.randint(-999, 999) for _ in range(rows)]
    return [str(each) for each in found], found


def _grouped(rng: random.Random, rows: int, mark: str) -> Values:
    found = [rng.randint(1_000, 9_999_999) for _ in range(rows)]
    return [f"{each:,}".replace(",", "," if mark == "." else ".") for each in found], found


def _fractions(rng: random.Random, rows: int, mark: str) -> Values:
    found = [Decimal(rng.randint(-99_999, 99_999)) / 100 for _ in range(rows)]
    return [f"{each:.2f}".replace(".", mark) for each in found], found


def _leading_points(rng: random.Random, rows: int, mark: str) -> Values:
    found = [Decimal(rng.randint(-999, 999)) / 1000 for _ in range(rows)]
    return [f"{each:.3f}".replace("0.", ".", 1).replace(".", mark) for each in found], found


def _money(rng: random.Random, rows: int, mark: str) -> Values:
    sign = rng.choice(["$", "€", "£"])
    found = [Decimal(rng.randint(-9_999_999, 9_999_999)) / 100 for _ in range(rows)]
    form = rng.choice(["before", "after", "brackets"])
    return [_amount(each, mark, sign, form) for each in found], found


def _amount(amount: Decimal, mark: str, sign: str, form: str) -> str:
    digits = f"{abs(amount):,.2f}"
    if mark == ",":
        digits = digits.translate(str.maketrans(",.", ".,"))
    if form == "brackets":
        return f"({sign}{digits})" if amount < 0 else f"{sign}{digits}"
    minus = "-" * (amount < 0)
    return f"{minus}{sign}{digits}" if form == "before" else f"{minus}{digits} {sign}"


def _percents(rng: random.Random, rows: int, mark: str) -> Values:
    found = [Decimal(rng.randint(0, 1000)) / 10 for _ in range(rows)]
    return [f"{each}%".replace(".", mark) for each in found], found


def _long_ids(rng: random.Random, rows: int, mark: str) -> Values:
    found = [10**19 + rng.randint(0, 10**6) for _ in range(rows)]
    return [str(each) for each in found], found


def _codes(rng: random.Random, rows: int, mark: str) -> Values:
    form = rng.choice(["{:05}", "{}E2", "{:02}-01-03", "1.{}.0", "A{}", "{}/24"])
    found = [form.format(rng.randint(1, 99)) for _ in range(rows)]
    return found, list(found)


def _days(rng: random.Random, rows: int, mark: str) -> Values:
    form = rng.choice(["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d"])
    found = [date(2020, 1, 1) + timedelta(rng.randint(0, 2000)) for _ in range(rows)]
    return [each.strftime(form) for each in found], list(found)


def _times(rng: random.Random, rows: int, mark: str) -> Values:
    form = rng.choice(
        ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M:%S"]
    )
    start = datetime(2021, 1, 1)  # noqa: DTZ001 - as files have them
    found = [start + timedelta(minutes=rng.randint(0, 10**6)) for _ in range(rows)]
    return [each.strftime(form) for each in found], list(found)


def _truths(rng: random.Random, rows: int, mark: str) -> Values:
    yes, no = rng.choice(
        [("true", "false"), ("TRUE", "FALSE"), ("yes", "no"), ("T", "F"), ("1", "0")]
    )
    found = [rng.random() < 0.5 for _ in range(rows)]
    written = [yes if each else no for each in found]
    return written, found if yes.casefold() == "true" else [
        int(w) if w in "10" else w for w in written
    ]


_KINDS: dict[str, Callable[[random.Random, int, str], Values]] = {
    "wholes": _wholes,
    "grouped": _grouped,
    "fractions": _fractions,
    "points": _leading_points,
    "money": _money,
    "percents": _percents,
    "ids": _long_ids,
    "codes": _codes,
    "days": _days,
    "times": _times,
    "truths": _truths,
}
