"""Prompt caching: the part of an input that the server has seen before.

A prefix is tools, then instructions, then items; a change of the tools invalidates everything.
Unlike the real service there is no minimum size, so that short tests use the cache too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from . import tokens
from .request import ModelRequest


@dataclass(frozen=True, slots=True)
class InputTokens:
    """The tokens of one input; `context_tokens` leaves out instructions and tools."""

    input_tokens: int
    context_tokens: int
    cached: int
    head: tuple[str, str]


@dataclass
class PromptCache:
    """A cache of prefixes, kept as running hashes."""

    _seen: set[int] = field(default_factory=set)

    def measure(self, request: ModelRequest) -> InputTokens:
        """Count the tokens of a request's input and how many of them were cached."""
        head = (request.tools_text, request.instructions)
        tools_tokens = tokens.count(request.tools_text) if request.tools else 0
        head_tokens = tools_tokens + tokens.count(request.instructions)
        sizes = [tokens.count_item(item) for item in request.input]
        before = request.parent.context_tokens if request.parent else 0
        total = head_tokens + before + sum(sizes)
        return InputTokens(total, before + sum(sizes), self._cached(request, head, sizes), head)

    def remember(self, request: ModelRequest, head: tuple[str, str]) -> None:
        """Cache the prefixes of a request that was answered."""
        self._seen.add(hash(head[0]))
        self._seen.update(self._prefixes(request, head))

    def _cached(self, request: ModelRequest, head: tuple[str, str], sizes: list[int]) -> int:
        parent = request.parent
        if parent and parent.head == head:
            return parent.input_tokens
        cached = tokens.count(head[0]) if request.tools and hash(head[0]) in self._seen else 0
        if parent:
            return cached
        for prefix, size in zip(
            self._prefixes(request, head), [tokens.count(head[1]), *sizes], strict=True
        ):
            if prefix not in self._seen:
                break
            cached += size
        return cached

    @staticmethod
    def _prefixes(request: ModelRequest, head: tuple[str, str]) -> list[int]:
        if request.parent:
            return []
        prefixes = [hash(head)]
        for item in request.input:
            prefixes.append(
                hash((prefixes[-1], json.dumps({"type": "message", **item}, sort_keys=True)))
            )
        return prefixes
