"""Today's code starts on what an earlier release wrote, and goes on where that was killed.

Nothing here takes a stored name from the code: the literals are what stands in people's channels and
in their Redis. A failure means that a stored name changed, or what it means. Give it back, or read the
old form as well; never record anew to make this pass.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.dev.workspace import ADA, BEN, CHLOE
from tests.faults.conversation import answered_by
from tests.stored.model import MEMORY, POSTS, Model
from tests.stored.names import changed
from tests.stored.redis_copy import load_redis
from tests.stored.services_copy import load_responses, load_workspace
from tests.stored.stage import GENERAL, PARTNERS, SALES, Stage, stage

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.json.gz"))
PATIENCE = 60.0  # seconds
KILLED_BEFORE = 60.0  # seconds: longer than any lease
Check = Callable[["Old"], Awaitable[None]]

pytestmark = pytest.mark.parametrize(
    "recording", RECORDINGS, ids=lambda path: path.name.split(".")[0]
)


def read(recording: Path, part: str) -> dict[str, Any]:
    """One part of a recording."""
    parts: dict[str, dict[str, Any]] = json.loads(gzip.decompress(recording.read_bytes()))
    return parts[part]


@dataclass(frozen=True)
class Old:
    """What was recorded, and today's bot on top of it."""

    at: Stage
    recorded: dict[str, Any]

    def thread(self, kind: str) -> str:
        return str(self.recorded["threads"][kind])

    def posted(self, channel: str, kind: str, action: str) -> dict[str, Any]:
        """The recorded message in a thread that has this action on a button or in its menu, whoever
        sees it."""
        workspace, thread = self.recorded["workspace"], self.thread(kind)
        private = [message for _, _, message in workspace["private"]]
        for message in (*workspace["messages"][channel], *private):
            inside = thread in (message.get("thread_ts"), message["ts"]) or message in private
            blocks = json.dumps(message.get("blocks"))
            if inside and (f'"{action}"' in blocks or f'"{action} ' in blocks):
                return dict(message)
        raise AssertionError(f"the recording has no button {action} in the thread {kind}")

    async def press(self, user: str, channel: str, kind: str, action: str, **how: Any) -> None:
        """Press a recorded button, or choose it in the menu under the answer."""
        message = self.posted(channel, kind, action)
        elements = [each for block in message["blocks"] for each in block.get("elements", ())]
        options = [option for each in elements for option in each.get("options", ())]
        values = [each["value"] for each in options if each["value"].startswith(f"{action} ")]
        if values:
            action, how = "answer_menu", {"value": values[0]}
        await self.at.ws.click(user, channel, message["ts"], action, **how)

    async def answers(self, channel: str, kind: str, tag: str, word: str = "today") -> None:
        """Wait for an answer to the question with this tag in the thread."""

        def found() -> bool:
            said = self.at.bot.terminals(channel, self.thread(kind))
            return any(tag in answered_by(each) and word in str(each["blocks"]) for each in said)

        await self.at.ws.until(found, PATIENCE)

    def bodies(self, tag: str) -> list[dict[str, Any]]:
        """The model requests of today that are about a question."""
        return [each.body for each in self.at.model.asked(tag)]


async def runs_in_the_middle_are_finished(old: Old) -> None:
    """A run after a model call, one between its intent to change something and its doing, and one whose
    answer was decided are finished, each answered once."""
    for kind, tags in {"middle": ["middle-1", "middle-2"], "cut": ["cut-1"]}.items():
        for tag in tags:
            await old.answers(SALES, kind, tag)
    await old.answers(SALES, "outbox", "outbox-1", word="recorded")
    assert old.bodies("outbox-1") == [], "what was decided is not asked again"
    first = old.bodies("middle-1")[0]
    assert first["previous_response_id"] in str(old.recorded["model"]), "the chain goes on"
    await old.at.ws.open_home(ADA)
    kept = str(await home(old, ADA, "Hello"))
    assert kept.count("The run was cut off here.") <= 1, "a change is not made twice"


async def requests_in_line_are_answered_in_order(old: Old) -> None:
    tags = [f"queue-{number}" for number in (1, 2, 3)]
    for tag in tags:
        await old.answers(SALES, "queue", tag)
    said = old.at.bot.terminals(SALES, old.thread("queue"))
    assert [tag for each in said for tag in answered_by(each)] == tags


async def a_recorded_card_is_approved(old: Old) -> None:
    """What was shown is posted, once, and the thread has its answer."""
    await old.press(ADA, SALES, "approve", "approve_call")
    await old.answers(SALES, "approve", "approve-1")
    assert len([m for m in old.at.ws.messages(GENERAL) if "Friday" in m["text"]]) == 1


async def a_recorded_card_is_denied(old: Old) -> None:
    await old.press(ADA, SALES, "deny", "deny_call")
    await old.answers(SALES, "deny", "deny-1")
    assert "Sunday" not in str(old.at.ws.messages(GENERAL))


