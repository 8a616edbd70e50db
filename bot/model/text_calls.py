"""Calls and thoughts that a model server leaves in the text of a reply.

Servers without a parser for their model's format return its thoughts and its calls as text. A person
must never read them: thoughts are dropped, calls of offered tools become calls, and what looks like
a call and cannot be read is marked, so that it never counts as an answer.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from bot.core.chain import Item
from bot.core.ids import new_id
from bot.model.types import ModelResponse

_THOUGHT = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|seed:think"
_LEADING = re.compile(
    rf"\s*(?:<({_THOUGHT})\b[^>]*>.*?(?:</\1\s*>|\Z)|\[THINK\].*?(?:\[/THINK\]|\Z))", re.S | re.I
)
_WHOLE = re.compile(rf"\s*(?:<({_THOUGHT})\b[^>]*>.*?</\1\s*>|\[THINK\].*?\[/THINK\])", re.S | re.I)
_UNOPENED = re.compile(rf"\A(?:(?!<(?:{_THOUGHT})\b).)*?</(?:{_THOUGHT})\s*>", re.S | re.I)
_CHANNEL = re.compile(
    r"<\|channel\|>((?:(?!<\|(?:channel|message)\|>).)*)<\|message\|>"
    r"(.*?)(?=<\|(?:end|start|return|call|channel)\|>|\Z)",
    re.S,
)
_TO = re.compile(r"to=(?:functions\.)?([\w-]+)")

_MARKUP = re.compile(
    r"</?(?:tool_calls?|function_calls?|tool_use|invoke|function)\b|<function=|\[/?TOOL_CALLS?\]"
    r"|<\|/?(?:tool|python_tag|channel|action_start|plugin)[\w▁]*\|?>?|<｜tool▁|<minimax:tool_call"
)
_TAGS = re.compile(
    r"</?(?:tool_calls?|function_calls?|minimax:tool_call)\b[^>]*>|\[/?TOOL_CALLS?\]|<\|[\w▁]+\|>|<｜[^｜]*｜>"
)
_FENCE = re.compile(r"(```|~~~)[\w-]*\s*\n?(.*?)(?:\1|\Z)", re.S)
_NAMED = re.compile(
    r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)|<invoke\s+name=\"([\w.-]+)\"\s*>(.*?)(?:</invoke>|\Z)",
    re.S,
)
_PARAMETER = re.compile(r"<parameter(?:=|\s+name=\")([\w.-]+)\"?\s*>(.*?)</parameter>", re.S)
_BEFORE_JSON = re.compile(
    r"(?:functions\.)?([\w-]+)(?::\d+)?\s*(?:\[ARGS\]|<\|tool_call_argument_begin\|>|<｜tool▁sep｜>\s*[\w-]+)?\s*(?:```json)?\s*(?=\{)"
)
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_MOST = 100_000  # characters of a text that are looked at
_MOST_CALLS, _MOST_TRIES = 16, 200
_DECODER = json.JSONDecoder()


class TextCall(NamedTuple):
    """A call that stood in a text; `arguments` is JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class TextParts:
    """The words of a text, and the calls in it; with `is_unreadable` something like a call cannot be
    read, or names no offered tool."""

    words: str
    calls: tuple[TextCall, ...] = ()
    is_unreadable: bool = False


def understood(response: ModelResponse, offered: Collection[str]) -> ModelResponse:
    """Return `response` with the calls of its texts as calls, and without thoughts in them.

    A response that changed is marked as `rewritten`: the service's own copy of it is another.
    """
    if response.refusal or not response.text:
        return response
    read = parts_of(response.text, offered)
    if read.is_unreadable:
        return replace(response, unreadable=True)
    if not read.calls and read.words == response.text:
        return response
    others = tuple(item for item in response.items if item.get("type") != "message")
    words: tuple[Item, ...] = ()
    if read.words and not read.calls:  # words beside a call only announce it
        content = [{"type": "output_text", "text": read.words, "annotations": []}]
        words = ({"type": "message", "role": "assistant", "content": content},)
    calls = tuple(
        {"type": "function_call", "call_id": new_id("call"), **call._asdict()}
        for call in read.calls
    )
    return replace(response, items=(*others, *words, *calls), rewritten=True)


def parts_of(text: str, offered: Collection[str]) -> TextParts:
    """Return what a text holds, given the names of the offered tools."""
    words = without_thoughts(text[:_MOST]) + text[_MOST:]
    if "<|channel|>" in words:
        return _channels(words, offered)
    is_marked = bool(_MARKUP.search(words))
    if not is_marked and "{" not in words and "(" not in words:
        return TextParts(words)
    calls = _calls(words[:_MOST], offered, is_marked=is_marked)
    if calls is None:
        return TextParts(words, is_unreadable=is_marked)
    known = tuple(call for call in calls if call.name in offered)[:_MOST_CALLS]
    return TextParts("" if known else words, known, is_unreadable=not known)


