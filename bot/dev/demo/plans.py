"""The kinds of question that the demo knows, each with its plan.

A plan is a generator: it yields the tool calls that it needs, is given their outputs, and returns
the answer. `PLANS` lists the kinds in the order in which they are tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .examples import QUESTIONS, SUGGESTED
from .outputs import (
    Message,
    Table,
    first_lines,
    read_address,
    read_handle,
    read_messages,
    read_schema,
    read_table,
)
from .question import Question

_FIGURES = "All figures of this answer."
_MOST_QUOTED, _MOST_NAMED, _MOST_ROWS = 5, 4, 20
_URL = re.compile(r"https?://[^\s<>|\"]+")
_POST = re.compile(
    r"\b(?:post|send)\b.*?[\"“](?P<text>.+?)[\"”].*?#(?P<channel>[\w-]+)", re.I | re.S
)
_REMEMBER = re.compile(r"\bremember (?:that )?(?P<text>.+)", re.I | re.S)
_CONVERT = re.compile(
    r"(?P<time>\d{1,2}:\d\d) in (?P<source>[A-Z][\w /]*?),? .*\bin (?P<target>[A-Z][\w /]*)"
)
_CLOCK = re.compile(r"\bwhat time is it(?: now)?(?: in (?P<zone>[A-Z][\w /]*))?", re.I)
_SUM = re.compile(r"[\d(][\d\s.,()]*(?:%\s*of|[-+*/^])[\d\s.,()*/^%+-]*\d\)*%?")
_GROUPED = re.compile(r"\b(?:by|per|each)\b", re.IGNORECASE)
_TOTAL = re.compile(r"\b(?:total|sum|altogether|how (?:much|many))\b", re.IGNORECASE)
_PROMISE = re.compile(r"\b(?:I will|I'll|please)\b", re.IGNORECASE)
_CHANNEL = re.compile(r"#([\w-]+)")


@dataclass(frozen=True)
class Call:
    """A tool call of a plan."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The words of an answer, and other fields of its response type by their names.

    Figures in it are references, which code fills in.
    """

    text: str
    fields: dict[str, Any] = field(default_factory=dict)


Plan = Generator[Call, str, Answer]


def plan_for(question: Question) -> Plan:
    """Return the plan of the first kind that the question fits."""
    return next(plan(question) for fits, plan in PLANS if fits(question))


def _mentions(words: str) -> Callable[[Question], bool]:
    """Return a test for whether a question contains one of the words, given as a pattern."""
    pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    return lambda question: pattern.search(question.text) is not None


def _has(pattern: re.Pattern[str]) -> Callable[[Question], bool]:
    return lambda question: pattern.search(question.text) is not None


def _match(pattern: re.Pattern[str], question: Question) -> re.Match[str]:
    """Return the match of a question that is known to fit."""
    return next(pattern.finditer(question.text))


def _source(
    title: str, url: str | None = None, supports: str = "What this answer quotes."
) -> list[dict[str, Any]]:
    return [{"title": title, "url": url, "supports": supports}]


def _failed(what: str, output: str) -> Answer:
    """Return an answer that quotes the first line of an output that the plan cannot use."""
    return Answer(f"{what} did not work. The tool said: {' '.join(first_lines(output, 1))}")


def about_page(question: Question) -> Plan:
    """Quote the beginning of a web page."""
    url = _match(_URL, question)[0].rstrip(".,?!)")
    output = yield Call("fetch_page", {"url": url})
    if not read_handle(output):
        return _failed(f"Reading {url}", output)
    points = first_lines(output, _MOST_QUOTED)
    return Answer(f"{url} begins like this.", {"key_points": points, "sources": _source(url, url)})


def post(question: Question) -> Plan:
    """Post a message elsewhere, which a person approves first."""
    wanted = _match(_POST, question)
    arguments = {"channel": wanted["channel"], "text": wanted["text"]}
    output = yield Call("post_message", arguments)
    if not output.startswith("posted"):
        return _failed(f"Posting in #{wanted['channel']}", output)
    url = output.rpartition("link: ")[2].strip()
    sources = _source(f"Message in #{wanted['channel']}", url)
    return Answer(f"“{wanted['text']}” is posted in #{wanted['channel']}.", {"sources": sources})


def recall(_question: Question) -> Plan:
    """List what is remembered."""
    output = yield Call("recall")
    return Answer("This is what I remember here.", {"key_points": first_lines(output, 20)})


def remember(question: Question) -> Plan:
    """Remember something for the person who asks."""
    text = _match(_REMEMBER, question)["text"].strip()
    kind = "wish" if "answer" in text.casefold() else "fact"
    output = yield Call("remember", {"text": text, "kind": kind})
    if output.startswith("All their questions"):
        return Answer(f"From now on: {text}. You see and change it in the Home tab.")
    if not output.startswith("Remembered"):
        return _failed("Remembering it", output)
    return Answer(
        f"I remember “{text}”. You see it in the Home tab and can have it forgotten there."
    )


def convert_time(question: Question) -> Plan:
    """Convert a time between two places."""
    wanted = _match(_CONVERT, question)
    output = yield Call("convert_time", {
        "time": wanted["time"], "from_zone": wanted["source"], "to_zone": wanted["target"]
    })  # fmt: skip
    result = re.search(r"^to: \S+ (\d\d:\d\d)\S* (\w+)", output, re.M)
    if not result:
        return _failed("Converting the time", output)
    when = f"{wanted['time']} in {wanted['source']}"
    answer = f"{when} is {result[1]} in {wanted['target']} ({result[2]})."
    return Answer(answer, {"confidence": "high"})


def tell_time(question: Question) -> Plan:
    """Tell what time it is."""
    zone = _match(_CLOCK, question)["zone"]
    output = yield Call("current_time", {"zone": zone})
    result = re.search(r"^now: (\S+) (\d\d:\d\d)\S* (\w+)", output, re.M)
    if not result:
        return _failed("Looking at the clock", output)
    answer = f"It is {result[2]}{f' in {zone}' if zone else ''}, {result[3]}, {result[1]}."
    return Answer(answer, {"confidence": "high"})


def calculate(question: Question) -> Plan:
    """Calculate one expression."""
    expression = _match(_SUM, question)[0].strip(" ,.")
    output = yield Call("calculate", {"expression": expression.replace(",", "")})
    handle = read_handle(output)
    if handle is None:
        return _failed(f"Calculating {expression}", output)
    return Answer(f"{expression} = {{{{{handle}}}}}", {"confidence": "high"})


def about_conversation(question: Question) -> Plan:
    """Show what was said in a thread, or in a channel that the question names."""
    channel = _CHANNEL.search(question.text)
    call = Call("read_channel", {"channel": channel[1]}) if channel else Call("read_thread")
    messages = read_messages((yield call))
    people = list(dict.fromkeys(message.author for message in messages))
    where = channel[0] if channel else "this thread"
    last = messages[-_MOST_QUOTED:]
    fields = {
        "key_points": [each.quote for each in last],
        "open_questions": [_linked(each, "text") for each in last if each.text.endswith("?")],
        "participants": people,
        "timeline": [{"when": each.when, "what": f"{each.author} wrote."} for each in last],
        "items": [
            {**_linked(each, "task"), "owner": None, "due": None}
            for each in last
            if _PROMISE.search(each.text)
        ],
        "sources": [
            part for each in last for part in _source(f"{each.author}, {each.when}", each.url)
        ],
        "tone": "as a form to fill in",
    }
    if question.kind == "draft":
        return Answer(f"Thank you, {people[-1] if people else 'all'}. [Your reply]", fields)
    count = f"{len(messages)} message{'s' * (len(messages) != 1)}"
    return Answer(f"I read {count} in {where}, by {', '.join(people) or 'nobody'}.", fields)


def _linked(message: Message, field_name: str) -> dict[str, Any]:
    return {field_name: message.quote, "url": message.url}


def about_file(question: Question) -> Plan:
    """Total a column of a table, with a chart if one is wanted; quote any other file."""
    file = (question.attached or question.earlier)[-1]
    output = yield Call("read_file", {"file_id": file.id})
    table, url = read_table(output), read_address(output)
    if table is None and not read_handle(output):
        return _failed(f"Reading {file.name}", output)
    if table is None or not table.numbers:
        fields = {
            "key_points": first_lines(output, _MOST_QUOTED),
            "sources": _source(file.name, url),
        }
        return Answer(f"{file.name} begins like this.", fields)
    group, value = _named(table.others, question.text), _named(table.numbers, question.text)
    if not (group or value) or (group is None and _GROUPED.search(question.text)):
        return _what_table_offers(file.name, table)
    value = value or table.numbers[-1]
    total = f'sum("{value}") AS "{value}" FROM {table.handle}'
    what = f"{value} by {group}" if group else value
    arguments = {
        "sql": _ranked(group, total),
        "handles": [table.handle],
        "purpose": f"total {what}",
    }
    output = yield Call("query_table", arguments)
    totals = read_table(output)
    if totals is None or not totals.rows:
        return _failed(f"Querying {file.name}", output)
    fields = {"sources": _source(file.name, url, _FIGURES), "confidence": _confidence(question)}
    if group is None:
        return Answer(f"The total of {value} is {totals.reference(value, 1)}.", fields)
    fields |= _shown(totals, f"Total {what}")
    fields["follow_ups"] = [
        f"What is the total {value} by {other}?" for other in table.words if other != group
    ][:2]
    if re.search(r"\bchart\b", question.text, re.IGNORECASE):
        output = yield Call("make_chart", {
            "handle": totals.handle, "kind": "bar", "title": f"Total {what}"[:50],
            "label_column": group, "value_columns": [value],
        })  # fmt: skip
        fields["charts"] = [handle] if (handle := read_handle(output)) else []
    return Answer(_most_and_least(totals, f"total {value}"), fields)


def about_database(question: Question) -> Plan:
    """Count the rows of the database's table that the question names, or list its tables."""
    output = yield Call("list_databases")
    tables, database = read_schema(output), re.search(r"^database: (\S+)", output, re.M)
    if not tables or not database:
        return _failed("Looking into the database", output)
    name = _named(tables, question.text)
    if name is None:
        points = [f"{table}: {', '.join(columns)}" for table, columns in tables.items()]
        return Answer(
            f"The database {database[1]} has {len(tables)} tables.", {"key_points": points}
        )
    group = _named(tables[name], question.text.rpartition(" by ")[2])
    counts = f'count(*) AS number FROM "{name}"'
    what = f"{name} by {group}" if group else name
    arguments = {"database": database[1], "sql": _ranked(group, counts), "purpose": f"count {what}"}
    output = yield Call("query_database", arguments)
    counted = read_table(output)
    if counted is None or not counted.rows:
        return _failed("Asking the database", output)
    sources = _source(f"Database {database[1]}", supports=_FIGURES)
    fields = {"sources": sources, "confidence": _confidence(question)}
    if group is None:
        number = counted.reference("number", 1)
        return Answer(f"The database {database[1]} has {number} {name}.", fields)
    fields |= _shown(counted, f"Number of {what}")
    return Answer(_most_and_least(counted, f"number of {name}"), fields)


