"""Revisions of a request: each edit, Retry, Ask again and Look deeper answers it once more.

An edit or a deletion of the original message applies to all of its revisions, whoever asked for them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.errors import CorruptValue
from bot.core.request import NEXT_MESSAGE, RepeatReason, Request
from bot.store import Phase, Stores

log = logging.getLogger(__name__)

_OVER = (Phase.FINISHED, Phase.DELIVERED)


@dataclass(frozen=True, slots=True)
class Revision:
    """A request, original or repeated, and the run that answers it, if that has begun.

    `begun_by` is the id of the request that began the run: this one may have joined it. `is_over`
    says whether the run has decided its outcome.
    """

    request: Request
    run_id: str | None
    begun_by: str
    is_over: bool

    @property
    def joined_another(self) -> bool:
        """Whether the request joined a run that another request began."""
        return self.begun_by != self.request.id

    @property
    def has_own_run(self) -> bool:
        """Whether an edit may stop the run or replace its answer.

        A joined run that has not ended goes on without this request, and the model is told so.
        """
        return self.run_id is not None and (self.is_over or not self.joined_another)


@dataclass(frozen=True, slots=True)
class MessageVersions:
    """A message as a request: as it was written `first`, and as it is `now`, after its edits."""

    first: Request
    now: Request

    @property
    def alone(self) -> Request:
        """The current request, to be answered again without the messages that joined its run."""
        changes = {"text": self.now.said, "own": "", "replaces": (), "superseded": False}
        return self.now.model_copy(update={**changes, "again": RepeatReason.REGENERATE})


@dataclass(frozen=True, slots=True)
class EditScope:
    """Everything that an edit of a message affects.

    `versions` are the versions of the message, `others` the other messages that an ended run answered
    together with it, and `runs` the ids of the runs whose answers the edit replaces, newest last.
    """

    versions: MessageVersions
    others: tuple[MessageVersions, ...] = ()
    runs: tuple[str, ...] = ()

    @property
    def request(self) -> Request:
        return self.versions.now

    def edited(self, new: Request) -> Request:
        """Return `new`, an edit of the request, merged with all messages to be answered again."""
        first = self.versions.first
        new = new.model_copy(update={"quoted": first.quoted, "files": first.files})
        if not self.others:
            return new
        every = [(first, new.text), *((edited.first, edited.now.said) for edited in self.others)]
        every.sort(key=lambda each: float(each[0].ts))
        mentioned = (*new.mentioned, *(m for edited in self.others for m in edited.now.mentioned))
        together = {
            "own": new.text,
            "text": NEXT_MESSAGE.join(text for _, text in every),
            "mentioned": tuple(dict.fromkeys(mentioned)),
            "quoted": "\n\n".join(request.quoted for request, _ in every if request.quoted),
            "files": tuple(file for request, _ in every for file in request.files),
        }
        return new.model_copy(update=together)


async def edit_scope_of(stores: Stores, request: Request) -> EditScope:
    """Return everything that a further edit of a message replaces; `request` is its last edit."""
    before = await stores.mailbox.get_many(request.revises)
    first = before[0] if before else request
    others = await _other_messages(stores, first)
    every = [
        revision
        for now in (*before, request, *(b.now for b in others))
        for revision in await revisions_of(stores, now)
    ]
    return EditScope(MessageVersions(first, request), tuple(others), replaced_by_edit(every))


async def refresh_edit(stores: Stores, edit: Request) -> Request:
    """Return an edit with the messages it answers and the answers it replaces as of now.

    Call it when the edit's run begins: earlier runs that still worked when the edit was made have
    ended by then.
    """
    before = await stores.mailbox.get_many(edit.revises)
    if not before:
        return edit
    scope = await edit_scope_of(stores, before[-1])
    alone = {"text": edit.said, "own": "", "replaces": scope.runs}
    now = scope.edited(edit.model_copy(update=alone))
    if now != edit:
        await stores.mailbox.rewrite(now)
    return now


async def messages_answered(stores: Stores, request: Request, run_id: str) -> list[str]:
    """Return the ts of each message that the run of a request answers, in order.

    That is its own, those of the requests that joined the run, and those whose answer it replaces;
    only its own where the others cannot be read, as an answer that names too few is still an answer.
    """
    known = [request]
    try:
        ids = [*await stores.runs.joined_to(run_id)]
        for replaced in request.replaces:
            if begun := await stores.runs.begun_by(replaced):
                ids += [begun[0], *await stores.runs.joined(begun[0])]
        known += [
            request for request in await stores.mailbox.get_many(ids) if not request.withdrawn
        ]
    except CorruptValue:
        log.exception("what joined the run of %s cannot be read", request.id)
    return sorted({ts for request in known for ts in (request.claim, request.message) if ts})


async def _other_messages(stores: Stores, first: Request) -> list[MessageVersions]:
    run_id = await stores.runs.id_of(first.id)
    begun = await stores.runs.begun_by(run_id) if run_id else None
    if begun is None or begun[1] not in _OVER:
        return []
    ids = (begun[0], *await stores.runs.joined(begun[0]))
    if first.id not in ids:
        return []
    others = [request for request in await stores.mailbox.get_many(ids) if request.id != first.id]
    return [
        MessageVersions(request, await _now(stores, request))
        for request in others
        if await stores.runs.id_of(request.id) == run_id
    ]


async def _now(stores: Stores, first: Request) -> Request:
    message_request = await stores.mailbox.find(first.team, first.channel, first.ts)
    return (await stores.mailbox.get(message_request) if message_request else None) or first


async def revisions_of(stores: Stores, request: Request) -> list[Revision]:
    """Return `request` first, then its repetitions, newest last."""
    known = [await _revision(stores, request)]
    for each in known:  # the list grows in the loop: a repetition may be repeated
        repeated = await stores.mailbox.repetitions(request.team, each.begun_by)
        known += [await _revision(stores, one) for one in repeated]
    return [known[0], *sorted(known[1:], key=lambda each: each.request.received_at)]


def replaced_by_edit(revisions: Sequence[Revision]) -> tuple[str, ...]:
    """Return the ids of the runs whose answers an edit replaces, newest last."""
    before = (run_id for revision in revisions for run_id in revision.request.replaces)
    begun = (revision.run_id for revision in revisions if revision.run_id and revision.has_own_run)
    return tuple(dict.fromkeys((*before, *begun)))


async def _revision(stores: Stores, request: Request) -> Revision:
    run_id = await stores.runs.id_of(request.id)
    begun = await stores.runs.begun_by(run_id) if run_id else None
    if begun is None:
        return Revision(request, run_id, request.id, is_over=run_id is not None)
    if request.id not in (begun[0], *await stores.runs.joined(begun[0])):  # it has left the run
        return Revision(request, None, request.id, is_over=False)
    return Revision(request, run_id, begun[0], begun[1] in _OVER)