async def all_of_a_long_card_is_shown_and_approved_for_the_thread(old: Old) -> None:
    await old.press(ADA, SALES, "long", "show_call")
    last = POSTS["long"].splitlines()[-1]
    await old.at.ws.until(lambda: last in str(old.at.ws.views(ADA)), PATIENCE)
    await old.press(ADA, SALES, "long", "approve_calls_in_thread")
    await old.answers(SALES, "long", "long-1")
    assert last in str(old.at.ws.messages(GENERAL))


async def a_run_is_stopped_by_its_recorded_button(old: Old) -> None:
    await old.press(ADA, SALES, "stop", "stop_run")
    ended = await old.at.bot.answered(SALES, old.thread("stop"), seconds=PATIENCE)
    assert "Stopped" in str(ended)


async def buttons_under_recorded_answers_do_what_they_say(old: Old) -> None:
    """Follow-up, regenerate, go deeper, retry, show to all, feedback with a comment, and raising a
    budget."""
    await old.press(ADA, SALES, "table", "follow_up_0")
    await old.answers(SALES, "table", "follow-1")
    await old.press(ADA, SALES, "table", "regenerate_answer")
    await old.answers(SALES, "table", "table-1")
    await old.press(ADA, SALES, "tickets", "go_deeper")
    await old.answers(SALES, "tickets", "tickets-1")
    await old.press(ADA, SALES, "retry", "retry_request")
    await old.answers(SALES, "retry", "retry-1")
    await old.press(CHLOE, SALES, "share", "share_answer")
    await old.answers(SALES, "share", "share-1", word="recorded")
    run = old.posted(SALES, "table", "feedback")["metadata"]["event_payload"]["run"]
    await old.press(ADA, SALES, "table", "feedback", value=f"bad:{run}")
    await old.at.ws.until(lambda: old.at.ws.views(ADA), PATIENCE)
    before = len(old.at.ws.effects)
    await old.press(ADA, PARTNERS, "over", "raise_budget_double")
    await old.at.ws.until(
        lambda: any(e.method.startswith("chat.") and e.args.get("channel") == PARTNERS
                    for e in old.at.ws.effects[before:]),
        PATIENCE,
    )  # fmt: skip


async def a_thread_goes_on_with_its_chain_and_its_table(old: Old) -> None:
    await old.at.bot.ask(ADA, SALES, "[again-1]", old.thread("table"))
    await old.answers(SALES, "table", "again-1")
    [first, *_] = old.bodies("again-1")
    assert first["previous_response_id"], "the chain goes on"
    sent = [item for each in old.at.api.requests for item in each.body["input"]]
    outputs = [item["output"] for item in sent if item.get("type") == "function_call_output"]
    assert any("42" in str(each) and "sum" in str(each) for each in outputs), outputs


async def what_was_scheduled_is_asked(old: Old) -> None:
    await old.answers(SALES, "schedule", "due-1")


async def what_people_set_holds(old: Old) -> None:
    """Memories, personal settings and a channel's instructions reach the model; what is in the Home tab
    of before can be taken back there."""
    ws = old.at.ws
    direct = f"D{BEN[1:]}"
    await ws.say(BEN, direct, "[known-1]")
    await ws.until(lambda: old.bodies("known-1"), PATIENCE)
    assert MEMORY in str(old.bodies("known-1")[0])
    assert "In French, please." in str(old.bodies("known-1")[0])
    await old.at.bot.ask(CHLOE, GENERAL, "[latin-1]")
    await ws.until(lambda: old.bodies("latin-1"), PATIENCE)
    assert "Answer in Latin." in str(old.bodies("latin-1")[0])
    homes, [form] = old.recorded["workspace"]["homes"], old.recorded["workspace"]["views"][CHLOE]
    style = {"style": {"style": "In Dutch."}, "where": {"where": "thread"}}
    assert await ws.submit(CHLOE, form["id"], style) == {}
    await home(old, CHLOE, "In Dutch.")
    await ws.click_in_view(BEN, homes[BEN]["id"], "forget_memory")
    await ws.until(lambda: MEMORY not in str(ws.home(BEN)), PATIENCE)
    assert len(ws.state.scheduled) == 1
    await ws.click_in_view(ADA, homes[ADA]["id"], "cancel_message")
    await ws.until(lambda: not ws.state.scheduled, PATIENCE)


async def a_status_that_stayed_is_cleared(old: Old) -> None:
    ws = old.at.ws
    await ws.until(lambda: ws.status(SALES, old.thread("status")).session == "active", PATIENCE)


