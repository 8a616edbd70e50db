"""Questions about attached files: read, query, chart, share."""

from __future__ import annotations

import re
from pathlib import PurePath

from ..findings import Findings
from ..outputs import Table, parse_document, parse_tables, reason, sheet_of
from ..phrasing import GIST
from ..texts import documents
from ..view import View
from ..words import has
from ..words import listed as listed_words
from . import comparing, overviews
from .analyses import fitting
from .caveats import Days, caveats, in_units, told_of_days
from .charting import draw
from .columns import date_column, empty_among
from .exporting import form_of, name_of, share, share_whole
from .following import Meaning, meaning_of, was_declined
from .lookup import lookup
from .reading import read_for, read_on
from .shaping import describe, follow_ups, tell_sheets, whole_questions
from .sql import Statement, quoted, write
from .telling import tell

SHEETS = r"(?:which|what|list|show|how many) (?:\w+ ){0,3}(?:sheets|tabs|worksheets)"
SIMILAR = re.compile(
    r'column "([^"]+)" (?:not found|does not exist).*?Similar columns: ([^,.\n]+)', re.S
)


def is_attached(view: View) -> bool:
    """Whether the message brings files along."""
    return bool(view.turn.files)


def is_spoken_of(view: View) -> bool:
    """Whether the conversation holds a file, or a table that a follow-up can go on with."""
    read = any(step.tool == "read_file" for step in view.earlier)
    return bool(view.files) or read or has(view.text, "file|spreadsheet|csv|xlsx|attachment|pdf")


def answer(view: View, found: Findings) -> None:
    """Answer from the file or table the conversation is about."""
    if comparing.told(view, found) or overviews.told(view, found):
        return
    reading = read_for(view, found)
    if reading is None:
        return
    from_reading(view, found, reading)
    if parse_tables(reading):
        overviews.tell_source(view, found)


def from_reading(view: View, found: Findings, reading: str) -> None:
    """Answer from what a tool read: a document, or one or more tables."""
    document, tables = parse_document(reading), parse_tables(reading)
    if document:
        if not share_whole(view, found, document):
            documents.answer(view, found, document)
            found.gaps += re.findall(r"^note: (.+)$", reading, re.M)
            if kind := form_of(view.text):
                share(view, found, None, kind)
    elif tables:
        _from_tables(view, found, tables)
    else:
        found.summary = "The file could not be read."
        found.lower(reason(reading), "low")


def _from_tables(view: View, found: Findings, tables: list[Table]) -> None:
    """Answer from the sheet that the question fits."""
    is_gist = GIST.fullmatch(view.text) is not None
    if len(tables) > 1 and (is_gist or has(view.text, SHEETS)):
        tell_sheets(found, tables)
        return
    meanings = [(meaning_of(view, table, table.source.__eq__), table) for table in tables]
    meaning, table = min(
        meanings, key=lambda each: (len(each[0].sentence.lost), not _is_named(view, each[1]))
    )
    meaning = _looked_up(view, table, meaning)
    found.source(table.source, table.url, "The figures of this answer.")
    if len(tables) > 1 and not _is_named(view, table):
        others = listed_words([sheet_of(each) for each in tables if each is not table])
        found.gaps.append(f"I looked at the sheet {sheet_of(table)} only, and not at {others}.")
    found.gaps += [note for note in table.notes if note.startswith("It is called")]
    if is_gist or _names_the_sheet_only(view, table):
        describe(found, table)
    elif analysis := fitting(view.text):
        analysis(view, found, table)
    elif meaning.query.file and meaning.sentence.query.silent and _is_of_all(view, meaning):
        describe(found, table)
        share(view, found, table, meaning.query.file, called=name_of(table))
    else:
        _ask(view, found, table, meaning)
    if found.sources and table.total:
        follow_ups(found, table, meaning.query)


