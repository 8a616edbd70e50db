"""The log of a run for people: a line an event, between INFO and WARNING (I5).

    run_7k2p turn 2 · read_file · Read sales.csv · ok, 0.2 s

The same records carry ids as fields, for JSON logs.
"""

from __future__ import annotations

import logging

from bot.agent.events import (
    Event,
    RunEnded,
    RunStarted,
    TextWithdrawn,
    ToolEnded,
    ToolsAcquired,
    TurnStarted,
)
from bot.core.request import Request

NOTICE = 25
"""Between INFO (20) and WARNING (30)."""

logging.addLevelName(NOTICE, "NOTICE")
log = logging.getLogger("bot.run")


class Narrator:
    """Writes the lines of one run."""

    def __init__(self, request: Request, run_id: str) -> None:
        self._ids = {
            "run_id": run_id,
            "request_id": request.id,
            "thread_key": request.thread_key,
            "user": request.user,
        }
        self._run = run_id
        self._turn = 0

    def tell(self, event: Event) -> None:
        """Log what is worth a line."""
        if isinstance(event, TurnStarted):
            self._turn = event.turn
        if line := self._line(event):
            log.log(NOTICE, "%s turn %d · %s", self._run, self._turn, line, extra=self._ids)

    def _line(self, event: Event) -> str:
        match event:
            case RunStarted(model=model):
                return f"started with {model}"
            case ToolsAcquired(names=names):
                return f"acquired {', '.join(names)}"
            case ToolEnded(tool=tool, title=title, ok=ok, seconds=seconds):
                return f"{tool} · {title} · {'ok' if ok else 'failed'}, {seconds:.1f} s"
            case TextWithdrawn():
                return "the model's stream broke; calling again"
            case RunEnded(status=status, stop_reason=reason, state=state):
                spent = state.usage.input_tokens + state.usage.output_tokens
                return f"{status}: {reason} · {spent:,} tokens"
            case _:
                return ""
