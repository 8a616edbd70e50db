"""Checks of a running deployment, from what its processes keep in Redis: `bot doctor --running`."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.core.check import SECONDS, Check, ok, problem, warning
from bot.core.outcome import StopReason
from bot.ops.doctor.redis import UNREADABLE
from bot.runs.queue.workers import SILENT_SECONDS, live_workers
from bot.settings import Settings
from bot.store import Stores, open_stores
from bot.store.processes import ANNOUNCED_SECONDS
from bot.text.counting import counted

_LATE, _TOO_LATE = 60.0, 600.0
"""Seconds that a request may wait for a worker before it is a warning, and a problem."""
_MARGIN_SECONDS = 300.0  # a run may go on so long after its time: it answers with what it has
_FAILING, _BROKEN = 0.1, 0.5  # share of runs that end for the model
_FEWEST_RUNS = 5  # in the last hour, to speak of a share
_MOST_THREADS = 2_000  # looked at
_SUBJECT = "Redis"

_BY_THE_MODEL = {StopReason.MODEL_ERROR, StopReason.REFUSED, StopReason.TURN_TIMEOUT}
_BUGS = {StopReason.INTERNAL_ERROR}


@dataclass(slots=True)
class _Queue:
    """The requests of all threads by what they are doing; ages in seconds since they arrived."""

    waiting: list[float] = field(default_factory=list)
    running: list[float] = field(default_factory=list)
    for_people: list[float] = field(default_factory=list)
    left_out: int = 0


async def examine_running(settings: Settings) -> list[Check]:
    """Check workers, queues, runs and their ends in the last hour; change nothing."""
    if settings.redis_url is None:
        return [problem(_SUBJECT, "no bot runs here", "start it, or set REDIS_URL or BOT_DATA_DIR")]
    try:
        async with asyncio.timeout(3 * SECONDS), open_stores(settings.redis_url) as stores:
            seconds, micros = await stores.redis.call("TIME")
            now = seconds + micros / 1_000_000
            return [
                await _receivers(stores),
                await _workers(stores),
                *_queues(await _read_queue(stores, now), settings.limits.run_seconds),
                await _undelivered(stores),
                *await _ends(stores, now),
            ]
    except UNREADABLE:
        return []


async def _receivers(stores: Stores) -> Check:
    ready = await stores.receivers.ready()
    if not ready:
        text = f"no process was ready for Slack's events in the last {ANNOUNCED_SECONDS} s"
        fix = (
            "start `bot web` or `bot serve`. If one runs, its /readyz says what it lacks, its log "
            "says why, and `bot doctor` tries the tokens"
        )
        return problem("receiving events", text, fix)
    return ok("receiving events", f"{len(ready)} ready: {', '.join(ready[:10])}")


async def _workers(stores: Stores) -> Check:
    alive = await live_workers(stores.redis)
    if not alive:
        text = f"none was heard of in the last {SILENT_SECONDS:.0f} s"
        fix = "start `bot worker` or `bot serve`; restart one that hangs. If it works, its clock is wrong"
        return problem("workers", text, fix)
    return ok("workers", f"{len(alive)} running: {', '.join(alive[:10])}")


async def _read_queue(stores: Stores, now: float) -> _Queue:
    queue = _Queue()
    threads = await stores.mailbox.threads()
    queue.left_out = max(0, len(threads) - _MOST_THREADS)
    for thread in threads[:_MOST_THREADS]:
        requests = await stores.mailbox.all_of(thread)
        if not requests:
            continue
        ages = [max(0.0, now - request.received_at.timestamp()) for request in requests]
        if await stores.mailbox.is_parked(thread):
            queue.for_people.append(ages[0])
        elif await stores.mailbox.deaths(requests[0].id):  # attempts that have begun
            queue.running.append(ages[0])
        else:
            queue.waiting.append(ages[0])
    return queue


def _queues(queue: _Queue, run_seconds: float) -> list[Check]:
    checks = [_waiting(queue)]
    longest = max(queue.running, default=0.0)
    text = f"{counted(len(queue.running), 'thread')}, the oldest question {_ago(longest)} old"
    if longest > run_seconds + _MARGIN_SECONDS:
        fix = (
            "look for its run_id in the log of the worker; it waits for a person, for Redis or for the "
            "model. Restarting that worker is safe: another one goes on"
        )
        checks.append(warning("being answered", text, fix))
    elif queue.running:
        checks.append(ok("being answered", text))
    if queue.for_people:
        threads = counted(len(queue.for_people), "thread")
        oldest = _ago(max(queue.for_people))
        checks.append(ok("waiting for people", f"{threads}, the oldest for {oldest}"))
    if queue.left_out:
        checks.append(ok("not looked at", counted(queue.left_out, "more thread")))
    return checks


def _waiting(queue: _Queue) -> Check:
    if not queue.waiting:
        return ok("waiting for a worker", "nothing")
    longest = max(queue.waiting)
    text = f"{counted(len(queue.waiting), 'thread')}, the oldest question {_ago(longest)} old"
    fix = "start more workers, or raise [engine] concurrency"
    if longest > _TOO_LATE:
        return problem("waiting for a worker", text, fix)
    if longest > _LATE:
        return warning("waiting for a worker", text, fix)
    return ok("waiting for a worker", text)


async def _undelivered(stores: Stores) -> Check:
    count = len(await stores.runs.undelivered())
    if not count:
        return ok("answers not posted", "none")
    fix = (
        "run `bot doctor`, which tries the token, and look for `was not posted` in the log: Slack "
        "refuses them or is away; they are tried again"
    )
    return warning("answers not posted", f"{count}", fix)


async def _ends(stores: Stores, now: float) -> list[Check]:
    since = datetime.fromtimestamp(now, UTC) - timedelta(hours=1)
    ends = Counter[str]()
    for team in await stores.audit.teams():
        ends += await stores.audit.ends_since(team, since)
    total = ends.total()
    if not total:
        return [ok("answered in the last hour", "nothing was asked")]
    text = ", ".join(f"{count} {reason}" for reason, count in ends.most_common())
    checks = [_model(text, sum(ends[reason] for reason in _BY_THE_MODEL), total)]
    if bugs := sum(ends[reason] for reason in _BUGS):
        fix = "look for ERROR in the log, and report the traceback"
        checks.append(warning("bugs", f"{counted(bugs, 'run')} in the last hour", fix))
    return checks


def _model(text: str, failed: int, total: int) -> Check:
    subject, share = "answered in the last hour", failed / total
    fix = "run `bot doctor`, which calls the model; look for `model service failed` in the log"
    if total >= _FEWEST_RUNS and share >= _BROKEN:
        return problem(subject, f"{share:.0%} of the runs ended because of the model: {text}", fix)
    if total >= _FEWEST_RUNS and share >= _FAILING:
        return warning(subject, f"{share:.0%} of the runs ended because of the model: {text}", fix)
    if failed and total < _FEWEST_RUNS:
        few = f"{failed} of {counted(total, 'run')} ended because of the model: {text}"
        return warning(subject, few, fix)
    return ok(subject, text)


def _ago(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.0f} h"
