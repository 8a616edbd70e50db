"""Puts a run on record: who asked, what was called, how it ended and what that took."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bot.agent.events import Event, FromSubagent, ToolEnded, ToolStarted
from bot.agent.state import LoopState
from bot.core.approvals import Approval, Decision, digest
from bot.core.audit import AuditEntry, AuditKind
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import Request
from bot.store import AuditLog, PendingEntry

Record = Callable[[Sequence[AuditEntry]], Awaitable[None]]
"""Puts on record what was done, or is about to be. Raises StoreUnavailable: then it is not done."""


def decided(approval: Approval, decision: Decision) -> AuditEntry:
    """An entry about what somebody, or nobody, decided."""
    team, channel, _ = approval.thread_key.split(":", 2)
    return AuditEntry(
        kind=AuditKind.DECIDED,
        team=team,
        who=decision.by,
        channel="" if channel.startswith("D") else channel,
        run_id=approval.run_id,
        what=f"{decision.verdict} {approval.tool}",
        ok=decision.allows,
        arguments=digest(approval.tool, approval.arguments),
    )


def audited(request: Request, kind: AuditKind, what: str, **more: object) -> AuditEntry:
    """An entry about a request."""
    facts = {
        "team": request.team,
        "who": request.user,
        "channel": "" if request.is_for_one else request.channel,
        "request_id": request.id,
    }
    return AuditEntry.model_validate(facts | {"kind": kind, "what": what, **more})


def refused(team: str, who: str, what: str, *, channel: str = "", run_id: str = "") -> AuditEntry:
    """An entry about what somebody tried in `channel` and may not, or why."""
    return AuditEntry(
        kind=AuditKind.REFUSED,
        team=team,
        who=who,
        channel="" if channel.startswith("D") else channel,
        run_id=run_id,
        what=what,
        ok=False,
    )


class RunAudit:
    """Of one run. Calls are written down in the same step as what became of them is kept: what is
    made again after a crash is there again."""

    def __init__(self, log: AuditLog, request: Request, run_id: str) -> None:
        self._log = log
        self._request = request
        self._run_id = run_id
        self._waiting: list[AuditEntry] = []
        self._started: dict[str, ToolStarted] = {}
        self._begun: set[str] = set()
        self._pseudonym = ""

    async def begin(self) -> None:
        """It is worked on."""
        self._note(AuditKind.ASKED, self._request.entry)
        await self._know(new=True)

    def note(self, event: Event) -> None:
        """Remember what must be on record."""
        match event:
            case ToolStarted(call_id=call_id):
                self._started[call_id] = event
            case ToolEnded(call_id=call_id, tool=tool, known=known):
                started = self._started.pop(call_id, None)
                arguments = started.arguments if started else ""
                what = tool if known else "unknown tool"  # a name made up may hold people's words
                facts = {"ok": event.ok, "unknown": event.unknown, "arguments": arguments}
                self._note(AuditKind.CALLED, what, **facts)
            case FromSubagent(event=inner):
                self.note(inner)
            case _:
                pass

    def intend(self, state: LoopState) -> bool:
        """Note what the run, which stands there, is about to change: should it be killed in the
        middle of that, the log says at least that it was begun. Return whether there is anything:
        it is to be in the log (`settle`) before it is made."""
        open_calls = state.open.begun if state.open else ()
        new = [each for each in open_calls if each in self._started and each not in self._begun]
        for call_id in new:
            started = self._started[call_id]
            self._note(AuditKind.BEGUN, started.tool, arguments=started.arguments)
        self._begun.update(new)
        return bool(new)

    def end(self, outcome: Outcome) -> None:
        """It is over."""
        ok = outcome.status is RunStatus.SUCCESS
        self._note(AuditKind.ENDED, outcome.stop_reason, ok=ok, cost=outcome.totals.cost)

    async def due(self) -> list[PendingEntry]:
        """Return what was noted, to be kept in the same step as what it tells of."""
        waiting, self._waiting = self._waiting, []
        if waiting and not self._pseudonym:
            await self._know(new=False)
        return [self._log.beside_as(each, self._pseudonym) for each in waiting]

    async def settle(self) -> None:
        """Bring what was kept so into the log. Raises StoreUnavailable."""
        await self._log.settle(self._request.team)

    async def _know(self, *, new: bool) -> None:
        """Look the person's pseudonym up once: who is erased while the run works stays unknown."""
        self._pseudonym = await self._log.pseudonym(self._request.user, new=new)

    def _note(self, kind: AuditKind, what: str, **more: object) -> None:
        entry = audited(self._request, kind, what, run_id=self._run_id, **more)
        self._waiting.append(entry)
