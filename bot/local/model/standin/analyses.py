"""Questions about a table that no single grouped query answers, in a table of their own."""

from __future__ import annotations

from collections.abc import Callable

from .columns import columns_named, date_column, default_measure, identifies
from .conditions import conditions
from .findings import Findings
from .outputs import Table, failed, parse_tables, reason
from .query import Query
from .shaping import changes, describe
from .sql import Statement, quoted, write
from .telling import tell
from .view import View
from .words import has, listed, number, shown, tokens

Analysis = Callable[[View, Findings, Table], None]
Row = dict[str, str]


def fitting(text: str, *, is_fragment: bool, is_query: bool) -> Analysis | None:
    """The analysis that a question asks for; a fragment that goes on with another question asks none,
    and one that says by what figures are to be told asks for no overview."""
    if is_fragment:
        return None
    found = next((analysis for pattern, analysis in TABLE if has(text, pattern)), None)
    return None if found is _overview and is_query else found


def _columns(_: View, found: Findings, table: Table) -> None:
    names = listed([f"`{name}`" for name in table.columns])
    found.summary = f"{table.source} has **{len(table.columns)} columns**: {names}."
    for name in table.columns:
        distinct, low, high = table.ranges.get(name, ("", "", ""))
        if low:
            found.points.append(
                f"`{name}`: {shown(low)} to {shown(high)}, {distinct} different values"
            )


def _unchanged(_: View, found: Findings, table: Table) -> None:
    found.summary = (
        f"I read files and never change them, so {table.source} stays as it is. I can make a new one of what "
        "you ask for, as in “revenue by region as CSV”."
    )


def _duplicates(view: View, found: Findings, table: Table) -> None:
    output = view.do(
        "find_duplicates", "I look for rows that are the same.", handle=table.handle, columns=list(table.columns)
    )  # fmt: skip
    if failed(output):
        found.summary = "I could not look for duplicates."
        found.lower(reason(output), "low")
        return
    rows = next((each.rows for each in parse_tables(output)), [])
    if not rows:
        found.summary = f"No: none of the {table.total:,} rows of {table.source} is there twice."
        return
    number_of = "One row is" if len(rows) == 1 else f"{len(rows)} rows are"
    found.summary = f"Yes: **{number_of}** there more than once."
    found.caption, found.columns = "Rows that repeat", [*table.columns, "times"]
    found.rows = rows[:20]


def _missing(view: View, found: Findings, table: Table) -> None:
    parts = ", ".join(
        f"count(*) - count({quoted(name)}) AS {quoted(name)}" for name in table.columns
    )
    sql = f"SELECT {parts} FROM {quoted(table.handle)}"  # noqa: S608 - every name is quoted
    [row] = _rows(view, table, sql, "count the empty cells") or [{}]
    empty = {name: count for name, count in row.items() if count != "0"}
    if not empty:
        found.summary = f"No: every cell of the {table.total:,} rows of {table.source} is filled."
        return
    found.summary = f"Yes: {listed([f'`{name}` is empty in **{count}** of {table.total:,} rows' for name, count in empty.items()])}."


def _quality(view: View, found: Findings, table: Table) -> None:
    """What is there twice or is empty; whether a figure is right nobody can tell from it."""
    for look in (_duplicates, _missing):
        look(view, part := Findings(), table)
        told = part.summary.removeprefix("No: ").removeprefix("Yes: ")
        found.points.append(f"{told[:1].upper()}{told[1:]}")
        if part.columns:
            found.caption, found.columns, found.rows = part.caption, part.columns, part.rows
    found.summary = (
        f"I looked in {table.source} for rows that are there twice, and for empty cells."
    )
    found.gaps.append("Whether a figure itself is right cannot be told from the table.")


