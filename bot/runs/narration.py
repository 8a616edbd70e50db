"""The log of a run for people: one line per event, at a level between INFO and WARNING.

    run_7k2p turn 2 · read_file · ok, 0.2 s

With BOT_LOG_WORDS, the line of a tool call also shows its arguments and its result. The records
carry ids as fields, for JSON logs.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from bot.agent.events import (
    Event,
    FromSubagent,
    MessagesJoined,
    Paused,
    Recorded,
    RoomAwaited,
    RunEnded,
    RunStarted,
    SavePoint,
    SkillAcquired,
    TextWithdrawn,
    ToolEnded,
    ToolProgress,
    ToolRetried,
    ToolsAcquired,
    ToolStarted,
    TurnStarted,
)
from bot.agent.state import LoopState
from bot.core.chain import NO_USAGE, Item, LedgerEntry, Usage
from bot.core.outcome import StopReason
from bot.core.request import Request
from bot.core.run_log import NOTICE, holds_words, run_log
from bot.runs.watching import Listener
from bot.text.counting import counted


class Narrator(Listener):
    """The writer of one run's log lines."""

    def __init__(self, request: Request, run_id: str, resumed: LoopState | None = None) -> None:
        """Start the log of a run; `resumed` is the saved state of a run that is resumed."""
        self._ids = {
            "run_id": run_id,
            "request_id": request.id,
            "thread_key": request.thread_key,
            "user": request.user,
        }
        self._run = run_id
        self._is_resumed = resumed is not None
        self._turn = resumed.turn if resumed else 0
        self._usage, self._cost = (resumed.usage, resumed.cost) if resumed else (NO_USAGE, 0.0)
        self._step = _step(resumed or LoopState())

    @override
    def on_event(self, event: Event) -> None:
        """Log an event, if its kind has a line and the log takes it."""
        if not run_log.isEnabledFor(NOTICE):
            return
        if isinstance(event, TurnStarted):
            self._turn = event.turn
        line = _line(event)
        if isinstance(event, SavePoint) and _step(event.state) != self._step:
            line = _going_on(event.state)
        if isinstance(event, Recorded | SavePoint):
            self._step = _step(event.state)
            line = f"{line}{self._spent(event.state)}" if line else ""
        if isinstance(event, RunStarted):
            begun = "resumed" if self._is_resumed else "started"
            line = f"{begun} {line} for {self._ids['user']} in {self._ids['thread_key']}"
        if line:
            run_log.log(NOTICE, "%s turn %d · %s", self._run, self._turn, line, extra=self._ids)

    def requeued(self) -> None:
        """Log that the run was requeued for another worker, because this process is about to stop."""
        ids = self._ids | {"stop_reason": StopReason.REQUEUED}
        run_log.log(NOTICE, "%s turn %d · requeued", self._run, self._turn, extra=ids)

    def _spent(self, state: LoopState) -> str:
        """Return the tokens and cost since the last call of this method; "" if there are none."""
        spent = _tokens(state.usage) - _tokens(self._usage)
        cost = None if state.cost is None or self._cost is None else state.cost - self._cost
        self._usage, self._cost = state.usage, state.cost
        return f" · {_money(spent, cost)}" if spent else ""


def _line(event: Event) -> str:  # noqa: C901, PLR0911, PLR0912 - a line for each kind
    match event:
        case RunStarted(model=model):
            return f"with {model}"
        case TurnStarted(max_turns=most, messages=messages, model=model):
            return f"asking {model} with {counted(messages, 'message')}, at most {counted(most, 'turn')}"
        case Recorded(entry=LedgerEntry(response_id=str(), items=items)):
            return f"the model responded · {_asked_for(items)}"
        case Recorded(state=state):
            return _going_on(state)
        case MessagesJoined(texts=texts):
            return f"took in {len(texts)} more of the person's messages"
        case ToolsAcquired(names=names):
            return f"acquired {', '.join(names)}"
        case SkillAcquired(name=name, digest=digest, by=by):
            return f"acquired the skill {name} ({digest[:8]}), by {by}"
        case ToolStarted():
            return f"{_call(event)} · started"
        case ToolProgress(tool=tool, line=said) if holds_words():
            return f"{tool} · {said}"
        case ToolRetried(tool=tool, attempt=attempt, error=error, pause=pause):
            return f"{tool} · attempt {attempt} failed ({error}), next in {pause:.1f} s"
        case ToolEnded(ok=ok, seconds=seconds):
            how = "ok" if ok else "refused" if event.refused else "failed"
            how = "may have happened" if event.unknown else how
            detail = f" · {event.detail}" if event.detail and holds_words() else ""
            return f"{_call(event)} · {how}, {seconds:.1f} s{detail}"
        case FromSubagent(agent=agent, event=inner):
            return f"↳ {agent} · {line}" if (line := _line(inner)) else ""
        case Paused(call_ids=ids):
            return f"waits for people to decide about {counted(len(ids), 'tool call')}"
        case RoomAwaited(ended=ended):
            return "has room in the budget again" if ended else "waits for room in a budget"
        case TextWithdrawn():
            return "the call to the model failed"
        case RunEnded(status=status, stop_reason=reason, state=state):
            counts = f"{counted(state.turn, 'turn')}, {counted(state.tool_calls, 'tool call')}"
            spent = _money(_tokens(state.usage), state.cost)
            return f"{status}: {reason} · {counts} · {spent}"
        case _:  # parts of a response, which is logged as a whole, and save points
            return ""


def _going_on(state: LoopState) -> str:
    """Return why the loop continues with another call of the model; "" if it has ended."""
    if state.ending:
        return ""
    return f"goes on: {state.transition}{f', {state.closing}' if state.closing else ''}"


def _step(state: LoopState) -> tuple[object, ...]:
    """Return what changes when the loop continues for another reason, or with another model."""
    return state.transition, state.closing, state.fallback


def _asked_for(items: Sequence[Item]) -> str:
    """Return how many tool calls the model asked for, with their names if logs may hold words."""
    names = [str(item["name"]) for item in items if item.get("type") == "function_call"]
    which = f": {', '.join(names)}" if names and holds_words() else ""
    return f"asked for {counted(len(names), 'tool call')}{which}"


def _call(event: ToolStarted | ToolEnded) -> str:
    """Return the tool's name for the log.

    If logs may hold words, add its title, which quotes arguments. A name that the model made up may
    quote people, and is then left out.
    """
    if holds_words():
        return f"{event.tool} · {event.title}"
    return event.tool if event.known else "unknown tool"


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _money(tokens: int, cost: float | None) -> str:
    return f"{tokens:,} tokens, {'unknown cost' if cost is None else f'${cost:.4f}'}"
