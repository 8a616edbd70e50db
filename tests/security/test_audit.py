"""The audit log says who did what and holds nobody's words; what was changed in it shows (15)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from redis.asyncio import Redis

from bot.cli.operator import audit_report, erase_lines, pause, seal_logs
from bot.core.approvals import Approval, Decision, Verdict
from bot.core.audit import AuditEntry, AuditHead, chained
from bot.core.audit_kinds import AuditKind
from bot.core.chain import CallerState
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.dev.model import Script, call, finish
from bot.dev.workspace import ADA, BEN, EVE, GUS
from bot.features.home.view import PAUSE
from bot.features.schedules.home import CANCEL
from bot.runs.audit_trail import RunAudit, refused
from bot.settings import ChannelTable, Settings
from bot.slack.ui.buttons import APPROVE
from bot.store import Retention, Stores, open_stores
from bot.store.sealed import SealedBox
from bot.store.workspaces.audit import MOST_REFUSALS
from bot.toolkit import Changes, tool
from tests.security.model import question, won_over
from tests.security.test_boundaries import press
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, configured, deployed
from tests.support.redis import asked, decided
from tests.support.runs import answer, bot_with

SALES, GENERAL, RANDOM, PARTNER = "C0SALES001", "C0GENERAL1", "C0RANDOM01", "C0PARTNER1"
APPROVAL = Approval(
    id="run_1:call_1",
    thread_key="T1:C1:1.0",
    tool="launch",
    title="Launch",
    arguments="{}",
    sha256="abc",
    requester=ADA,
    approvers=(ADA,),
    expires=4_000_000_000,
)
WORDS = "WORDS-OF-ADA"


async def log_of(bot: Deployment, redis_url: str) -> list[str]:
    settings = configured(bot.ws, bot.api, redis_url)
    return (await audit_report(settings, as_json=True)).lines


async def test_what_a_run_did_is_on_record(redis_url):
    """Who asked where, each call with a hash of its arguments, the end and its cost; nothing else.
    When the person is erased nobody knows any more who it was, and the log is whole."""
    async with deployed(won_over, redis_url) as bot:
        calls = ("calculate", {"expression": "1+1"}), ("remember", {"text": WORDS})
        ts = await bot.ask(ADA, SALES, question(*calls, say=answer(WORDS)))
        await bot.answered(SALES, ts)
        lines = await log_of(bot, redis_url)
        await erase_lines(configured(bot.ws, bot.api, redis_url), user=ADA)
        after = await log_of(bot, redis_url)
    entries = [json.loads(line) for line in lines]
    assert [(each["kind"], each["what"]) for each in entries] == [
        ("asked", "mention"),
        ("called", "calculate"),
        ("begun", "remember"),
        ("called", "remember"),
        ("ended", "completed"),
    ]
    assert {(each["who"], each["channel"]) for each in entries} == {(ADA, SALES)}
    assert all(len(each["arguments"]) == 64 for each in entries[1:4])
    assert entries[4]["cost"] > 0
    assert WORDS not in str(lines)
    assert ADA not in str(after)
    assert [json.loads(line)["what"] for line in after] == [
        *(each["what"] for each in entries),
        "erased a person",
    ]


async def test_whatever_is_changed_or_taken_out_shows(redis_url):
    """Each entry is bound to the one before; several processes may write."""
    async with open_stores(redis_url) as one, open_stores(redis_url) as other:
        for number in range(6):
            stores = (one, other)[number % 2]
            entry = AuditEntry(
                kind=AuditKind.ADMINISTERED, team="T1", who=BEN, what=f"change {number}"
            )
            await stores.audit.append([entry, entry.model_copy(update={"what": "more"})])
        kept = [each async for each in one.audit.read("T1")]
        assert len(kept) == 12
        assert all(each.whole for each in kept)
        async with Redis.from_url(redis_url) as redis:
            key = "bot:v1:audit:T1"
            sixth = [name for name, _ in (await redis.xrange(key) or [])][5]
            await redis.xdel(key, str(sixth.decode()))  # type: ignore[union-attr]
        assert not all([each.whole async for each in one.audit.read("T1")])


async def test_who_tries_without_end_pushes_nothing_out(redis_url):
    """Whoever may do nothing may still try as often as Slack delivers: so much of it is kept, and
    what others tried as before."""
    async with open_stores(redis_url) as stores:
        for number in range(MOST_REFUSALS + 20):
            await stores.audit.append([refused("T1", EVE, f"try {number}")])
        await stores.audit.append([refused("T1", BEN, "paused")])
        kept = [each.entry async for each in stores.audit.read("T1") if each.entry]
    assert [each.what for each in kept] == [
        *(f"try {number}" for number in range(MOST_REFUSALS)),
        "paused",
    ]


async def test_what_admins_change_is_on_record(redis_url):
    async with deployed(won_over, redis_url) as bot:
        await bot.ws.command(ADA, SALES, "/ask", "admin pause")
        await bot.ws.command(ADA, SALES, "/ask", "admin resume")
        lines = [json.loads(line) for line in await log_of(bot, redis_url)]
    assert [(each["kind"], each["who"], each["what"]) for each in lines] == [
        ("administered", ADA, "paused"),
        ("administered", ADA, "resumed"),
    ]


async def test_who_was_not_let_in_is_on_record(redis_url):
    """Guests, other organisations, people who are not listed and places without the bot."""
    nobody_else = {SALES: ChannelTable(people=(ADA,))}
    async with deployed(won_over, redis_url, channels=nobody_else) as bot:
        await bot.ask(GUS, GENERAL, "How many?")
        await bot.ask(EVE, PARTNER, "How many?")
        asked = await bot.ask(BEN, SALES, "How many?")
        await bot.ask(BEN, SALES, "stop", asked)
        await bot.ws.command(BEN, RANDOM, "/ask", "How many?")
        async with open_stores(redis_url) as stores:

            async def written() -> set[tuple[str, str, str]]:
                found = [each.entry async for each in stores.audit.read(bot.ws.team_id)]
                return {(each.who, each.channel, each.what) for each in found if each}

            await bot.ws.until(lambda: {GUS, EVE, BEN} <= set(told(bot)))
            await bot.ws.until(lambda: told(bot).count(BEN) == 2)
            assert await written() == {
                (GUS, GENERAL, "guest"),
                (BEN, SALES, "stop"),
                (EVE, PARTNER, "external"),
                (BEN, SALES, "not listed"),
                (BEN, RANDOM, "bot not in channel"),
            }
    assert bot.api.requests == []


async def test_what_somebody_tried_and_may_not_is_on_record(redis_url):
    """Approving what others asked for, also with a forged button, and what only admins may."""
    async with deployed(won_over, redis_url) as bot:
        post = ("post_message", {"channel": "general", "text": "Hi", "thread": None})
        ts = await bot.ask(ADA, SALES, question(post, say=answer()))
        _, card = await bot.ws.until(lambda: (own := bot.own(SALES, ts))[1:] and own)
        await bot.ws.click(BEN, SALES, card["ts"], APPROVE)
        [yes] = [b for row in card["blocks"] for b in row.get("elements", ()) if is_yes(b)]
        forged = yes | {"value": json.dumps(json.loads(yes["value"]) | {"sha256": "0" * 64})}
        await sent(bot, press(bot, ADA, SALES, ts, forged))
        for action in (
            {"action_id": PAUSE, "value": "yes"},
            {"action_id": CANCEL, "value": "sch_1"},
        ):
            await sent(bot, press(bot, BEN, "D0BEN00001", ts, action))
        await bot.ws.command(BEN, SALES, "/ask", "admin resume")
        lines = [json.loads(line) for line in await log_of(bot, redis_url)]
    refused = [each for each in lines if each["kind"] == "refused"]
    assert [(each["who"], each["channel"], each["what"]) for each in refused] == [
        (BEN, SALES, "approved post_message"),
        (ADA, SALES, "approved post_message"),
        (BEN, "", "paused"),
        (BEN, "", "cancelled a schedule"),
        (BEN, "", "resumed"),
    ]


def is_yes(block: dict[str, Any]) -> bool:
    return block.get("action_id") == APPROVE


def told(bot: Deployment) -> list[str]:
    """Who was told something alone."""
    alone = [each for each in bot.ws.effects if each.method == "chat.postEphemeral"]
    return [each.args["user"] for each in alone]


async def test_a_decision_is_on_record_though_whoever_kept_it_was_killed(redis_url):
    """It is kept in the same step, and comes into the log with the next entry, in order and once,
    whoever writes that; what was decided before it is not written twice."""
    async with open_stores(redis_url) as killed, open_stores(redis_url) as other:
        kept = await killed.approvals.ask(APPROVAL)
        yes = Decision(verdict=Verdict.APPROVED, by=ADA)
        assert await decided(killed, kept, yes) is None
        assert await decided(killed, kept, yes) is None
        assert await decided(killed, kept, Decision(verdict=Verdict.DENIED, by=ADA)) is not None
        entry = AuditEntry(kind=AuditKind.ADMINISTERED, team="T1", who=BEN, what="")
        later = [entry.model_copy(update={"what": f"later {n}"}) for n in range(4)]
        writers = [(other, killed)[n % 2].audit.append([each]) for n, each in enumerate(later)]
        await asyncio.gather(*writers)
        found = [each async for each in other.audit.read("T1")]
    what = [each.entry.what for each in found if each.entry]
    assert what[0] == "said"
    assert sorted(what[1:]) == [each.what for each in later]
    assert all(each.whole for each in found)


async def test_a_run_that_ends_after_its_person_was_erased_makes_nobody_known(stores, redis):
    """Its end is on record, of nobody: else the log would name them again for a year."""
    lease, record = await stores.runs.start(request := asked(), "run_1")
    audit = RunAudit(stores.audit, request, record)
    audit.begin()
    await stores.runs.save_point("run_1", "{}", lease, on_record=audit.take_noted())
    await stores.erasure.person(request.user)
    ended = {"status": RunStatus.CANCELLED, "stop_reason": StopReason.CANCELLED_TOOLS}
    outcome = Outcome(run_id="run_1", **ended)
    audit.end(outcome)
    recorded = audit.take_noted()
    await stores.runs.finish("run_1", outcome, CallerState(), lease, on_record=recorded)
    assert await redis.keys("*audit-person*") == []
    kept = [each.entry async for each in stores.audit.read("T1")]
    assert [(e.kind, e.who != request.user) for e in kept] == [("asked", True), ("ended", True)]


async def test_the_log_is_in_the_order_of_time_whoever_wrote_it(stores, redis_url):
    """An operator's pause stands before the refusals that it led to, though it has a log of its own."""
    settings = Settings(redis_url=redis_url)
    await pause(settings)
    await stores.audit.append(
        [AuditEntry(kind=AuditKind.REFUSED, team="T1", who=ADA, what="paused")]
    )
    lines = (await audit_report(settings, as_json=True)).lines
    assert [json.loads(line)["team"] for line in lines] == ["operator", "T1"]