def without_thoughts(text: str) -> str:
    """Return `text` without the thoughts that lead it, whole or broken off."""
    rest = text
    while (thought := _LEADING.match(rest)) and thought.end():
        rest = rest[thought.end() :]
    if unopened := _UNOPENED.match(rest):  # the server's template opened it
        rest = rest[unopened.end() :]
    return text if rest == text else rest.strip()


def _channels(text: str, offered: Collection[str]) -> TextParts:
    """Read the channels of the harmony format: thoughts, calls, and the final words."""
    calls, final = list[TextCall](), list[str]()
    before = ""
    for found in _CHANNEL.finditer(text):
        head, body = before + found[1], found[2].strip()
        before = text[found.end() :].split("<|channel|>")[0]
        if target := _TO.search(head):
            calls.append(TextCall(target[1], _as_arguments(body) or ""))
        elif found[1].strip().startswith("final"):
            final.append(body)
    known = tuple(call for call in calls if call.name in offered and call.arguments)
    return TextParts(
        "\n\n".join(final), known, is_unreadable=bool(calls) and not known and not final
    )


def _calls(text: str, offered: Collection[str], *, is_marked: bool) -> list[TextCall] | None:
    """Return the calls of a text in the first format that fits; None for none."""
    if named := list(_named(text)):
        return named
    bare = _TAGS.sub("\n", text).strip() if is_marked else text.strip()
    fenced = [found[2].strip() for found in _FENCE.finditer(bare)]
    ends_in_fence = bool(fenced) and any(marks in bare[-4:] for marks in ("```", "~~~"))
    for whole in (bare, fenced[-1] if ends_in_fence else ""):
        if whole[:1] in ("{", "[") and (calls := _from_json(whole, marked=is_marked)):
            return calls
    if is_marked:
        calls = _prefixed(text) or _objects(bare)
        if calls:
            return calls
    else:
        last = _trailing(bare)
        if last and all(call.name in offered for call in last):
            return last
    python = _python(bare, offered)
    return python or None


def _named(text: str) -> Iterator[TextCall]:
    """Read `<function=name>…</function>` and `<invoke name="…">…</invoke>`."""
    for found in _NAMED.finditer(text):
        name, body = found[1] or found[3], found[2] or found[4] or ""
        parameters = {each[1]: _value(each[2]) for each in _PARAMETER.finditer(body)}
        arguments = json.dumps(parameters) if parameters else _as_arguments(body.strip() or "{}")
        if arguments is not None:
            yield TextCall(name, arguments)


def _prefixed(text: str) -> list[TextCall]:
    """Read a name that stands before its arguments, behind a mark of a call."""
    calls = []
    for mark in re.finditer(
        r"\[TOOL_CALLS?\]|<\|tool_call_begin\|>|<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?",
        text,
    ):
        if head := _BEFORE_JSON.match(text, mark.end()):
            found = _decoded(text, head.end())
            if isinstance(found, dict):
                calls.append(TextCall(head[1], json.dumps(found)))
    return calls


def _from_json(text: str, *, marked: bool) -> list[TextCall]:
    """Read a text that is nothing but JSON: a call, or a list of them, maybe several in a row."""
    values, position = list[Any](), 0
    while position < len(text) and len(values) < _MOST_CALLS:
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            if not marked:
                return []
            break
        values.append(value)
        while position < len(text) and text[position] in " \t\r\n,;":
            position += 1
    calls = [call for value in values for call in _as_calls(value)]
    return calls if len(calls) >= len(values) else []


def _objects(text: str) -> list[TextCall]:
    """Return the calls among the JSON values of a text with marks of calls."""
    calls, position = list[TextCall](), text.find("{")
    for _ in range(_MOST_TRIES):
        if position < 0 or len(calls) >= _MOST_CALLS:
            break
        found = _decoded(text, position)
        if found is None:
            position = text.find("{", position + 1)
            continue
        calls += _as_calls(found)
        position = text.find("{", _DECODER.raw_decode(text, position)[1])
    return calls


def _trailing(text: str) -> list[TextCall]:
    """Return the call with which a text ends, behind some words."""
    for start in (found.start() for found in islice(re.finditer(r"\{\s*\"", text), _MOST_TRIES)):
        found = _decoded(text, start)
        if found is not None:
            end = _DECODER.raw_decode(text, start)[1]
            return _as_calls(found) if not text[end:].strip("`\n\r \t") else []
    return []


