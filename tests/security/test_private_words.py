"""What somebody wrote in private stays there: it is in no log, metric or audit entry, and in nothing
that anybody else is shown, whatever a won-over model does with it (S3, O8)."""

from __future__ import annotations

import json
import logging
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from bot.dev.workspace import ADA
from bot.store import open_stores
from tests.security.test_encodings import look, spying
from tests.security.test_laundering import FILE, Step, asks, coded, obeys
from tests.support.deployment import deployed
from tests.support.ports import free_port
from tests.support.runs import answer

DIRECT = "D0ADA00001"
CANARY = "CANARY-7Q"
CSV = f"name\n{CANARY}\n".encode()
SEARCH: Step = ("search_messages", {"query": CANARY, "limit": None, "time_range": None})
WAYS: dict[str, tuple[Step, ...]] = {
    "a tool of that name": ((CANARY, {}), (f"{CANARY}__look", {"at": "x"})),
    "arguments that do not fit": (
        ("query_table", {CANARY: 1}),
        ("query_table", {"sql": f"SELECT '{CANARY}' FROM nowhere", "handles": [CANARY]}),
        ("calculate", {"expression": CANARY}),
        ("read_channel", {"channel": CANARY}),
        ("current_time", {"time_zone": CANARY}),
    ),
    "errors of queries": (
        FILE,
        ("query_table", {"sql": "SELECT CAST(name AS INTEGER) FROM $last", "handles": ["$last"]}),
        ("query_table", {"sql": f"SELECT {CANARY} FROM $last", "handles": ["$last"]}),
    ),
    "addresses": (
        FILE,
        ("fetch_page", {"url": f"https://{CANARY}..example/", "query": None, "compact": None}),
        ("fetch_page", {"url": f"https://site.example/{CANARY}", "query": None, "compact": None}),
    ),
    "a server": (FILE, look(at=CANARY)),
    "memories and helpers": (
        ("remember", {"text": CANARY}),
        ("recall", {"query": CANARY, "limit": None}),
        ("dispatch_subagent", {"goal": coded(SEARCH, say=answer(CANARY)), "tools": [CANARY]}),
    ),
    "messages": (SEARCH, ("post_message", {"channel": "general", "text": CANARY, "thread": None})),
    "files and charts": (
        ("write_file", {"name": f"{CANARY}.md", "content": CANARY}),
        ("share_file", {"name": f"{CANARY}.md", "content": CANARY, "comment": CANARY}),
        ("make_chart", {"handle": CANARY, "kind": "bar", "title": CANARY}),
    ),
}


async def test_words_of_a_direct_message_leave_no_trace_elsewhere(
    redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each way is a question of Ada's, with a file of hers; what needs a yes gets none."""
    caplog.set_level(logging.INFO)
    server = await spying(redis_url, "unknown", tmp_path / "notes")
    port = free_port()
    say = answer(CANARY, key_points=[CANARY], follow_ups=[f"And {CANARY}?"])
    async with deployed(obeys, redis_url, mcpServers={"spy": server}, port=port) as bot:
        roots = {}
        for name, steps in WAYS.items():
            said = coded(*steps, say=say)
            roots[name] = await bot.ask(ADA, DIRECT, said, files=[(f"{CANARY}.csv", CSV)])
        for root in roots.values():
            await bot.ws.until(partial(asks, bot, DIRECT, root), 60)
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}/metrics") as response,
        ):
            metrics = await response.text()
        shown = [e for e in bot.ws.effects if CANARY in json.dumps(e.args, default=str)]
        places = {e.args.get("channel_id", e.args.get("channel")) for e in shown}
        methods = {e.method for e in shown if "channel" not in f"{[*e.args]}"}
        async with open_stores(redis_url) as stores:
            audit = [each async for each in stores.audit.read(bot.ws.team_id)]
    assert places <= {DIRECT, None}
    assert methods <= {"assistant.search.context", "files.getUploadURLExternal", "upload"}
    assert CANARY not in metrics
    assert CANARY not in str(audit)
    assert CANARY not in caplog.text
