"""Restoring a backup into an empty Redis, and making what it holds fit the time since.

Nobody knows what the bot did between the backup and the loss. So nothing of that time happens twice
unless a person says so:

- Each request that waits or runs is marked as restored: its run first looks in Slack whether it was
  answered since, and then every change that it wants to make needs an approval, whose card says why.
- An approval that was not used up is asked for again. What was decided before counts no more, as
  the call may have been made since.
- Schedules whose time has passed are not asked for it: they go on with their next time. Those for
  one time are removed, and named in the report.
- Questions from before the restore that are found in Slack's history afterwards, without an answer
  below them, are marked as restored like those that waited.

No process of the bot starts before a restore is whole (`bot.store.data_format`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from bot.core.approvals import CallProgress
from bot.core.errors import ConfigurationError, CorruptValue, StoreUnavailable
from bot.core.request import Request
from bot.core.schedule import next_time
from bot.ops.backup.archive import Header, Sealing, naming, read_archive, read_header
from bot.ops.backup.items import ItemCheck
from bot.ops.backup.making import delete_all, has_data
from bot.ops.backup.values import write_items
from bot.runs.queue.workers import live_workers
from bot.store import Stores, data_format
from bot.store.connection import PREFIX
from bot.store.families import Families, family_of

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


def check_backup(
    path: Path, sealing: Sealing, families: Families, *, unsealed: bool = False
) -> Header:
    """Read a backup to its end, and check each item of it.

    Raises ConfigurationError unless it is whole, can be opened, is not of a newer version, and is
    sealed where the bot has keys, or `unsealed`.
    """
    header = read_header(path)
    if sealing.is_sealed and not header.is_sealed and not unsealed:
        raise ConfigurationError(
            f"{path} is not sealed, and the bot has BOT_ENCRYPTION_KEYS: anybody may have written it. "
            "`--unsealed` restores it all the same."
        )
    items_checked = ItemCheck(families)
    with naming(path):
        for items in read_archive(path, sealing):
            items_checked.check(items)
            for item in items:
                if family_of(item["key"]) != data_format.FAMILY:
                    continue
                if not isinstance(item["value"], str) or data_format.is_newer(item["value"]):
                    raise ConfigurationError("The backup was made by a newer version of the bot.")
    return header


async def restore_backup(
    stores: Stores,
    path: Path,
    sealing: Sealing,
    families: Families,
    *,
    replace: bool = False,
    unsealed: bool = False,
    clock: Callable[[], float] = time.time,
) -> Restored:
    """Check a backup, then write it to the Redis of `stores`.

    Raises ConfigurationError when the file cannot be used, while a process of the bot runs, and when
    there is data and not `replace`.
    """
    header = check_backup(path, sealing, families, unsealed=unsealed)
    now = clock()
    if await live_workers(stores.redis) or await stores.receivers.ready():
        raise ConfigurationError(
            "The bot runs on this Redis, or did a minute ago. Stop `bot worker` and `bot web` first."
        )
    if not replace and await has_data(stores.redis, families):
        raise ConfigurationError(
            "This Redis holds the data of a bot. `--replace` deletes it first."
        )
    try:
        await data_format.begin_restore(stores.redis)
    except StoreUnavailable:  # a full Redis needs room first; any other fails again
        await delete_all(stores.redis)
        await data_format.begin_restore(stores.redis)
    await delete_all(stores.redis)
    restored, number = Restored(header), None
    for items in read_archive(path, sealing):
        included = [
            item for item in items if family_of(item["key"]) not in families.brief
        ]  # version 1 had more
        numbers = [
            item["value"] for item in included if family_of(item["key"]) == data_format.FAMILY
        ]
        number = next(iter(numbers), number)
        included = [item for item in included if family_of(item["key"]) != data_format.FAMILY]
        living = [item for item in included if item["until"] is None or item["until"] > now]
        await write_items(stores.redis, living)
        keys = sum(not item.get("more") for item in living)
        restored.keys += keys
        restored.expired += sum(not item.get("more") for item in included) - keys
    await _settle_runs(stores, restored)
    await _settle_schedules(stores, restored, now)
    await stores.catch_ups.note_restore(header.made_at)
    await data_format.end_restore(stores.redis, number)
    return restored


async def _settle_runs(stores: Stores, restored: Restored) -> None:
    at = restored.header.made_at
    for thread in await stores.mailbox.threads():
        for request in await stores.mailbox.all_of(thread):
            restored.requests += 1
            await stores.mailbox.rewrite(_marked(request, at))
            if not await stores.mailbox.find(request.team, request.channel, request.ts):
                await stores.mailbox.claim_again(request, request.ts)
            for joined in await stores.mailbox.get_many(await stores.runs.joined(request.id)):
                await stores.mailbox.rewrite(_marked(joined, at))
            if run_id := await stores.runs.id_of(request.id):
                restored.approvals += await _ask_again(stores, run_id)
        await stores.mailbox.unpark(thread)


def _marked(request: Request, at: datetime) -> Request:
    return request.model_copy(update={"restored": request.restored or at})


async def _ask_again(stores: Stores, run_id: str) -> int:
    """Forget the approvals of a run that were not used up, with their cards. Return how many."""
    try:
        records = await stores.approvals.of_run(run_id)
    except CorruptValue:
        return 0
    forgotten = [record.approval for record in records if record.made not in _OVER]
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
    start, teams, cursor = f"{PREFIX}:schedules:", set[str](), -1
    while cursor:
        cursor, keys = await stores.redis.call("SCAN", max(cursor, 0), "MATCH", f"{start}*")
        teams |= {key.decode().removeprefix(start) for key in keys}
    return sorted(teams)
