"""The plan of a refresh: which recorded calls to make again, in order, and which cannot be.

Pure functions over the ledger. A call is needed if a figure of the answer comes from its output, or
if it saved a table that a needed call reads, or a figure that a needed call computes with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from bot.agent.calls.outputs import marked_text
from bot.core.chain import CallRecord, LedgerEntry
from bot.core.findings import Claim, Finding, Findings, Verdict
from bot.core.ids import HANDLE
from bot.core.text.redaction import each_text
from bot.evidence.arguments import LITERAL, is_constant, value_of
from bot.evidence.entries import Entry, EntryKind
from bot.evidence.indexing import IndexedOutput, index
from bot.toolkit import Tool

ToolOf = Callable[[str], Tool | None]

_DATE = re.compile(r"\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b")
MOST_CALLS = 30


class Skipped(StrEnum):
    """Why a call is not made again."""

    TOOL = "tool"  # its tool reads what cannot be read again in the same way
    NOT_ALLOWED = "not_allowed"  # the tool is not there, or not allowed in the channel
    FILE_GONE = "file_gone"
    FILE_REPLACED = "file_replaced"
    FAILED = "failed"
    BUILDS_ON = "builds_on"  # on a call that is not made again
    OPERAND = "operand"  # arithmetic with a number whose source is not known
    NOT_STORED = "not_stored"
    TOO_MANY = "too_many"


@dataclass(frozen=True)
class RecordedCall:
    """A call of the ledger: its arguments as JSON, and its output as the model read it."""

    call_id: str
    tool: str
    arguments: str
    output: str
    record: CallRecord

    @property
    def saved(self) -> list[str]:
        """The handles that the call saved, in order."""
        return [each.handle for each in self.record.saved]

    @cached_property
    def indexed(self) -> IndexedOutput:
        """The output with its figures. Takes up to half a second."""
        return self.index(self.output)

    def index(self, output: str) -> IndexedOutput:
        """Return an output of this call with its figures."""
        is_calculated = self.record.counts_as == "calculated"
        kind = EntryKind.CALCULATED if is_calculated else EntryKind.READ
        return index(Entry(self.call_id, self.tool, output, kind))


def recorded_calls(entries: Iterable[LedgerEntry]) -> dict[str, RecordedCall]:
    """Return the calls of a ledger with their outputs, by call id and in order.

    Calls of earlier releases are left out, as what they saved is not known, and so are calls whose
    id is another's too, as it is not known which one a figure comes from.
    """
    calls: dict[str, tuple[str, str]] = {}
    doubled = set[str]()
    found: dict[str, RecordedCall] = {}
    for entry in entries:
        if entry.abandoned or entry.checkpoint:
            continue
        records = {each.call_id: each for each in entry.calls}
        for item in entry.items:
            if item.get("type") == "function_call":
                doubled |= {item["call_id"]} & calls.keys()
                calls[item["call_id"]] = (str(item["name"]), str(item.get("arguments") or "{}"))
            elif item.get("type") == "function_call_output" and item["call_id"] in calls:
                call_id, output = item["call_id"], str(item["output"])
                name, arguments = calls[call_id]
                text = marked_text(output) or output
                if record := records.get(call_id):
                    found[call_id] = RecordedCall(call_id, name, arguments, text, record)
    return {call_id: each for call_id, each in found.items() if call_id not in doubled}


def figures_of(traced: Findings) -> list[Finding]:
    """Return the figures of an answer that come from outputs of calls, each text and place once."""
    wanted = (
        each
        for each in traced.of(Verdict.READ, Verdict.WORKED_OUT)
        if each.kind is Claim.FIGURE and any(place.tool for place in each.places)
    )
    return [*{(each.text, each.places, each.formula): each for each in wanted}.values()]


def is_refreshable(traced: Findings | None, tool_of: ToolOf) -> bool:
    """Return whether a figure of the answer comes from a call that may be made again."""
    tools = {place.tool for each in (figures_of(traced) if traced else ()) for place in each.places}
    return any(may_repeat(tool_of(name)) for name in tools if name)


def may_repeat(tool: Tool | None) -> bool:
    """Return whether code may make calls of a tool again by itself.

    Nothing leaves the bot: an address or a query would need the checks of a run.
    """
    return tool is not None and tool.repeatable and tool.reads and not tool.is_outward


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls to make again, in order, and why others that are needed are not.

    Both by call id.
    """

    calls: dict[str, RecordedCall]
    skipped: dict[str, Skipped]

    @property
    def periods(self) -> list[str]:
        """The dates that the calls name: asked again, they still ask about these."""
        found = {date for each in self.calls.values() for date in _DATE.findall(each.arguments)}
        return sorted(found)


