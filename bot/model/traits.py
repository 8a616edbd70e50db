"""Traits of a model server: what its replies show that it cannot do, so that nobody asks again."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, field

log = logging.getLogger(__name__)

FORCING = ("named", "required", "auto")
"""Ways to force one tool, best first; the second and third send that tool only. Not every service
follows the first or the second."""

_RECENT_RESPONSES = 1_000
_RECENT_SECONDS = 600.0
"""A response that is missing so soon was never stored; an older one may have expired."""


@dataclass(slots=True)
class ServerTraits:
    """What one model server cannot do. All runs of a process share the object and learn from it.

    - `stateless`: the server stores no responses, so each request carries the whole conversation.
    - `forcing`: the first way of FORCING that the server has not refused or ignored.
    - `has_answered`: it is a model server, whatever a proxy in front of it says at times.
    - `left_out`: by model, parameters that were refused and are not sent any more.
    """

    stateless: bool = False
    forcing: str = FORCING[0]
    has_answered: bool = False
    left_out: dict[str, set[str]] = field(default_factory=dict)
    _recent: dict[str, tuple[float, int]] = field(default_factory=dict)
    """Responses, oldest first: when each was made (monotonic), and how often it was missing."""

    def note_response(self, response_id: str) -> None:
        """Note that the server has just made a response that it was asked to store."""
        self._recent[response_id] = (time.monotonic(), 0)
        if len(self._recent) > _RECENT_RESPONSES:
            del self._recent[next(iter(self._recent))]

    def note_missing(self, response_id: str) -> None:
        """Note that the server does not find a response. The second time, if it made the response
        minutes ago, it stores none; once may be a replica that lags."""
        made, misses = self._recent.get(response_id, (-math.inf, 0))
        if time.monotonic() - made > _RECENT_SECONDS:
            return
        self._recent[response_id] = (made, misses + 1)
        if misses:
            self.note_stateless()

    def note_stateless(self) -> None:
        """Note that the server stores no responses."""
        if self.stateless:
            return
        self.stateless = True
        log.warning(
            "The model server stores no responses, so each request sends the whole conversation "
            "from now on. Set stateless = true under [model] in bot.toml to start that way."
        )

    def note_not_forced(self, forcing: str) -> None:
        """Note that the server does not follow a way of forcing a tool. The last way stays."""
        next_best = FORCING[min(FORCING.index(forcing) + 1, len(FORCING) - 1)]
        if FORCING.index(next_best) > FORCING.index(self.forcing):
            self.forcing = next_best
            log.warning("The model server does not follow tool_choice %s.", forcing)

    def note_refused(self, model: str, parameter: str) -> None:
        """Note that the server refuses a parameter of a call that can do without it."""
        left_out = self.left_out.setdefault(model, set())
        if parameter not in left_out:
            left_out.add(parameter)
            log.warning("%s refuses %s, which is not sent to it any more.", model, parameter)
