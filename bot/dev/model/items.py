"""Output items from the drafts of a reply, and the response object of a request."""

from __future__ import annotations

import secrets
import time
from typing import Any

from . import tokens
from .replies import Item, Reply
from .request import ModelRequest
from .sealing import Seal

PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs", "compaction": "cmp"}
ECHOED = (
    "background", "max_output_tokens", "max_tool_calls", "previous_response_id", "prompt_cache_key",
    "safety_identifier", "top_logprobs", "user",
)  # fmt: skip


def new_id(prefix: str) -> str:
    """Return a new id such as `resp_…`."""
    return f"{prefix}_{secrets.token_hex(24)}"


def output_items(reply: Reply, seal: Seal, *, summary: bool) -> list[Item]:
    """Return the reply's items; the last item of an incomplete reply is cut off."""
    items = [_item(draft, seal, summary) for draft in reply.items]
    if reply.status == "incomplete" and items and "status" in items[-1]:
        items[-1]["status"] = "incomplete"
    return items


def _item(draft: Item, seal: Seal, summary: bool) -> Item:
    kind = draft["type"]
    item_id = draft.get("id") or new_id(PREFIXES.get(kind, str(kind)))
    if draft.get("_raw"):
        return {"id": item_id, **{key: draft[key] for key in draft if key != "_raw"}}
    if kind == "reasoning":
        parts = [{"type": "summary_text", "text": draft["text"]}] if summary else []
        sealed = seal.close(draft["text"])
        return {"id": item_id, "type": kind, "summary": parts, "encrypted_content": sealed}
    if kind == "function_call":
        call_id = draft["call_id"] or f"call_{secrets.token_hex(12)}"
        return {
            "id": item_id,
            "type": kind,
            "status": "completed",
            "arguments": draft["arguments"],
            "call_id": call_id,
            "name": draft["name"],
        }
    return {
        "id": item_id,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [_content(draft)],
        "phase": draft.get("phase", "final_answer"),
    }


def _content(draft: Item) -> Item:
    if "refusal" in draft:
        return {"type": "refusal", "refusal": draft["refusal"]}
    return {"type": "output_text", "text": draft["text"], "annotations": [], "logprobs": []}


def blank_response(request: ModelRequest) -> dict[str, Any]:
    """Return the response as it is announced: in progress, without output and usage."""
    body = request.body
    return {
        "id": new_id("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "model": request.model,
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "temperature": body.get("temperature", 1.0),
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "reasoning": {"effort": None, "summary": None, **(body.get("reasoning") or {})},
        "service_tier": "default",
        "store": request.stored,
        "text": {"format": {"type": "text"}, **(body.get("text") or {})},
        "truncation": body.get("truncation") or "disabled",
        "metadata": body.get("metadata") or {},
        "usage": None,
        **{key: body.get(key) for key in ECHOED},
    }


def finished_response(
    response: dict[str, Any], reply: Reply, output: list[Item], input_tokens: int, cached: int
) -> dict[str, Any]:
    """Return the response with its output, its status and its usage."""
    reasoning_tokens = sum(
        tokens.count_reasoning(item) for item in output if item["type"] == "reasoning"
    )
    text_tokens = sum(tokens.count_item(item) for item in output if item["type"] != "reasoning")
    ended = {"reason": reply.reason} if reply.status == "incomplete" else None
    return {
        **response,
        "status": reply.status,
        "completed_at": int(time.time()) if reply.status == "completed" else None,
        "incomplete_details": ended,
        "output": output,
        "usage": usage(input_tokens, cached, text_tokens, reasoning_tokens),
    }


def usage(
    input_tokens: int, cached: int, text_tokens: int, reasoning_tokens: int
) -> dict[str, Any]:
    """Return the usage object; cached and written tokens are part of the input's."""
    return {
        "input_tokens": input_tokens,
        "input_tokens_details": {
            "cached_tokens": cached,
            "cache_write_tokens": input_tokens - cached,
        },
        "output_tokens": text_tokens + reasoning_tokens,
        "output_tokens_details": {"reasoning_tokens": reasoning_tokens},
        "total_tokens": input_tokens + text_tokens + reasoning_tokens,
    }


def failed_response(response: dict[str, Any], code: str, message: str) -> dict[str, Any]:
    """Return the response of a model that broke down."""
    return {**response, "status": "failed", "error": {"code": code, "message": message}}
