"""Ratings of answers, what operators read of them, and instructions that admins try and save."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.cli.operator import erase_lines
from bot.core.budgets import Budget
from bot.core.request import Entry, Request
from bot.dev.model import ModelRequest, Reply, finish, held
from bot.dev.workspace import ADA, BEN, CHLOE
from bot.evals.cases import read_cases
from bot.features.feedback import words
from bot.features.feedback.instructions_form import CHOOSE, INSTEAD, TRY
from bot.features.feedback.ratings import MAX_COMMENTS, Feedback, RatedQuestion
from bot.features.feedback.report import cases_file
from bot.features.feedback.slack_part import FEEDBACK
from bot.features.feedback.store import MOST, RatedQuestions, Ratings
from bot.features.skills.home import CHOOSE as SKILLS
from bot.features.skills.skill_form import DELETE, EARLIER, MORE
from bot.features.skills.skill_form import TRY as TRY_SKILL
from bot.features.skills.written import WrittenSkill, WrittenSkills
from bot.runs.policy.budgets import Budgets
from bot.runs.trials import TrialCase
from bot.store import Stores, open_stores
from tests.support.deployment import Deployment, configured, deployed
from tests.support.runs import answer
from tests.unit.slack.test_home import home
from tests.unit.test_commands import bot as command

SALES, DIRECT = "C0SALES001", "D0BEN00001"
QUESTION = "How much did we sell?"
RULE = "Use the figures of this year."
NOW = datetime.now(UTC)


def brain(request: ModelRequest) -> Reply:
    """A model that answers right once it is told how."""
    is_right = RULE in request.instructions
    return finish(answer("We sold 231004." if is_right else "We sold 220,919."))


async def rated(
    bot: Deployment, user: str, channel: str, comment: str, *, show: bool = False
) -> None:
    """Somebody asks, rates the answer bad and says why."""
    thread = await bot.ask(user, channel, QUESTION)
    [message] = await bot.answered(channel, thread)
    await commented(bot, user, channel, message, comment, show=show)


async def commented(
    bot: Deployment,
    user: str,
    channel: str,
    message: dict[str, Any],
    comment: str,
    *,
    show: bool = False,
) -> None:
    run = message["metadata"]["event_payload"]["run"]
    await bot.ws.click(user, channel, message["ts"], FEEDBACK, value=f"bad:{run}")
    [modal] = await bot.ws.until(lambda: bot.ws.views(user))
    is_private = channel.startswith("D")  # before it is sent, the form says what operators read
    told = "only if you tick the box" if is_private else "read your comment and the question"
    assert told in str(modal["blocks"]) or user == CHLOE  # who reads German
    assert ("checkboxes" in str(modal["blocks"])) is is_private
    values: dict[str, Any] = {"question": {"question": comment}}
    if show:
        box = {"type": "checkboxes", "selected_options": [{"value": "show_question"}]}
        values["show_question"] = {"show_question": box}
    assert await bot.ws.submit(user, modal["id"], values) == {}


async def test_a_rating_counts_at_once_and_its_comment_joins_it(redis_url: str) -> None:
    """With the run, the person and the place of the answer. A good one is thanked for; a comment may be
    left out."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        thread = await bot.ask(ADA, SALES, QUESTION)
        [message] = await bot.answered(SALES, thread)
        run = message["metadata"]["event_payload"]["run"]
        await bot.ws.click(BEN, SALES, message["ts"], FEEDBACK, value=f"good:{run}")
        await bot.ws.until(lambda: words.THANKS() in str(bot.ws.messages(SALES, thread, BEN)))
        await bot.ws.click(ADA, SALES, message["ts"], FEEDBACK, value=f"bad:{run}")
        [modal] = await bot.ws.until(lambda: bot.ws.views(ADA))
        bad, good = await Ratings.of(stores).latest(9)
        assert (bad.verdict, good.verdict, bad.comment) == ("bad", "good", "")
        assert (good.run_id, good.user) == (run, BEN)
        assert (good.channel, good.message) == (SALES, message["ts"])
        await bot.ws.submit(ADA, modal["id"], {"question": {"question": ""}})
        assert len(await Ratings.of(stores).latest(9)) == 2
        assert await RatedQuestions.of(stores).all() == []
        await commented(bot, ADA, SALES, message, "  Old\x00 figures. ")
        bad, _ = await Ratings.of(stores).latest(9)
        assert (bad.verdict, bad.comment) == ("bad", "Old figures.")
        [question] = await RatedQuestions.of(stores).all()
        assert (question.asker, question.question) == (ADA, QUESTION)
        assert question.comments == {ADA: "Old figures."}


