"""Operator commands beside a running bot: spending, MCP servers, pause, erasure, audit.

They use the Redis of REDIS_URL, or else the embedded Redis, including the one of a running `bot
serve`. Without either they fail: an operator in the wrong folder must not see an empty report.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter

from bot.app.features import all_features, mcp_doors, operator_parts
from bot.app.run_setup import budget_policy, redis_and_stores, response_deleter, with_running_redis
from bot.cli.start import running_devs
from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.budgets import Pause
from bot.core.errors import ConfigurationError
from bot.mcp import Pin, ServerStatus, ToolFacts, open_mcp_servers
from bot.runs.erasure import ResponseDeleter, erase_person, erase_thread
from bot.runs.policy.budget_words import since, used_of
from bot.runs.policy.budgets import BudgetPolicy
from bot.runs.queue.engine import open_engine
from bot.runs.queue.requests import Requests
from bot.runs.watching import name_of, optional
from bot.settings import Settings, arm_failpoints
from bot.store import Erased, Stores, data_format
from bot.store.embedded import rewrite_append_only_file
from bot.store.pools import host_of

OPERATOR = "the operator"
_DELETE_PAUSES = (0.5, 2.0)  # seconds between attempts to delete responses
_BUSY_POLL_SECONDS = 1.0  # between two checks whether a thread is still busy
_WAIT = "Run this again later, or with --wait SECONDS."
_AUDIT_LIMITS = {
    True: "An old copy of the whole log also verifies: save the heads elsewhere and pass them to --expect.",
    False: "Not sealed: anybody who can write to Redis can rewrite the log. Set BOT_ENCRYPTION_KEYS.",
}
"""What the checks cannot detect, with and without keys."""
_LOCALE = "en-US"  # terminal output is in English
_AUDIT = "{:<19} {:<12} {:<23} {:<12} {:<21} {}"  # 23 characters hold a pseudonym
_AUDIT_HEAD = _AUDIT.format("when (UTC)", "kind", "who", "channel", "run", "what")


async def usage_lines(settings: Settings) -> list[str]:
    """Return a table of what each holder of a budget spent today and this month (UTC)."""
    async with open_stored(settings) as stores:
        policy = budget_policy(settings, stores)
        uses = await policy.of_all()
        pause = await policy.paused()
        others = list[str]()
        for part in operator_parts(all_features(settings)):
            with optional(part, "usage_lines"):
                others += await part.usage_lines(stores)
    rows = [("budget", "of", "spent")]
    for each in uses:
        share = f" ({each.share:.0%})" if each.shares else ""
        holder = each.position.account.holder
        name = f"{each.budget.replace('_', ', ')} {each.position.account.period}"
        rows.append((name, holder, f"{used_of(each)}{share}"))
    lines = [f"{name:<28} {holder:<24} {spent}" for name, holder, spent in rows]
    if len(rows) == 1:
        lines = [f"Nothing was spent this month in {where(settings)}."]
    lines += others
    return [f"Paused by {pause.name}, {since(pause)}.", *lines] if pause else lines


async def mcp_lines(settings: Settings, *, accept: str | None = None) -> list[str]:
    """Ask each MCP server for its state; accept the changes of the server named by `accept`.

    A line that begins with ! is about a server that cannot be reached, or about changes that nobody
    has read and that are therefore not accepted. Works before the first start
    of a bot, too. Raises ConfigurationError when there is no such server.
    """
    async with (
        open_stored(settings, needed=False) as stores,
        open_mcp_servers(
            settings.mcp_servers, stores.mcp, **mcp_doors(all_features(settings), stores.mcp)
        ) as servers,
    ):
        if accept and accept not in settings.mcp_servers:
            known = ", ".join(settings.mcp_servers) or "none"
            raise ConfigurationError(f"There is no MCP server {accept}. Configured: {known}.")
        statuses, lines = await servers.live_statuses(), list[str]()
        if accept:
            before = next(each for each in statuses if each.name == accept)
            issuer = await servers.accept_issuer(accept) if before.issuer else None
            changed = await servers.accept(accept)
            unread = {tool: pin for tool, pin in before.changed.items() if tool not in changed}
            accepted = replace(before, changed=changed, issuer=issuer)
            if changed or _issuer_lines(accepted) or not unread:
                lines = _accepted_lines(accepted)
            if unread:
                lines += [f"! {accept}: read what is offered, and accept it then"]
                lines += _change_lines(replace(before, changed=unread))
                await servers.note_shown(replace(before, changed=unread))
        else:
            lines = [line for each in statuses for line in _status_lines(each)]
            for each in statuses:
                await servers.note_shown(each)
    return lines or ["No MCP server is configured: see mcpServers in README.md."]


def _accepted_lines(status: ServerStatus) -> list[str]:
    """Return what was accepted and its changes, which the operator may not have seen yet."""
    issuer = _issuer_lines(status)
    if not (status.changed or issuer):
        return [_head(status, "nothing to accept, all its tools are enabled")]
    what = ", ".join((*(["its issuer"] if issuer else []), *status.changed))
    lines = [f"{status.name}: accepted and enabled: {what}", *issuer]
    for tool, pin in status.changed.items():
        lines += [f"  {tool}", *_difference(pin)]
    return lines


def _status_lines(status: ServerStatus) -> list[str]:
    none = "no tools until an admin connects an account" if status.issuer else "no tools"
    lines = [_head(status, ", ".join(status.usable) or none)]
    if issuer := _issuer_lines(status):
        lines += [
            f"  CHANGED, off until `bot mcp --accept {status.name}`: who lets people in",
            *issuer,
        ]
    return lines + _change_lines(status)


def _change_lines(status: ServerStatus) -> list[str]:
    lines = []
    for tool, pin in status.changed.items():
        what = "CHANGED" if pin.accepted else "NEW"
        if tool in status.usable:  # at a server where each person has an account
            what = "CHANGED for somebody, and for them"
        lines.append(f"  {what}, disabled until `bot mcp --accept {status.name}`: {tool}")
        lines += _difference(pin)
    return lines


def _issuer_lines(status: ServerStatus) -> list[str]:
    """Return what a server says now about who lets people in, where it differs from the pin."""
    changes = status.issuer.changes if status.issuer else ()
    return [
        f"    {name} {side}: {value}"
        for name, before, now in changes
        for side, value in (("was", before), ("now", now))
    ]


def _head(status: ServerStatus, otherwise: str) -> str:
    return f"! {status.name}: {status.error}" if status.error else f"{status.name}: {otherwise}"


def _difference(pin: Pin) -> list[str]:
    """Return each changed fact about the tool: what the model read before, and what it would read now."""
    before, now = pin.accepted, pin.offered
    if now is None:
        return []
    sides = [("now", now)] if before is None else [("was", before), ("now", now)]
    lines = []
    for name in ("description", "input_schema", "read_only"):
        if before is None or getattr(before, name) != getattr(now, name):
            lines += [f"    {name} {side}: {_written(facts, name)}" for side, facts in sides]
    return lines


def _written(facts: ToolFacts, name: str) -> str:
    """Return a fact as text; a schema as JSON."""
    fact = getattr(facts, name)
    return fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False)


async def pause(settings: Settings) -> str:
    """Pause the bot: runs call no model. Return what was paused, in words."""
    await record(settings, "paused")
    async with _policy(settings) as policy:
        await policy.switch.set(Pause(by="", name=OPERATOR, at=datetime.now(UTC)))
    idle = with_running_redis(settings).redis_url is None
    return where(settings) + (", where no bot runs at the moment" if idle else "")


async def resume(settings: Settings) -> bool:
    """End the pause. Return whether there was one."""
    await record(settings, "resumed")
    async with _policy(settings) as policy:
        was_paused = await policy.switch.get() is not None
        await policy.switch.clear()
    return was_paused


async def erase_lines(
    settings: Settings, *, user: str = "", thread: str = "", wait: float = 0.0
) -> list[str]:
    """Erase everything about a person or a thread, and report what was erased.

    Wait up to `wait` seconds for runs of other people in the same threads. A line that begins with !
    says what is still stored.
    """
    arm_failpoints(settings)
    await record(settings, "erased a person" if user else "erased a thread")
    async with _requests(settings) as requests:
        # First of all: what is erased afterwards is needed for it.
        ended = await _end_elsewhere(settings, requests.stores, user) if user else []
        erased = await _erased(requests, user, thread, wait)
        held = await _without_responses(response_deleter(settings, requests.stores))
        is_rewritten = settings.redis_url is not None or await rewrite_append_only_file(
            requests.stores.redis
        )
    lines = [f"Nothing is stored about {user or thread} in {where(settings)}."]
    if erased.keys or erased.responses or erased.busy:
        lines = [
            f"Erased {erased.keys:,} keys in Redis, {len(erased.threads):,} threads among them, "
            f"and {len(erased.responses - held):,} responses at the model service."
        ]
    lines += ended
    if erased.busy:
        busy = ", ".join(sorted(erased.busy))
        lines.append(
            f"! Nothing was erased in {busy}: other people's runs are in progress there. {_WAIT}"
        )
    if held:
        lines.append(
            f"! The model service still holds {len(held):,} erased responses: "
            f"{', '.join(sorted(held))}. A running bot keeps deleting them; run this again to check."
        )
    if not is_rewritten:
        lines.append(
            "! Redis did not rewrite its append-only file: erased text may still be in "
            f"{settings.bot_data_dir.absolute() / 'redis'}. Run this again."
        )
    if settings.redis_url is not None:
        lines.append(
            f"{where(settings)} may still hold erased text in an append-only file until that is "
            "rewritten (BGREWRITEAOF), and in snapshots, replicas and backups."
        )
    return lines


async def _end_elsewhere(settings: Settings, stores: Stores, user: str) -> list[str]:
    """End what features hold of a person elsewhere. Return lines about it."""
    lines = list[str]()
    for part in operator_parts(all_features(settings)):
        failed = (
            f"! {name_of(part)} failed: what it has of them elsewhere may be left. See the log."
        )
        with optional(part, "end_person"):
            ended, failed = await part.end_person(stores, user), ""
            lines += ended
        lines += filter(None, [failed])
    return lines


async def _erased(requests: Requests, user: str, thread: str, wait: float) -> Erased:
    """Erase; repeat for up to `wait` seconds while other people's runs keep threads busy."""
    clock = asyncio.get_running_loop().time
    deadline, erased = clock() + wait, Erased()
    while True:
        now = await (erase_person(requests, user) if user else erase_thread(requests, thread))
        erased = Erased(
            keys=erased.keys + now.keys,
            threads=erased.threads | now.threads,
            busy=now.busy,
            responses=erased.responses | now.responses,
        )
        if not erased.busy or clock() >= deadline:
            return erased
        await asyncio.sleep(min(_BUSY_POLL_SECONDS, max(0.0, deadline - clock())))


