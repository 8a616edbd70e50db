"""The changes that a thread's runs have made, read from the ledger.

A conversation that is shortened names them whatever a summary says, because a model that does not
see its change makes it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from bot.agent.window import on_chain
from bot.core.chain import Item, LedgerEntry
from bot.text.token_estimate import estimated_tokens

_ARGUMENTS, _OUTPUT = 200, 100  # characters of a line


class Change(NamedTuple):
    """A call that may have changed something; `output` is None if nobody knows its outcome."""

    call: Item
    output: str | None

    @property
    def line(self) -> str:
        """Return the change in one line for the model."""
        arguments = _short(str(self.call["arguments"]), _ARGUMENTS)
        outcome = "outcome unknown" if self.output is None else _short(self.output, _OUTPUT)
        return f"{self.call['name']}({arguments}) → {outcome}"


def changes_in(
    entries: Sequence[LedgerEntry], is_change: Callable[[str], bool]
) -> tuple[Change, ...]:
    """Return the changes of a ledger, oldest first. Checkpoints only repeat earlier items."""
    changes: list[Change] = []
    waiting: dict[str, int] = {}
    for entry in on_chain(entries):
        for item in () if entry.checkpoint else entry.items:
            kind, call_id = item.get("type"), str(item.get("call_id"))
            if kind == "function_call" and is_change(item["name"]):
                waiting[call_id] = len(changes)
                changes.append(Change(item, None))
            elif (
                kind == "function_call_output" and (index := waiting.pop(call_id, None)) is not None
            ):
                changes[index] = changes[index]._replace(output=str(item["output"]))
    return tuple(changes)


def without(changes: Iterable[Change], items: Iterable[Item]) -> tuple[Change, ...]:
    """Return the changes whose calls are not among `items`; of equal calls the newest are."""
    present = Counter(_key(item) for item in items if item.get("type") == "function_call")
    missing: list[Change] = []
    for change in reversed(tuple(changes)):
        if present[_key(change.call)] > 0:
            present[_key(change.call)] -= 1
        else:
            missing.append(change)
    return tuple(reversed(missing))


def lines_of(changes: Sequence[Change], tokens: int) -> list[str]:
    """Return a line for each change in about `tokens`: the newest whole, the others counted."""
    lines: list[str] = []
    left = tokens
    for number, change in enumerate(reversed(changes)):
        line = f"- {change.line}"
        left -= estimated_tokens(line)
        if left < 0 and number:
            before = Counter(each.call["name"] for each in changes[: len(changes) - number])
            counted = ", ".join(f"{name} {times} ×" for name, times in before.items())
            lines.append(f"- before these: {counted}")
            break
        lines.append(line)
    return lines[::-1]


def _key(call: Item) -> tuple[str, str, str]:
    return str(call["call_id"]), str(call["name"]), str(call["arguments"])


def _short(text: str, characters: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[:characters]}…"