def _looked_up(view: View, table: Table, meaning: Meaning) -> Meaning:
    """What is asked, once the words that nothing took were looked up among the names in the table."""
    words = meaning.sentence.unknown or meaning.sentence.lost
    sql = words and lookup(view.text, words, table, quoted(table.handle))
    if not sql or GIST.fullmatch(view.text) or not view.knows("query_table"):
        return meaning
    view.do(
        "query_table", "I look which of the words are names in it.", sql=sql,
        handles=[table.handle], purpose="names it holds",
    )  # fmt: skip
    return meaning_of(view, table, table.source.__eq__)


def _is_of_all(view: View, meaning: Meaning) -> bool:
    """Whether "export it" means the file, and not what the question before asked."""
    return not (meaning.before or any(map(was_declined, view.turns[-2:-1])))


def _is_named(view: View, table: Table) -> bool:
    """Whether the question names the sheet."""
    name = sheet_of(table)
    return bool(name) and has(view.text, re.escape(name))


def _names_the_sheet_only(view: View, table: Table) -> bool:
    name = sheet_of(table) or PurePath(table.source).name
    rest = re.sub(rf"\b{re.escape(name)}\b", "", view.text, flags=re.IGNORECASE)
    return rest != view.text and GIST.fullmatch(" ".join(rest.split())) is not None


def refused(found: Findings, table: Table, meaning: Meaning) -> bool:
    """Whether it cannot be worked out as it is asked, which is said."""
    if table.handle and not table.total:
        found.summary = f"{table.source} has no rows, only the names of its columns."
        return True
    found.summary = meaning.wrong
    query = meaning.query
    if not found.summary and (
        empty := empty_among((*query.groups, query.measure, query.sort), table)
    ):
        found.summary = f"The column `{empty}` of {table.source} is empty, so I cannot tell."
        found.gaps += [note for note in table.notes if empty in note]
    if not found.summary:
        return False
    found.confidence = "low"
    found.sources.clear()  # it rests on none
    found.follow_ups = whole_questions(table)
    return True


def _ask(view: View, found: Findings, table: Table, meaning: Meaning) -> None:
    if refused(found, table, meaning):
        return
    query = meaning.query
    statement = write(query, table, of=quoted(table.handle))
    result = _run(view, found, table, statement, charted=query.chart is not None)
    if result is None:
        return
    result = read_on(view, found, result) if statement.labels else result
    tell(found, result, statement, query, table.source)
    found.points += in_units(query, table, result.header)
    number, first, last = table.ranges.get(date_column(table) or "", ("", "", ""))
    days = Days(first, last, number)
    found.gaps += [*caveats(query, table), *told_of_days(result, query, days)]
    present(view, found, result, statement, meaning)


def present(
    view: View, found: Findings, result: Table, statement: Statement, meaning: Meaning
) -> None:
    """Say what was assumed; draw and share the result if that was asked for."""
    query, before = meaning.query, meaning.before
    if statement.assumed:
        found.lower(statement.assumed)
    if meaning.passes_over:
        found.gaps.append(
            "This is of the last question that I understood: the one right before I did not."
        )
    if before and before.filters and not query.filters:
        found.points.append("This is of all rows: the question before was of some of them only.")
    if query.chart and statement.labels and result.rows:
        draw(view, found, result, statement, query)
    if query.file:
        share(view, found, result, query.file)


def _run(
    view: View, found: Findings, table: Table, statement: Statement, *, charted: bool
) -> Table | None:
    """The rows; after a refusal one corrected try, then an honest gap."""
    sql = statement.sql
    for _ in range(2):
        thought = f"Now I work out the {statement.what} with SQL."
        also = ("make_chart",) if charted else ()
        output = view.do(
            "query_table", thought, also=also, sql=sql, handles=[table.handle],
            purpose=statement.purpose,
        )  # fmt: skip
        results = parse_tables(output)
        if results:
            return results[0]
        wrong = SIMILAR.search(output)
        if wrong is None:
            break
        sql = sql.replace(f'"{wrong[1]}"', f'"{wrong[2].strip()}"')
    found.summary = "The query did not work, so there is no figure to give."
    found.lower(reason(output), "low")
    return None
