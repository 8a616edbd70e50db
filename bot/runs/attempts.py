"""A question and what repeated it: each Retry, Regenerate and Go deeper answers it once more.

Who edits or deletes the question means all of them, whoever asked for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.request import Request
from bot.store import Phase, Stores


@dataclass(frozen=True, slots=True)
class Attempt:
    """One of them, and the run that answers it, if that has begun: another request may have begun
    it, `begun_by`, and this one joined it. `is_over` says whether that run has decided its end."""

    request: Request
    run_id: str | None
    begun_by: str
    is_over: bool

    @property
    def is_guest(self) -> bool:
        """Whether the run answers something else besides."""
        return self.begun_by != self.request.id

    @property
    def has_own_run(self) -> bool:
        """Whether its run may be stopped, or its answer replaced, by an edit. Before its end a run
        that it joined goes on without it, and is told."""
        return self.run_id is not None and (self.is_over or not self.is_guest)


async def attempts_at(stores: Stores, request: Request) -> list[Attempt]:
    """`request` first, then its repetitions, the newest last."""
    known = [await _attempt(stores, request)]
    for each in known:  # which grows meanwhile
        repeated = await stores.mailbox.repetitions(request.team, each.begun_by)
        known += [await _attempt(stores, one) for one in repeated]
    return [known[0], *sorted(known[1:], key=lambda each: each.request.received_at)]


def replaced_by_edit(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """The runs whose answers an edit replaces, the newest last."""
    before = (run_id for each in attempts for run_id in each.request.replaces)
    begun = (each.run_id for each in attempts if each.run_id and each.has_own_run)
    return tuple(dict.fromkeys((*before, *begun)))


async def _attempt(stores: Stores, request: Request) -> Attempt:
    run_id = await stores.runs.id_of(request.id)
    begun = await stores.runs.begun_by(run_id) if run_id else None
    if begun is None:
        return Attempt(request, run_id, request.id, is_over=run_id is not None)
    return Attempt(request, run_id, begun[0], begun[1] in (Phase.FINISHED, Phase.DELIVERED))