async def test_of_a_private_answer_operators_read_only_what_its_asker_shows(
    redis_url: str,
) -> None:
    """S7: the form says so before it is sent."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        await rated(bot, BEN, DIRECT, "Too long.")
        await rated(bot, BEN, DIRECT, "Wrong.", show=True)
        shown, hidden = await RatedQuestions.of(stores).all()
        assert (hidden.question, shown.question) == ("", QUESTION)
        assert cases_file([hidden])[1] == 0


@pytest.mark.parametrize("how", ["deleted", "edited", "erased asker", "erased rater", "thread"])
async def test_a_question_that_is_taken_back_is_taken_from_operators_too(
    redis_url: str, how: str
) -> None:
    """S9: a deleted or edited message, and an erased person or thread, leave nothing of it here."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        questions = RatedQuestions.of(stores)
        thread = await bot.ask(BEN, SALES, QUESTION)
        [message] = await bot.answered(SALES, thread)
        await commented(bot, CHLOE, SALES, message, "Old.")
        [question] = await questions.all()
        assert (question.asker, question.question) == (BEN, QUESTION)
        match how:
            case "deleted":
                await bot.ws.delete(BEN, SALES, thread)
            case "edited":
                await bot.ws.edit(BEN, SALES, thread, "How are you?")
            case "thread":
                key = f"{bot.ws.team_id}:{SALES}:{thread}"
                await erase_lines(configured(bot.ws, bot.api, redis_url), thread=key)
            case _:
                who = BEN if how == "erased asker" else CHLOE
                await erase_lines(configured(bot.ws, bot.api, redis_url), user=who)
        while await questions.all():  # noqa: ASYNC110 - another process deletes it
            await asyncio.sleep(0.02)
        if how == "deleted":  # and a later rating does not bring it back
            await commented(bot, CHLOE, SALES, message, "Old.")
            assert [rated.question for rated in await questions.all()] == [""]


def rating(run: str, user: str = "U1", **more: object) -> Feedback:
    fields = {"run_id": run, "user": user, "verdict": "bad", "team": "T1", "channel": "C1"}
    return Feedback.model_validate(fields | more)


async def test_the_newest_comes_first_and_a_person_counts_once_per_run(
    stores: Stores, redis: Redis
) -> None:
    """Who changes their mind, or adds a comment, replaces what they said. What cannot be read is left
    out (reliability 8)."""
    ratings = Ratings.of(stores)
    await ratings.save(rating("run_1", at=NOW - timedelta(minutes=5)))
    await ratings.save(rating("run_2", at=NOW - timedelta(minutes=4)))
    await ratings.save(rating("run_1", "U2", at=NOW - timedelta(minutes=3)))
    await ratings.save(rating("run_1", at=NOW, comment="Wrong year."))
    newest, *others = await ratings.latest(10)
    assert (newest.run_id, newest.user, newest.comment) == ("run_1", "U1", "Wrong year.")
    assert [(each.run_id, each.user) for each in others] == [("run_1", "U2"), ("run_2", "U1")]
    assert len(await ratings.latest(2)) == 2
    await redis.set("bot:v1:feedback:run_1:U1", "{half", ex=60)
    assert await ratings.latest(10) == others


