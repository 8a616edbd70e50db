"""The hook that sends a result back once when some of it cannot be traced."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks.chain import Block, Go, Hooks, Verdict
from bot.agent.state import LoopState
from bot.core.chain import LedgerEntry, ReportCheck
from bot.core.findings import Finding
from bot.runs.evidence.check import RunEvidence

_MOST_NAMED = 8


class EvidenceHook(Hooks):
    """The hook that traces reports of sub-agents and, in the mode "send_back", the run's result.

    It sends the result back once. Readers are told afterwards what is left: see `Outcome.traced`.
    """

    name = "evidence"
    inherited = False

    def __init__(self, evidence: RunEvidence) -> None:
        self._evidence = evidence

    @property
    def is_on(self) -> bool:
        return self._evidence.is_on

    @override
    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        sends_back = self._evidence.mode == "send_back"
        if not sends_back or state.closing or state.hooks.get(self.name):
            return Go()
        found = await self._evidence.findings(result)
        untraced = [each for each in found.items if each.is_objection] if found else []
        return Block(_objection(untraced), memory={"sent_back": True}) if untraced else Go()

    @override
    async def on_report(
        self, report: BaseModel, conversation: Sequence[LedgerEntry]
    ) -> ReportCheck | None:
        return await self._evidence.check_report(report, conversation)


def _objection(untraced: Sequence[Finding]) -> str:
    named = dict.fromkeys(f"{each.field}: {each.text}" for each in untraced)
    shown = "\n".join(f"- {each}" for each in list(named)[:_MOST_NAMED])
    more = f"\n- and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return (
        f"Not taken yet. These are not in what your tools returned:\n{shown}{more}\n"
        "Look each one up, compute it with calculate or query_table from figures that you read, or "
        "quote it word for word. Leave out what you cannot find. Then call complete_task again."
    )
