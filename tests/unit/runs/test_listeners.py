"""Listeners hear of a run what passes, in order, and change nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from bot.agent.events import Event, RunEnded, RunStarted
from bot.core.errors import StoreUnavailable
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.dev.model import Script, finish
from bot.runs import runner
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.runs.watching import Listener, ModelCalled
from bot.store import Stores
from tests.support.runs import Board, answer, bot_with


@dataclass
class Recorder(Listener):
    """A listener that records what it hears; its first `failures` endings fail."""

    board: Board
    failures: int = 0
    heard: list[str] = field(default_factory=list)

    def on_event(self, event: Event) -> None:
        if isinstance(event, RunStarted | RunEnded):
            self.heard.append(type(event).__name__)

    def on_model_call(self, call: ModelCalled) -> None:
        assert call.response
        assert call.usage
        self.heard.append(f"{call.model} {call.outcome}")

    async def on_end(self, outcome: Outcome) -> None:
        assert self.board.finished[-1] == outcome  # it is posted by now
        self.heard.append(outcome.status)
        if self.heard.count(outcome.status) <= self.failures:
            raise StoreUnavailable("it cannot be noted now")


async def test_a_listener_hears_a_run_from_its_begin_to_its_delivery(stores: Stores) -> None:
    """Its events, its calls of the model, and its outcome once that is posted."""
    async with bot_with(stores, Script([finish(answer())])) as bot:
        recorder = Recorder(bot.board)
        bot.change_frontend(listeners=[lambda _request: recorder])
        await bot.ask("How many?")
    called = f"{bot.runner.deps.models.models('').names[0]} ok"
    heard = ["RunStarted", called, "RunEnded", RunStatus.SUCCESS]
    assert recorder.heard == heard


async def test_an_outcome_that_a_listener_did_not_take_is_delivered_again(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the end of a scheduled run counts though Redis was away for a moment."""
    monkeypatch.setattr(runner, "_DELIVERY_PAUSES", (0.0,))
    async with bot_with(stores, Script([finish(answer())])) as bot:
        recorder = Recorder(bot.board, failures=1)
        bot.change_frontend(listeners=[lambda _request: recorder])
        await bot.ask("How many?")
    assert recorder.heard.count(RunStatus.SUCCESS) == len(bot.board.finished) == 2


async def test_a_part_of_a_feature_that_breaks_fails_its_run_with_a_message(stores: Stores) -> None:
    """The person hears of it at once, and the request is not tried for ever."""

    def broken(run: Run) -> RunPart:
        raise TypeError(f"{run.request.text} is not what I expected")

    async with bot_with(stores, Script([])) as bot:
        bot.runner = bot.runner.with_deps(parts=(broken,))
        outcome = await bot.ask("How many?")
    assert outcome.stop_reason is StopReason.INTERNAL_ERROR
    assert bot.board.finished == [outcome]