async def test_a_workspace_keeps_a_bounded_number_of_questions(
    stores: Stores, redis: Redis
) -> None:
    """So does a question of comments."""
    questions = RatedQuestions.of(stores)
    fields = {"team": "T1", "channel": "C1", "thread": "1.2", "run_id": "run_1", "asker": "U1"}
    for number in range(MOST + 3):
        await questions.comment(RatedQuestion(id=f"req_{number}", **fields), "U1", "Old.")
    assert len(await questions.all()) == MOST
    assert len([key async for key in redis.scan_iter("bot:v1:lesson:*")]) == MOST
    last = RatedQuestion(id=f"req_{MOST}", **fields)
    for number in range(MAX_COMMENTS):
        await questions.comment(last, f"U{number + 2}", "Old.")
    [question] = [each for each in await questions.all() if each.id == last.id]
    assert len(question.comments) == MAX_COMMENTS
    assert "U1" not in question.comments


async def test_feedback_is_listed_and_exported(
    tmp_path: Path, stores: Stores, redis_url: str
) -> None:
    """For whoever runs the bot: as a table, as JSON, or as cases."""
    ratings = Ratings.of(stores)
    await ratings.save(rating("run_1", verdict="good", at=NOW))
    await ratings.save(rating("run_2", comment="Old\nfigures.", at=NOW + timedelta(minutes=1)))
    listed = await command(tmp_path, "feedback", REDIS_URL=redis_url)
    assert listed.code == 0, listed.err
    assert "run_2" in listed.out.splitlines()[1]
    assert "Old figures." in listed.out
    assert "1 good, 1 bad." in listed.out
    as_json = await command(tmp_path, "feedback", "--json", "--limit", "1", REDIS_URL=redis_url)
    [line] = as_json.out.splitlines()
    assert json.loads(line)["comment"] == "Old\nfigures."
    asked = Request(
        entry=Entry.MENTION,
        team="T1",
        channel="C1",
        thread="1.2",
        ts="1.2",
        user="U1",
        text=QUESTION,
    )
    question = RatedQuestion.of(rating("run_2"), [asked], show_question=False)
    await RatedQuestions.of(stores).comment(question, "U1", "Old\nfigures.")
    file = tmp_path / "feedback.yaml"
    done = await command(tmp_path, "feedback", "--evals", str(file), REDIS_URL=redis_url)
    assert done.code == 0, done.err
    assert "`expect`" in done.out
    unfinished = await command(tmp_path, "eval", str(file), OPENAI_API_KEY="x")
    assert "expects nothing: give facts" in unfinished.err
    text = file.read_text("utf-8")
    assert "# Old figures.\n" in text
    file.write_text(text.replace("expect: {}", "expect: {facts: [{number: 231004}]}"), "utf-8")
    [case] = read_cases([file])
    assert (case.question, case.live) == (QUESTION, True)


def test_cases_of_an_earlier_release_are_exported_as_admins_finished_them(tmp_path: Path) -> None:
    """An accepted case goes before a proposal; figures match in any notation; odd text stays text."""
    fields = {"team": "T1", "channel": "C1", "thread": "1.2", "run_id": "run_1", "asker": "U1"}
    strange = "- {yes}: [no]\n# 'quote' \"double\" ümlaut"
    questions = [
        RatedQuestion(id="req_1", case=TrialCase(question="How many?", must_say=("3",)), **fields),
        RatedQuestion(
            id="req_2",
            case=TrialCase(question="How many?", must_say=("-1,234.5", "4 of 5")),
            state="accepted",
            instruction="Count.",
            **fields,
        ),
        RatedQuestion(id="req_3", case=TrialCase(question="Nothing expected"), **fields),
        RatedQuestion(
            id="req_4",
            case=TrialCase(question=strange, must_not_say=(strange,)),
            instruction="Not accepted.",
            comments={"U1": strange},
            **fields,
        ),
    ]
    text, count = cases_file(questions)
    file = tmp_path / "cases.yaml"
    file.write_text(text, "utf-8")
    first, second = read_cases([file])
    assert count == 2
    assert (first.question, first.instructions) == ("How many?", "Count.")
    assert [fact.number for fact in first.expect.facts] == [-1234.5, None]
    assert (second.question, second.instructions) == (strange, "")
    assert second.expect.absent[0].text == strange
    assert all(case.live for case in (first, second))


