"""A question and what repeated it: each Retry, Regenerate and Go deeper answers it once more.

Who edits or deletes the question means all of them, whoever asked for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.request import NEXT_MESSAGE, Again, Request
from bot.store import Phase, Stores

_OVER = (Phase.FINISHED, Phase.DELIVERED)


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


@dataclass(frozen=True, slots=True)
class Words:
    """What a message asks: as it was asked `first`, and `now`, after its edits."""

    first: Request
    now: Request

    @property
    def alone(self) -> Request:
        """It, to be answered once more without what was asked beside it."""
        changes = {"text": self.now.said, "own": "", "replaces": (), "superseded": False}
        return self.now.model_copy(update={**changes, "again": Again.REGENERATE})


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """What a message asks, what a run that is over answered together with it, and the runs whose
    answers to any of this an edit replaces, the newest last."""

    words: Words
    beside: tuple[Words, ...] = ()
    runs: tuple[str, ...] = ()

    @property
    def request(self) -> Request:
        return self.words.now

    def edited(self, new: Request) -> Request:
        """`new`, an edit of the request, with all that is to be answered again."""
        first = self.words.first
        new = new.model_copy(update={"quoted": first.quoted, "files": first.files})
        if not self.beside:
            return new
        every = [(first, new.text), *((each.first, each.now.said) for each in self.beside)]
        every.sort(key=lambda each: float(each[0].ts))
        mentioned = (*new.mentioned, *(m for each in self.beside for m in each.now.mentioned))
        together = {
            "own": new.text,
            "text": NEXT_MESSAGE.join(text for _, text in every),
            "mentioned": tuple(dict.fromkeys(mentioned)),
            "quoted": "\n\n".join(request.quoted for request, _ in every if request.quoted),
            "files": tuple(file for request, _ in every for file in request.files),
        }
        return new.model_copy(update=together)


async def asked_before(stores: Stores, request: Request) -> AskedBefore:
    """How it stands with what a message asked, of which `request` is the last edit."""
    before = await stores.mailbox.kept(request.revises)
    first = before[0] if before else request
    beside = await _beside(stores, first)
    every = [
        each
        for now in (*before, request, *(b.now for b in beside))
        for each in await attempts_at(stores, now)
    ]
    return AskedBefore(Words(first, request), tuple(beside), replaced_by_edit(every))


async def as_it_begins(stores: Stores, edit: Request) -> Request:
    """Return an edit with what is to be answered with it and replaced by it, now that its run begins:
    the runs before it are over, whatever they were doing when it was made."""
    before = await stores.mailbox.kept(edit.revises)
    if not before:
        return edit
    asked = await asked_before(stores, before[-1])
    alone = {"text": edit.said, "own": "", "replaces": asked.runs}
    now = asked.edited(edit.model_copy(update=alone))
    if now != edit:
        await stores.mailbox.rewrite(now)
    return now


async def _beside(stores: Stores, first: Request) -> list[Words]:
    run_id = await stores.runs.id_of(first.id)
    begun = await stores.runs.begun_by(run_id) if run_id else None
    if begun is None or begun[1] not in _OVER:
        return []
    ids = (begun[0], *await stores.runs.joined(begun[0]))
    if first.id not in ids:
        return []
    others = [each for each in await stores.mailbox.kept(ids) if each.id != first.id]
    return [
        Words(each, await _now(stores, each))
        for each in others
        if await stores.runs.id_of(each.id) == run_id
    ]


async def _now(stores: Stores, first: Request) -> Request:
    found = await stores.mailbox.find(first.team, first.channel, first.ts)
    return (await stores.mailbox.get(found) if found else None) or first


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
    if request.id not in (begun[0], *await stores.runs.joined(begun[0])):  # it was left out again
        return Attempt(request, None, request.id, is_over=False)
    return Attempt(request, run_id, begun[0], begun[1] in _OVER)
