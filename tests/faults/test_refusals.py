"""Permanent refusals of Slack: the answer still appears, once, and nothing unfinished stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.dev.model import ModelRequest, Reply, finish, held
from bot.dev.workspace import ADA, BEN
from bot.slack.ui import words
from bot.slack.ui.buttons import STOP
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

SALES, DIRECT = "C0SALES001", "D0ADA00001"
ALWAYS = 10_000
MISSING = words.NO_FILE.english.partition("{name}")[0]

REFUSALS_OF_UPDATES = [
    "edit_window_closed",
    "cant_update_message",
    "message_not_found",
    "update_failed",
    "streaming_state_conflict",
    "is_inactive",
    "block_mismatch",
    "metadata_too_large",
    "msg_too_long",
    "invalid_blocks",
    "an_error_of_next_year",
]


class Scene:
    """A bot whose runs show progress until `go`, then end with a table that is also a file."""

    def __init__(self) -> None:
        self._go = asyncio.Event()
        self.bot: Deployment

    def think(self, _: ModelRequest) -> Reply:
        rows = [[str(number)] for number in range(300)]
        table = {"caption": "All", "columns": ["n"], "rows": rows}
        return held(finish(answer("Two.", table=table)), self._go)

    async def begin(self) -> str:
        """Ask, and wait for the run's first message. Return the thread."""
        self._go.clear()
        before = len(self.bot.api.requests)
        root = await self.bot.ask(ADA, SALES, "How many?")
        await self.bot.ws.until(
            lambda: self.bot.own(SALES, root) and len(self.bot.api.requests) > before
        )
        return root

    def go(self) -> None:
        self._go.set()

    def pause(self) -> None:
        """Hold the next runs until `go` again."""
        self._go.clear()

    async def is_over(self, root: str) -> None:
        """Wait until the run has ended: its thread accepts the next question."""
        before = len(self.bot.api.requests)
        await self.bot.ask(BEN, SALES, "And how few?", root)
        await self.bot.ws.until(lambda: len(self.bot.api.requests) > before, 20)

    def saying(self, root: str, text: str) -> list[dict[str, Any]]:
        return [each for each in self.bot.own(SALES, root) if text in each["text"]]

    def unfinished(self, root: str) -> list[dict[str, Any]]:
        return [each for each in self.bot.own(SALES, root) if STOP in str(each.get("blocks"))]

    def files(self, root: str) -> list[str]:
        own = self.bot.own(SALES, root)
        return [file["name"] for each in own for file in each.get("files") or ()]

    def told_directly(self) -> list[dict[str, Any]]:
        return [m for m in self.bot.ws.messages(DIRECT) if m["user"] == self.bot.ws.bot_user_id]


@asynccontextmanager
async def scene(redis_url: str) -> AsyncGenerator[Scene]:
    made = Scene()
    async with deployed(made.think, redis_url) as made.bot:
        yield made


async def test_a_message_that_cannot_be_changed_is_replaced(redis_url) -> None:
    """(R3) Whatever Slack's reason, the answer is posted again, once; the unfinished message with its
    Stop is deleted, and nobody is told that the answer could not be posted."""
    async with scene(redis_url) as at:
        for code in REFUSALS_OF_UPDATES:
            root = await at.begin()
            at.bot.ws.faults.fail("chat.update", code, times=ALWAYS)
            at.go()
            await at.bot.ws.until(lambda: "all.csv" in at.files(root), 20)  # noqa: B023 - awaited at once
            assert [len(at.saying(root, "Two.")), len(at.unfinished(root))] == [1, 0], code
            at.bot.ws.faults.clear()
        assert at.told_directly() == []


@pytest.mark.parametrize("error", ["internal_error", "fatal_error", 500])
async def test_a_message_that_slack_fails_to_change_for_good_is_replaced(redis_url, error) -> None:
    """(R3) The answer does not wait an hour for temporary errors that persist."""
    async with scene(redis_url) as at:
        root = await at.begin()
        at.bot.ws.faults.fail("chat.update", error, times=ALWAYS)
        at.go()
        await at.bot.ws.until(lambda: "all.csv" in at.files(root), 30)
        assert [len(at.saying(root, "Two.")), len(at.unfinished(root))] == [1, 0]
        at.bot.ws.faults.clear()
        await at.is_over(root)


async def test_where_messages_may_be_neither_edited_nor_deleted(redis_url) -> None:
    """(R3) The workspace forbids it: the answer is posted once, below the message that must stay."""
    async with scene(redis_url) as at:
        root = await at.begin()
        at.bot.ws.state.edit_window, at.bot.ws.state.may_delete = 0.0, False
        at.go()
        await at.bot.answered(SALES, root, seconds=20)
        await at.is_over(root)
        assert len(at.saying(root, "Two.")) == 1