async def opened(bot: Deployment) -> dict[str, Any]:
    """The form of a channel's instructions, opened by an admin from their Home tab."""
    tab = await home(bot, ADA, CHOOSE)
    await bot.ws.click_in_view(ADA, tab["id"], CHOOSE, value=SALES)
    [view] = await bot.ws.until(lambda: bot.ws.views(ADA))
    return view


def filled(**fields: str) -> dict[str, Any]:
    """What an admin writes into the form."""
    values = {"instructions": RULE, "question": QUESTION, "must_say": "231,004"}
    return {name: {name: value} for name, value in (values | fields).items()}


async def shown(bot: Deployment, text: str) -> dict[str, Any]:
    """The admin's modal, once it holds `text`."""
    await bot.ws.until(lambda: text in str(bot.ws.views(ADA)))
    return bot.ws.views(ADA)[-1]


async def test_an_admin_tries_instructions_before_they_save_them(
    redis_url: str, tmp_path: Path
) -> None:
    """The case runs before and after; nothing changes until the admin saves."""
    async with deployed(brain, redis_url) as bot:
        view = await opened(bot)
        values = filled(must_not_say="220,919")
        await bot.ws.click_in_view(ADA, view["id"], TRY, values=values)
        view = await shown(bot, "With what is written here: ")
        text = json.dumps(view["blocks"], ensure_ascii=False)
        assert "fails; does not say 231,004; says 220,919" in text
        assert "We sold 231004." in text  # the figure counts in any notation
        assert "This trial cost $" in text

        thread = await bot.ask(BEN, SALES, "And now?")
        [same] = await bot.answered(SALES, thread)
        assert "220,919" in str(same)  # nothing has changed yet
        assert await bot.ws.submit(ADA, view["id"], values) == {}
        thread = await bot.ask(BEN, SALES, "And now again?")
        [changed] = await bot.answered(SALES, thread)
        assert "231004" in str(changed)
        view = await opened(bot)
        assert RULE in str(view["blocks"])
        await bot.ws.click_in_view(ADA, view["id"], f"{INSTEAD}:0", values=filled())
        view = await shown(bot, "What it is for, and when to use it")  # they become a skill instead
        assert await bot.ws.submit(ADA, view["id"], written()) == {}
        log = await command(tmp_path, "audit", "--kind", "administered", REDIS_URL=redis_url)
        assert "channel settings: instructions" in log.out
        assert f"skill {SKILL}: version 1" in log.out


