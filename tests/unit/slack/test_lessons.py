"""Learning from feedback: what admins make of an answer that somebody rated bad."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.cli.operator import erase_lines
from bot.core.budgets import Budget
from bot.core.lessons import Lesson, LessonCase, LessonState
from bot.dev.model import ModelRequest, Reply, call, finish, held
from bot.dev.workspace import ADA, BEN, CHLOE
from bot.evals.cases import read_cases
from bot.evals.lessons import cases_file
from bot.runs.lessons import _one_line
from bot.runs.policy.budgets import Budgets
from bot.runs.policy.channels import ChannelSettings
from bot.slack.intake.home.lesson_form import DISMISS, SUGGEST, TRY_CASE, lesson_form
from bot.slack.intake.home.lesson_list import LESSON
from bot.store import open_stores
from bot.store.workspaces.lessons import MOST
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, configured, deployed
from tests.support.redis import redis_server, redis_url
from tests.support.runs import answer
from tests.unit.slack.test_home import home
from tests.unit.test_commands import bot as command

__all__ = ["redis_server", "redis_url"]

SALES = "C0SALES001"
FINANCE = "C0FINANCE1"
QUESTION = "How much did we sell?"
PROPOSED = {
    "must_say": ["231,\u200b004"],  # what nobody sees is left out
    "must_not_say": ["220,919"],
    "instruction": "Use the figures of this year.",
}


def brain(request: ModelRequest) -> Reply:
    """A model that proposes when asked to, and answers right once it is told how."""
    if request.forced == "propose":
        return call("propose", PROPOSED)
    right = "Use the figures of this year." in request.instructions
    return finish(answer("We sold 231004." if right else "We sold 220,919."))


def proposed(bot: Deployment) -> bool:
    """Whether a model was asked to propose anything."""
    return any("'propose'" in str(each.body["tools"]) for each in bot.api.requests)


async def rated(
    bot: Deployment, user: str, channel: str, comment: str, *, show: bool = False
) -> dict[str, Any]:
    """Somebody asks, rates the answer bad and says why; the answer."""
    thread = await bot.ask(user, channel, QUESTION)
    [said] = await bot.answered(channel, thread)
    run = said["metadata"]["event_payload"]["run"]
    await bot.ws.click(user, channel, said["ts"], "feedback", value=f"bad:{run}")
    [modal] = await bot.ws.until(lambda: bot.ws.views(user))
    is_private = channel.startswith("D")  # before it is sent, the form says what admins read
    told = "do not see your question" if is_private else "read your comment and the question"
    assert told in str(modal["blocks"])
    assert ("checkboxes" in str(modal["blocks"])) is is_private
    values: dict[str, Any] = {"question": {"question": comment}}
    if show:
        box = {"type": "checkboxes", "selected_options": [{"value": "show_question"}]}
        values["show_question"] = {"show_question": box}
    assert await bot.ws.submit(user, modal["id"], values) == {}
    return said


async def opened(bot: Deployment, about: str = LESSON) -> dict[str, Any]:
    """The card of the newest rating, opened by an admin once their Home tab holds `about`."""
    user, tab = ADA, await home(bot, ADA, about)
    button = next(
        block["accessory"]
        for block in tab["blocks"]
        if block.get("accessory", {}).get("action_id") == LESSON
    )
    await bot.ws.click_in_view(user, tab["id"], LESSON, value=button["value"])
    [view] = await bot.ws.until(lambda: bot.ws.views(user))
    return view


def fields(view: dict[str, Any]) -> dict[str, str]:
    """What stands in the inputs, by name."""
    inputs = [each["element"] for each in view["blocks"] if each["type"] == "input"]
    return {each["action_id"]: each.get("initial_value", "") for each in inputs}


async def shown(bot: Deployment, text: str, user: str = ADA) -> dict[str, Any]:
    """The admin's modal, once it holds `text`."""
    await bot.ws.until(lambda: text in str(bot.ws.views(user)))
    return bot.ws.views(user)[-1]