async def test_a_change_and_the_yes_to_it_are_on_record_before_it_is_made(stores):
    """As `bot ask` does it, where y is typed: killed in the middle of the change, the log says who
    allowed it and that it was begun."""
    before = list[tuple[str, str]]()

    async def written() -> list[tuple[str, str]]:
        found = [each.entry async for each in stores.audit.read("T1")]
        return [(each.kind, each.what) for each in found if each]

    @tool(group="g", summary="-", core=True, safety=Changes(sensitive=True), title="Launch {what}")
    async def launch(what: str) -> str:
        """Launches."""
        before.extend(await written())
        return f"launched {what}"

    brain = Script([call("launch", {"what": "A"}), finish(answer())])
    async with bot_with(stores, brain, launch.tool) as bot:
        bot.board.decide = lambda asked_for: Decision(
            verdict=Verdict.APPROVED, by=asked_for.requester
        )
        await bot.ask(asked("Launch!"))
        ended = [("called", "launch"), ("ended", "completed")]
        began = [("asked", "mention"), ("decided", "approved launch"), ("begun", "launch")]
        assert before == began
        assert await written() == began + ended


KEYS = tuple(hashlib.sha256(name).digest() for name in (b"first", b"second"))
STREAM, HEAD = "bot:v1:audit:T1", "bot:v1:audit-head:T1"