async def test_only_admins_try_and_save_instructions(redis_url: str) -> None:
    """S4: a forged press by somebody else does nothing, and is on record. A case that expects nothing is
    not tried."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        admin, view = bot.ws.people[ADA], await opened(bot)
        await bot.ws.click_in_view(ADA, view["id"], TRY, values=filled(must_say=""))
        view = await shown(bot, "below what its answer must or must not say")
        bot.ws.people[ADA] = replace(admin, is_admin=False)
        await bot.ws.click_in_view(ADA, view["id"], TRY, values=filled())
        await shown(bot, "Only admins can do that")
        bot.ws.people[ADA] = admin
        await bot.ws.close_view(ADA, bot.ws.views(ADA)[-1]["id"])
        view = await opened(bot)
        bot.ws.people[ADA] = replace(admin, is_admin=False)
        reply = await bot.ws.submit(ADA, view["id"], filled())
        assert "Only admins can do that" in str(reply)
        assert bot.api.requests == []
        assert await stores.channels.names(bot.ws.team_id) == []


async def test_a_trial_is_paid_by_the_admin_and_stops_at_their_budget(redis_url: str) -> None:
    """O4: no call beyond what the admin may spend."""
    caps = Budgets.model_validate({"user_day": {"tokens": 1}})
    async with deployed(brain, redis_url, budgets=caps) as bot, open_stores(redis_url) as stores:
        view = await opened(bot)
        await bot.ws.click_in_view(ADA, view["id"], TRY, values=filled())
        await shown(bot, "With what is written here: ")
        assert len(bot.api.requests) == 1  # one call may exceed a budget, no next one begins
        await bot.ws.click_in_view(ADA, view["id"], TRY, values=filled())
        view = await shown(bot, ":warning:")
        assert "budget" in str(view["blocks"])
        assert len(bot.api.requests) == 1
        today = Budget.USER_DAY.period(datetime.now(UTC))
        spenders = await stores.budgets.spenders(Budget.USER_DAY, today)
        assert {spender.partition(":")[2] for spender in spenders} == {ADA}


async def test_a_closed_form_is_no_loss(redis_url: str) -> None:
    """The result comes in a direct message, with the instructions that were tried."""
    release = asyncio.Event()
    async with deployed(lambda request: held(brain(request), release), redis_url) as bot:
        view = await opened(bot)
        await bot.ws.click_in_view(ADA, view["id"], TRY, values=filled())
        await shown(bot, "Working on it")
        await bot.ws.close_view(ADA, view["id"])
        release.set()
        await bot.ws.until(lambda: "We sold 231004." in str(bot.ws.messages("D0ADA00001")))
        [message] = bot.ws.messages("D0ADA00001")
        assert RULE in str(message["blocks"])


async def test_what_was_left_of_proposals_says_what_to_do_now(redis_url: str) -> None:
    """Buttons of an earlier release's Home tab."""
    async with deployed(brain, redis_url) as bot:
        tab = await home(bot, ADA, CHOOSE)
        stored = {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "Old."},
            "accessory": {
                "type": "button",
                "action_id": "open_lesson",
                "text": {"type": "plain_text", "text": "Look into it"},
                "value": "C1:1.2:req_1",
            },
        }
        bot.ws.state.homes[ADA]["blocks"].append(stored)
        await bot.ws.click_in_view(ADA, tab["id"], "open_lesson", value="C1:1.2:req_1")
        await shown(bot, "no longer make proposals from ratings")


SKILL = "sales-figures"


def skilled(request: ModelRequest) -> Reply:
    """A model that answers right once it is told how in a skill."""
    is_right = f"[Acquired: {SKILL}" in request.text and RULE in request.text
    return finish(answer("We sold 231004." if is_right else "We sold 220,919."))


def written(filled_with: int = 0, **fields: str) -> dict[str, Any]:
    """What an admin writes into the form of a skill that was filled in with this version."""
    values = {"description": "Sales.", "text0": RULE} | fields
    inputs = {f"{name}-{filled_with}": value for name, value in values.items()}
    case = {"question": f"${SKILL} {QUESTION}", "must_say": "231,004", "name": SKILL}
    return {name: {name: value} for name, value in (case | inputs).items()}


async def skill_form(bot: Deployment, choice: str) -> dict[str, Any]:
    """The form of a skill, opened by an admin from their Home tab."""
    tab = await home(bot, ADA, SKILLS)
    await bot.ws.click_in_view(ADA, tab["id"], SKILLS, value=choice)
    [view] = await bot.ws.until(lambda: bot.ws.views(ADA))
    return view


