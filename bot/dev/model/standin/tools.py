"""Tools that rules know nothing special about: a deployer's own, or those of an MCP server."""

from __future__ import annotations

import json
import re
from typing import Any

from .conversation import COMPLETE
from .fill import nullable, options
from .findings import Findings
from .outputs import failed, reason
from .view import ACQUIRE, View
from .words import content, overlap

NAMED_ENOUGH = 0.6  # of the words of a tool's name, as the question has to speak of
NO_TOOLS = frozenset(
    (
        *(ACQUIRE, COMPLETE, "dispatch_subagent", "create_canvas", "edit_canvas", "add_reaction"),
        *("remember", "remember_for_others", "forget", "forget_for_others", "share_file"),
        *("post_message", "schedule_message", "cancel_scheduled_message", "schedule_prompt"),
        "cancel_schedule",
    )
)
"""What changes something is only called by the rules that are made for it."""
QUOTED = re.compile(r"[\"“'‘]([^\"”'’]+)[\"”'’]")
HANDLES = re.compile(r"^(?:handle|made|edited): .*$\n?|^\[(?:lines|rows) .*\]$\n?", re.M)


def is_asked(view: View) -> bool:
    """Whether the question speaks of a tool by its name."""
    return not view.turn.files and _fitting(view) is not None


def answer(view: View, found: Findings) -> None:
    """Call a tool of which only its schema is known, and quote what it says."""
    name = _fitting(view) or ""
    schema = view.offered.get(name, {}).get("parameters") or {}
    known = _guessed(schema, view.text)
    if name in view.offered and not _is_enough(known, schema):
        found.puzzled(view.knows)
        return
    readable = name.rpartition("__")[2].replace("_", " ")
    output = view.do(name, f"The tool “{readable}” fits the words of the question.", **known)
    if failed(output):
        found.summary, found.confidence = reason(output), "low"
        return
    found.summary = HANDLES.sub("", output).strip()[:600] or "It is done."
    found.source(f"The tool “{readable}”", None, "What it returned, quoted.")
    found.lower("The arguments were guessed from the words of the question.")


def _fitting(view: View) -> str | None:
    """The tool whose name has most words of the question, where it knows all of them that cannot be
    its arguments."""
    asked = content(view.text)
    described = {name: tool.get("description", "") for name, tool in view.offered.items()}
    described.update(view.catalogue)
    scores = {
        name: 2 * overlap(asked, content(name)) + overlap(asked, content(words)) / 2
        for name, words in described.items()
        if name not in NO_TOOLS and _is_named(asked, name)
    }
    best = max(scores, key=lambda name: scores[name], default=None)
    if best is None or len(view.text.split()) < 2:
        return None
    schema = view.offered.get(best, {}).get("parameters") or {}
    about = content(f"{best} {described[best]} {json.dumps(schema)}")
    given = re.sub(r"(?<!^)\b[A-Z]\w+|\w*\d\w*", " ", QUOTED.sub(" ", view.text))
    return best if all(overlap(about, [word]) for word in content(given)) else None


def _is_named(asked: list[str], name: str) -> bool:
    """Whether the question has most words of a tool's name, the server's left out."""
    words = set(content(name.rpartition("__")[2]))
    return bool(words) and sum(word in asked for word in words) / len(words) >= NAMED_ENOUGH


def _is_enough(known: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Whether no list is wanted that may not be empty, which no rule guesses, and no two arguments
    were guessed to be the same words: then both are wrong."""
    parts = schema.get("properties", {})
    words = [value for value in known.values() if isinstance(value, str)]
    lacking = any(part.get("minItems") for name, part in parts.items() if name not in known)
    return not lacking and len(words) == len(set(words))


def _guessed(schema: dict[str, Any], text: str) -> dict[str, Any]:
    """Values for the required arguments: choices by the question's words, numbers, names."""
    numbers = re.findall(r"\d+(?:\.\d+)?", text)
    named = re.findall(r"(?<!^)(?<![.?!] )\b[A-Z]\w+(?: [A-Z]\w+)*", text)
    known: dict[str, Any] = {}
    for name, part in schema.get("properties", {}).items():
        shape = next(iter(options(part, schema.get("$defs", {}))), {})
        choice = next((c for c in shape.get("enum", ()) if str(c).lower() in text.lower()), None)
        if choice is not None:
            known[name] = choice
        elif nullable(part):
            continue
        elif shape.get("type") in ("integer", "number") and numbers:
            value = float(numbers.pop(0))
            known[name] = int(value) if shape["type"] == "integer" else value
        elif shape.get("type") == "string" and not shape.get("enum"):
            known[name] = next(iter(QUOTED.findall(text) + named), text)
    return known
