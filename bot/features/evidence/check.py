"""The evidence of a run: what its thread has read, and where the claims of its result come from."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from bot.core.chain import LedgerEntry, ReportCheck
from bot.core.request import Request
from bot.features.evidence.filling import Filling, References
from bot.features.evidence.settings import EvidenceMode
from bot.library.tracing.fields import fields_of
from bot.library.tracing.findings import Findings, Unreadable, Verdict
from bot.library.tracing.outputs import Counts, Output
from bot.library.tracing.quotes import proposes
from bot.library.tracing.references import Filled
from bot.library.tracing.trace import FilledIn, trace
from bot.runs.context.ledger_reader import THREAD, LedgerReader
from bot.store.threads.conversation import MAX_ENTRIES

log = logging.getLogger(__name__)

_MOST_STORED = 40_000  # characters of findings as JSON, before places are left out


@dataclass(slots=True)
class RunEvidence:
    """What a run's thread has read, and what the run reads itself; results are traced to it.

    All of it is derived from the ledger, so that any worker can go on, and only once it is asked for.
    With the mode "off" nothing is traced; references are filled in all the same.
    """

    request: Request
    mode: EvidenceMode
    reader: LedgerReader
    filling: References
    sent_back: int = 0
    _added: list[LedgerEntry] = field(default_factory=list)
    _run_id: str = ""
    _has_read: bool = False
    _unreadable: Unreadable = Unreadable.NOTHING
    _last: tuple[object, Findings | None] | None = None

    @property
    def is_on(self) -> bool:
        return self.mode != "off"

    @property
    def is_shown(self) -> bool:
        """Whether readers are told what was found."""
        return self.mode in ("mark", "send_back")

    def begin(self, ledger: Sequence[LedgerEntry], is_cut: bool, run_id: str) -> None:
        """Note what the thread has read so far; with `is_cut` some of it belongs to one person."""
        self._added, self._run_id = list(ledger), run_id
        if is_cut:
            self._unreadable = Unreadable.ACCOUNTS
        elif len(ledger) >= MAX_ENTRIES:
            self._unreadable = Unreadable.CUT

    def note(self, added: LedgerEntry) -> None:
        """Note what the run has read now."""
        self._added.append(added)

    @property
    def references(self) -> References:
        """The references of the run, to all that was read so far."""
        for entry in self._added:
            outputs = self.reader.read(entry)
            self.filling.add(outputs)
            if entry.run_id == self._run_id:
                self._has_read |= any(map(_is_read, outputs))
        self._added = []
        return self.filling

    @property
    def unreadable(self) -> Unreadable:
        """Why some of what was read is no text for us."""
        return self._unreadable or self.reader.unreadable

    def findings(self, result: BaseModel, filled: Sequence[Filling] = ()) -> Findings | None:
        """Trace a result to what was read; `filled` are the references that code has filled in. None
        if that fails, so that no answer is lost to it."""
        if not self.is_on:
            return None
        key = (result.model_dump_json(), tuple(filled))
        if self._last is None or self._last[0] != key:
            try:
                self._last = (key, self._traced(result, filled))
            except Exception:
                log.exception("an answer was not traced")
                self._last = (key, None)
        return self._last[1]

    def _traced(self, result: BaseModel, filled: Sequence[Filling]) -> Findings:
        references = self.references
        outputs, unreadable = references.outputs, self.unreadable
        cells = [(filling, references.cell(filling)) for filling in filled]
        traced = trace(
            fields_of(result.model_dump(mode="json")),
            outputs,
            [
                FilledIn(filling.path, Filled(filling.start, filling.end, filling.reference, cell))
                for filling, cell in cells
                if cell
            ],
            is_readable=not unreadable,
            has_read=self._has_read,
            has_material=bool(self.request.files) or any(output.handles for output in outputs),
            has_own_words=proposes(self.request.text),
        )
        if traced.is_cut and not unreadable:
            unreadable = Unreadable.LONG
        return _bounded(
            Findings(
                items=traced.items,
                nothing_read=not self._has_read,
                unreadable=unreadable,
                sent_back=self.sent_back,
            )
        )

    def report_filled(self, report: BaseModel, conversation: Sequence[LedgerEntry]) -> BaseModel:
        """Return the report of a sub-agent with its references filled in, from what it read; as it was
        where it would not be valid any more."""
        if "{{" not in (written := report.model_dump_json()):
            return report
        references = References(None)
        references.add(LedgerReader(self.reader.tool_of).read_all(conversation))
        try:
            return type(report).model_validate(references.fill(from_json(written)).value)
        except ValidationError:  # too long now
            return report

    def check_report(self, report: BaseModel, conversation: Sequence[LedgerEntry]) -> ReportCheck:
        """Trace the report of a sub-agent to what it read in its own conversation."""
        reader = LedgerReader(self.reader.tool_of)
        try:
            outputs = reader.read_all(conversation)
            traced = trace(fields_of(report.model_dump(mode="json")), outputs)
        except Exception:
            log.exception("a report was not traced")
            return ReportCheck(unreadable=Unreadable.FAILED)
        untraced = [item.text for item in traced.items if item.verdict is Verdict.UNTRACED]
        return ReportCheck(untraced=tuple(dict.fromkeys(untraced)), unreadable=reader.unreadable)


def _is_read(output: Output) -> bool:
    return output.counts in (Counts.READ, Counts.CALCULATED) and output.call_id != THREAD


def _bounded(findings: Findings) -> Findings:
    """Return findings that are small enough to store: of many claims, only the first place each."""
    if len(findings.model_dump_json()) <= _MOST_STORED:
        return findings
    items = tuple(item.model_copy(update={"places": item.places[:1]}) for item in findings.items)
    return findings.model_copy(update={"items": items})
