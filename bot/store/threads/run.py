"""Run records: save points, the outbox of outcomes, and the messages that a run has posted."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import Any

from bot.core.budgets import Pause
from bot.core.chain import CallerState, LedgerEntry
from bot.core.errors import CorruptValue
from bot.core.ids import new_id
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.store.connection import Connection, Retention
from bot.store.leases import Lease, lease_key
from bot.store.threads.conversation import CallerStates, Ledger
from bot.store.threads.mailbox import (
    begun_key,
    mailbox_keys,
    parked_key,
    request_key,
    returning,
    run_of_key,
    taking,
)
from bot.store.values import Command, decode, set_aside
from bot.store.workspaces.audit import PendingEntry, person_key, recording
from bot.store.workspaces.budgets import pause_key, read_pause

_TS = re.compile(rb"\d+\.\d+")
_FILE = "file:"
_POSTED = ("message", "parts")


class Phase(StrEnum):
    """How far a run has come."""

    RUNNING = "running"
    WAITING = "waiting"  # for a decision about an approval
    FINISHED = "finished"  # its outcome waits in the outbox
    DELIVERED = "delivered"  # its final message is posted


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The stored record of a run.

    `state` is that of the last save point, None before the first. `joined` are the ids of further
    requests that the run answers, `posted` the fields of the messages that it has posted. `pause` is
    the pause of the bot when the record was read, `stopped_by` who wanted the request stopped then, and
    `pseudonym` who asked, for the audit log; "" for a person who was erased.
    """

    run_id: str
    request_id: str
    thread_key: str
    phase: Phase
    state: str | None = None
    outcome: Outcome | None = None
    joined: tuple[str, ...] = ()
    posted: Mapping[str, bytes | None] = field(default_factory=dict)
    pause: Pause | None = None
    stopped_by: str = ""
    pseudonym: str = ""

    @property
    def is_new(self) -> bool:
        """Whether the run has neither a save point nor an outcome."""
        return self.state is None and self.outcome is None


