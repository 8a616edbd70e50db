"""What the model has read in a thread, read from the ledger as outputs that figures are looked for in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from bot.agent.builtin.subagents import NAME as SUBAGENT
from bot.agent.calls.outputs import marked_text
from bot.agent.prompts import THREAD_MESSAGES
from bot.agent.window import text_of
from bot.core.chain import CallRecord, Item, LedgerEntry
from bot.library.tracing.findings import Unreadable
from bot.library.tracing.outputs import Counts, Output, Source
from bot.model.types import HOSTED_CALLS
from bot.toolkit import Tool
from bot.toolkit.provided.conversation import OWN

ToolOf = Callable[[str], Tool | None]
"""Returns the tool of a name, None for one that does not exist any more."""


_READ_THREAD = "read_thread"
_OF_MESSAGES = {_READ_THREAD, "read_channel"}
THREAD = "thread"
"""The call id of the messages of the thread that the model was given without a call."""

_OWN_MESSAGE = re.compile(
    rf"^(?:\d+ )?\[[^\]\n]*\] [^:\n]*{re.escape(OWN)}: [^\n]*(?:\n  [^\n]*)*", re.MULTILINE
)
_MARK = re.compile(r"^\[(?:end of )?data \w+\]\n?", re.MULTILINE)


class LedgerReader:
    """Turns ledger entries into outputs, in order. A call may be in one entry and its output in a
    later one. `unreadable` says why some of what was read is missing."""

    def __init__(self, tool_of: ToolOf) -> None:
        self.tool_of = tool_of
        self._calls: dict[str, Item] = {}
        self.unreadable = Unreadable.NOTHING

    def read_all(self, ledger: Iterable[LedgerEntry]) -> list[Output]:
        """Return the outputs in the entries."""
        return [entry for each in ledger for entry in self.read(each)]

    def read(self, added: LedgerEntry) -> list[Output]:
        """Return the outputs in one more ledger entry."""
        if added.abandoned or added.checkpoint:  # what was kept for the record, or written again
            return []
        records = {each.call_id: each for each in added.calls}
        entries = (self._entry(item, records) for item in added.items)
        return [each for each in entries if each and (each.text.strip() or each.made)]

    def _entry(self, item: Item, records: dict[str, CallRecord]) -> Output | None:
        match item.get("type", "message"), item.get("role"):
            case "function_call", _:
                self._calls[item["call_id"]] = item
            case "function_call_output", _:
                return self._output(item, records.get(item["call_id"]))
            case "message", "user":
                return self._message(item)
            case kind, _ if kind in HOSTED_CALLS:
                self.unreadable = Unreadable.HOSTED
            case _:
                pass
        return None

    def _output(self, item: Item, record: CallRecord | None) -> Output | None:
        call = self._calls.get(item["call_id"], {})
        name, output = str(call.get("name", "")), str(item["output"])
        counts_as = record.counts_as if record else self._counts_as(name)
        report = record.report if record else None
        if name == SUBAGENT and (report is None or report.unreadable):
            self.unreadable = Unreadable.HELPERS
        made = tuple(each.handle for each in record.saved) if record else ()
        text = marked_text(output) or output
        if counts_as == Counts.NONE and not (record and self._changes(name)):
            text = ""  # a refusal, or what the model wrote itself
        if not text and not made:
            return None
        return Output(
            call_id=item["call_id"],
            tool=name,
            text=_without_own_messages(text) if name in _OF_MESSAGES else text,
            counts=Counts(counts_as),
            arguments=str(call.get("arguments", "")),
            sources=tuple(
                Source(source.title, source.url or "")
                for source in (record.sources if record else ())
            ),
            made=made,
            used=record.used if record else (),
            untraced=report.untraced if report else (),
        )

    def _message(self, item: Item) -> Output:
        """Return a message of a person, or the messages of a thread that were put before it."""
        content, text = item.get("content"), text_of(item)
        if isinstance(content, list) and any(each["type"] == "input_image" for each in content):
            self.unreadable = Unreadable.IMAGES
        if text.startswith(THREAD_MESSAGES):
            messages = _without_own_messages(marked_text(text, anywhere=True))
            return Output(call_id=THREAD, tool=_READ_THREAD, text=messages)
        return Output(call_id="", text=_MARK.sub("", text), counts=Counts.PERSON)

    def _changes(self, name: str) -> bool:
        tool = self.tool_of(name)
        return tool is not None and tool.mutates

    def _counts_as(self, name: str) -> str:
        """Return what the output of a call without a record counts as."""
        tool = self.tool_of(name)
        if tool is None:  # ours are gone by design; a server's tool has read something
            return Counts.READ if "__" in name else Counts.NONE
        if tool.calculates:
            return Counts.CALCULATED
        return Counts.READ if tool.reads else Counts.NONE


def _without_own_messages(text: str) -> str:
    """Return the messages of the thread without those of the bot.

    What the bot read to write them is in the ledger itself. The lines keep their numbers.
    """
    return _OWN_MESSAGE.sub(lambda found: "\n" * found[0].count("\n"), text)
