"""The audit entries of a run: who asked, which tools were called, how it ended and what it cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

from typing_extensions import override

from bot.agent.events import Event, FromSubagent, SkillAcquired, ToolEnded, ToolStarted
from bot.agent.state import LoopState
from bot.core.approvals import Approval, Decision, digest
from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.ids import new_id
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import Request
from bot.runs.watching import Listener
from bot.store import AuditLog, PendingEntry, RunRecord

Record = Callable[[Sequence[AuditEntry]], Awaitable[None]]
"""Writes audit entries. Raises StoreUnavailable: then the caller must not do what they record."""


def decision_entry(approval: Approval, decision: Decision) -> AuditEntry:
    """Return the audit entry of a decision about an approval, made by a person or by expiry."""
    team, channel, _ = approval.thread_key.split(":", 2)
    return AuditEntry(
        kind=AuditKind.DECIDED,
        team=team,
        who=decision.by,
        channel="" if channel.startswith("D") else channel,
        run_id=approval.run_id,
        what=f"{decision.verdict} {approval.subject}",
        ok=decision.allows,
        arguments=digest(approval.tool, approval.arguments),
    )


def request_entry(request: Request, kind: AuditKind, what: str, **more: object) -> AuditEntry:
    """Return an audit entry about a request; `more` are further fields of `AuditEntry`."""
    facts = {**_facts(request), "who": request.user, "kind": kind, "what": what, **more}
    return AuditEntry.model_validate(facts)


def _facts(request: Request) -> dict[str, str]:
    channel = "" if request.is_for_one else request.channel
    return {"team": request.team, "channel": channel, "request_id": request.id}


def refused(team: str, who: str, what: str, *, channel: str = "", run_id: str = "") -> AuditEntry:
    """Return the audit entry of a refusal: `what` names the action or the reason."""
    return AuditEntry(
        kind=AuditKind.REFUSED,
        team=team,
        who=who,
        channel="" if channel.startswith("D") else channel,
        run_id=run_id,
        what=what,
        ok=False,
    )


class RunAudit(Listener):
    """The audit entries of one run, saved in the same step as the state they describe.

    A tool call that is repeated after a crash therefore has an entry for each attempt.
    """

    def __init__(self, log: AuditLog, request: Request, record: RunRecord) -> None:
        self._log = log
        self._request = request
        # A person who was erased stays anonymous: nobody can tell whose a new pseudonym is.
        who = record.pseudonym or new_id("person")
        self._of_run = {**_facts(request), "run_id": record.run_id, "who": who}
        self._noted: list[dict[str, object]] = []
        self._started: dict[str, ToolStarted] = {}
        self._begun: set[str] = set()

    def begin(self) -> None:
        """Note that the run begins."""
        self._note(AuditKind.ASKED, self._request.entry)

    @override
    def on_event(self, event: Event) -> None:
        """Note an event of the run, if the audit log records its kind."""
        match event:
            case ToolStarted(call_id=call_id):
                self._started[call_id] = event
            case ToolEnded(call_id=call_id, tool=tool, known=known):
                started = self._started.pop(call_id, None)
                arguments = started.arguments if started else ""
                what = tool if known else "unknown tool"  # a made-up name may quote people
                facts = {"ok": event.ok, "unknown": event.unknown, "arguments": arguments}
                self._note(AuditKind.CALLED, what, **facts)
            case SkillAcquired(name=name, origin=origin, digest=digest, by=by):
                what = f"skill {name} by {by}: {origin}"
                self._note(AuditKind.ACQUIRED, what, arguments=digest)
            case FromSubagent(event=inner):
                self.on_event(inner)
            case _:
                pass

    def note_begun(self, state: LoopState) -> bool:
        """Note the changes that the run is about to make. Return whether there are any.

        If so, call `settle` before the tools run: if the process is killed during a change, the log
        then shows that the change began.
        """
        open_calls = state.open.begun if state.open else ()
        new = [
            call_id
            for call_id in open_calls
            if call_id in self._started and call_id not in self._begun
        ]
        for call_id in new:
            started = self._started[call_id]
            self._note(AuditKind.BEGUN, started.tool, arguments=started.arguments)
        self._begun.update(new)
        return bool(new)

    def end(self, outcome: Outcome, facts: Mapping[str, int] = MappingProxyType({})) -> None:
        """Note how the run ended, with further `facts` by the fields of `AuditEntry`."""
        ok, cost = outcome.status is RunStatus.SUCCESS, outcome.totals.cost
        self._note(AuditKind.ENDED, outcome.stop_reason, ok=ok, cost=cost, **facts)

    def take_noted(self) -> list[PendingEntry]:
        """Return and clear the noted entries; the caller saves them with the state they describe."""
        noted, self._noted = self._noted, []
        return [
            self._log.pending(AuditEntry.model_validate({**self._of_run, **of})) for of in noted
        ]

    async def settle(self) -> None:
        """Move saved entries into the audit log. Raises StoreUnavailable."""
        await self._log.settle(self._request.team)

    def _note(self, kind: AuditKind, what: str, **more: object) -> None:
        self._noted.append({"at": datetime.now(UTC), "kind": kind, "what": what, **more})