class Runs:
    """The store of runs, the outbox of their outcomes, and their messages.

    Methods that take a lease raise LeaseLost, and write nothing, if a newer lease was taken.
    """

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention
        self._seconds = retention.thread
        self._caller_states = CallerStates(redis, retention)
        self._ledger = Ledger(redis, retention)

    async def start(self, request: Request, run_id: str) -> tuple[Lease, RunRecord]:
        """Take a lease on the thread. Return it with the interrupted run of the request to resume, or
        begin a new one named `run_id`.

        Raises CorruptValue for a run that cannot be read; it is set aside, and the next call begins
        a new one. Raises LeaseLost also when the request was withdrawn before its run began.
        """
        lease = lease_key(self._redis, request.thread_key)
        run_of = run_of_key(self._redis, request.id)
        parked = parked_key(self._redis, request.thread_key)
        stopped = self._redis.key("cancelled", request.id), request_key(self._redis, request.id)
        paused, person = pause_key(self._redis), person_key(self._redis, request.user)
        keys = [lease, run_of, self._redis.key("run", ""), parked, *stopped, paused, person]
        run = (run_id, request.id, request.thread_key, self._seconds)
        named = (new_id("person"), self._retention.audit)
        token, fields, pause, stopped_by, pseudonym = await self._redis.script(
            "run_start", keys, *run, *named
        )
        try:
            record = replace(
                _decoded(_pairs(fields)),
                pause=read_pause(pause),
                stopped_by=(stopped_by or b"").decode(),
                pseudonym=(pseudonym or b"").decode(),
            )
        except CorruptValue:
            damaged = await self._redis.call("GET", run_of)
            await set_aside(self._redis, self._key(damaged.decode()))
            raise
        return Lease(request.thread_key, token.decode(), lease, self._redis), record

    async def ended(self, run_ids: Sequence[str]) -> list[RunRecord]:
        """Return the records of the runs that have an outcome; skip expired and damaged ones."""
        if not run_ids:
            return []
        found = await self._redis.together(*(("HGETALL", self._key(each)) for each in run_ids))
        records = []
        for fields in filter(None, found):
            with suppress(CorruptValue):
                records.append(_decoded(fields))
        return [each for each in records if each.outcome]

    async def id_of(self, request_id: str) -> str | None:
        """Return the id of a request's run, None before it began; raise CorruptValue for no id."""
        raw = await self._redis.call("GET", run_of_key(self._redis, request_id))
        if raw and not raw.isascii():
            raise CorruptValue("The kept id of a run cannot be read.")
        return raw.decode() if raw else None

    async def begun_by(self, run_id: str) -> tuple[str, Phase] | None:
        """Return the id of the request that began a run, and its phase; None for an unknown run.

        Raises CorruptValue if they cannot be read.
        """
        key = self._key(run_id)
        request_id, phase = await self._redis.call("HMGET", key, "request_id", "phase")
        try:
            return (request_id.decode(), Phase(phase.decode())) if request_id and phase else None
        except ValueError as error:
            raise CorruptValue("The kept phase of a run cannot be read.") from error

    async def outcome(self, run_id: str) -> Outcome | None:
        """Return the outcome of a run, None before its end and when it has expired or is damaged."""
        raw = await self._redis.call("HGET", self._key(run_id), "outcome")
        try:
            return decode(Outcome, raw) if raw else None
        except CorruptValue:
            return None

    async def answer(self, run_id: str) -> tuple[Request, Outcome] | None:
        """Return the request and the outcome of a run, as long as they are kept."""
        raw = await self._redis.call("HMGET", self._key(run_id), "request", "outcome")
        try:
            return (decode(Request, raw[0]), decode(Outcome, raw[1])) if all(raw) else None
        except CorruptValue:
            return None

    async def state(self, run_id: str) -> str | None:
        """Return the state of a run's last save point, None before the first and after the end."""
        raw = await self._redis.call("HGET", self._key(run_id), "state")
        return raw.decode("utf-8", "replace") if raw else None

    async def message(self, run_id: str) -> str | None:
        """Return the ts of a run's message, None when none is known."""
        return _ts(await self._redis.call("HGET", self._key(run_id), "message"))

    async def card(self, run_id: str, name: str) -> str | None:
        """Return the ts of a run's card by name, None unless it is posted and may still change."""
        return _ts(await self._redis.call("HGET", self._key(run_id), f"card:{name}"))

    async def note_card(self, run_id: str, name: str, ts: str) -> None:
        """Record the ts of a card that somebody pressed, if its worker died before it could."""
        key = self._key(run_id)
        if await self._redis.call("EXISTS", key):
            noted = ("HSETNX", key, f"card:{name}", ts), ("EXPIRE", key, self._seconds)
            await self._redis.together(*noted)

    async def note_file(self, run_id: str, file: str) -> None:
        """Record the id of a file that a run shared before its end."""
        key = self._key(run_id)
        noted = ("HSET", key, f"{_FILE}{file}", "up"), ("EXPIRE", key, self._seconds)
        await self._redis.together(*noted)

    async def forget_request(self, run_id: str) -> None:
        """Delete the request that is kept with an outcome, because its message was deleted."""
        await self._redis.call("HDEL", self._key(run_id), "request")

    async def renew(self, run_id: str, thread_key: str) -> None:
        """Keep a run, and the ledger of its thread, as long from now on as when it ended."""
        key = self._key(run_id)
        renewed = self._ledger.renewing(thread_key)
        await self._redis.together(("EXPIRE", key, self._seconds), *renewed)

    async def forget_cards(self, run_id: str) -> None:
        """Forget which cards a run posted, so that it posts them again."""
        key = self._key(run_id)
        names = await self._redis.call("HKEYS", key)
        if cards := [name for name in names if name.startswith(b"card:")]:
            await self._redis.call("HDEL", key, *cards)

    async def joined(self, request_id: str) -> tuple[str, ...]:
        """Return the ids of the requests that were answered together with `request_id`."""
        run_id = await self.id_of(request_id)
        return await self.joined_to(run_id) if run_id else ()

    async def joined_to(self, run_id: str) -> tuple[str, ...]:
        """Return the ids of the requests that a run answers besides the one that began it."""
        return _ids(await self._redis.call("HGET", self._key(run_id), "joined"))

    async def save_point(
        self,
        run_id: str,
        state: str,
        lease: Lease,
        entries: Sequence[LedgerEntry] = (),
        joining: Sequence[str] = (),
        joined: Sequence[str] | None = None,
        caller_state: CallerState | None = None,
        progress_of: str = "",
        goes_on: bool = False,
        on_record: Sequence[PendingEntry] = (),
        also: Sequence[Command] = (),
        charges: Sequence[Command] = (),
        reads: Sequence[Command] = (),
    ) -> list[Any]:
        """Store the loop's state, and the ledger entries since the last save point, atomically.

        Return the replies to `reads`.

        - `joining`: requests that leave the mailbox because the run now answers them as well.
        - `joined`: unless None, all requests that the run answers besides its own.
        - `caller_state`: unless None, the new state of the thread, which later runs continue from even
          if this run fails.
        - `progress_of`: the run's request; deaths of workers before this save point no longer count.
        - `goes_on`: do not renew expiries, because an earlier save point did.
        - `on_record`: entries for the audit log. `also`, `charges`: commands of other stores.
        """
        key = self._key(run_id)
        states = self._caller_states
        members = [] if joined is None else [("HSET", key, "joined", " ".join(joined))]
        return await lease.write(
            ("HSET", key, "state", state),
            *members,
            *([states.saving(lease.thread_key, caller_state)] if caller_state else []),
            *taking(self._redis, lease.thread_key, run_id, joining, self._seconds),
            *self._ledger.appending(lease.thread_key, entries),
            *([] if goes_on else [("EXPIRE", key, self._seconds)]),
            *([] if goes_on else self._ledger.renewing(lease.thread_key)),
            *([("DEL", begun_key(self._redis, progress_of))] if progress_of else []),
            *recording(on_record, self._seconds),
            *also,
            *charges,
            reads=reads,
        )

    async def note_response(self, entry: LedgerEntry, lease: Lease) -> None:
        """Record the response id of a sub-agent's entry, so that an erase of the thread deletes it.

        The conversation of a sub-agent is not in the ledger.
        """
        if entry.response_id:
            key = self._redis.key("responses", lease.thread_key)
            member = ("SADD", key, entry.response_id)
            await lease.write(member, ("EXPIRE", key, self._seconds))

    async def finish(
        self,
        run_id: str,
        outcome: Outcome,
        caller_state: CallerState,
        lease: Lease,
        *,
        request: Request | None = None,
        back: Sequence[str] = (),
        entries: Sequence[LedgerEntry] = (),
        progress_of: str = "",
        on_record: Sequence[PendingEntry] = (),
        also: Sequence[Command] = (),
        may_fail: Sequence[Command] = (),
    ) -> list[str]:
        """End a run atomically: store its outcome in the outbox, and the state of the thread.

        Return for each command that `may_fail` why it did, "" if it did not.

        `request` is kept with the outcome, without its token, for what people do with the answer
        later. The requests `back`, which had joined the run, wait in the mailbox again. The other
        arguments are those of `save_point`.
        """
        key = self._key(run_id)
        ended = {"phase": Phase.FINISHED, "outcome": outcome.model_dump_json(), "state": ""}
        if request:
            ended["request"] = request.model_copy(update={"action_token": ""}).model_dump_json()
        undelivered = self._redis.key("undelivered")
        failures = await lease.write(
            ("HSET", key, *chain.from_iterable(ended.items())),
            ("EXPIRE", key, self._seconds),
            self._caller_states.saving(lease.thread_key, caller_state),
            ("ZADD", undelivered, time.time(), run_id),
            ("EXPIRE", undelivered, self._seconds),
            *returning(self._redis, lease.thread_key, back, self._retention.request),
            *self._ledger.appending(lease.thread_key, entries),
            *self._ledger.renewing(lease.thread_key),
            *([("DEL", begun_key(self._redis, progress_of))] if progress_of else []),
            *recording(on_record, self._seconds),
            *also,
            may_fail=may_fail,
        )
        return [failure.decode(errors="replace") for failure in failures]

    async def mark_delivered(self, record: RunRecord, *, is_stop_heard: bool = True) -> bool:
        """Close a run whose final message is posted, and remove its request from the mailbox.

        Return False, and close nothing, when somebody wants the request stopped and the run has not
        received that signal.
        """
        keys = [
            self._key(record.run_id),
            self._redis.key("undelivered"),
            *mailbox_keys(self._redis, record.thread_key),
            self._redis.key("cancelled", record.request_id),
        ]
        stop_heard = int(is_stop_heard)
        args = (record.run_id, record.request_id, record.thread_key, stop_heard)
        return bool(await self._redis.script("run_delivered", keys, *args))

    async def undelivered(self) -> list[str]:
        """Return the runs whose final message may not be posted, oldest first, for metrics.

        Their requests are still in the mailbox, so a ticket will deliver them.
        """
        runs = await self._redis.call("ZRANGE", self._redis.key("undelivered"), 0, -1)
        return [run_id.decode() for run_id in runs]

    def messages(
        self, run_id: str, lease: Lease, posted: Mapping[str, bytes | None] | None = None
    ) -> PostedMessageRecord:
        """Return the record of the messages that the run has posted, as far as known in `posted`."""
        return PostedMessageRecord(self._redis, run_id, self._key(run_id), lease, posted)

    def _key(self, run_id: str) -> str:
        return self._redis.key("run", run_id)