def entries(*what: str) -> list[AuditEntry]:
    return [AuditEntry(kind=AuditKind.ADMINISTERED, team="T1", who=BEN, what=each) for each in what]


async def problems_of(url: str, keys: Sequence[bytes] = KEYS) -> list[str]:
    async with open_stores(url, audit_keys=keys) as stores:
        return [each.problem async for each in stores.audit.read("T1") if each.problem]


async def logged(redis: Redis) -> list[dict[bytes, bytes]]:
    """The fields of each entry as they are kept."""
    found: Any = await redis.xrange(STREAM)
    return [fields for _, fields in found]


async def put(redis: Redis, log: list[dict[bytes, bytes]]) -> None:
    """Make these the whole log."""
    await redis.delete(STREAM)
    for fields in log:
        await redis.xadd(STREAM, fields)  # type: ignore[arg-type]
    await redis.expire(STREAM, 60)


def recomputed(log: list[dict[bytes, bytes]], before: bytes = b"") -> list[dict[bytes, bytes]]:
    """The log with hashes that fit together, as anybody can make them."""
    made = []
    for fields in log:
        own = chained(before.decode(), fields[b"entry"].decode()).encode()
        made.append({b"previous": before, b"hash": own, b"entry": fields[b"entry"]})
        before = own
    return made


