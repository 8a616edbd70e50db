"""`python -m tests.stored.record NAME`: have today's bot write everything that it stores, and keep that.

Real processes take questions in and are killed in the middle of their work. What then is in Redis, in
the workspace and at the model service becomes `recordings/NAME.json.gz`: see README.md.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from bot.dev.workspace import ADA, BEN, CHLOE
from tests.stored.features import copy_notes, toml_of_features, use_features
from tests.stored.model import Model
from tests.stored.redis_copy import copy_redis
from tests.stored.services_copy import copy_responses, copy_workspace
from tests.stored.stage import GENERAL, PARTNERS, SALES, Stage, stage
from tests.support.notes_server import notes_server

FOLDER = Path(__file__).parent / "recordings"
PATIENCE = 60.0  # seconds
TOML = """
[engine]
lease = {lease}
sweep = 1.0

[access]
approval_hours = 336.0

[catch_up]
every_minutes = 0

[retention]
thread_days = 30
audit_days = 36500

[budgets]
user_day = 50.0
workspace_month = {cost = 500.0, tokens = 50_000_000}

[channels.C0PARTNER1]
budgets = {day = 0.0001}

[mcpServers.tickets]
command = "{python}"
args = ["-m", "tests.support.ticket_server"]
"""
STATELESS = TOML + "\n[model]\nstateless = true\n"
LONG = 600.0  # seconds: what a killed process had is not taken up while the recording goes on
TABLE = b"region,amount\nnorth,12\nsouth,30\n"
RAISED = [
    f"bot:v1:raise:channel_day:{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}:T0LOCAL001:{PARTNERS}"
    for days in (0, 1)
]
SESSION = "agents.sessions.setStatus"


async def chained(folder: Path) -> dict[str, Any]:
    """Everything, with a model service that keeps responses."""
    model = Model("recorded", {"middle": 1, "queue": 0, "stop": 0})
    model.tomorrow = (datetime.now(UTC) + timedelta(days=100)).strftime("%Y-%m-%dT%H:%MZ")
    async with stage(model, folder, TOML, lease=LONG) as at:
        threads: dict[str, str] = {}
        async with at.serving() as process:
            await at.install()
            await answered(at, threads)
            await settings(at)
            await waiting(at, threads)
            taken = at.order("change-intended")
            threads["cut"] = await at.bot.ask(ADA, SALES, "[cut-1]")
            await process.wait()
            assert taken.exists()
        async with at.serving() as process:
            await stale_status(at, threads)
            taken = at.order("run-finished")
            threads["outbox"] = await at.bot.ask(CHLOE, SALES, "[outbox-1]")
            await process.wait()
            assert taken.exists()
        await erased_elsewhere(at, threads)
        return await recorded(at, threads, TOML)


async def stateless(folder: Path) -> dict[str, Any]:
    """A thread with an answer and a run in the middle, where the service keeps no responses."""
    model = Model("recorded", {"middle": 1})
    async with stage(model, folder, STATELESS, lease=LONG) as at:
        threads: dict[str, str] = {}
        async with at.serving() as process:
            await at.install()
            await ask(at, threads, "plain")
            threads["middle"] = threads["plain"]
            await at.bot.ask(ADA, SALES, "[middle-1]", threads["plain"])
            await in_model_call(at, "middle-1")
            process.kill()
            await process.wait()
        return await recorded(at, threads, STATELESS)


async def features(folder: Path) -> dict[str, Any]:
    """What features store, with a run in the middle and one that waits for a person."""
    toml, port = toml_of_features()
    model = Model("recorded", {"middle": 1})
    async with (
        notes_server(port) as notes,
        stage(model, folder, TOML + toml, lease=LONG) as at,
    ):
        threads: dict[str, str] = {}
        async with at.serving() as process:
            await at.install()
            await use_features(at, threads)
            process.kill()
            await process.wait()
        return await recorded(at, threads, TOML + toml) | {"notes": copy_notes(notes, port)}


async def ask(at: Stage, threads: dict[str, str], kind: str, **more: Any) -> dict[str, Any]:
    """Have Ada ask in #sales; returns the answer."""
    threads[kind] = await at.bot.ask(ADA, SALES, f"[{kind}-1]", **more)
    [said] = await at.bot.answered(SALES, threads[kind], seconds=PATIENCE)
    return said


