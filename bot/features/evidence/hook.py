"""The hook that fills in references, and sends a result back once for what code is sure is wrong."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks.chain import Block, FilledIn, Go, Hooks, Verdict
from bot.agent.state import LoopState
from bot.features.evidence.check import RunEvidence
from bot.features.evidence.faults import Faults, faults_of, without
from bot.features.evidence.filling import Filling
from bot.library.tracing.fields import fields_of
from bot.toolkit import Tool

NAME = "evidence"
_MOST_NAMED = 8


class EvidenceHook(Hooks):
    """The hook that fills in references, in results and in arguments of calls. A result with a reference that leads nowhere, a chart that does not exist, an address
    that no tool gave or a quote that stands nowhere is sent back once; what stays wrong loses its
    place. Readers are told what else was found: see `Outcome.traced`."""

    name = NAME
    inherited = False

    def __init__(self, evidence: RunEvidence) -> None:
        self._evidence = evidence

    @override
    async def on_run_start(self, state: LoopState) -> None:
        memory = state.hooks.get(self.name, {})
        self._evidence.sent_back = int(memory.get("sent_back", 0))
        self._evidence.filling.filled = filled_in(state)

    @override
    def memory(self, state: LoopState) -> dict[str, Any]:
        filled = self._evidence.filling.filled
        sent_back = self._evidence.sent_back
        memory: dict[str, Any] = {"sent_back": sent_back} if sent_back else {}
        if filled:
            memory["filled"] = [[f.path, f.start, f.end, f.reference] for f in filled]
        return memory

    @override
    def fill(self, value: Any, tool: Tool | None) -> FilledIn:
        return self._evidence.references.fill(value, tool)

    @override
    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        fields = result.model_dump(mode="json")
        texts = (
            {one.path: one.text for one in fields_of(fields)} if isinstance(fields, dict) else {}
        )
        self._evidence.filling.forget_all_but(texts)
        faults = faults_of(result, self._evidence)
        if not faults.sentences:
            return Go()
        corrected = without(result, faults)
        if state.closing or self._evidence.sent_back:
            return Go(corrected)
        self._evidence.sent_back = len(faults.sentences)
        return Block(_objection(faults), memory=self.memory(state), best=corrected)


def filled_in(state: LoopState) -> list[Filling]:
    """Return what was filled in in the result of a run, from its state."""
    fillings = state.hooks.get(NAME, {}).get("filled", ())
    return [Filling(*filling) for filling in fillings]


def _objection(faults: Faults) -> str:
    named = list(dict.fromkeys(faults.sentences))
    listed = "\n".join(f"- {sentence}" for sentence in named[:_MOST_NAMED])
    more = f"\n- and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return (
        f"Not taken yet:\n{listed}{more}\n"
        "Correct these or leave them out, and change nothing else. Then call complete_task again."
    )