@example(change="remove", places=set(range(6)), with_hashes=False, with_head="forged")
@given(
    change=st.sampled_from(["remove", "edit", "insert", "swap"]),
    places=st.sets(st.integers(0, 5), min_size=1),
    with_hashes=st.booleans(),
    with_head=st.sampled_from(["left", "hash", "forged", "legacy", "gone"]),
)
@settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
async def test_any_change_by_others_shows(redis_url, change, places, with_hashes, with_head):
    """(O3) Entries removed, edited, put in or swapped, first, last or all of them, with hashes and
    head made to fit as far as that goes without the key."""
    async with Redis.from_url(redis_url) as redis:
        await redis.flushall()
        async with open_stores(redis_url, audit_keys=KEYS) as stores:
            await stores.audit.append(entries(*map(str, range(6))))
        before = await logged(redis)
        log = list(before)
        assert await problems_of(redis_url) == []
        forged = {**log[0], b"entry": log[0][b"entry"].replace(b'"0"', b'"x"')}
        if change == "remove":
            log = [each for number, each in enumerate(log) if number not in places]
        for place in sorted(places) if change != "remove" else ():
            if change == "insert":
                log.insert(place, forged)
            elif change == "edit":
                log[place] = {**log[place], b"entry": forged[b"entry"]}
            else:
                log[place], log[place - 1] = log[place - 1], log[place]
        assume(log != before)
        log = recomputed(log) if with_hashes else log
        await put(redis, log)
        head = AuditHead.model_validate_json(await redis.get(HEAD) or b"")
        last = log[-1][b"hash"].decode() if log else ""
        if with_head == "hash":
            await redis.set(HEAD, head.model_copy(update={"hash": last}).model_dump_json(), ex=60)
        elif with_head == "forged":
            fitting = {"hash": last, "count": len(log), "seal": ""}
            await redis.set(HEAD, head.model_copy(update=fitting).model_dump_json(), ex=60)
        elif with_head == "legacy":
            await redis.set(HEAD, last or "0", ex=60)
        elif with_head == "gone" and log:
            await redis.delete(HEAD)
        assert await problems_of(redis_url)
        async with open_stores(redis_url, audit_keys=KEYS) as stores:  # nor is it covered up
            await stores.audit.append(entries("later"))
        assert await problems_of(redis_url)