async def test_a_bad_rating_becomes_a_case_and_an_instruction_once_an_admin_accepts(
    redis_url: str, tmp_path: Path
) -> None:
    """A model proposes when the admin asks for it, the case runs before and after, nothing changes
    until the admin accepts, and the case is exported for `bot eval`."""
    async with deployed(brain, redis_url) as bot:
        await rated(bot, BEN, SALES, "These are last year's figures.")
        before = len(bot.api.requests)
        view = await opened(bot)
        assert "last year's figures" in str(view["blocks"])
        assert QUESTION in str(view["blocks"])
        assert len(bot.api.requests) == before  # a look costs nothing

        await bot.ws.click_in_view(ADA, view["id"], SUGGEST)
        view = await shown(bot, "Suggested by")
        assert fields(view) == {
            "question": QUESTION,
            "must_say": "231,004",
            "must_not_say": "220,919",
            "instruction": "Use the figures of this year.",
        }
        await bot.ws.click_in_view(ADA, view["id"], TRY_CASE)
        view = await shown(bot, "With the new instruction: ")
        text = json.dumps(view["blocks"], ensure_ascii=False)
        assert "does not say 231,004" in text
        assert "; says 220,919" in text
        assert "We sold 231004." in text  # the figure counts in any notation
        assert "This trial cost $" in text

        thread = await bot.ask(BEN, SALES, "And now?")
        [same] = await bot.answered(SALES, thread)
        assert "220,919" in str(same)  # nothing has changed yet
        assert await bot.ws.submit(ADA, view["id"], {}) == {}
        thread = await bot.ask(BEN, SALES, "And now again?")
        [changed] = await bot.answered(SALES, thread)
        assert "231004" in str(changed)
        await bot.ws.open_home(ADA)
        await bot.ws.until(lambda: LESSON not in str(bot.ws.home(ADA)))

        file = tmp_path / "feedback.yaml"
        done = await command(tmp_path, "feedback", "--evals", str(file), REDIS_URL=redis_url)
        assert done.code == 0, done.err
        [case] = read_cases([file])
        assert case.question == QUESTION
        assert case.expect.facts[0].number == 231_004
        assert case.instructions == "Use the figures of this year."
        log = await command(tmp_path, "audit", "--kind", "administered", REDIS_URL=redis_url)
        assert "channel settings: instructions" in log.out
        assert "feedback accepted" in log.out


async def test_admins_who_accept_at_once_lose_and_double_nothing(redis_url: str) -> None:
    """R1: each instruction stands there once, also when Slack sends a submission again."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        fields = {"team": bot.ws.team_id, "channel": SALES, "thread": "1.2", "run_id": "run_1"}
        wanted = [f"Rule {number}." for number in range(6)]
        for number, rule in enumerate(wanted):
            await stores.lessons.add(Lesson(id=f"req_{number}", instruction=rule, **fields))
        lessons = await stores.lessons.latest(bot.ws.team_id)
        twice = [submission(bot, each) for each in (*lessons, *lessons)]
        await asyncio.gather(*(sent(bot, each) for each in twice))
        edits = await stores.channels.load(f"{bot.ws.team_id}:{SALES}", ChannelSettings)
        assert edits
        assert sorted(edits.instructions.splitlines()) == wanted


def submission(bot: Deployment, lesson: Lesson) -> dict[str, Any]:
    """What Slack sends when Ada accepts a lesson as it is."""
    view = {**lesson_form(lesson, "https://x.example"), "id": "V1"}
    inputs = [each for each in view["blocks"] if each["type"] == "input"]
    values = {
        each["block_id"]: {element["action_id"]: {"value": element.get("initial_value")}}
        for each in inputs
        for element in [each["element"]]
    }
    return {
        "type": "view_submission",
        "team": {"id": bot.ws.team_id},
        "user": {"id": ADA, "team_id": bot.ws.team_id},
        "api_app_id": bot.ws.app_id,
        "view": {**view, "state": {"values": values}},
    }


async def test_of_a_private_answer_admins_read_only_what_its_asker_shows(redis_url: str) -> None:
    """S7: the form says so before it is sent; the question, and what a model is given, follow it."""
    async with deployed(brain, redis_url) as bot:
        direct = "D0BEN00001"
        await rated(bot, BEN, direct, "Too long.")
        view = await opened(bot)
        assert "Too long." in str(view["blocks"])
        assert QUESTION not in str(view)
        assert "instruction" not in fields(view)  # there is no channel
        await bot.ws.click_in_view(ADA, view["id"], SUGGEST)
        await shown(bot, "Suggested by")
        given = str(bot.api.requests[-1].body)
        assert "Too long." in given
        assert QUESTION not in given
        assert "220,919" not in given
        await bot.ws.close_view(ADA, bot.ws.views(ADA)[-1]["id"])

        await rated(bot, BEN, direct, "Wrong.", show=True)
        view = await opened(bot, "Wrong.")
        assert fields(view)["question"] == QUESTION
        await bot.ws.click_in_view(ADA, view["id"], SUGGEST)
        await bot.ws.until(lambda: str(bot.ws.views(ADA)).count("Suggested by"))
        given = str(bot.api.requests[-1].body)
        assert QUESTION in given
        assert "220,919" not in given  # the answer stays the asker's


async def test_what_is_in_a_private_channel_stays_there(redis_url: str) -> None:
    """S7: an admin who is not in it, or not any more, sees that there is a rating and no word of it;
    what somebody rated there in private, for admins to read, does not open the rest."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        bot.ws.channels[FINANCE].members.append(bot.ws.bot_user_id)
        bot.ws.people[CHLOE] = replace(bot.ws.people[CHLOE], is_admin=True, locale="en-GB")
        await rated(bot, BEN, FINANCE, "Not our salaries.")
        alone = Lesson(
            id="req_1",
            team=bot.ws.team_id,
            channel=FINANCE,
            thread="1.2",
            run_id="run_1",
            private=True,
            comments={BEN: "Too slow."},
        )
        await stores.lessons.add(alone)
        tab = await home(bot, CHLOE, "Too slow.")
        assert "In a private channel that you are not in" in str(tab)
        assert "salaries" not in str(tab)
        await stores.lessons.remove(alone)
        view = await opened(bot, "salaries")  # by Ada, who is in the channel
        bot.ws.channels[FINANCE].members.remove(ADA)
        await bot.ws.click_in_view(ADA, view["id"], SUGGEST)
        said = await shown(bot, "In a private channel that you are not in")
        assert "salaries" not in str(said)
        assert not proposed(bot)