async def operators_read_what_was_recorded(old: Old) -> None:
    """The audit log verifies from its first entry on; feedback and spending are listed."""
    entries = old.recorded["redis"]["bot:v1:audit:T0LOCAL001"]["value"]["entries"]
    code, said = await old.at.run("audit", "--json", "--days", "36500")
    assert code == 0, said
    assert len(said.splitlines()) >= len(entries)
    code, said = await old.at.run("feedback")
    assert code == 0
    assert BEN in said
    for command in ("usage", "mcp"):
        code, said = await old.at.run(command)
        assert code == 0, said


CHECKS: tuple[Check, ...] = (
    runs_in_the_middle_are_finished,
    requests_in_line_are_answered_in_order,
    a_recorded_card_is_approved,
    a_recorded_card_is_denied,
    all_of_a_long_card_is_shown_and_approved_for_the_thread,
    a_run_is_stopped_by_its_recorded_button,
    buttons_under_recorded_answers_do_what_they_say,
    a_thread_goes_on_with_its_chain_and_its_table,
    what_was_scheduled_is_asked,
    what_people_set_holds,
    a_status_that_stayed_is_cleared,
    operators_read_what_was_recorded,
)


async def home(old: Old, user: str, words: str) -> dict[str, Any]:
    """Somebody's Home tab, once it holds the words."""
    await old.at.ws.open_home(user)
    await old.at.ws.until(lambda: words in str(old.at.ws.home(user)), PATIENCE)
    view = old.at.ws.home(user)
    assert view is not None
    return view


@asynccontextmanager
async def upgraded(recording: Path, part: str, folder: Path, model: Model) -> AsyncGenerator[Old]:
    """Today's bot on a recording."""
    recorded = read(recording, part)
    async with stage(model, folder, recorded["toml"], lease=1.0) as at:
        at.ws.delivery.ack_timeout = at.ws.trigger_lifetime = PATIENCE  # on a busy machine
        load_workspace(at.ws, recorded["workspace"])
        load_responses(at.api, recorded["model"])
        at.use_secrets()
        due = recorded["redis"].get("bot:v1:schedules-due:T0LOCAL001", {"value": {}})["value"]
        due |= dict.fromkeys(due, recorded["at"])  # their time has come
        shift = time.time() - KILLED_BEFORE - recorded["at"]
        async with Redis.from_url(at.redis_url) as redis:
            await load_redis(redis, recorded["redis"], at=recorded["at"], shift=shift)
        async with at.serving():
            yield Old(at, recorded)


async def all_hold(old: Old, checks: tuple[Check, ...]) -> None:
    """Run the checks side by side. Raises AssertionError with every one that fails."""
    failed = []
    for check, error in zip(
        checks,
        await asyncio.gather(*(check(old) for check in checks), return_exceptions=True),
        strict=True,
    ):
        if error is not None:
            what = check.__name__.replace("_", " ")
            failed.append(f"not so any more: {what}: {type(error).__name__}: {error}")
    failed += await trouble(old)
    if failed:
        renamed = await asyncio.to_thread(changed)
        raise AssertionError("\n".join([*failed, "Stored names that changed:", *renamed]))


async def trouble(old: Old) -> list[str]:
    """What the bot could not read, or what failed in it."""
    async with Redis.from_url(old.at.redis_url) as redis:
        aside = [key.decode() async for key in redis.scan_iter("bot:quarantine:*")]
    errors = [line for line in old.at.log.read_text().splitlines() if " ERROR " in line]
    return [f"set aside as unreadable: {key}" for key in aside] + errors


@pytest.mark.timeout(300)
async def test_todays_code_goes_on_where_a_release_was_killed(
    recording: Path, tmp_path: Path
) -> None:
    """(O6, R1, A4, reliability 22) All that people and operators rely on outlives an upgrade."""
    async with upgraded(recording, "chained", tmp_path, Model("today", {"stop": 0})) as old:
        await all_hold(old, CHECKS)
        undeleted = old.recorded["redis"]["bot:v1:to-delete"]["value"]
        assert undeleted
        code, said = await old.at.run("erase", "--user", BEN, "--wait", "30")
        assert code == 0, said
        kept = [each for each in undeleted if old.at.api.responses[each].kept]
        assert kept == [], "responses of what was erased before are deleted, too"
        async with Redis.from_url(old.at.redis_url) as redis:
            assert await redis.get("bot:v1:format"), "earlier versions can tell"
            left = [key async for key in redis.scan_iter(f"*{BEN}*")]
        assert left == [], "an erase finds what an earlier release kept"


async def test_a_run_without_stored_responses_goes_on(recording: Path, tmp_path: Path) -> None:
    """(A4) A service that keeps no responses is sent the recorded conversation again."""
    async with upgraded(recording, "stateless", tmp_path, Model("today", {})) as old:
        await old.answers(SALES, "middle", "middle-1")
        first = old.bodies("middle-1")[0]
        assert "[plain-1]" in str(first["input"])
        assert "42" in str(first["input"])
        assert len(old.at.bot.terminals(SALES, old.thread("middle"))) == 2
        assert await trouble(old) == []