async def test_a_log_that_was_cut_or_put_back_while_the_bot_runs_shows(redis_url):
    """(O3) A process knows how far the log went, though log and head fit each other; so does a head
    that was noted elsewhere."""
    settings = Settings(redis_url=redis_url)
    async with open_stores(redis_url) as stores, Redis.from_url(redis_url) as redis:
        await stores.audit.append(entries("1", "2"))
        copy = await logged(redis), await redis.get(HEAD)
        await stores.audit.append(entries("3"))
        noted = (await audit_report(settings)).notes[0].rpartition(" ")[2]
        assert (await audit_report(settings, expected=[noted])).problems == []
        await put(redis, copy[0])
        await redis.set(HEAD, copy[1] or b"", ex=60)
        assert (await audit_report(settings)).problems == []  # as far as can be told here
        assert (await audit_report(settings, expected=[noted])).problems
        await stores.audit.append(entries("4"))
        assert (await audit_report(settings)).problems
        await redis.delete(STREAM, HEAD)
        assert (await audit_report(settings, expected=[noted])).problems


async def test_what_is_trimmed_is_no_change_and_the_rest_is_still_bound(redis_url):
    """(O3) Entries whose time is over go; taking more of the oldest away shows."""
    old = datetime.now(UTC) - timedelta(days=2)
    async with open_stores(redis_url, Retention(audit_days=1), audit_keys=KEYS) as stores:
        await stores.audit.append(
            [each.model_copy(update={"at": old}) for each in entries("1", "2", "3")]
        )
    async with Redis.from_url(redis_url) as redis:
        log = await logged(redis)
        await redis.delete(STREAM)
        for number, fields in enumerate(log):
            await redis.xadd(STREAM, fields, id=f"{number + 1}-0")  # type: ignore[arg-type]
        async with open_stores(redis_url, Retention(audit_days=1), audit_keys=KEYS) as stores:
            await stores.audit.append(entries("4", "5"))
            kept = [each.entry.what async for each in stores.audit.read("T1") if each.entry]
        assert kept == ["4", "5"]
        assert await problems_of(redis_url) == []
        await redis.xtrim(STREAM, maxlen=1, approximate=False)
        assert await problems_of(redis_url)


async def test_a_log_of_before_and_new_keys_are_read_on(redis_url):
    """(O3, O6) A log whose head is the bare hash, or sealed with a key that is not the first any
    more, fits; after `reseal` the old key may go."""
    async with open_stores(redis_url) as stores, Redis.from_url(redis_url) as redis:
        await stores.audit.append(entries("1", "2"))
        last = (await logged(redis))[-1][b"hash"]
        await redis.set(HEAD, last, ex=60)
        assert await problems_of(redis_url, ()) == []
    async with open_stores(redis_url, audit_keys=KEYS[:1]) as stores:
        assert await problems_of(redis_url, KEYS[:1])
        assert await stores.audit.adopt("T1")
        await stores.audit.append(entries("3"))
        assert (await stores.audit.head("T1")).unsealed == 2
    assert await problems_of(redis_url, KEYS[1:])
    async with open_stores(redis_url, audit_keys=KEYS[::-1]) as stores:
        assert await stores.audit.on_old_keys() == ["T1"]
        await stores.audit.reseal()
        assert await stores.audit.on_old_keys() == []
    assert await problems_of(redis_url, KEYS[1:]) == []


async def forge(redis: Redis, *, seal: str = "", head: bool = True) -> None:
    """Change an entry, and make hashes and head fit it as anybody can."""
    log = await logged(redis)
    log[1] = {**log[1], b"entry": log[1][b"entry"].replace(BEN.encode(), ADA.encode())}
    log[1][b"entry"] = log[1][b"entry"].replace(b'"what":"1"', b'"what":"x"')
    await put(redis, log := recomputed(log))
    if head:
        given = AuditHead.model_validate_json(await redis.get(HEAD) or b"")
        fitting = {"hash": log[-1][b"hash"].decode(), "seal": seal, "unsealed": given.count}
        await redis.set(HEAD, given.model_copy(update=fitting).model_dump_json(), ex=60)