def _outliers(view: View, found: Findings, table: Table) -> None:
    """Rows whose figure lies far from most: by more than one and a half times the middle half's width
    (Tukey's fences)."""
    measure = default_measure(table)
    if measure is None:
        describe(found, table)
        return
    name, of = quoted(measure), quoted(table.handle)
    quartiles = ", ".join(
        f"quantile_cont({name}, {part}) AS q{part * 4:.0f}" for part in (0.25, 0.75)
    )
    low, high = "q1 - 1.5 * (q3 - q1)", "q3 + 1.5 * (q3 - q1)"
    sql = f"SELECT t.* FROM {of} t, (SELECT {quartiles} FROM {of}) q WHERE {name} NOT BETWEEN {low} AND {high} ORDER BY {name} DESC LIMIT 20"  # noqa: S608 - every name is quoted
    rows = _rows(view, table, sql, "look for figures far from most")
    plain = measure.replace("_", " ")
    if not rows:
        found.summary = f"No row of {table.source} has a {plain} far from the others."
        return
    many = "One row has" if len(rows) == 1 else f"{len(rows)} rows have"
    found.summary = f"**{many}** a {plain} far from the others."
    found.caption, found.columns = f"Rows with an unusual {plain}", list(rows[0])
    found.rows = [list(row.values()) for row in rows]


def _meaning(_: View, found: Findings, table: Table) -> None:
    describe(found, table)
    found.gaps.append("What its columns mean the table does not say: whoever made it knows.")


def _correlation(view: View, found: Findings, table: Table) -> None:
    named = [
        c for word in tokens(view.text) for c in columns_named(word, table)[:1] if table.numeric(c)
    ]
    both = list(dict.fromkeys(named))[:2]
    if len(both) < 2:
        numeric = listed([f"`{c}`" for c in table.columns if table.numeric(c)])
        found.summary = f"A correlation needs two columns of numbers. {table.source} has {numeric}."
        return
    one, other = map(quoted, both)
    sql = f"SELECT round(corr({one}, {other}), 3) AS r FROM {quoted(table.handle)}"  # noqa: S608 - as above
    [row] = _rows(view, table, sql, "correlate two columns") or [{}]
    value = number(row.get("r", ""))
    if value is None:
        found.summary = "The correlation could not be worked out."
        return
    strength = "strong" if abs(value) >= 0.7 else "moderate" if abs(value) >= 0.4 else "weak"
    found.summary = f"The correlation of `{both[0]}` and `{both[1]}` is **{value:.2f}**, a {strength} {'negative ' * (value < 0)}one."
    course = "fall" if value < 0 else "rise"
    found.points.append(f"Where one rises the other tends to {course}; neither need be the reason.")


def _why(view: View, found: Findings, table: Table) -> None:
    """What the figures did over time; reasons are in no table."""
    _course(view, found, table)
    found.gaps.append("A table tells what happened, not why: the reasons have to come from people.")


def _course(view: View, found: Findings, table: Table) -> None:
    measure = default_measure(table)
    if measure is None or date_column(table) is None:
        describe(found, table)
    else:
        where = conditions(view.text, table, measure)
        query = Query(measure=measure, aggregate="sum", period="month", filters=where)
        _told(view, found, table, query)
        found.points += changes(found.rows)


def _forecast(_: View, found: Findings, table: Table) -> None:
    """What they will do is not known, and is not put in the place of what they did."""
    found.summary = f"I cannot forecast. How the figures of {table.source} developed so far I can tell: ask for them by month."
    found.sources.clear()


def _growth(view: View, found: Findings, table: Table) -> None:
    """Which series grew most from its first month to its last."""
    measure = default_measure(table)
    group = next(
        (c for word in tokens(view.text) for c in columns_named(word, table) if c in table.texts),
        None,
    )
    if measure is None or group is None or date_column(table) is None:
        _course(view, found, table)
        return
    query = Query(measure=measure, aggregate="sum", groups=(group,), period="month")
    _told(view, found, table, query)
    courses: dict[str, list[float]] = {}
    for name, place in zip(found.columns[1:], range(1, len(found.columns)), strict=True):
        courses[name] = [value for row in found.rows if (value := number(row[place])) is not None]
    growth = {
        name: each[-1] / each[0] - 1 for name, each in courses.items() if len(each) > 1 and each[0]
    }
    if growth:
        best = max(growth, key=lambda name: growth[name])
        found.summary = (
            f"**{best}** grew most: its {measure.replace('_', ' ')} went from {courses[best][0]:,.0f} in the first month to "
            f"{courses[best][-1]:,.0f} in the last ({growth[best]:+.0%})."
        )
        found.points = [
            f"{name}: {growth[name]:+.0%}"
            for name in sorted(growth, key=lambda name: -growth[name])
        ]


