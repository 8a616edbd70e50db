"""The log of a run for people: a line an event, between INFO and WARNING (I5).

    run_7k2p turn 2 · read_file · ok, 0.2 s

With BOT_LOG_WORDS a tool's line says as well what it was called with.
The same records carry ids as fields, for JSON logs.
"""

from __future__ import annotations

import logging

from bot.agent.events import (
    Event,
    FromSubagent,
    MessagesJoined,
    Recorded,
    RunEnded,
    RunStarted,
    TextWithdrawn,
    ToolEnded,
    ToolsAcquired,
    ToolStarted,
    TurnStarted,
)
from bot.agent.state import LoopState
from bot.core.chain import NO_USAGE, LedgerEntry, Usage
from bot.core.outcome import StopReason
from bot.core.request import Request

NOTICE = 25
"""Between INFO (20) and WARNING (30)."""

logging.addLevelName(NOTICE, "NOTICE")
log = logging.getLogger("bot.run")
words = logging.getLogger("bot.words")
"""Enabled for DEBUG where logs may hold people's words (BOT_LOG_WORDS)."""


class Narrator:
    """Writes the lines of one run."""

    def __init__(self, request: Request, run_id: str, left: LoopState | None = None) -> None:
        """`left` is where the run stood when it was left before, here or by another worker."""
        self._ids = {
            "run_id": run_id,
            "request_id": request.id,
            "thread_key": request.thread_key,
            "user": request.user,
        }
        self._run = run_id
        self._left = left is not None
        self._turn = left.turn if left else 0

    def tell(self, event: Event) -> None:
        """Log what is worth a line."""
        if isinstance(event, TurnStarted):
            self._turn = event.turn
        if line := _line(event):
            if isinstance(event, RunStarted):
                begun = "taken up again" if self._left else "started"
                line = f"{begun} {line} for {self._ids['user']} in {self._ids['thread_key']}"
            log.log(NOTICE, "%s turn %d · %s", self._run, self._turn, line, extra=self._ids)

    def handed_back(self) -> None:
        """Log that another worker is to go on, because this one is about to stop."""
        ids = self._ids | {"stop_reason": StopReason.HANDED_BACK}
        log.log(NOTICE, "%s turn %d · handed back", self._run, self._turn, extra=ids)


def _line(event: Event) -> str:  # noqa: PLR0911 - a line for each kind
    match event:
        case RunStarted(model=model):
            return f"with {model}"
        case TurnStarted(max_turns=most):
            return f"asking the model, {most} turn{'s' if most > 1 else ''} at most"
        case Recorded(entry=LedgerEntry(response_id=str(), usage=usage)):
            return f"the model responded · {_tokens(usage or NO_USAGE)}"
        case Recorded(state=state):
            why = f", {state.closing}" if state.closing else ""
            return f"goes on: {state.transition}{why}"
        case MessagesJoined(texts=texts):
            return f"took in {len(texts)} more of the person's messages"
        case ToolsAcquired(names=names):
            return f"acquired {', '.join(names)}"
        case ToolStarted(tool=tool, title=title):
            return f"{_titled(tool, title)} · started"
        case ToolEnded(tool=tool, title=title, ok=ok, seconds=seconds):
            return f"{_titled(tool, title)} · {'ok' if ok else 'failed'}, {seconds:.1f} s"
        case FromSubagent(agent=agent, event=inner):
            return f"↳ {agent} · {line}" if (line := _line(inner)) else ""
        case TextWithdrawn():
            return "the call to the model failed"
        case RunEnded(status=status, stop_reason=reason, state=state):
            return f"{status}: {reason} · {_tokens(state.usage)}"
        case _:  # parts of what comes whole, and save points, which say nothing new
            return ""


def _titled(tool: str, title: str) -> str:
    """Return the tool's name, with its title, which quotes arguments, where logs may hold words."""
    return f"{tool} · {title}" if words.isEnabledFor(logging.DEBUG) else tool


def _tokens(usage: Usage) -> str:
    return f"{usage.input_tokens + usage.output_tokens:,} tokens"
