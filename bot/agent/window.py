"""The part of a thread's conversation that is still in play, from our own ledger (B8, B9).

It is what a fresh chain begins with when the service no longer has the old one, what stateless
mode sends every time, and what compaction shortens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.core.chain import Item, LedgerEntry

_SERVICE_FIELDS = frozenset({"id", "status"})
"""Name an item in the service's store; on a chain that has no such store they are refused."""


def active(entries: Sequence[LedgerEntry]) -> tuple[Item, ...]:
    """The items since the last checkpoint, with the checkpoint standing for all before.

    Only whole pairs of call and output (B2), and nothing before the first message: the ledger may
    have been cut at its old end, and a crash leaves calls whose response was made again.
    """
    start = max((n for n, entry in enumerate(entries) if entry.checkpoint), default=0)
    items = [i for entry in entries[start:] if not entry.abandoned for i in entry.items]
    first = next((n for n, item in enumerate(items) if _is_message(item)), len(items))
    return paired(items[first:])


def paired(items: Sequence[Item]) -> tuple[Item, ...]:
    """`items` without calls that have no output, outputs that have no call, and second ones."""
    called = {item["call_id"] for item in items if item.get("type") == "function_call"}
    answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    whole = called & answered
    seen: set[tuple[str, str]] = set()
    kept: list[Item] = []
    for item in items:
        kind = item.get("type", "message")
        if kind in ("function_call", "function_call_output"):
            mark = (kind, item["call_id"])
            if item["call_id"] not in whole or mark in seen:
                continue
            seen.add(mark)
        kept.append(item)
    return tuple(kept)


def portable(items: Iterable[Item]) -> tuple[Item, ...]:
    """`items` as a fresh chain takes them: without the names that the old one's store gave them.

    Reasoning goes along only where it carries itself, encrypted; without that it is a mere name.
    """
    return tuple(
        {key: value for key, value in item.items() if key not in _SERVICE_FIELDS}
        for item in items
        if item.get("type") != "reasoning" or item.get("encrypted_content")
    )


def _is_message(item: Item) -> bool:
    return item.get("role") in ("user", "developer")
