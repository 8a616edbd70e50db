"""Stored responses and the rules for continuing them.

A response points at its parent and holds only what it added, so the cost of a request does not grow
with the conversation. Chains may fork.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import errors
from .replies import Item
from .sealing import Seal

CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
OUTPUTS = set(CALLS.values())
FOLLOWS_REASONING = {
    "function_call",
    "custom_tool_call",
    "message",
    "reasoning",
    "tool_search_call",
    None,
}
FOLLOWS_REASONING |= {"web_search_call", "file_search_call", "code_interpreter_call"}


@dataclass(slots=True)
class Stored:
    """A response with its input, its output and its parent.

    `open` holds the ids of calls that wait for an output; `context_tokens` counts the items of the
    whole chain without instructions and tools.
    """

    id: str
    body: dict[str, Any]
    input: list[Item]
    parent: Stored | None
    response: dict[str, Any]
    open: tuple[str, ...] = ()
    extra_tools: tuple[dict[str, Any], ...] = ()
    context_tokens: int = 0
    input_tokens: int = 0
    head: tuple[str, str] = ("", "")
    kept: bool = True

    @property
    def output(self) -> list[Item]:
        """The items that the model produced."""
        return self.response["output"]  # type: ignore[no-any-return]

    @property
    def status(self) -> str:
        """The status of the response."""
        return str(self.response["status"])

    def lineage(self) -> list[Stored]:
        """Return the chain from its first response to this one."""
        chain = [self]
        while (parent := chain[-1].parent) is not None:
            chain.append(parent)
        return chain[::-1]

    def conversation(self) -> list[Item]:
        """Return every item of the chain, input and output, oldest first."""
        return [item for node in self.lineage() for item in (*node.input, *node.output)]


@dataclass
class Chains:
    """All responses of a server; only stored ones can be continued."""

    seal: Seal
    zero_data_retention: bool = False
    responses: dict[str, Stored] = field(default_factory=dict)
    _reasoning_before: dict[str, str] = field(default_factory=dict)

    def parent_of(self, body: dict[str, Any]) -> Stored | None:
        """Return the response that this request continues, or None.

        Raises ApiError when it is unknown, was not stored, or did not end well.
        """
        parent_id = body.get("previous_response_id")
        if parent_id is None:
            return None
        if self.zero_data_retention:
            raise errors.zero_data_retention()
        parent = self.responses.get(parent_id)
        if parent is None or not parent.kept or parent.status not in ("completed", "incomplete"):
            raise errors.parent_not_found(parent_id)
        return parent

    def resolve(self, items: list[Item]) -> list[Item]:
        """Replace item references by the stored items they name."""
        return [
            self._stored_item(item["id"]) if item.get("type") == "item_reference" else item
            for item in items
        ]

    def check_items(self, items: list[Item], parent: Stored | None, *, store: bool) -> None:
        """Check that ids are valid and new to the chain, and reasoning is complete and unaltered."""
        seen: set[str] = set()
        for index, item in enumerate(items):
            item_id = item.get("id")
            if item.get("type") == "reasoning":
                self._check_reasoning(items, index, store=store)
            if item_id is None:
                continue
            if item.get("type") == "function_call" and not item_id.startswith("fc"):
                raise errors.invalid_value(
                    f"input[{index}].id", f"'{item_id}'. Expected an ID that begins with 'fc'."
                )
            if item_id in seen or self._in_chain(item_id, parent):
                raise errors.duplicate_item(item_id)
            reasoning_id = self._reasoning_before.get(item_id)
            if reasoning_id and reasoning_id not in seen:
                raise errors.missing_reasoning(item_id, item["type"], reasoning_id)
            seen.add(item_id)

    def pair(self, parent: Stored | None, items: list[Item]) -> None:
        """Check that every call has exactly one output. Raises ApiError for the first that has not."""
        waiting = dict.fromkeys(parent.open) if parent else {}
        answered: set[str] = set()
        for item in items:
            call_id = item.get("call_id")
            if item.get("type") in CALLS and call_id:
                waiting[call_id] = None
            if item.get("type") not in OUTPUTS or call_id is None:
                continue
            if call_id in waiting:
                del waiting[call_id]
                answered.add(call_id)
            elif call_id in answered or self._was_answered(call_id, parent):
                raise errors.answered_twice(call_id)
            else:
                raise errors.unknown_call(call_id)
        if waiting:
            raise errors.unanswered_call(next(iter(waiting)))

    def add(self, node: Stored) -> None:
        """Store a response under its id."""
        self.responses[node.id] = node

    def finish(self, node: Stored, response: dict[str, Any]) -> None:
        """Complete a response; its calls now wait for outputs."""
        node.response = response
        node.open = tuple(
            item["call_id"] for item in response["output"] if item.get("type") in CALLS
        )
        before = None
        for item in response["output"]:
            if before and before.get("type") == "reasoning":
                self._reasoning_before[item["id"]] = before["id"]
            before = item

    def _stored_item(self, item_id: str) -> Item:
        for node in self.responses.values():
            if not node.kept:
                continue
            for item in (*node.input, *node.output):
                if item.get("id") == item_id:
                    return item
        raise errors.item_not_found(item_id, store=True)

    def _check_reasoning(self, items: list[Item], index: int, *, store: bool) -> None:
        item = items[index]
        sealed = item.get("encrypted_content")
        if not sealed:
            if store and self._is_stored(item["id"]):
                return
            raise errors.item_not_found(item["id"], store=store)
        if not self.seal.verifies(sealed):
            raise errors.altered_reasoning(item["id"])
        after = items[index + 1] if index + 1 < len(items) else {}
        next_kind = after.get("type", "message") if after else "nothing"
        if next_kind not in FOLLOWS_REASONING or after.get("role", "assistant") != "assistant":
            raise errors.lonely_reasoning(item["id"])

    def _is_stored(self, item_id: str) -> bool:
        return any(
            item.get("id") == item_id
            for node in self.responses.values()
            if node.kept
            for item in node.output
        )

    @staticmethod
    def _in_chain(item_id: str, parent: Stored | None) -> bool:
        nodes = parent.lineage() if parent else ()
        return any(item.get("id") == item_id for node in nodes for item in node.output)

    @staticmethod
    def _was_answered(call_id: str, parent: Stored | None) -> bool:
        nodes = parent.lineage() if parent else ()
        return any(
            item.get("type") in OUTPUTS and item.get("call_id") == call_id
            for node in nodes
            for item in node.input
        )
