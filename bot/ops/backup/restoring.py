"""Restoring a backup into an empty Redis, and making what it holds fit the time since.

Nobody knows what the bot did between the backup and the loss. So nothing of that time happens twice
unless a person says so:

- Each request that waits or runs is marked as restored: every change that its run wants to make
  needs an approval, whose card says why.
- An approval that was not used up is asked for again. What was decided before counts no more, as
  the call may have been made since.
- Schedules whose time has passed are not asked for it: they go on with their next time. Those for
  one time are removed, and named in the report.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from bot.core.approvals import CallProgress
from bot.core.errors import ConfigurationError, CorruptValue
from bot.core.request import Request
from bot.ops.backup.archive import Header, Sealing, read_archive, read_header
from bot.ops.backup.making import delete_all, has_data
from bot.ops.backup.values import write_item
from bot.runs.context.own_schedules import next_time
from bot.runs.queue.docket import live_workers
from bot.store import Stores
from bot.store.connection import PREFIX

_OVER = {CallProgress.DONE, CallProgress.FAILED, CallProgress.CUT_OFF}


@dataclass(slots=True)
class Restored:
    """What was restored.

    - `keys`, `expired`: how many were written, and how many had expired since.
    - `requests`: requests that wait or are gone on with. `approvals`: those that are asked for
      again.
    - `missed`: questions of schedules that were due since and are not asked.
    """

    header: Header
    keys: int = 0
    expired: int = 0
    requests: int = 0
    approvals: int = 0
    missed: list[str] = field(default_factory=list)


def check_backup(path: Path, sealing: Sealing) -> Header:
    """Read a backup to its end. Raises ConfigurationError unless it is whole and can be opened."""
    header = read_header(path)
    for items in read_archive(path, sealing):
        for item in items:
            if not str(item.get("key", "")).startswith(f"{PREFIX}:"):
                raise ConfigurationError(f"{path} holds more than a bot stores.")
    return header


async def restore_backup(
    stores: Stores,
    path: Path,
    sealing: Sealing,
    *,
    replace: bool = False,
    clock: Callable[[], float] = time.time,
) -> Restored:
    """Check a backup, then write it to the Redis of `stores`.

    Raises ConfigurationError when the file cannot be used, when a worker runs, and when there is
    data and not `replace`.
    """
    header = check_backup(path, sealing)
    now = clock()
    if await live_workers(stores.redis):
        raise ConfigurationError("A worker runs on this Redis, or did a minute ago: stop it first.")
    if await has_data(stores.redis):
        if not replace:
            raise ConfigurationError(
                "This Redis holds the data of a bot. `--replace` deletes it before."
            )
        await delete_all(stores.redis)
    restored = Restored(header)
    for items in read_archive(path, sealing):
        for item in items:
            is_written = await write_item(stores.redis, item, now)
            restored.keys += is_written
            restored.expired += not is_written
    await _settle_runs(stores, restored)
    await _settle_schedules(stores, restored, now)
    return restored


async def _settle_runs(stores: Stores, restored: Restored) -> None:
    at = restored.header.made_at
    for thread in await stores.mailbox.threads():
        for request in await stores.mailbox.all_of(thread):
            restored.requests += 1
            await stores.mailbox.rewrite(_marked(request, at))
            if run_id := await stores.runs.id_of(request.id):
                restored.approvals += await _ask_again(stores, run_id)
        await stores.mailbox.unpark(thread)


def _marked(request: Request, at: datetime) -> Request:
    return request.model_copy(update={"restored": request.restored or at})


async def _ask_again(stores: Stores, run_id: str) -> int:
    """Forget the approvals of a run that were not used up, with their cards. Return how many."""
    try:
        kept = await stores.approvals.of_run(run_id)
    except CorruptValue:
        return 0
    forgotten = [each.approval for each in kept if each.made not in _OVER]
    for approval in forgotten:
        await stores.approvals.forget(approval)
    if forgotten:
        await stores.runs.forget_cards(run_id)
    return len(forgotten)


async def _settle_schedules(stores: Stores, restored: Restored, now: float) -> None:
    for team in await _teams(stores):
        for schedule in await stores.schedules.of_all(team):
            if schedule.next_at > now:
                continue
            restored.missed.append(f"{schedule.text[:80]} (of {schedule.user})")
            if schedule.cron:
                later = next_time(schedule.cron, schedule.time_zone, now)
                await stores.schedules.move(schedule.model_copy(update={"next_at": later}))
            else:
                await stores.schedules.remove(team, schedule.id)


async def _teams(stores: Stores) -> list[str]:
    start, found, cursor = f"{PREFIX}:schedules:", set[str](), -1
    while cursor:
        cursor, keys = await stores.redis.call("SCAN", max(cursor, 0), "MATCH", f"{start}*")
        found |= {key.decode().removeprefix(start) for key in keys}
    return sorted(found)
