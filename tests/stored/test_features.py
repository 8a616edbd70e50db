"""Today's code goes on with what an earlier release's features stored.

As in `test_recordings.py`, nothing here takes a stored name from the code.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.dev.workspace import ADA, BEN
from tests.stored.features import posted, recorded_notes, sell
from tests.stored.model import Model
from tests.stored.stage import SALES
from tests.stored.test_recordings import PATIENCE, RECORDINGS, Old, all_hold, read, upgraded

EARLIER = ("2026-11", "2026-11-23")  # recorded before this part was

pytestmark = pytest.mark.parametrize(
    "recording",
    [path for path in RECORDINGS if path.name.split(".")[0] not in EARLIER],
    ids=lambda path: path.name.split(".")[0],
)


async def evidence_of_a_recorded_answer_is_shown(old: Old) -> None:
    """Where the figures of a recorded answer come from opens, with the query."""
    await old.press(BEN, SALES, "sold", "show_evidence")
    [view] = await old.at.ws.until(lambda: old.at.ws.views(BEN), PATIENCE)
    assert "220,919.50" in str(view["blocks"])
    assert "SELECT region, revenue FROM sales" in str(view["blocks"])


async def a_refresh_that_nobody_posted_is_posted_and_made_again(old: Old) -> None:
    """What was shown to one person before is what everybody reads; then the calls are made again, and
    whoever pressed sees the sentence with what changed."""
    if "post_refresh" in str(
        old.recorded["workspace"]["private"]
    ):  # recorded before it had a window
        before = len(old.at.bot.own(SALES, old.thread("sold")))
        await old.press(ADA, SALES, "sold", "post_refresh")
        [news] = await old.at.ws.until(
            lambda: old.at.bot.own(SALES, old.thread("sold"))[before:], PATIENCE
        )
        assert "231,004" in str(news["blocks"])
    async with asyncio.timeout(PATIENCE):
        while "North sold 220,919.50 → 300,000, which" not in str(old.at.ws.views(ADA)):
            # One who presses too soon after the recorded refresh is told so, and presses again.
            await old.press(ADA, SALES, "sold", "refresh_answer")
            await asyncio.sleep(1)


async def a_scheduled_refresh_is_made(old: Old) -> None:
    """Its time has come: the thread reads the figure of today, once."""
    await old.at.ws.until(
        lambda: "300,000" in str(old.at.bot.own(SALES, old.thread("kept"))), PATIENCE
    )
    own = old.at.bot.own(SALES, old.thread("kept"))
    assert sum("300,000" in str(each) for each in own) == 1


async def a_recorded_proposal_says_what_to_do_now(old: Old) -> None:
    """The form that an admin had open, and the case in it, which is exported."""
    [form] = old.recorded["workspace"]["views"][ADA]
    if form["callback_id"] != "lesson_form":
        return  # recorded later
    answer = await old.at.ws.submit(ADA, form["id"], {})
    assert "no longer make proposals from ratings" in str(answer)
    file = old.at.folder / "feedback.yaml"
    code, output = await old.at.run("feedback", "--evals", str(file))
    assert code == 0, output
    assert "number: 231004" in file.read_text("utf-8")


async def a_connected_account_is_used(old: Old) -> None:
    """Nobody has to connect again."""
    await old.at.bot.ask(ADA, SALES, "[account-2]", old.thread("account"))
    await old.answers(SALES, "account", "account-2")
    assert "Anna's secret plan" in str(old.bodies("account-2")[-1])


async def who_waited_for_an_account_goes_on_without(old: Old) -> None:
    """The recorded button under the private card ends the wait."""
    direct = old.at.ws.state.direct(BEN)
    assert direct is not None
    card = posted(old.at, direct.id, "go_on_without_account")
    await old.at.ws.click(BEN, direct.id, card["ts"], "go_on_without_account")
    await old.answers(SALES, "waiting", "notes-2")


async def the_run_in_the_middle_is_finished(old: Old) -> None:
    await old.answers(SALES, "middle", "middle-1")


CHECKS = (
    evidence_of_a_recorded_answer_is_shown,
    a_refresh_that_nobody_posted_is_posted_and_made_again,
    a_scheduled_refresh_is_made,
    a_recorded_proposal_says_what_to_do_now,
    a_connected_account_is_used,
    who_waited_for_an_account_goes_on_without,
    the_run_in_the_middle_is_finished,
)


@pytest.mark.timeout(300)
async def test_todays_code_goes_on_with_what_features_stored(
    recording: Path, tmp_path: Path
) -> None:
    """(O6, R1, reliability 22) Evidence, refreshes, ratings and accounts outlive an upgrade."""
    sell(tmp_path, 300_000.0)
    async with (
        recorded_notes(read(recording, "features")["notes"]),
        upgraded(recording, "features", tmp_path, Model("today", {})) as old,
    ):
        await all_hold(old, CHECKS)
