"""The check of a run's answers: indexes outputs while the model thinks, and traces results."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date

from cachetools import TTLCache
from pydantic import BaseModel
from pydantic_core import from_json

from bot.core.background import alongside
from bot.core.chain import LedgerEntry, ReportCheck
from bot.core.findings import Claim, Finding, Findings, Place, Unreadable, Verdict
from bot.evidence.check import check
from bot.evidence.entries import Entry
from bot.evidence.fields import AnswerField, FieldKind, fields_of
from bot.evidence.indexing import IndexedOutput, index
from bot.library.tracing.shown import Cell
from bot.library.tracing.writing import value_of
from bot.runs.evidence.entries import THREAD, LedgerReader
from bot.runs.evidence.filling import Filling, References
from bot.runs.evidence.settings import EvidenceMode
from bot.store.threads.ledger import MAX_ENTRIES

log = logging.getLogger(__name__)

_MOST_READ = 2_000_000
"""Characters that are indexed of a thread, the newest first."""
_MOST_CACHED, _CACHED_SECONDS = 4_000_000, 600.0
_LARGEST_CACHED = 300_000
_SHORT = 200
"""Characters of an output that is indexed at once: a thread would cost more than the work."""
_WAIT_SECONDS = 10.0
"""How long a result waits until everything before it is indexed."""
_MOST_STORED = 40_000  # characters of findings as JSON, before places are left out
_FIGURE = re.compile(r"\d{2,}")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


class Indexer:
    """The indexer of a process. It indexes one output at a time, in a thread, and remembers the
    newest, so that a thread that goes on is not indexed again."""

    def __init__(self) -> None:
        self._alone = asyncio.Lock()
        self._known: TTLCache[Entry, IndexedOutput] = TTLCache(
            _MOST_CACHED, _CACHED_SECONDS, getsizeof=lambda each: len(each.entry.text) + 100
        )

    async def index(self, entry: Entry) -> IndexedOutput:
        """Return the entry prepared for the check."""
        async with self._alone:
            if known := self._known.get(entry):
                return known
            is_short = len(entry.text) + len(entry.arguments) <= _SHORT
            indexed = index(entry) if is_short else await asyncio.to_thread(index, entry)
            if len(entry.text) <= _LARGEST_CACHED:
                self._known[entry] = indexed
            return indexed


@dataclass(slots=True)
class RunEvidence:
    """What a run's thread has read, and what the run reads itself; results are traced to it.

    All of it is derived from the ledger, so that any worker can go on. `today` is the asker's date.
    With the mode "off" nothing is indexed or traced; references are filled in all the same.
    """

    references: References
    mode: EvidenceMode
    indexer: Indexer
    reader: LedgerReader
    today: date
    _waiting: asyncio.Queue[Entry] = field(default_factory=asyncio.Queue)
    _indexed: list[IndexedOutput] = field(default_factory=list)
    _room: int = _MOST_READ
    _last: tuple[object, Findings | None] | None = None

    @property
    def is_on(self) -> bool:
        return self.mode != "off"

    @property
    def is_shown(self) -> bool:
        """Whether readers are told what was found."""
        return self.mode in ("mark", "send_back")

    @asynccontextmanager
    async def indexing(self) -> AsyncGenerator[None]:
        """Index in the background what is noted inside the context."""
        async with alongside(self._index_waiting(), name="evidence"):
            yield

    def begin(self, ledger: Sequence[LedgerEntry], is_cut: bool) -> None:
        """Note what the thread has read so far; with `is_cut` some of it belongs to one person."""
        if is_cut:
            self.reader.unreadable = Unreadable.ACCOUNTS
        if len(ledger) >= MAX_ENTRIES:
            self.reader.unreadable = Unreadable.CUT
        newest = list[Entry]()
        entries = [self.references.added(each) for each in self.reader.read_all(ledger)]
        for entry in reversed(entries) if self.is_on else ():
            if not self._has_room(entry):
                break
            newest.append(entry)
        for entry in reversed(newest):
            self._waiting.put_nowait(entry)

    def note(self, added: LedgerEntry) -> None:
        """Note what the run has read now."""
        for entry in map(self.references.added, self.reader.read(added)):
            if self.is_on and self._has_room(entry):
                self._waiting.put_nowait(entry)

    async def findings(self, result: BaseModel, filled: Sequence[Filling] = ()) -> Findings | None:
        """Trace a result to what was read; `filled` are the references that code has filled in. None
        if that fails, so that no answer is lost to it."""
        if not self.is_on:
            return None
        key = (result.model_dump_json(), tuple(filled))
        if self._last is None or self._last[0] != key:
            self._last = (key, await self._traced(result, filled))
        return self._last[1]

    async def _traced(self, result: BaseModel, filled: Sequence[Filling]) -> Findings | None:
        try:
            fields = fields_of(result.model_dump(mode="json"))
            is_indexed = await self._is_indexed()
            unreadable = self.reader.unreadable if is_indexed else Unreadable.SLOW
            found = await asyncio.to_thread(
                check, fields, tuple(self._indexed), today=self.today, unreadable=unreadable
            )
        except Exception:
            log.exception("an answer was not traced")
            return None
        if found.untraced and all(each.entry.call_id == THREAD for each in self._outputs):
            found = Findings(nothing_read=True)
        found = with_filled(found, fields, filled, self.references)
        if found.nothing_read and not self._has_own_figures(fields):
            return Findings()
        return _bounded(found)

    def report_filled(self, report: BaseModel, conversation: Sequence[LedgerEntry]) -> BaseModel:
        """Return the report of a sub-agent with its references filled in, from what it read."""
        if "{{" not in (written := report.model_dump_json()):
            return report
        references = References(None)
        for entry in LedgerReader(self.reader.tool_of).read_all(conversation):
            references.added(entry)
        return type(report).model_validate(references.fill(from_json(written)).value)

    async def check_report(
        self, report: BaseModel, conversation: Sequence[LedgerEntry]
    ) -> ReportCheck:
        """Trace the report of a sub-agent to what it read in its own conversation."""
        reader = LedgerReader(self.reader.tool_of)
        try:
            outputs = [await self.indexer.index(each) for each in reader.read_all(conversation)]
            fields = fields_of(report.model_dump(mode="json"))
            found = await asyncio.to_thread(check, fields, outputs, today=self.today)
        except Exception:
            log.exception("a report was not traced")
            return ReportCheck(unreadable=Unreadable.FAILED)
        untraced = dict.fromkeys(each.text for each in found.of(Verdict.UNTRACED))
        return ReportCheck(untraced=tuple(untraced), unreadable=reader.unreadable)

    async def _index_waiting(self) -> None:
        while True:
            entry = await self._waiting.get()
            try:
                self._indexed.append(await self.indexer.index(entry))
            except Exception:
                log.exception("an output was not indexed")
                self.reader.unreadable = Unreadable.FAILED
            self._waiting.task_done()

    async def _is_indexed(self) -> bool:
        """Wait until everything is indexed. Return False if that takes too long."""
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await self._waiting.join()
        except TimeoutError:
            return False
        return True

    def _has_room(self, entry: Entry) -> bool:
        self._room -= len(entry.text)
        if self._room < 0:
            self.reader.unreadable = Unreadable.CUT
        return self._room >= 0

    @property
    def _outputs(self) -> list[IndexedOutput]:
        """What was read: outputs of tools, and messages of the thread that came without a call."""
        return [each for each in self._indexed if each.is_output]

    def _has_own_figures(self, fields: Sequence[AnswerField]) -> bool:
        """Return whether an answer without look-ups has a figure that nobody wrote."""
        told = " ".join(each.entry.text for each in self._indexed)
        known = set(_FIGURE.findall(told))
        texts = (each.text for each in fields if each.kind is not FieldKind.ADDRESS)
        return any(figure not in known for text in texts for figure in _FIGURE.findall(text))


def with_filled(
    found: Findings,
    fields: Sequence[AnswerField],
    filled: Sequence[Filling],
    references: References,
) -> Findings:
    """Return the findings with those of the references that were filled in, in their places.

    A reference was read, unless its value is a literal of the call that gave it: then it is the
    model's own figure, and what tracing found of it counts.
    """
    texts = {each.path: each.text for each in fields}
    own = list[Finding]()
    for each in filled:
        cell, text = references.cell(each), texts.get(each.path, "")[each.start : each.end]
        is_figure = any(character.isdecimal() for character in text)
        if cell and cell.column and is_figure and not is_literal(cell):
            own.append(_filled(each, text, cell))
    if not own:
        return found
    taken = {
        (each.field, at) for each in own for at in range(each.start, each.start + len(each.text))
    }
    others = [
        each
        for each in found.items
        if not any((each.field, each.start + n) in taken for n in range(max(1, len(each.text))))
    ]
    order = {each.path: number for number, each in enumerate(fields)}
    items = sorted([*others, *own], key=lambda each: (order.get(each.field, 0), each.start))
    moved = {id(each): number for number, each in enumerate(items)}
    return found.model_copy(
        update={
            "nothing_read": False,
            "items": tuple(_with_operands(each, found.items, moved) for each in items),
        }
    )


def is_literal(cell: Cell) -> bool:
    """Return whether a figure stands in the query or the arguments of its own call."""
    value = value_of(cell.text)
    if value is None:
        return False
    return any(value_of(found) == abs(value) for found in _NUMBER.findall(cell.output.arguments))


def _filled(filling: Filling, text: str, cell: Cell) -> Finding:
    lines = cell.output.text.split("\n")
    place = Place(
        call_id=cell.output.call_id,
        tool=cell.output.tool,
        handle=cell.handle,
        line=cell.line,
        row=cell.key[:80],
        column=cell.column[:80],
        text=cell.text[:80],
        excerpt=lines[cell.line - 1][:160] if cell.line <= len(lines) else "",
    )
    return Finding(
        field=filling.path,
        text=text[:300],
        start=filling.start,
        kind=Claim.FIGURE,
        verdict=Verdict.READ,
        places=(place,),
        reference=filling.reference,
    )


def _with_operands(
    finding: Finding, before: Sequence[Finding], moved: Mapping[int, int]
) -> Finding:
    """Return a finding whose operands name others by their new numbers; without them where one is
    gone."""
    if not any(each.item is not None for each in finding.operands):
        return finding
    numbers = [
        None if each.item is None else moved.get(id(before[each.item])) for each in finding.operands
    ]
    if any(
        new is None and old.item is not None
        for new, old in zip(numbers, finding.operands, strict=True)
    ):
        return finding.model_copy(update={"operands": ()})
    operands = tuple(
        each.model_copy(update={"item": number})
        for each, number in zip(finding.operands, numbers, strict=True)
    )
    return finding.model_copy(update={"operands": operands})


def _bounded(found: Findings) -> Findings:
    """Return findings that are small enough to store: of many claims, only the first place each,
    without the operands, which are at the others."""
    if len(found.model_dump_json()) <= _MOST_STORED:
        return found
    items = (
        each.model_copy(update={"places": each.places[:1], "operands": ()}) for each in found.items
    )
    return found.model_copy(update={"items": tuple(items)})
