"""Common arguments with which the model asks a tool for less output.

They have the same names and meaning in all tools. `compact` leaves out details that another call
can return, `query` selects by words, `fields` by columns, `time_range` by time, and `limit` is a
number of results. A tool replaces a description where the common one does not say enough.
"""

from __future__ import annotations

import re
from datetime import datetime, time, tzinfo
from typing import Annotated

from pydantic import Field

from bot.core.errors import ToolError

Compact = Annotated[bool, Field(description="Only the essentials.")]
Query = Annotated[
    str | None,
    Field(max_length=300, description="Words; only what has all of them, in any case."),
]
Fields = Annotated[
    list[str] | None, Field(min_length=1, description="Only these columns; leave out for all.")
]
TimeRange = Annotated[
    str | None,
    Field(
        max_length=80,
        description='"start/end" in ISO 8601, either may be missing: "2026-03-01/2026-03-31", '
        '"2026-03-01T09:00/"; the asker\'s zone if none.',
    ),
]


def has_words(text: str, query: str | None) -> bool:
    """Return whether `text` has all words of `query`, ignoring case. No query matches any text."""
    folded = text.casefold()
    return all(word in folded for word in (query or "").casefold().split())


def time_range(given: str | None, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Return the start and end of a `TimeRange`, None where it is open. An end day is included.

    Raises ToolError, with the right format, for an invalid range.
    """
    if given is None:
        return None, None
    start, slash, end = given.partition("/")
    if not slash:
        # a day alone is that whole day; a time alone means "since then"
        end = start if _is_day(start) else ""
    bounds = _moment(start, zone, time.min), _moment(end, zone, time.max)
    if bounds[0] and bounds[1] and bounds[0] > bounds[1]:
        raise ToolError(f"{given}: the start is after the end. Exchange them.")
    return bounds


def _is_day(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip()) is not None


def _moment(text: str, zone: tzinfo, clock: time) -> datetime | None:
    text = text.strip().strip(".")  # ISO 8601-2 writes ".." for an open end
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ToolError(
            f'{text!r} is not a time. Write "start/end" as "2026-03-01/2026-03-31T18:00".'
        ) from None
    if _is_day(text):
        moment = datetime.combine(moment, clock)
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