async def card(at: Stage, thread: str) -> str:
    """The ts of a thread's card, once it is up."""

    def found() -> list[str]:
        payloads = [(m, (m.get("metadata") or {}).get("event_payload") or {}) for m in own()]
        return [m["ts"] for m, payload in payloads if "card" in payload]

    def own() -> list[dict[str, Any]]:
        return at.bot.own(SALES, thread)

    return (await at.ws.until(found, PATIENCE))[0]


async def in_model_call(at: Stage, tag: str) -> None:
    """Return once the model was asked about a question after its tool had answered."""
    await at.api.until(lambda: len(at.model.asked(tag)) == 2, PATIENCE)


async def answered(at: Stage, threads: dict[str, str]) -> None:
    """Threads with an answer, and with what was done for it."""
    said = await ask(at, threads, "table", files=[("sales.csv", TABLE)])
    run = said["metadata"]["event_payload"]["run"]
    await at.ws.click(BEN, SALES, said["ts"], "feedback", value=f"good:{run}")
    await ask(at, threads, "tickets")
    for kind, button in (("schedule", "approve_call"), ("later", "approve_calls_in_thread")):
        threads[kind] = await at.bot.ask(ADA, SALES, f"[{kind}-1]")
        await at.ws.click(ADA, SALES, await card(at, threads[kind]), button)
        await at.bot.answered(SALES, threads[kind], seconds=PATIENCE)
    direct = f"D{BEN[1:]}"
    threads["remember"] = (await at.ws.say(BEN, direct, "[remember-1]"))["ts"]
    await at.bot.answered(direct, threads["remember"], seconds=PATIENCE)
    for number in (1, 2, 3):
        threads["over"] = await at.bot.ask(ADA, PARTNERS, f"[over-{number}]")
        [said] = await at.bot.answered(PARTNERS, threads["over"], seconds=PATIENCE)
        if number == 2:
            await at.ws.click(ADA, PARTNERS, said["ts"], "raise_budget_half")
            await until(at, lambda redis: redis.exists(*RAISED), 1)
    at.api.faults.fail("quota")
    await ask(at, threads, "retry")
    await ask(at, threads, "erased")
    about = await at.ws.say(ADA, SALES, "We sold 12 of them.")
    threads["share"] = about["ts"]
    await at.ws.shortcut(CHLOE, "ask_about_message", channel=SALES, ts=about["ts"])
    [modal] = await at.ws.until(lambda: at.ws.views(CHLOE))
    wanted = {"question": {"question": "[share-1]"}, "where": {"where": "me"}}
    await at.ws.submit(CHLOE, modal["id"], wanted)
    await at.ws.until(lambda: "share_answer" in str(at.ws.messages(SALES, viewer=CHLOE)), PATIENCE)


async def settings(at: Stage) -> None:
    """What people set in the Home tab, and a form that is still open."""
    view = await home(at, ADA, "For admins")
    await at.ws.click_in_view(ADA, view["id"], "admin_channel", value=GENERAL)
    [form] = await at.ws.until(lambda: at.ws.views(ADA))
    wanted = {"instructions": {"instructions": "Answer in Latin."}}
    assert await at.ws.submit(ADA, form["id"], wanted) == {}
    view = await home(at, BEN, "umbrella")
    await at.ws.click_in_view(BEN, view["id"], "change_settings")
    [form] = await at.ws.until(lambda: at.ws.views(BEN))
    style = {"style": {"style": "In French, please."}, "where": {"where": "me"}}
    assert await at.ws.submit(BEN, form["id"], style) == {}
    await home(at, BEN, "In French")
    view = await home(at, CHLOE, "Bonjour")  # she reads French
    await at.ws.click_in_view(CHLOE, view["id"], "change_settings")
    await at.ws.until(lambda: at.ws.views(CHLOE))