async def test_an_admin_writes_a_skill(redis_url: str, tmp_path: Path) -> None:
    """O2 S4: they try it before they save it; then people name it, its use is counted, and the audit log
    has each version with its digest. An earlier version comes back, of a SKILL.md that is pasted only the body
    counts, and a deleted skill is gone. Other people change nothing, and a tool keeps its name."""
    async with deployed(skilled, redis_url) as bot, open_stores(redis_url) as stores:

        async def said(question: str) -> str:
            thread = await bot.ask(BEN, SALES, question)
            [message] = await bot.answered(SALES, thread)
            return str(message["blocks"])

        # A process that was killed before the audit log had a version left nothing that counts.
        store = WrittenSkills.of(stores)
        half = WrittenSkill(name=SKILL, description="Half.", text="Half.")
        assert (await store.numbered(bot.ws.team_id, half)).number == 1
        assert await store.all(bot.ws.team_id) == []
        await store.delete(bot.ws.team_id, SKILL)

        view = await skill_form(bot, "+")
        for name, why in (
            ("Sales Figures", "lower-case letters"),
            ("query-table", "has this name"),
        ):
            reply = await bot.ws.submit(ADA, view["id"], written() | {"name": {"name": name}})
            assert why in str(reply)
        await bot.ws.click_in_view(ADA, view["id"], MORE, values=written())
        view = await shown(bot, "part 2")
        values = written(text1="And say which year it is.")
        await bot.ws.click_in_view(ADA, view["id"], TRY_SKILL, values=values)
        text = json.dumps((await shown(bot, "With what is written here: "))["blocks"])
        assert "fails; does not say 231,004" in text
        assert "We sold 231004." in text
        assert await WrittenSkills.of(stores).all(bot.ws.team_id) == []
        assert await bot.ws.submit(ADA, view["id"], values) == {}
        assert "231004" in await said(f"${SKILL} how much?")
        assert "220,919" in await said("how much?")

        view = await skill_form(bot, SKILL)
        assert await bot.ws.submit(ADA, view["id"], written(1, text0="Guess.")) == {}
        key = stores.redis.key("written-skills", bot.ws.team_id)
        await stores.redis.call("EXPIRE", key, 900)
        assert "220,919" in await said(f"${SKILL} how much now?")
        assert await stores.redis.call("TTL", key) > 900  # kept for longer while people ask
        view = await skill_form(bot, SKILL)
        await bot.ws.click_in_view(ADA, view["id"], EARLIER, value="1")
        view = await shown(bot, "This is version 1")
        assert f"{RULE}\\n\\nAnd say which year it is." in json.dumps(view["blocks"])
        pasted = f"---\nname: other\ndescription: Of a file.\n---\n\n{RULE}"
        assert await bot.ws.submit(ADA, view["id"], written(1, text0=pasted)) == {}
        versions = await WrittenSkills.of(stores).versions(bot.ws.team_id, SKILL)
        assert [(skill.number, skill.text) for skill in versions][:2] == [(3, RULE), (2, "Guess.")]
        used = await command(tmp_path, "usage", REDIS_URL=redis_url)
        [line] = [line for line in used.out.splitlines() if line.startswith(SKILL)]
        assert line.split()[-2:] == ["2", "0"]

        view = await skill_form(bot, SKILL)
        at_once = [written(3, text0=text) for text in ("Ask Ada.", "Ask Ben.")]
        replies = await asyncio.gather(*(bot.ws.submit(ADA, view["id"], each) for each in at_once))
        assert sorted("meanwhile" in str(reply) for reply in replies) == [False, True]
        [current] = await store.all(bot.ws.team_id)
        assert current.text == ("Ask Ada." if replies[0] == {} else "Ask Ben.")
        assert len(await store.versions(bot.ws.team_id, SKILL)) == 4

        view = await skill_form(bot, SKILL)
        admin = bot.ws.people[ADA]
        bot.ws.people[ADA] = replace(admin, is_admin=False)
        reply = await bot.ws.submit(ADA, view["id"], written(4, text0="Anything."))
        assert "Only admins can do that" in str(reply)
        bot.ws.people[ADA] = admin
        view = await skill_form(bot, SKILL)
        await bot.ws.click_in_view(ADA, view["id"], DELETE, value=SKILL)
        await shown(bot, "This skill was deleted.")
        assert "220,919" in await said(f"${SKILL} how much in the end?")
    log = await command(tmp_path, "audit", REDIS_URL=redis_url)
    changes = [line for line in log.out.splitlines() if f"skill {SKILL}" in line]
    changed = [line.partition(f"skill {SKILL}: ")[2] for line in changes if "administered" in line]
    kinds = [what.rpartition(" ")[0] for what in changed]
    assert kinds[:4] == [f"version {number}" for number in (1, 2, 3, 4)]
    assert kinds[-1] == "deleted"