def introduce(_question: Question) -> Plan:
    """Say what this is, with the examples."""
    yield from ()
    words = (
        "I am the bot, without a language model. My tools, approvals and answers are real; "
        "what I understand is a handful of questions like these."
    )
    return Answer(words, {"key_points": QUESTIONS, "follow_ups": SUGGESTED})


def chat(_question: Question) -> Plan:
    """Answer a greeting or thanks."""
    yield from ()
    return Answer("Hello! Ask me one of these, for example.", {"follow_ups": SUGGESTED})


def give_up(_question: Question) -> Plan:
    """Say in one sentence that no plan fits, and how to have any question answered."""
    yield from ()
    words = (
        "no fixed plan fits your question; to have any question answered, set OPENAI_API_KEY, or "
        "OPENAI_BASE_URL for your own server, and start `bot dev` again."
    )
    return Answer(words, {"follow_ups": SUGGESTED, "gaps": []})


def _named(names: Iterable[str], text: str) -> str | None:
    """Return the first name that the text contains, also in its singular, if any."""
    words = _words(text)
    return next((name for name in names if words.issuperset(_words(name) or {None})), None)


def _words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"\w+", text.lower())}


def _shown(table: Table, caption: str) -> dict[str, Any]:
    """Return the field that shows a table, which code fills in."""
    return {"table": {"caption": caption, "columns": [], "rows": None, "handle": table.handle}}