async def home(at: Stage, user: str, words: str) -> dict[str, Any]:
    """Somebody's Home tab, once it holds the words."""
    await at.ws.open_home(user)
    await at.ws.until(lambda: words in str(at.ws.home(user)), PATIENCE)
    view = at.ws.home(user)
    assert view is not None
    return view


async def waiting(at: Stage, threads: dict[str, str]) -> None:
    """Cards that nobody decided, runs in the middle of a turn, requests in line."""
    for kind in ("approve", "deny", "long"):
        threads[kind] = await at.bot.ask(ADA, SALES, f"[{kind}-1]")
        await card(at, threads[kind])
    threads["middle"] = await at.bot.ask(ADA, SALES, "[middle-1]")
    await in_model_call(at, "middle-1")
    await at.bot.ask(ADA, SALES, "[middle-2]", threads["middle"])
    threads["stop"] = await at.bot.ask(ADA, SALES, "[stop-1]")
    await at.ws.until(lambda: "stop_run" in str(at.bot.own(SALES, threads["stop"])), PATIENCE)
    threads["queue"] = await at.bot.ask(ADA, SALES, "[queue-1]")
    await at.ws.until(lambda: at.bot.own(SALES, threads["queue"]), PATIENCE)
    for number, user in enumerate((BEN, CHLOE), start=2):
        await at.bot.ask(user, SALES, f"[queue-{number}]", threads["queue"])
    for kind, count in (("middle", 2), ("queue", 3)):
        key = f"bot:v1:mailbox:{at.ws.team_id}:{SALES}:{threads[kind]}"
        await until(at, lambda redis: redis.llen(key), count)  # noqa: B023 - awaited at once


async def until(at: Stage, read: Callable[[Redis], Awaitable[int]], count: int) -> None:
    """Return once what is read in Redis is at least `count`."""
    async with asyncio.timeout(PATIENCE), Redis.from_url(at.redis_url) as redis:
        while await read(redis) < count:  # noqa: ASYNC110 - Redis tells nobody
            await asyncio.sleep(0.1)


async def stale_status(at: Stage, threads: dict[str, str]) -> None:
    """A run that is over, and a status that nobody could clear."""
    at.ws.faults.fail(SESSION, 500, times=1_000)
    await ask(at, threads, "status")
    await at.ws.until(lambda: any(e.error == "http_500" for e in at.ws.effects), PATIENCE)
    await until(at, lambda redis: redis.zcard("bot:v1:stale-statuses"), 1)


async def erased_elsewhere(at: Stage, threads: dict[str, str]) -> None:
    """A thread that is erased while the model service is away."""
    thread = f"{at.ws.team_id}:{SALES}:{threads['erased']}"
    code, said = await at.run("erase", "--thread", thread, openai_base_url="http://127.0.0.1:9/v1")
    assert code == 1, said


async def recorded(at: Stage, threads: dict[str, str], toml: str) -> dict[str, Any]:
    """Everything that outlives the processes."""
    async with Redis.from_url(at.redis_url) as redis:
        return {
            "at": time.time(),
            "commit": _commit(),
            "toml": toml,
            "threads": threads,
            "redis": await copy_redis(redis),
            "workspace": copy_workspace(at.ws),
            "model": copy_responses(at.api),
        }


def _commit() -> str:
    head = ["git", "rev-parse", "HEAD"]
    return subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()


async def main(name: str) -> None:
    """Write `recordings/NAME.json.gz`."""
    parts = {}
    for part in (chained, stateless, features):
        with tempfile.TemporaryDirectory() as folder:
            try:
                parts[part.__name__] = await part(Path(folder))
            except BaseException:
                sys.stderr.write((Path(folder) / "log").read_text()[-6_000:])
                raise
    FOLDER.mkdir(exist_ok=True)
    packed = gzip.compress(json.dumps(parts, ensure_ascii=False, indent=1).encode(), mtime=0)
    (FOLDER / f"{name}.json.gz").write_bytes(packed)
    sys.stdout.write(f"{name}: {len(packed):,} bytes\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
