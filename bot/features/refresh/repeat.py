"""Repetition of recorded calls with the rights and channel policy of the person who asks now."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from babel import Locale

from bot.agent.builtin.shared_budget import SharedBudget
from bot.agent.calls.call import CallEvents, Calls
from bot.agent.limits import Limits
from bot.agent.state import LoopState
from bot.core.chain import CallRecord, LedgerEntry
from bot.core.context import bound_request
from bot.core.ids import HANDLE
from bot.core.request import Request
from bot.features.refresh.cells import Missing, renewed
from bot.features.refresh.refreshable import ToolOf, may_repeat
from bot.library.isolated.pool import warm_processes
from bot.library.tracing.outputs import Cell, Output
from bot.library.tracing.references import Fault, Figures, Filled
from bot.library.tracing.writing import value_of
from bot.runs.context.ledger_reader import LedgerReader
from bot.runs.policy.channels import ChannelSettings
from bot.runs.run import Run
from bot.runs.run_deps import RunDeps
from bot.text.redaction import each_text
from bot.text.translation import Text
from bot.toolkit import Tool

CANNOT = Text("it comes from {tool}, which cannot be repeated")
NOT_ALLOWED = Text("{tool} is not available here any more")
FILE_GONE = Text("its file was deleted, or you cannot see it")
FILE_REPLACED = Text("its file was replaced by another one")
FAILED = Text("{tool} failed")
BUILDS_ON = Text("its source data could not be read again")
OPERAND = Text("it was calculated with a number that I cannot trace")
NOT_STORED = Text("how it was found is no longer stored")
TOO_MANY = Text("the answer took too many steps")
LASTING = frozenset([CANNOT, BUILDS_ON, OPERAND, NOT_STORED])
"""Reasons for which a call can never be made again."""

MOST_CALLS = 30
_SECONDS = 240.0
_MAX_OUTPUT = 60_000  # characters: more than the model read, so that each line of it is there
_LITERAL = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?")
_MOST_FREE, _USUAL = 100, frozenset({360, 365, 366, 1_000, 1_024, 3_600, 86_400, 1_000_000})
_FORMS = re.compile(r"(?:\|\s*(?:0(?:\.0+)?|%|abs|compact)\s*)*\Z")


@dataclass
class Repetition:
    """Calls of a ledger, made again one after the other.

    - `before`, `records`: what the recorded calls showed and saved, by call id.
    - `outputs`: what calls show now. `missing`: why others were not made again.
    - `handles`: those of what was saved now, by those of before.
    """

    calls: Calls
    before: dict[str, Output]
    records: dict[str, CallRecord]
    outputs: dict[str, Output] = field(default_factory=dict)
    missing: dict[str, Text] = field(default_factory=dict)
    handles: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._old, self._new = Figures(tuple(self.before.values())), Figures()

    @classmethod
    async def prepared(
        cls,
        deps: RunDeps,
        request: Request,
        channel: ChannelSettings,
        entries: Sequence[LedgerEntry],
    ) -> Repetition:
        """Return a repetition by the person of `request`, which tools see as the current one.

        The hooks of a run decide about each call: the pause, the operator's commands, approvals.
        """
        loop_deps = await Run.of_job(deps, request, channel, request.id).loop_deps()
        before, records = recorded(entries, deps.toolbox.catalogue.get)
        calls = Calls(
            loop_deps.toolbox,
            loop_deps.hooks,
            replace(loop_deps.context, max_response_size=_MAX_OUTPUT),
            SharedBudget(Limits(), LoopState()),
            frozenset(output.tool for output in before.values()),
            loop_deps.asker,
        )
        return cls(calls, before, records)

    async def run(self, call_ids: Iterable[str]) -> None:
        """Make calls again, each after those that it builds on. One that fails leaves the others as
        they are."""
        try:
            with bound_request(self.calls.context):
                async with asyncio.timeout(_SECONDS), warm_processes():
                    for call_id in call_ids:
                        await self._again(call_id)
        except TimeoutError:
            self.missing |= dict.fromkeys(self.before.keys() - self.outputs.keys(), TOO_MANY)

    def cell(self, old: Cell) -> Cell:
        """Return what is in a recorded cell now. Raises Missing."""
        output = self.outputs.get(old.output.call_id)
        if output is None:
            raise Missing(self.missing.get(old.output.call_id, NOT_STORED))
        if not old.column and (single := output.figure):
            return single
        try:
            now = self._new.table(self.handles.get(old.handle, ""))
        except Fault:
            now = []
        return renewed(old, self._old.table(old.handle), now)

    def written(self, old: Cell, text: str, reference: str, *locales: Locale | None) -> str:
        """Return what is in a recorded cell now as `text` writes the old value: with the forms of its
        reference, in the first of the locales in which it does, else in the first. Raises Missing."""
        new = self.cell(old)
        value = value_of(new.text)
        if new.text == old.text or (value is not None and value == value_of(old.text)):
            return text
        forms = match[0] if (match := _FORMS.search(reference)) else ""
        old_texts = [_written(old, forms, self._old, locale) for locale in locales]
        locale = locales[old_texts.index(text) if text in old_texts else 0]
        return _written(new, forms, self._new, locale)

    async def _again(self, call_id: str) -> None:
        if call_id in self.outputs or call_id in self.missing:
            return
        self.missing[call_id] = BUILDS_ON  # while it is not made
        try:
            await self._make(call_id)
            del self.missing[call_id]
        except Missing as missing:
            self.missing[call_id] = missing.why

    async def _make(self, call_id: str) -> None:
        """Make a call again, and keep what it shows. Raises Missing."""
        tool = self._tool_of(call_id)
        before, record = self.before[call_id], self.records[call_id]
        sources, others = await asyncio.to_thread(self._sources, before.arguments)
        if tool.calculates and not (sources and all(map(_is_free, _LITERAL.findall(others)))):
            raise Missing(OPERAND)
        handles = {*before.used, *HANDLE.findall(before.arguments)}
        for source, other in self.before.items():
            if source in sources or not handles.isdisjoint(other.made):
                await self._again(source)
        if any(handle not in self.handles for handle in before.used):
            raise Missing(BUILDS_ON)  # the stored copy is that of the answer
        if len(self.outputs) >= MOST_CALLS:
            raise Missing(TOO_MANY)
        arguments = await asyncio.to_thread(self._arguments, before.arguments)
        item = {"type": "function_call", "name": tool.name, "call_id": call_id}
        events: CallEvents = asyncio.Queue()
        output = await self.calls.make({**item, "arguments": arguments}, events)
        if output is None or not output.ok:  # None: it would wait for a person
            raise Missing(FILE_GONE if tool.group == "files" else FAILED)
        if tool.group == "files" and _files(output.kept) != _files(record):
            raise Missing(FILE_REPLACED)
        entry = LedgerEntry(run_id="", items=(item, output.item()), calls=(output.kept,))
        self.outputs |= recorded([entry], self.calls.toolbox.catalogue.get)[0]
        self._new = Figures(tuple(self.outputs.values()))
        pairs = zip(record.saved, output.kept.saved, strict=False)
        self.handles |= {old.handle: new.handle for old, new in pairs}

    def _tool_of(self, call_id: str) -> Tool:
        """Return the tool of a call that may be made again. Raises Missing."""
        if call_id not in self.before:
            raise Missing(NOT_STORED)
        catalogue, name = self.calls.toolbox.catalogue, self.before[call_id].tool
        tool = catalogue.get(name)
        if tool is None and catalogue.now(name) == name:
            raise Missing(NOT_ALLOWED)
        if tool is None or not (may_repeat(tool) or tool.calculates):
            raise Missing(CANNOT)
        return tool

    def _sources(self, arguments: str) -> tuple[set[str], str]:
        """Return the ids of the calls whose figures arguments refer to, and what else is in the
        arguments. Raises Missing."""
        sources = set[str]()

        def note(filled: Filled, _: str) -> str:
            sources.add(filled.cell.output.call_id)
            return ""

        return sources, str(self._with_references(arguments, note))

    def _arguments(self, arguments: str) -> str:
        """Return the arguments of a call with figures and handles as they are now. Raises Missing."""

        def now(filled: Filled, text: str) -> str:
            try:
                return self.written(filled.cell, text, filled.reference, None)
            except Missing:
                raise Missing(BUILDS_ON) from None

        def named(text: str) -> str:
            return HANDLE.sub(lambda match: self.handles.get(match[0], match[0]), text)

        filled = self._with_references(arguments, now)
        return json.dumps(each_text(filled, named), ensure_ascii=False)

    def _with_references(self, arguments: str, value: Callable[[Filled, str], str]) -> Any:
        """Return arguments with what `value` makes of each reference and of its old text. Raises
        Missing for a reference that leads nowhere."""

        def new(text: str) -> str:
            filled = self._old.fill(text, None, escaped=False)
            if filled.faults:
                raise Missing(OPERAND)
            text = filled.text
            for place in reversed(filled.filled):
                now = value(place, text[place.start : place.end])
                text = text[: place.start] + now + text[place.end :]
            return text

        try:
            return each_text(json.loads(arguments or "{}"), new)
        except ValueError:
            raise Missing(NOT_STORED) from None


def recorded(
    entries: Sequence[LedgerEntry], tool_of: ToolOf
) -> tuple[dict[str, Output], dict[str, CallRecord]]:
    """Return what the calls of a ledger showed, and what they saved, by call id and in order.

    Calls of earlier releases are left out, as what they saved is not known, and so are calls whose
    id is another's too, as it is not known which one a figure comes from.
    """
    records = {record.call_id: record for entry in entries for record in entry.calls}
    read = LedgerReader(tool_of).read_all(entries)
    times = Counter(output.call_id for output in read)
    outputs = {
        output.call_id: output
        for output in read
        if times[output.call_id] == 1 and output.call_id in records
    }
    return outputs, {call_id: records[call_id] for call_id in outputs}


def _files(record: CallRecord) -> set[str]:
    """Return the hashes of the files that a call read: a replaced file is not that of the answer."""
    return {artifact.raw_sha256 for artifact in record.saved} - {""}


def _is_free(literal: str) -> bool:
    """Return whether a calculation may use a number that was not read: a small or a usual one."""
    value = float(literal)
    return value in _USUAL or (value <= _MOST_FREE and value % 1 == 0)


def _written(cell: Cell, forms: str, figures: Figures, locale: Locale | None) -> str:
    """Return a cell as a reference to it with these forms is filled in."""
    place = f'."{cell.column}"[{cell.row}]' if cell.column else ""
    filled = figures.fill(f"{{{{{cell.handle}{place}{forms}}}}}", locale, escaped=False)
    return cell.text if filled.faults or not filled.filled else filled.text