async def test_the_stop_that_has_to_stay_stops_no_later_run(redis_url) -> None:
    """(R3, S10) A finished run's button says that nothing is running; the current run's stops it."""
    async with scene(redis_url) as at:
        root = await at.begin()
        at.bot.ws.state.edit_window, at.bot.ws.state.may_delete = 0.0, False
        at.go()
        await at.bot.answered(SALES, root, seconds=20)
        at.pause()
        await at.bot.ask(ADA, SALES, "And now?", root)
        [old, _] = await at.bot.ws.until(
            lambda: found if len(found := at.unfinished(root)) == 2 else [], 20
        )
        await at.bot.ws.click(ADA, SALES, old["ts"], STOP)
        said = await at.bot.ws.until(
            lambda: [
                m for m in at.bot.ws.messages(SALES, root, viewer=ADA) if m.get("is_ephemeral")
            ]
        )
        assert said[-1]["text"] == words.NOTHING_RUNS()
        at.go()
        await at.bot.answered(SALES, root, 2, seconds=20)
        assert len(at.saying(root, "Two.")) == 2


async def test_somebody_deletes_the_message_of_a_run(redis_url) -> None:
    """(R3) The question was not deleted, so it is answered."""
    async with scene(redis_url) as at:
        root = await at.begin()
        await at.bot.ws.delete(ADA, SALES, at.bot.own(SALES, root)[0]["ts"])
        at.go()
        await at.bot.answered(SALES, root)
        assert len(at.saying(root, "Two.")) == 1
        assert at.told_directly() == []


async def test_an_update_that_was_made_and_then_refused_is_not_posted_again(redis_url) -> None:
    """(R3) The update's response is lost, and the edit window closes before the retry."""
    async with scene(redis_url) as at:
        root = await at.begin()
        at.bot.ws.faults.fail("chat.update", None, times=1, after_effect=True)
        at.bot.ws.faults.fail("chat.update", "edit_window_closed", times=ALWAYS)
        at.go()
        await at.bot.ws.until(lambda: at.files(root), 20)
        assert len(at.saying(root, "Two.")) == 1


@pytest.mark.parametrize(
    ("code", "posts"), [("restricted_action_thread_locked", 1), ("unheard_of", 2)]
)
async def test_a_place_that_takes_no_posts(redis_url, code, posts) -> None:
    """(R3) A refused post, unlike a refused update, means that nothing can be posted there: the person
    is told once, the unfinished message is deleted, and the thread can continue. After an unknown
    error code, the post is retried without blocks first."""
    async with scene(redis_url) as at:
        root = await at.begin()
        at.bot.ws.faults.fail("chat.update", "edit_window_closed", times=ALWAYS)
        at.bot.ws.faults.fail("chat.postMessage", code, times=posts)
        at.go()
        await at.bot.ws.until(at.told_directly, 20)
        await at.bot.ws.until(lambda: not at.unfinished(root))
        await at.is_over(root)
        assert at.saying(root, "Two.") == []
        assert len(at.told_directly()) == 1


REFUSALS_OF_FILES: list[tuple[str, str | int]] = [
    ("files.getUploadURLExternal", "file_uploads_disabled"),
    ("files.getUploadURLExternal", "missing_scope"),
    ("files.getUploadURLExternal", "an_error_of_next_year"),
    ("upload", 403),
    ("files.completeUploadExternal", "not_in_channel"),
    ("upload", 500),  # the only one that may pass, and does not
]
TROUBLES: list[tuple[str, str | int | None]] = [
    ("files.getUploadURLExternal", "internal_error"),
    ("upload", 500),
    ("upload", None),
    ("files.completeUploadExternal", 503),
]


async def test_a_file_that_cannot_be_attached_is_said_to_be_missing(redis_url) -> None:
    """(R4) The answer is posted once, the thread says once which file is missing, and can continue."""
    async with scene(redis_url) as at:
        for method, error in REFUSALS_OF_FILES:
            root = await at.begin()
            at.bot.ws.faults.fail(method, error, times=ALWAYS)
            before = len(at.bot.ws.effects)
            at.go()
            await at.bot.ws.until(lambda: at.saying(root, MISSING), 20)  # noqa: B023 - awaited at once
            await at.is_over(root)
            at.bot.ws.faults.clear()
            [said] = at.saying(root, MISSING)
            assert "all.csv" in said["text"]
            updates = [e for e in at.bot.ws.effects[before:] if e.method == "chat.update"]
            assert len([e for e in updates if e.args["ts"] < said["ts"]]) == 1, (method, error)


async def test_trouble_of_a_moment_costs_no_file(redis_url) -> None:
    """(R4) The upload is retried, and the file is shared once."""
    async with scene(redis_url) as at:
        for method, error in TROUBLES:
            root = await at.begin()
            at.bot.ws.faults.fail(method, error)
            at.go()
            await at.bot.ws.until(lambda: at.files(root), 20)  # noqa: B023 - awaited at once
            await at.is_over(root)
            assert at.files(root).count("all.csv") == 1, (method, error)
            assert at.saying(root, MISSING) == [], (method, error)