def plan(figures: Sequence[Finding], recorded: dict[str, RecordedCall], tool_of: ToolOf) -> Plan:
    """Return which of the recorded calls to make again for the figures of an answer."""
    order = [*recorded]
    saved_by = {handle: each.call_id for each in recorded.values() for handle in each.saved}
    needed, skipped = set[str](), dict[str, Skipped]()
    tools = {place.call_id: place.tool for each in figures for place in each.places if place.tool}
    open_ids = {*tools}
    while open_ids:
        call_id = open_ids.pop()
        if call_id in needed or call_id in skipped:
            continue
        call = recorded.get(call_id)
        if call is None:
            is_lost = may_repeat(tool_of(tools.get(call_id, "")))
            skipped[call_id] = Skipped.NOT_STORED if is_lost else Skipped.TOOL
            continue
        tool = tool_of(call.tool)
        if tool is None:
            skipped[call_id] = Skipped.NOT_ALLOWED
        elif not (may_repeat(tool) or tool.calculates):
            skipped[call_id] = Skipped.TOOL
        else:
            needed.add(call_id)
            handles = {*call.record.used, *HANDLE.findall(call.arguments)}
            open_ids |= {saved_by[each] for each in handles if each in saved_by}
            if tool.calculates:
                before = [recorded[each] for each in order[: order.index(call_id)]]
                open_ids |= {s.call_id for _, s in operands(call, before) if s is not None}
    ordered = [each for each in order if each in needed]
    for call_id in ordered[MOST_CALLS:]:
        skipped[call_id] = Skipped.TOO_MANY
    return Plan({each: recorded[each] for each in ordered[:MOST_CALLS]}, skipped)


def operands(
    call: RecordedCall, before: Sequence[RecordedCall]
) -> list[tuple[str, RecordedCall | None]]:
    """Return the numbers that a calculation computes with, each with the newest call that gave it.

    None for a number that no call gave. Small whole numbers and usual constants are left out.
    """
    found = dict[str, RecordedCall | None]()

    def note(number: str) -> str:
        value = value_of(number)
        if value % 1 or not is_constant(value):
            sources = (each for each in reversed(before) if each.indexed.between(value, value))
            source = next(sources, None)
            if source or not is_constant(value):
                found[number] = source
        return number

    _each_number(_json(call.arguments), note)
    return [*found.items()]


def with_handles(arguments: str, replaced: dict[str, str]) -> str:
    """Return arguments as JSON with handles replaced by others, inside of texts such as SQL too."""

    def new(text: str) -> str:
        return HANDLE.sub(lambda found: replaced.get(found[0], found[0]), text)

    return json.dumps(each_text(_json(arguments), new), ensure_ascii=False)


def with_numbers(arguments: str, replaced: dict[str, float]) -> str:
    """Return the arguments of a calculation as JSON with numbers replaced by others."""

    def new(number: str) -> str:
        return f"{replaced[number]:.15g}" if number in replaced else number

    return json.dumps(_each_number(_json(arguments), new), ensure_ascii=False)


def _each_number(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with `change` applied to each number, in texts too, without its sign."""
    match value:
        case bool() | None:
            return value
        case int() | float():
            new = float(change(f"{abs(value):.15g}")) * (-1 if value < 0 else 1)
            return int(new) if isinstance(value, int) and new.is_integer() else new
        case str():
            return LITERAL.sub(lambda found: change(found[0]), value)
        case list():
            return [_each_number(each, change) for each in value]
        case dict():
            return {key: _each_number(each, change) for key, each in value.items()}
        case _:
            return value


def _json(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return {}