@pytest.mark.parametrize("seal", ["", "f" * 64], ids=["emptied", "made up"])
@pytest.mark.parametrize("runs", [True, False], ids=["while it runs", "while nothing runs"])
async def test_a_rewritten_log_is_not_sealed_again_by_the_next_entry(redis_url, seal, runs):
    """O9: whatever was done to the seal, it stays noticed after further entries of this and other
    processes, until the operator accepts the log as it is."""
    async with open_stores(redis_url, audit_keys=KEYS) as one, Redis.from_url(redis_url) as redis:
        await one.audit.append(entries("0", "1", "2"))
        await forge(redis, seal=seal)
        async with open_stores(redis_url, audit_keys=KEYS) as other:
            for stores in (one, other) if runs else (other,):
                await stores.audit.append(entries("later"))
                assert await problems_of(redis_url)
        async with open_stores(redis_url, audit_keys=KEYS) as operators:
            assert await operators.audit.adopt("T1")
            assert not await operators.audit.adopt("T1")
            await operators.audit.append(entries("last"))
        assert await problems_of(redis_url) == []
        async with open_stores(redis_url, audit_keys=KEYS) as stores:
            what = [each.entry.what async for each in stores.audit.read("T1") if each.entry]
            assert what[-2:] == ["later", "last"]


async def test_a_log_put_back_and_continued_by_a_new_process_shows(redis_url):
    """O9: the seal is right and the log is longer than a process remembers, but no longer has the
    entry that it wrote; the log that others continued is no change."""
    async with open_stores(redis_url, audit_keys=KEYS) as one, Redis.from_url(redis_url) as redis:
        await one.audit.append(entries("1"))
        async with open_stores(redis_url, audit_keys=KEYS) as other:
            await other.audit.append(entries("2"))
        await one.audit.append(entries("3"))
        assert await problems_of(redis_url) == []
        copy = await logged(redis), await redis.get(HEAD)
        await one.audit.append(entries("4"))
        await put(redis, copy[0])
        await redis.set(HEAD, copy[1] or b"", ex=60)
        async with open_stores(redis_url, audit_keys=KEYS) as new:
            await new.audit.append(entries("5", "6", "7"))
        assert await problems_of(redis_url) == []  # nobody who remembers has looked
        await one.audit.append(entries("8"))
        assert await problems_of(redis_url)


async def test_an_entry_does_not_expire_by_a_forged_id(redis_url):
    """O9: ids are not sealed; entries put in again under old ones are not cut off as expired."""
    async with (
        open_stores(redis_url, audit_keys=KEYS) as stores,
        Redis.from_url(redis_url) as redis,
    ):
        await stores.audit.append(entries("1", "2", "3"))
        log = await logged(redis)
        await redis.delete(STREAM)
        for number, fields in enumerate(log):
            await redis.xadd(STREAM, fields, id=f"{number + 1}-0")  # type: ignore[arg-type]
        log[0][b"entry"] = b"{}"
        async with open_stores(redis_url, audit_keys=KEYS) as other:
            await other.audit.append(entries("4"))
            kept = [each.entry.what async for each in other.audit.read("T1") if each.entry]
        assert kept == ["1", "2", "3", "4"]
        await redis.delete(STREAM)
        for number, fields in enumerate(recomputed(log)):
            await redis.xadd(STREAM, fields, id=f"{number + 1}-0")  # type: ignore[arg-type]
        async with open_stores(redis_url, audit_keys=KEYS) as other:
            await other.audit.append(entries("5"))
        assert await problems_of(redis_url)


@pytest.mark.parametrize("keys", [KEYS, ()], ids=["sealed", "without keys"])
async def test_a_workspace_that_comes_back_has_a_whole_log(redis_url, keys):
    """O10: what erased the workspace's entries says so in the head; processes that remember the log
    of before, and new ones, go on with it."""
    async with open_stores(redis_url, audit_keys=keys) as one, Redis.from_url(redis_url) as redis:
        await one.audit.append(entries("1", "2"))
        async with open_stores(redis_url, audit_keys=keys) as other:
            await other.erasure.workspace("T1")
        assert [await redis.exists(STREAM), await problems_of(redis_url, keys)] == [0, []]
        await one.audit.append(entries("3"))
        async with open_stores(redis_url, audit_keys=keys) as new:
            await new.audit.append(entries("4"))
            kept = [each.entry.what async for each in new.audit.read("T1") if each.entry]
        assert kept == ["3", "4"]
        assert await problems_of(redis_url, keys) == []
        assert await redis.ttl(STREAM) > 0
        if keys:
            await redis.delete(STREAM)  # that it was erased once covers nothing up
            assert await problems_of(redis_url, keys)