def _overview(view: View, found: Findings, table: Table) -> None:
    """The whole, its course, and who leads: what one looks at first."""
    measure = default_measure(table)
    groups = [c for c in table.texts if not identifies(c) and c != date_column(table)][:2]
    if measure is None or not (groups or date_column(table)):
        describe(found, table)
        return
    parts = [Query(measure=measure, aggregate="sum", groups=(group,)) for group in groups]
    if date_column(table):
        parts.insert(0, Query(measure=measure, aggregate="sum", period="month"))
    told = []
    for query in parts:
        part = Findings()
        _told(view, part, table, query)
        told.append(part)
    found.summary = f"{table.source} holds **{table.total:,} rows**. {told[0].summary}"
    found.points = [part.summary for part in told[1:]] + [
        p for p in told[0].points if p.startswith(("Highest", "Lowest", "All"))
    ]
    found.caption, found.columns, found.rows = told[0].caption, told[0].columns, told[0].rows


def _told(view: View, found: Findings, table: Table, query: Query) -> Statement:
    statement = write(query, table, of=quoted(table.handle))
    output = view.do(
        "query_table", f"I work out the {statement.what}{statement.by} with SQL.", sql=statement.sql,
        handles=[table.handle], purpose=statement.purpose,
    )  # fmt: skip
    for result in parse_tables(output)[:1]:
        tell(found, result, statement, query, table.source)
    return statement


def _rows(view: View, table: Table, sql: str, purpose: str) -> list[Row]:
    output = view.do(
        "query_table", f"I {purpose} with SQL.", sql=sql, handles=[table.handle], purpose=purpose
    )
    return [
        dict(zip(result.header, row, strict=False))
        for result in parse_tables(output)
        for row in result.rows
    ]


TABLE: tuple[tuple[str, Analysis], ...] = (
    (r"(?:which|what|list|show)(?: me)?(?: all| the)* columns(?: are there| does it have| are in.*)?|column names|headers?", _columns),
    (r"duplicates?|duplicated|twice", _duplicates),
    (r"(?:missing|empty|blank|null) (?:values?|cells?|data|entries)|(?:anything|something) missing|incomplete", _missing),
    (r"forecast\w*|predict\w*|next (?:month|quarter|year)", _forecast),
    (r"(?:delete|erase|insert|overwrite) (?:all|every|the|an?) .*|(?:delete|remove|drop|change|edit|update|rename|sort and save) (?:the |this |all |every )?(?:\w+ )?(?:rows?|columns?|file|cells?|lines?|entry|entries)", _unchanged),
    (r"correlat\w+", _correlation),
    (r"why|reasons?|what caused|explain the", _why),
    (r"(?:growing|grew|grown|grow|growth|increas\w+|improv\w+)(?: the)?(?: most| fastest| best)?", _growth),
    (r"unusual|anomal\w+|outliers?|odd|strange", _outliers),
    (r"(?:errors?|mistakes?|problems?|issues?|wrong)(?: in| with| about)?|clean|data quality", _quality),
    (r"(?:what does|what do|meaning of|what is meant by) .*\b(?:mean|meaning|column|by)\b", _meaning),
    (r"insights?|interesting|highlights?|analy[sz]e|analysis|report|summar\w+|overview|key (?:figures|points)|stand(?:s)? out|takeaways?|focus on|conclusions?|should (?:i|we) know", _overview),
)  # fmt: skip
"""What is asked for, by its words; the first that fits."""