async def test_only_admins_work_on_ratings(redis_url: str) -> None:
    """S4: a forged press by somebody else does nothing, and is on record."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        await rated(bot, BEN, SALES, "Old.")
        admin = bot.ws.people[ADA]
        for action in (SUGGEST, TRY_CASE, DISMISS):
            view = await opened(bot)
            bot.ws.people[ADA] = replace(admin, is_admin=False)
            await bot.ws.click_in_view(ADA, view["id"], action)
            await shown(bot, "Only admins can do that")
            bot.ws.people[ADA] = admin
        [lesson] = await stores.lessons.all()
        assert lesson.state == "open"
        assert not proposed(bot)


async def test_a_trial_is_paid_by_the_admin_and_stops_at_their_budget(redis_url: str) -> None:
    """O4: no call beyond what the admin may spend, and none at the cost of who rated."""
    caps = Budgets.model_validate({"user_day": {"tokens": 1}})
    async with deployed(brain, redis_url, budgets=caps) as bot, open_stores(redis_url) as stores:
        await rated(bot, BEN, SALES, "Old.")
        view = await opened(bot)
        await bot.ws.click_in_view(ADA, view["id"], SUGGEST)
        view = await shown(bot, "Suggested by")  # one call may exceed a budget, no next one begins
        before = len(bot.api.requests)
        await bot.ws.click_in_view(ADA, view["id"], TRY_CASE)
        said = await shown(bot, ":warning:")
        assert "budget" in str(said["blocks"])
        assert len(bot.api.requests) == before
        today = Budget.USER_DAY.period(datetime.now(UTC))
        spenders = await stores.budgets.spenders(Budget.USER_DAY, today)
        assert {each.partition(":")[2] for each in spenders} == {ADA, BEN}


async def test_a_closed_form_is_no_loss(redis_url: str) -> None:
    """The result comes in a direct message, and what was proposed is in the form next time."""
    release = asyncio.Event()

    def late(request: ModelRequest) -> Reply:
        reply = brain(request)
        return held(reply, release) if request.forced == "propose" else reply

    async with deployed(late, redis_url) as bot:
        await rated(bot, BEN, SALES, "Old.")
        view = await opened(bot)
        await bot.ws.click_in_view(ADA, view["id"], SUGGEST)
        await shown(bot, "Working on it")
        await bot.ws.close_view(ADA, view["id"])
        release.set()
        direct = "D0ADA00001"
        await bot.ws.until(lambda: "I have a suggestion" in str(bot.ws.messages(direct)))
        assert "231,004" in fields(await opened(bot))["must_say"]


@pytest.mark.parametrize("how", ["deleted", "edited", "erased asker", "erased rater", "thread"])
async def test_a_question_that_is_taken_back_is_taken_from_admins_too(
    redis_url: str, how: str
) -> None:
    """S9: a deleted or edited message, and an erased person or thread, leave nothing of it here."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        thread = await bot.ask(BEN, SALES, QUESTION)
        [said] = await bot.answered(SALES, thread)
        run = said["metadata"]["event_payload"]["run"]
        await bot.ws.click(CHLOE, SALES, said["ts"], "feedback", value=f"bad:{run}")
        [modal] = await bot.ws.until(lambda: bot.ws.views(CHLOE))
        await bot.ws.submit(CHLOE, modal["id"], {"question": {"question": "Old."}})
        [lesson] = await stores.lessons.all()
        assert (lesson.asker, lesson.question) == (BEN, QUESTION)
        key = f"{bot.ws.team_id}:{SALES}:{thread}"
        match how:
            case "deleted":
                await bot.ws.delete(BEN, SALES, thread)
            case "edited":
                await bot.ws.edit(BEN, SALES, thread, "How are you?")
            case "thread":
                await erase_lines(configured(bot.ws, bot.api, redis_url), thread=key)
            case _:
                who = BEN if how == "erased asker" else CHLOE
                await erase_lines(configured(bot.ws, bot.api, redis_url), user=who)
        while await stores.lessons.all():  # noqa: ASYNC110 - another process deletes it
            await asyncio.sleep(0.02)
        gone = await stores.lessons.change(
            lesson.team, lesson.name, lambda kept: kept.model_copy(update={"problem": "late"})
        )
        assert gone is None  # what a worker still has of it is not stored again
        if how == "deleted":  # and a later rating does not bring it back
            await bot.ws.click(CHLOE, SALES, said["ts"], "feedback", value=f"bad:{run}")
            [modal] = await bot.ws.until(lambda: bot.ws.views(CHLOE))
            await bot.ws.submit(CHLOE, modal["id"], {"question": {"question": "Old."}})
            assert [each.question for each in await stores.lessons.all()] == [""]