def _most_and_least(table: Table, what: str) -> str:
    """Say which row has most, and which least unless there may be more rows; the largest is first."""
    columns = [*table.columns]
    rows = [number for number, row in enumerate(table.rows, 1) if row[-1]] or [1]
    first, last = (
        (table.reference(columns[0], number), table.reference(columns[-1], number))
        for number in (rows[0], rows[-1])
    )
    most = f"{first[0]} has the highest {what}, {first[1]}"
    if len(rows) == 1 or len(table.rows) == _MOST_ROWS:
        return f"{most}."
    return f"{most}, and {last[0]} the lowest, {last[1]}."


def _what_table_offers(name: str, table: Table) -> Answer:
    """Say which totals of a table a question can ask for."""
    numbers, groups = _either(table.numbers), _either(table.others)
    example = f"What is the total {table.numbers[-1]}"
    example += f" by {(table.words or table.others)[0]}?" if groups else "?"
    can = f"I can total {numbers}{groups and f' by {groups}'} in {name}"
    return Answer(f"{can}: ask for that, for example as below.", {"follow_ups": [example]})


def _either(names: Sequence[str]) -> str:
    """Return the first names as "a, b or c"."""
    *rest, last = names[:_MOST_NAMED] or [""]
    return f"{', '.join(rest)} or {last}" if rest else last


