"""Budgets as people meet them in Slack: the refusal, who may raise it, the kill switch (G6)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.budgets import Account, Budget, Cap, OverBudget, Spent, accounts_of
from bot.core.ids import new_id
from bot.core.outcome import RunStatus
from bot.dev.model import Script, finish
from bot.dev.workspace import ADA, BEN, EVE, GUS
from bot.runs.policy.access import Policy
from bot.runs.policy.budgets import Budgets
from bot.slack.ui import buttons, words
from bot.slack.ui.outcome import render
from bot.store import open_stores
from tests.support.deployment import Deployment, deployed
from tests.support.redis import asked
from tests.support.runs import answer
from tests.unit.slack.samples import REQUEST, outcome

GENERAL = "C0GENERAL1"
PARTNERS = "C0PARTNER1"  # shared with another organisation
ONE_ANSWER = Budgets(channel_day=Cap(tokens=1))
HALF, DOUBLE = f"{buttons.RAISE}_half", f"{buttons.RAISE}_double"


def answers(count: int) -> Script:
    return Script([finish(answer())] * count)


async def refused(bot: Deployment, channel: str = GENERAL) -> dict[str, Any]:
    """The terminal of a question that came when the budget was used up by another."""
    first = await bot.ask(ADA, channel, "first?")
    await bot.answered(channel, first)
    second = await bot.ask(ADA, channel, "second?")
    [terminal] = await bot.answered(channel, second)
    return terminal


async def spend(redis_url: str, team: str, tokens: int) -> None:
    """What others have spent today in the channel."""
    request = asked().model_copy(update={"team": team, "channel": GENERAL})
    accounts = accounts_of(request, datetime.now(UTC))
    async with open_stores(redis_url) as stores:
        await stores.budgets.settle(accounts, Spent(tokens=tokens), new_id("call"))


async def told(bot: Deployment, user: str) -> str:
    """The last thing that was said to `user` alone."""
    found = await bot.ws.until(
        lambda: [
            each.args["text"]
            for each in bot.ws.effects
            if each.method == "chat.postEphemeral" and each.args["user"] == user
        ]
    )
    return str(found[-1])


async def forge(bot: Deployment, value: str) -> str:
    """A message with a button that raises a budget of somebody's own making."""
    element = buttons.raise_buttons(_over())["elements"][0] | {"value": value}
    client = AsyncWebClient(token=bot.ws.bot_token, base_url=bot.ws.api_url)
    posted = await client.chat_postMessage(
        channel=GENERAL, text="…", blocks=[{"type": "actions", "elements": [element]}]
    )
    return str(posted["ts"])


def _over(**changes: Any) -> OverBudget:
    fields = {"budget": Budget.USER_DAY, "holder": "T1:U1", "period": "2026-11-21"}
    return OverBudget(account=Account.model_validate(fields | changes))


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.PARTIAL])
def test_a_raise_is_offered_before_a_retry(status: RunStatus) -> None:
    """U15: a retry is refused as well until somebody has raised the budget."""
    refused = outcome(status=status, over=_over()).model_copy(update={"result": None})
    shown = str(render(refused, REQUEST).parts[-1].blocks)
    assert shown.index(buttons.RAISE) < shown.index(buttons.RETRY)


async def test_a_refusal_says_what_and_offers_to_raise_it(redis_url: str) -> None:
    """G6: one terminal message, with Retry; no model was asked for it."""
    async with deployed(answers(1), redis_url, budgets=ONE_ANSWER) as bot:
        shown = str((await refused(bot))["blocks"])
    assert "Today's budget for this channel is used up" in shown
    for each in (words.RETRY(), words.RAISE_HALF(), words.RAISE_DOUBLE(), "$0.00"):
        assert each in shown
    assert len(bot.api.requests) == 1


async def test_an_admin_raises_a_budget_and_the_question_is_answered(redis_url: str) -> None:
    """G6: everybody in the thread reads who did it; pressing twice raises it once."""
    budgets = Budgets(channel_day=Cap(tokens=1_000_000))
    async with deployed(answers(1), redis_url, budgets=budgets) as bot:
        await spend(redis_url, bot.ws.team_id, 1_000_000)
        [terminal] = await bot.answered(GENERAL, await bot.ask(ADA, GENERAL, "how many?"))
        thread, ts = terminal["thread_ts"], terminal["ts"]
        await bot.ws.click(ADA, GENERAL, ts, DOUBLE)
        said = await bot.ws.until(
            lambda: [m for m in bot.own(GENERAL, thread) if "raised" in m["text"]]
        )
        await bot.ws.click(ADA, GENERAL, ts, DOUBLE)
        assert "already" in await told(bot, ADA)
        await bot.ws.click(BEN, GENERAL, ts, buttons.RETRY)
        answered = await bot.answered(GENERAL, thread, 2)
    assert [each["text"] for each in said] == [
        "Ada Lovelace raised the budget of this channel for today to 2,000,000 billed tokens."
    ]
    assert "Two." in str(answered[-1]["blocks"])