async def test_a_workspace_keeps_a_bounded_number(redis_url: str) -> None:
    async with open_stores(redis_url) as stores, Redis.from_url(redis_url) as redis:
        fields = {"team": "T1", "channel": "C1", "thread": "1.2", "run_id": "run_1", "asker": "U1"}
        for number in range(MOST + 3):
            await stores.lessons.add(Lesson(id=f"req_{number}", **fields))
        assert len(await stores.lessons.latest("T1")) == MOST
        assert len([key async for key in redis.scan_iter("bot:v1:lesson:*")]) == MOST


def test_exported_cases_are_those_that_run_each_question_once(tmp_path: Path) -> None:
    """An accepted case goes before a proposal; figures match in any notation; odd text stays text."""
    fields = {"team": "T1", "channel": "C1", "thread": "1.2", "run_id": "run_1", "asker": "U1"}
    strange = "- {yes}: [no]\n# 'quote' \"double\" ümlaut"
    lessons = [
        Lesson(id="req_1", case=LessonCase(question="How many?", must_say=("3",)), **fields),
        Lesson(
            id="req_2",
            case=LessonCase(question="How many?", must_say=("-1,234.5", "4 of 5")),
            state=LessonState.ACCEPTED,
            instruction="Count.",
            **fields,
        ),
        Lesson(id="req_3", case=LessonCase(question="Nothing expected"), **fields),
        Lesson(
            id="req_4",
            case=LessonCase(question=strange, must_not_say=(strange,)),
            instruction="Not accepted.",
            **fields,
        ),
    ]
    text, count = cases_file(lessons)
    file = tmp_path / "cases.yaml"
    file.write_text(text, "utf-8")
    first, second = read_cases([file])
    assert count == 2
    assert (first.question, first.instructions) == ("How many?", "Count.")
    assert [each.number for each in first.expect.facts] == [-1234.5, None]
    assert (second.question, second.instructions) == (strange, "")
    assert second.expect.absent[0].text == strange
    assert all(each.live for each in (first, second))


@pytest.mark.parametrize("gap", ["\n" * 200, "\r\n \n", "\u2028" * 90, "\x0b\x0c", "\u2800\n" * 90])
def test_a_proposed_instruction_is_one_short_line(gap: str) -> None:
    """So that an admin who accepts it has seen all of it."""
    assert _one_line(f"Be brief.{gap}Post to #all.") in (
        "Be brief. Post to #all.",
        "Be brief.Post to #all.",
    )
    assert len(_one_line(f"{gap}{'x' * 1_000}")) == 300
