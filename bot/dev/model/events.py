"""The server-sent events that announce a response."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

Event = dict[str, Any]
DELTA, MOST_DELTAS = 24, 200
"""Characters of one delta; a long text has longer ones, no more than so many."""
HOSTED = {
    "web_search_call": ("searching", {"action"}),
    "file_search_call": ("searching", {"queries", "results"}),
    "code_interpreter_call": ("interpreting", {"code", "outputs"}),
}
"""The status of each kind before it is completed, and the keys that only the whole item has."""


def opening(response: dict[str, Any]) -> Iterator[Event]:
    """Yield the events before the first item."""
    yield {"type": "response.created", "response": response}
    yield {"type": "response.in_progress", "response": response}


def body(output: list[dict[str, Any]]) -> Iterator[Event]:
    """Yield the events of every item as it grows."""
    for index, item in enumerate(output):
        kind = item["type"]
        if kind == "function_call":
            yield from _function_call(index, item)
        elif kind == "message":
            yield from _message(index, item)
        elif kind == "reasoning":
            yield from _reasoning(index, item)
        elif kind in HOSTED:
            yield from _hosted(index, item)
        else:
            yield _item("added", index, item)
            yield _item("done", index, item)


def closing(response: dict[str, Any]) -> Iterator[Event]:
    """Return the final event, with the whole response and its usage."""
    yield {"type": f"response.{response['status']}", "response": response}


def numbered(numbers: Iterator[int], events: Iterator[Event]) -> Iterator[Event]:
    """Yield the events with their sequence numbers."""
    for event in events:
        event["sequence_number"] = next(numbers)
        yield event


def encode(event: Event) -> bytes:
    """Return an event as it is sent."""
    data = json.dumps(event, separators=(",", ":"))
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


def counter() -> Iterator[int]:
    """Return the sequence numbers of one stream."""
    return itertools.count()


def _item(stage: str, index: int, item: dict[str, Any]) -> Event:
    return {"type": f"response.output_item.{stage}", "output_index": index, "item": item}


def _pieces(text: str) -> Iterator[str]:
    size = max(DELTA, -(-len(text) // MOST_DELTAS))
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _function_call(index: int, item: dict[str, Any]) -> Iterator[Event]:
    arguments = item["arguments"]
    where = {"item_id": item["id"], "output_index": index}
    name = "response.function_call_arguments"
    yield _item("added", index, {**item, "arguments": "", "status": "in_progress"})
    for piece in _pieces(arguments):
        yield {"type": f"{name}.delta", **where, "delta": piece}
    yield {"type": f"{name}.done", **where, "arguments": arguments}
    yield _item("done", index, item)


def _message(index: int, item: dict[str, Any]) -> Iterator[Event]:
    yield _item("added", index, {**item, "content": [], "status": "in_progress"})
    for number, part in enumerate(item["content"]):
        where = {"item_id": item["id"], "output_index": index, "content_index": number}
        key = "refusal" if part["type"] == "refusal" else "text"
        name = "response.refusal" if key == "refusal" else "response.output_text"
        extra: Event = {} if key == "refusal" else {"logprobs": []}
        yield {"type": "response.content_part.added", **where, "part": {**part, key: ""}}
        for piece in _pieces(part[key]):
            yield {"type": f"{name}.delta", **where, "delta": piece, **extra}
        yield {"type": f"{name}.done", **where, key: part[key], **extra}
        yield {"type": "response.content_part.done", **where, "part": part}
    yield _item("done", index, item)


def _hosted(index: int, item: dict[str, Any]) -> Iterator[Event]:
    stage_name, late_keys = HOSTED[item["type"]]
    where = {"item_id": item["id"], "output_index": index}
    known = {key: value for key, value in item.items() if key not in late_keys}
    yield _item("added", index, {**known, "status": "in_progress"})
    for stage in ("in_progress", stage_name, "completed"):
        yield {"type": f"response.{item['type']}.{stage}", **where}
    yield _item("done", index, item)


def _reasoning(index: int, item: dict[str, Any]) -> Iterator[Event]:
    # Only the done event has the complete encrypted content, as the API's documentation warns.
    sealed = {"encrypted_content": ""} if item.get("encrypted_content") else {}
    yield _item("added", index, {**item, "summary": [], **sealed})
    for number, part in enumerate(item.get("summary", ())):
        where = {"item_id": item["id"], "output_index": index, "summary_index": number}
        name = "response.reasoning_summary"
        yield {"type": f"{name}_part.added", **where, "part": {**part, "text": ""}}
        for piece in _pieces(part["text"]):
            yield {"type": f"{name}_text.delta", **where, "delta": piece}
        yield {"type": f"{name}_text.done", **where, "text": part["text"]}
        yield {"type": f"{name}_part.done", **where, "part": part}
    yield _item("done", index, item)