def _ranked(group: str | None, figures: str) -> str:
    """Return SQL for figures, by a column if one is given; the largest first."""
    if group is None:
        return f"SELECT {figures}"
    return f'SELECT "{group}", {figures} GROUP BY 1 ORDER BY 2 DESC LIMIT {_MOST_ROWS}'


def _confidence(question: Question) -> str:
    """Return how sure a total is: a question that asks for none may mean something else."""
    return "high" if _TOTAL.search(question.text) else "medium"


PLANS: list[tuple[Callable[[Question], bool], Callable[[Question], Plan]]] = [
    (lambda question: question.kind in ("about", "draft"), about_conversation),
    (_has(_URL), about_page),
    (_has(_POST), post),
    (_mentions("what do you remember"), recall),
    (_has(_REMEMBER), remember),
    (_mentions("what can you|what you can|who are you|what are you|help|real model"), introduce),
    (_has(_CONVERT), convert_time),
    (_has(_CLOCK), tell_time),
    (_has(_SUM), calculate),
    (lambda question: bool(question.attached), about_file),
    (
        _mentions("thread|summari[sz]e|was said|was decided|still open|action items"),
        about_conversation,
    ),
    (_mentions("database"), about_database),
    (_mentions("hi|hello|hey|good morning|thanks|thank you"), chat),
    (lambda question: bool(question.earlier), about_file),
    (_mentions("customers?|orders?|products?|tickets?"), about_database),
    (lambda _: True, give_up),
]