async def test_nobody_else_raises_a_budget(redis_url: str) -> None:
    """G6: decided when the button is pressed; they are told, and nothing changes."""
    async with deployed(answers(1), redis_url, budgets=ONE_ANSWER) as bot:
        terminal = await refused(bot)
        for user in (BEN, GUS):
            await bot.ws.click(user, GENERAL, terminal["ts"], HALF)
            assert "Only admins" in await told(bot, user)
        [again] = await bot.answered(GENERAL, await bot.ask(ADA, GENERAL, "and now?"))
        assert "is used up" in str(again["blocks"])
        assert not any("raised" in m["text"] for m in bot.own(GENERAL, terminal["thread_ts"]))


async def test_an_admin_of_another_organisation_is_none_here(redis_url: str) -> None:
    """G6, reliability 9: even one whose id stands in the settings."""
    access = Policy(admins=(EVE,))
    async with deployed(answers(1), redis_url, budgets=ONE_ANSWER, access=access) as bot:
        bot.ws.people[EVE].is_admin = True
        terminal = await refused(bot, PARTNERS)
        await bot.ws.click(EVE, PARTNERS, terminal["ts"], HALF)
        assert "Only admins" in await told(bot, EVE)


async def test_members_can_be_made_admins_of_the_bot(redis_url: str) -> None:
    """`[access] admins`."""
    access = Policy(admins=(BEN,))
    async with deployed(answers(1), redis_url, budgets=ONE_ANSWER, access=access) as bot:
        terminal = await refused(bot)
        await bot.ws.click(BEN, GENERAL, terminal["ts"], HALF)
        thread = terminal["thread_ts"]
        await bot.ws.until(
            lambda: any("Ben Okafor raised" in m["text"] for m in bot.own(GENERAL, thread))
        )


@pytest.mark.parametrize(
    "value",
    [
        "",
        "{}",
        "null",
        _over(holder="T2:U1").model_dump_json(),
        _over(holder="T1:U1\r\nSET x y").model_dump_json(),
        _over(budget=Budget.CHANNEL_DAY, holder="T1:C0SALES001").model_dump_json(),
        _over().model_dump_json().replace("user_day", "user_year"),
    ],
)
async def test_a_value_that_is_not_ours_raises_nothing(redis_url: str, value: str) -> None:
    """G6: not even for an admin; another team's, another channel's, or none at all."""
    async with deployed(answers(0), redis_url, budgets=ONE_ANSWER) as bot:
        ts = await forge(bot, value.replace("T1", bot.ws.team_id) or " ")
        await bot.ws.click(ADA, GENERAL, ts, HALF)
        assert await told(bot, ADA) == words.NOT_OURS()


async def test_an_admin_pauses_the_bot_and_lets_it_work_again(redis_url: str) -> None:
    """The kill switch: who asks meanwhile is told who paused it, and answered after it; nobody else
    can."""
    async with deployed(answers(1), redis_url) as bot:
        no = await bot.ws.command(BEN, GENERAL, "/ask", "admin pause")
        yes = await bot.ws.command(ADA, GENERAL, "/ask", "Admin  pause")
        asked = await bot.ask(BEN, GENERAL, "hello?")
        await bot.ws.until(lambda: "by Ada Lovelace" in bot.ws.status(GENERAL, asked).text)
        assert bot.api.requests == []
        again = await bot.ws.command(ADA, GENERAL, "/ask", "admin resume")
        [terminal] = await bot.answered(GENERAL, asked)
    assert "Only admins" in no["text"]
    assert (yes["text"], again["text"]) == (words.PAUSED(), words.RESUMED())
    assert "Two." in str(terminal["blocks"])


async def test_the_home_tab_says_what_ones_questions_cost(redis_url: str) -> None:
    """G6: today and this month, against one's own budget."""
    async with deployed(answers(1), redis_url, budgets=Budgets(user_day=Cap(cost=2))) as bot:
        await bot.answered(GENERAL, await bot.ask(ADA, GENERAL, "first?"))
        await bot.ws.open_home(ADA)
        home = await bot.ws.until(lambda: bot.ws.home(ADA))
    assert home is not None
    shown = str(home["blocks"])
    assert "Today: $0.0" in shown
    assert "of $2.00" in shown
    assert "This month: $0.0" in shown


def test_the_foot_of_an_answer_carries_the_warning() -> None:
    """G6: beside the price, in the same small line."""
    warned = outcome(warnings=("85 % of your budget for today is used ($1.70 of $2.00).",))
    foot = render(warned, REQUEST).parts[0].blocks[-1]
    assert foot["type"] == "context"
    assert "$0.0123" in foot["elements"][0]["text"]
    assert "85 % of your budget for today is used" in foot["elements"][0]["text"]