OLD, NEW = KEYS


@pytest.mark.parametrize(
    "steps",
    [[(OLD,), (OLD, NEW), (NEW, OLD), (NEW,)], [(OLD,), (NEW, OLD), (NEW,)]],
    ids=["three steps", "as it was said before"],
)
async def test_keys_change_one_process_after_the_other(redis_url, steps):
    """O11: at each moment of the change every process writes to the log and reads what the other
    encrypted, and the log is whole; in the end everything is on the new key."""

    async def restarted(keys: tuple[bytes, ...]) -> AsyncExitStack:
        stack = AsyncExitStack()
        stores = await stack.enter_async_context(open_stores(redis_url, audit_keys=keys))
        await stores.keyring.announce()
        stack.push_async_callback(stores.keyring.withdraw)
        running.append((stack, stores, SealedBox(fernets(keys), stores.keyring)))
        return stack

    def fernets(keys: Sequence[bytes]) -> list[str]:
        return [base64.urlsafe_b64encode(each).decode() for each in keys]

    running: list[tuple[AsyncExitStack, Stores, SealedBox]] = []
    for _ in range(2):
        await restarted(steps[0])
    written, boxed = 0, running[0][2].encrypt(b"token")
    for keys in steps:
        for _ in range(2):
            await running.pop(0)[0].aclose()
            await restarted(keys)
            for _, stores, box in running:
                await stores.keyring.announce()
                await stores.audit.reseal()
                await stores.audit.append(entries(str(written)))
                written += 1
                assert box.decrypt(boxed) == b"token"
                boxed = box.encrypt(b"token")
            assert await problems_of(redis_url, keys) == []
    for stack, stores, _ in running:
        head = await stores.audit.head("T1")
        assert (head.count, head.sealed_by("T1", [NEW]), head.broken_at) == (written, 0, "")
        await stack.aclose()


async def test_a_seal_of_an_unknown_key_cannot_be_checked_which_is_no_change(redis_url):
    """O11: a process without the key writes nothing over the seal; its entries wait, in order, for one
    that has the key. Nor does a process without any keys take the seal away."""
    async with open_stores(redis_url, audit_keys=[NEW]) as new:
        await new.audit.append(entries("1"))
    for keys in ([OLD], []):
        async with open_stores(redis_url, audit_keys=keys) as old:
            await old.audit.append(entries("2", "3"))
            await old.audit.append(entries("4"))
            found = [each async for each in old.audit.read("T1")]
            assert [each.entry.what for each in found if each.entry][:4] == ["1", "2", "3", "4"]
            [problem] = [each.problem for each in found if each.problem]
            assert "cannot be checked here" in problem
    async with open_stores(redis_url, audit_keys=[NEW, OLD]) as both:
        await both.audit.append(entries("5"))
        what = [each.entry.what async for each in both.audit.read("T1") if each.entry]
    assert what == ["1", "2", "3", "4", "2", "3", "4", "5"]
    assert await problems_of(redis_url) == []


async def test_the_operator_seals_a_log_that_was_begun_without_keys(redis_url):
    """O9: `bot audit --seal` is itself on record; without keys it lets a sealed log go on unsealed."""
    plain = Settings(redis_url=redis_url)
    key = base64.urlsafe_b64encode(b"k" * 32).decode()
    sealed = Settings(redis_url=redis_url, bot_encryption_keys=SecretStr(key))
    await pause(plain)
    assert (await audit_report(sealed)).problems
    assert await seal_logs(sealed) == ["operator: sealed as it is now."]
    report = await audit_report(sealed)
    assert (report.problems, "sealed audit logs anew" in str(report.lines)) == ([], True)
    assert (await audit_report(plain)).problems
    assert await seal_logs(plain) == ["operator: continues without a seal."]
    assert (await audit_report(plain)).problems == []