def _decoded(fields: dict[bytes, bytes]) -> RunRecord:
    """Decode a run record. Raises CorruptValue."""
    state, outcome = fields.get(b"state"), fields.get(b"outcome")
    try:
        return RunRecord(
            run_id=fields[b"run_id"].decode(),
            request_id=fields[b"request_id"].decode(),
            thread_key=fields[b"thread_key"].decode(),
            phase=Phase(fields[b"phase"].decode()),
            state=state.decode() if state else None,
            outcome=decode(Outcome, outcome) if outcome else None,
            joined=_ids(fields.get(b"joined")),
            posted={name: fields.get(name.encode()) for name in _POSTED},
        )
    except (KeyError, ValueError) as error:
        raise CorruptValue("The record of a run cannot be read.") from error


def _ids(raw: bytes | None) -> tuple[str, ...]:
    return tuple((raw or b"").decode(errors="replace").split())


class PostedMessageRecord:
    """The record of a run's posted messages, from which any worker can continue.

    Only the holder of the lease writes `message` and `parts`, so they are read from Redis once.
    """

    def __init__(
        self,
        redis: Connection,
        run_id: str,
        key: str,
        lease: Lease,
        posted: Mapping[str, bytes | None] | None = None,
    ) -> None:
        self.run_id = run_id
        self._redis = redis
        self._key = key
        self._lease = lease
        self._known = dict(posted) if posted else None

    async def message(self) -> str | None:
        """Return the ts of the run's message, None when none is known."""
        return _ts((await self._posted())["message"])

    async def save_message(self, ts: str) -> None:
        """Record the ts of the run's message; "" means that it has none."""
        await self._set("message", ts)

    async def posted_parts(self) -> int:
        """Return how many parts of the final message are posted."""
        count = (await self._posted())["parts"] or b"0"
        return int(count) if count.isdigit() else 0  # the writer finds posted parts in Slack

    async def save_part(self, count: int, file: str = "") -> None:
        """Record that the first `count` parts are posted; `file` is the id of the last, if a file."""
        await self._set("parts", str(count), *((f"{_FILE}{file}", "up") if file else ()))

    async def files_of(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Return the ids of the files that other runs have shared."""
        kept = [await self._redis.call("HKEYS", self._redis.key("run", each)) for each in run_ids]
        names = [name.decode() for fields in kept for name in fields]
        return frozenset(n.removeprefix(_FILE) for n in names if n.startswith(_FILE))

    async def card(self, name: str) -> str | None:
        """See `PostedMessages.card`."""
        ts = await self._redis.call("HGET", self._key, f"card:{name}")
        return None if ts is None else ts.decode()

    async def cards(self) -> list[str]:
        """Return the ts of each posted card that may still change."""
        fields = await self._redis.call("HGETALL", self._key)
        return [ts.decode() for name, ts in fields.items() if name.startswith(b"card:") and ts]

    async def save_card(self, name: str, ts: str) -> None:
        """Record the ts of a card; "" means that the card will not change any more."""
        await self._set(f"card:{name}", ts)

    async def is_open(self, run_id: str) -> bool:
        """Return whether another run is known and its final message is not posted."""
        phase = await self._redis.call("HGET", self._redis.key("run", run_id), "phase")
        return phase is not None and phase != Phase.DELIVERED.encode()

    async def may_write(self) -> None:
        """Raise LeaseLost if this worker no longer holds the thread."""
        await self._lease.check()

    async def decided(self) -> Outcome | None:
        """Return the run's outcome, None before its end. Raises CorruptValue for a damaged one."""
        raw = await self._redis.call("HGET", self._key, "outcome")
        return decode(Outcome, raw) if raw else None

    async def _posted(self) -> dict[str, bytes | None]:
        if self._known is None:
            values = await self._redis.call("HMGET", self._key, *_POSTED)
            self._known = dict(zip(_POSTED, values, strict=True))
        return self._known

    async def _set(self, name: str, value: str, *more: str) -> None:
        known, self._known = self._known, None  # unknown until the write has succeeded
        await self._lease.write(("HSET", self._key, name, value, *more))
        if known is not None:
            self._known = known | {name: value.encode()}


def _ts(raw: bytes | None) -> str | None:
    return raw.decode() if raw and _TS.fullmatch(raw) else None


def _pairs(flat: list[Any]) -> dict[bytes, bytes]:
    return dict(zip(flat[::2], flat[1::2], strict=True))
