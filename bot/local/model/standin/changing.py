"""What would change the data of a database: refused, with what can be done instead."""

from __future__ import annotations

import re

from .continuing import was_asked
from .findings import Findings
from .schemas import sections_of
from .view import View
from .words import has, stems

STATEMENT = re.compile(
    r"\b(?:drop|truncate|alter|create) table\b|\bdelete from\b|\binsert into\b|\bupdate \w+ set\b",
    re.IGNORECASE,
)
WISH = re.compile(
    r"^\W*(?:(?:please|can|could|would|will|you|now|and|then|ok|okay|just|also|i want to|i'd like to|let'?s)\W+)*"
    r"(?:(?P<always>delete|erase|wipe|truncate|insert|update|rename|alter|modify|overwrite)|"
    r"drop|remove|add(?! up)|change|set|close|reopen|cancel|create|mark|raise|lower|increase|decrease|reduce|"
    r"replace|correct|fix|edit|assign)\s+(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
"""An order; what `always` changes data in a conversation about them, and what may mean an answer."""
OTHERS = (
    r"me|us|charts?|plots?|graphs?|messages?|channels?|threads?|reminders?|schedules?|canvas(?:es)?|files?|posts?|"
    r"memor\w+|lists?|summary|answer"
)
"""What is no data of a database."""
OF = r"\b(?:of|in|from|for|to|by|with|where|called|named|whose|as)\b"
VALUE = r"\b(?:to|by)\s+\S"


def is_asked(view: View) -> bool:
    """Whether a database is to be changed: as SQL, or in words that name what it holds."""
    if STATEMENT.search(view.text):
        return True
    wish = WISH.match(view.text)
    other_data = view.files and not was_asked(view)
    if wish is None or other_data or has(wish["what"], OTHERS) or not view.knows("list_databases"):
        return False
    return bool(wish["always"] and was_asked(view)) or _is_of_data(view, wish["what"])


def answer(_: View, found: Findings) -> None:
    """Nothing was changed."""
    found.summary = (
        "The database is only read here, so **nothing was changed**. Whoever keeps the data can change them; I can "
        "look them up, and leave rows out of an answer if you say “without …”."
    )
    found.follow_ups = ["Which tables are in the database?"]


def _is_of_data(view: View, what: str) -> bool:
    """Whether a table is to be changed, or a column is to have another value."""
    if has(what, r"databases?|tables? \w+"):
        return True
    sections = sections_of(view.do("list_databases", "I look at what databases there are."))
    tables = [each.table for _, _, listed in sections for each in listed]
    named = re.split(OF, what, maxsplit=1, flags=re.IGNORECASE)[0]
    changed = {*stems(what if has(named, r"columns?|rows?|records?|entr(?:y|ies)") else named)}
    if any(changed & {*stems(each.source)} for each in tables):
        return True
    columns = {name for each in tables for name in each.columns}
    return bool(changed & columns) and re.search(VALUE, what) is not None