def _as_calls(value: Any) -> list[TextCall]:
    """Return the calls that a JSON value is; [] for other values."""
    if isinstance(value, list):
        calls = [call for each in value for call in _as_calls(each)]
        return calls if value and len(calls) == len(value) else []
    if not isinstance(value, dict):
        return []
    if isinstance(inner := value.get("tool_calls"), list):
        return _as_calls(inner)
    if isinstance(inner := value.get("function") or value.get("function_call"), dict):
        value = inner
    name = next(
        (value[key] for key in ("name", "tool", "tool_name", "function") if key in value), None
    )
    arguments = next((value[key] for key in _ARGUMENTS if key in value), None)
    if not isinstance(name, str) or not set(value) & set(_ARGUMENTS):
        return []
    found = _as_arguments(arguments if isinstance(arguments, str) else json.dumps(arguments or {}))
    return [] if found is None else [TextCall(name.removeprefix("functions."), found)]


def _python(text: str, offered: Collection[str]) -> list[TextCall]:
    """Read `name(a=1)` and lists of such calls; only where the text is nothing else, and only with
    plain values by name."""
    if len(text) > 5_000 or not text.endswith((")", ")]")):
        return []
    try:
        body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls = []
    for node in body.elts if isinstance(body, ast.List | ast.Tuple) else [body]:
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args
        if not is_call or node.func.id not in offered:  # type: ignore[attr-defined]
            return []
        try:
            given = {str(each.arg): ast.literal_eval(each.value) for each in node.keywords}  # type: ignore[attr-defined]
            calls.append(TextCall(node.func.id, json.dumps(given)))  # type: ignore[attr-defined]
        except (ValueError, TypeError, RecursionError):
            return []
    return calls


def _decoded(text: str, position: int) -> Any:
    try:
        return _DECODER.raw_decode(text, position)[0]
    except (ValueError, RecursionError):
        return None


def _value(text: str) -> Any:
    """Return a parameter's text as JSON where it is JSON."""
    found = _decoded(text.strip(), 0) if text.strip()[:1] in '{["-0123456789tfn' else None
    is_whole = found is not None and json.dumps(found) == text.strip()
    return found if is_whole or isinstance(found, dict | list) else text.strip("\n")


def _as_arguments(text: str) -> str | None:
    """Return a JSON object as text; None for anything else."""
    found = _decoded(text.strip(), 0)
    return json.dumps(found) if isinstance(found, dict) else None


_HELD = re.compile(
    rf"\s*(?:</?(?:{_THOUGHT})|\[/?THINK|\[TOOL|\[\s*\{{|\{{|```|~~~|<tool|<function|<invoke|<\||<｜|<minimax)",
    re.I,
)
_CLOSES = re.compile(r"</|\[/")
_LONGEST_END = 24  # characters of the mark that ends a thought
_BEGINNINGS = (
    *(f"<{name}" for name in _THOUGHT.split("|")),
    *("<tool_call", "<tool_use", "<function", "<invoke", "<|", "<｜", "<minimax"),
    *("[TOOL", "[THINK", "```", "~~~", "{", "[{"),
)
_LONGEST = max(map(len, _BEGINNINGS))


class StreamedText:
    """Text as it may be shown while it arrives: nothing of thoughts and calls."""

    def __init__(self) -> None:
        self._held = ""
        self._looked = 0  # within a thought: up to where it was searched for its end
        self._has_begun = False
        self._is_over = False

    def more(self, text: str) -> str:
        """Return what may be shown after `text` has arrived."""
        if self._is_over:
            return ""
        self._held += text
        if not self._has_begun and not self._begin():
            return ""
        if mark := _MARKUP.search(self._held):
            self._is_over = True
            return self._held[: mark.start()]
        shown = self._held[: len(self._held) - _may_begin(self._held, self._has_begun)]
        self._held = self._held[len(shown) :]
        self._has_begun = self._has_begun or bool(shown.strip())
        return shown

    def _begin(self) -> bool:
        """Return whether the words have begun; drop whole thoughts before them."""
        if self._looked and not _CLOSES.search(self._held, self._looked):
            self._looked = max(1, len(self._held) - _LONGEST_END)
            return False
        while (thought := _WHOLE.match(self._held)) and thought.end():
            self._held = self._held[thought.end() :].lstrip()
        is_thinking = bool(_LEADING.match(self._held[:_LONGEST]))
        self._looked = max(1, len(self._held) - _LONGEST_END) if is_thinking else 0
        return bool(self._held.strip()) and not _HELD.match(self._held)


def _may_begin(text: str, has_begun: bool) -> int:
    """Return how many characters at the end of `text` may be the beginning of a mark. Those of plain
    JSON and code count only where the words begin."""
    if not any(sign in text[-_LONGEST:] for sign in "<[`~{"):
        return 0
    for position in range(max(0, len(text) - _LONGEST), len(text)):
        tail = text[position:].lower()
        at_begin = not (has_begun or text[:position].strip())
        if any(
            mark.lower().startswith(tail) and (at_begin or mark.startswith(("<", "[T")))
            for mark in _BEGINNINGS
        ):
            return len(text) - position
    return 0