async def _without_responses(deleter: ResponseDeleter) -> set[str]:
    """Delete the responses of this and earlier erasures. Return the ids that are still stored."""
    held = set(await deleter.delete())
    for pause in _DELETE_PAUSES:
        if not held or deleter.open_client is None:
            break
        await asyncio.sleep(pause)
        held = set(await deleter.delete())
    return held


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The audit log of all workspaces, checked.

    `lines` are its entries, `problems` the signs of tampering, `notes` its extent and the limits of
    the checks.
    """

    lines: list[str]
    problems: list[str]
    notes: list[str]


async def audit_report(
    settings: Settings,
    *,
    user: str = "",
    kind: AuditKind | None = None,
    days: int = 30,
    as_json: bool = False,
    expected: Sequence[str] = (),
) -> AuditReport:
    """Read and check the audit log. Return its entries as a table, or as JSON objects.

    `expected` are heads from earlier reports, each of which must still be part of the log.

    Raises ConfigurationError for a text that is not a head.
    """
    since = datetime.now(UTC) - timedelta(days=days)
    dated: list[tuple[datetime, str]] = []
    problems: list[str] = []
    notes: list[str] = []
    heads = dict(map(_expected_head, expected))
    line_of = AuditEntry.model_dump_json if as_json else _audit_line
    async with open_stored(settings) as stores:
        for team in sorted({*await stores.audit.teams(), *heads}):
            count, last = heads.get(team, (0, ""))
            async for record in stores.audit.read(team):
                if record.problem:
                    problems.append(f"{team}, entry {record.number:,}: {record.problem}")
                if record.number == count and record.hash == last:
                    count = 0
                entry = record.entry
                if entry and entry.at >= since and _is_about(entry, user, kind):
                    dated.append((entry.at, line_of(entry)))
            head = await stores.audit.head(team)
            if count > head.trimmed:
                problems.append(f"{team}: entry {count:,} is no longer the expected one.")
            notes.append(f"{team}: {head.count:,} entries; head {team}:{head.count}:{head.hash}")
            if head.unsealed and settings.bot_encryption_keys:
                notes.append(
                    f"{team}: its first {head.unsealed:,} entries were written before the log was sealed."
                )
    lines = [line for _, line in sorted(dated, key=itemgetter(0))]
    if not lines and not as_json:
        lines = [f"No matching audit entries in {where(settings)}."]
    elif not as_json:
        lines = [_AUDIT_HEAD, *lines]
    return AuditReport(lines, problems, [*notes, _AUDIT_LIMITS[bool(settings.bot_encryption_keys)]])


def _is_about(entry: AuditEntry, user: str, kind: AuditKind | None) -> bool:
    return user in ("", entry.who) and kind in (None, entry.kind)


def _expected_head(text: str) -> tuple[str, tuple[int, str]]:
    match text.split(":"):
        case [team, count, last] if team and count.isdecimal() and last:
            return team, (int(count), last)
    raise ConfigurationError(
        f"--expect {text}: not a head. Copy one from the output of `bot audit`."
    )


def _audit_line(entry: AuditEntry) -> str:
    cost = "" if entry.cost is None else f"${entry.cost:.4f}"
    when = f"{entry.at:%Y-%m-%d %H:%M:%S}"
    ok = "failed" if entry.kind is AuditKind.CALLED and not entry.ok else ""
    ok = "may have happened" if entry.unknown else ok
    where = entry.channel or "-"
    run = entry.run_id or "-"
    digest = entry.arguments[:12]
    line = _AUDIT.format(when, entry.kind, entry.who, where, run, entry.what)
    claims = f"{entry.untraced} of {entry.claims} not traced" if entry.claims else ""
    return " ".join(filter(None, (line, ok, cost, claims, digest)))


async def seal_logs(settings: Settings) -> list[str]:
    """Seal the audit logs whose seal is missing or cannot be checked, as they are. Return what was done."""
    async with open_stored(settings) as stores:
        sealed = [team for team in await stores.audit.teams() if await stores.audit.adopt(team)]
    if not sealed:
        return ["No audit log needs it."]
    await record(settings, "sealed audit logs anew")
    if not settings.bot_encryption_keys:
        return [f"{team}: continues without a seal." for team in sealed]
    return [f"{team}: sealed as it is now." for team in sealed]


async def record(settings: Settings, what: str) -> None:
    """Write an audit entry before the action, so that a crash cannot leave it unrecorded."""
    async with open_stored(settings) as stores:
        entry = AuditEntry(kind=AuditKind.ADMINISTERED, team="operator", who="operator", what=what)
        await stores.audit.append([entry])


@asynccontextmanager
async def _policy(settings: Settings) -> AsyncGenerator[BudgetPolicy]:
    async with open_stored(settings) as stores:
        yield budget_policy(settings, stores)


@asynccontextmanager
async def _requests(settings: Settings) -> AsyncGenerator[Requests]:
    async with (
        _redis(settings) as (url, stores),
        open_engine(url, stores.mailbox, settings.engine) as engine,
    ):
        yield Requests(stores, engine)


@asynccontextmanager
async def open_stored(settings: Settings, *, needed: bool = True) -> AsyncGenerator[Stores]:
    """Open the bot's stores.

    Raises ConfigurationError if `needed` and no bot ever stored data here.
    """
    async with _redis(settings, needed=needed) as (_, stores):
        yield stores


@asynccontextmanager
async def _redis(settings: Settings, *, needed: bool = True) -> AsyncGenerator[tuple[str, Stores]]:
    """Open the bot's Redis.

    Raises ConfigurationError if `needed` and no bot ever stored data here, and for the data of a
    newer version of the bot.
    """
    data_dir = settings.bot_data_dir / "redis"
    has_data = data_dir.is_dir()
    if needed and settings.redis_url is None and not has_data:
        devs = " or ".join(f"BOT_DATA_DIR={data}" for data, _ in running_devs())
        raise ConfigurationError(
            f"No bot has stored data in {settings.bot_data_dir.absolute()}. Run this in the folder "
            "of your `bot serve` or `bot dev`, or set its REDIS_URL or BOT_DATA_DIR."
            + (f" For the `bot dev` that runs: {devs}" if devs else "")
        )
    opened = redis_and_stores(with_running_redis(settings), data_dir=data_dir if has_data else None)
    async with opened as (url, stores):
        await data_format.check(stores.redis)
        await stores.keyring.refresh()
        yield url, stores


def where(settings: Settings) -> str:
    """Return which data these commands use, without a password, for operators of several bots."""
    if settings.redis_url is None:
        return str(settings.bot_data_dir.absolute())
    return f"Redis at {host_of(settings.redis_url)}"
