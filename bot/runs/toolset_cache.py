"""Which tools are offered where, put together once and not for each run."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from bot.toolkit.catalogue import Catalogue
from bot.toolkit.tool import Tool

_MOST = 16
"""Different offers that are kept: one for each list of allowed tools that is in use."""


class ToolsetCache:
    """With 500 tools a catalogue and its index take some 40 ms; to find one that was made, 20 µs."""

    def __init__(self) -> None:
        self._made: deque[tuple[object, Catalogue]] = deque(maxlen=_MOST)

    def of(
        self, own: Catalogue, more: Sequence[Tool], allowed: Sequence[str] | None, listed: int
    ) -> Catalogue:
        """`own` with `more`, of them what is `allowed`; up to `listed` are named to the model."""
        wanted = (own.tools, own.hosted, tuple(more), allowed, listed)
        for known, made in self._made:
            if known == wanted:  # mostly of the very same tools, which is seen at a glance
                return made
        made = own.joined_by(more).only(allowed).listing(listed)
        self._made.append((wanted, made))
        return made
