"""Models that the operator allows: chosen by people, by admins for a channel, and for *Look deeper*."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core.budgets import Budget, Cap
from bot.core.chain import Usage
from bot.core.errors import ConfigurationError
from bot.core.outcome import RunStatus
from bot.core.request import RepeatReason
from bot.dev.model import ResponsesServer, Script, call, finish, held, text
from bot.dev.workspace import ADA, BEN
from bot.features.home.view import CHANNEL, SETTINGS
from bot.model import ModelChoice, Price, PriceList
from bot.runs.policy.budgets import Budgets
from bot.runs.policy.preferences import PreferenceBook, Preferences
from bot.settings import ChannelTable, ModelSettings
from bot.store import Stores
from tests.support.deployment import Deployment, deployed
from tests.support.redis import asked
from tests.support.runs import MODEL, answer, bot_on, bot_with
from tests.unit.slack.test_home import home

FAST = ModelChoice(name="fast", model="gpt-5.4-nano", effort="low")
LARGE = ModelChoice(name="large", model="gpt-5.4", effort="high")
OWN = ModelChoice(name="own", model="our-own", price=Price(input=1_000, output=1_000))
CHOICES = ModelSettings(choices=(FAST, LARGE, OWN), deeper="large", reasoning="medium")
GENERAL = "C0GENERAL1"
ADD = call("calculate", {"expression": "1+1"})


def asked_models(bot: Any) -> list[tuple[str, str]]:
    """The model and the effort of each request to the service."""
    bodies = [each.body for each in bot.api.requests]
    return [(each["model"], each.get("reasoning", {}).get("effort", "")) for each in bodies]


async def choose(stores: Stores, user: str, name: str) -> None:
    await PreferenceBook(stores.preferences).change("T1", user, Preferences(model=name))


@pytest.mark.parametrize(
    ("person", "channel", "again", "asks"),
    [
        ("", "", None, (MODEL, "medium")),
        ("", "fast", None, ("gpt-5.4-nano", "low")),
        ("large", "fast", None, ("gpt-5.4", "high")),
        ("own", "", None, ("our-own", "medium")),
        ("gone", "fast", None, ("gpt-5.4-nano", "low")),  # the operator took it from the list
        ("fast", "", RepeatReason.DEEPER, ("gpt-5.4", "high")),
        ("fast", "", RepeatReason.REGENERATE, ("gpt-5.4-nano", "low")),
    ],
)
async def test_a_person_comes_before_the_channel_and_go_deeper_before_both(
    stores: Stores, person: str, channel: str, again: RepeatReason | None, asks: tuple[str, str]
) -> None:
    """The answer names the model that it is from."""
    settings = {"C1": ChannelTable(model=channel)} if channel else {}
    async with bot_with(
        stores, Script([finish(answer())]), model=CHOICES, channels=settings, limits={"deeper": 0}
    ) as bot:
        await choose(stores, "U1", person)
        outcome = await bot.ask("1+1?", again=again)
    assert asked_models(bot) == [asks]
    assert outcome.totals.model == asks[0]
    assert outcome.totals.effort == (asks[1] if asks[1] != "medium" else "")


async def test_what_somebody_chose_is_theirs_alone(stores: Stores) -> None:
    """In one thread each question is asked of the model of its asker."""
    script = Script([finish(answer())] * 2)
    async with bot_with(stores, script, model=CHOICES) as bot:
        await choose(stores, "U1", "fast")
        await bot.ask("1+1?")
        await bot.ask("And?", user="U2")
    assert [model for model, _ in asked_models(bot)] == ["gpt-5.4-nano", MODEL]


async def test_a_choice_falls_back_to_the_configured_spare_models(stores: Stores) -> None:
    """H3: without the effort that was chosen for the first; the footer names the one that answered."""
    spare = ("gpt-5.4", "gpt-5.4-nano")
    async with bot_with(
        stores, Script([finish(answer())]), model=CHOICES, openai_fallback_models=spare
    ) as bot:
        await choose(stores, "U1", "fast")
        bot.api.faults.fail("model_not_found", 1)
        outcome = await bot.ask("1+1?")
    assert asked_models(bot)[-1] == ("gpt-5.4", "medium")
    assert (outcome.status, outcome.totals.model) == (RunStatus.SUCCESS, "gpt-5.4")


async def test_a_run_keeps_the_model_with_which_it_began(stores: Stores) -> None:
    """A4: though its asker chooses another one before a worker goes on with it."""
    question = asked("1+1?")
    script = Script([ADD, held(text("never heard"), asyncio.Event()), finish(answer())])
    async with ResponsesServer.open(brain=script) as api:
        await choose(stores, "U1", "fast")
        async with bot_on(stores, api, model=CHOICES) as first:
            working = asyncio.create_task(first.ask(question))
            await api.until(lambda: len(api.requests) == 2 and api.requests[1].response_id)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        await choose(stores, "U1", "large")
        async with bot_on(stores, api, model=CHOICES) as second:
            outcome = await second.ask(question, deaths=1)
    assert asked_models(second) == [("gpt-5.4-nano", "low")] * 3
    assert outcome.totals.model == "gpt-5.4-nano"


async def test_a_run_goes_on_though_the_model_that_it_had_is_not_configured_any_more(
    stores: Stores,
) -> None:
    """A4, H3: neither its choice nor the spare model to which it fell back."""
    question = asked("1+1?")
    script = Script([ADD, held(text("never heard"), asyncio.Event()), finish(answer())])
    async with ResponsesServer.open(brain=script) as api:
        await choose(stores, "U1", "fast")
        spare = ("gpt-5.4",)
        async with bot_on(stores, api, model=CHOICES, openai_fallback_models=spare) as first:
            api.faults.fail("model_not_found", 1)
            working = asyncio.create_task(first.ask(question))
            await api.until(lambda: len(api.requests) == 3 and api.requests[2].response_id)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        async with bot_on(stores, api) as second:
            outcome = await second.ask(question, deaths=1)
    assert [model for model, _ in asked_models(second)] == [
        "gpt-5.4-nano",
        "gpt-5.4",
        "gpt-5.4",
        MODEL,
    ]
    assert (outcome.status, outcome.totals.model) == (RunStatus.SUCCESS, MODEL)


async def test_budgets_use_the_price_of_the_choice(stores: Stores) -> None:
    """G6: of one that the table lacks, and of one that it has."""
    budgets = Budgets(user_day=Cap(cost=1_000))
    script = Script([finish(answer())] * 2)
    async with bot_with(stores, script, model=CHOICES, budgets=budgets) as bot:
        await choose(stores, "U1", "own")
        own = await bot.ask("1+1?")
        await choose(stores, "U1", "fast")
        fast = await bot.ask("And?")
    assert own.totals.cost == pytest.approx(
        (own.totals.input_tokens + own.totals.output_tokens) / 1_000
    )
    assert fast.totals.cost is not None
    assert 0 < fast.totals.cost < 0.01
    assert own.totals.cost is not None
    [spent] = (
        await stores.budgets.spenders(Budget.USER_DAY, f"{datetime.now(UTC):%Y-%m-%d}")
    ).values()
    assert spent.cost == pytest.approx(own.totals.cost + fast.totals.cost)


def test_a_price_that_is_given_replaces_that_of_the_table() -> None:
    usage = Usage(input_tokens=1_000_000)
    prices = PriceList(given={"gpt-5.4": Price(input=7, output=1)})
    assert prices.cost("gpt-5.4", usage) == 7
    assert prices.cost("our-own", usage) is None


async def test_a_choice_without_a_price_is_refused_where_money_is_bounded(stores: Stores) -> None:
    """At the start, by its name."""
    unpriced = ModelSettings(choices=(ModelChoice(name="own", model="our-own"),))
    budgets = Budgets(user_day=Cap(cost=1))
    with pytest.raises(ConfigurationError, match="the price of our-own is not known"):
        async with bot_with(stores, Script([]), model=unpriced, budgets=budgets):
            pass


async def test_people_and_admins_choose_in_the_home_tab(redis_url: str) -> None:
    """Ben for himself, Ada for a channel; what Ben chose is taken back to what the channel has."""

    async def personal(bot: Deployment, value: str) -> None:
        view = await home(bot, BEN, "Your settings")
        await bot.ws.click_in_view(BEN, view["id"], SETTINGS)
        [form] = await bot.ws.until(lambda: bot.ws.views(BEN))
        assert await bot.ws.submit(BEN, form["id"], {"model": {"model": value}}) == {}

    async def answers_with(bot: Deployment, user: str, channel: str, model: str) -> None:
        [message] = await bot.answered(channel, await bot.ask(user, channel, "hello?"))
        assert asked_models(bot)[-1][0] == model
        assert f"{model} · " in str(message["blocks"][-1])

    async with deployed(Script([finish(answer())] * 4), redis_url, model=CHOICES) as bot:
        view = await home(bot, ADA, "For admins")
        await bot.ws.click_in_view(ADA, view["id"], CHANNEL, value=GENERAL)
        [form] = await bot.ws.until(lambda: bot.ws.views(ADA))
        assert f"As in other channels: {MODEL}" in str(form)
        fast = {"model": {"model": "choice:fast"}}
        assert await bot.ws.submit(ADA, form["id"], fast) == {}
        await personal(bot, "choice:large")
        await bot.ws.until(lambda: "large (gpt-5.4, effort high)" in str(bot.ws.home(BEN)))
        await answers_with(bot, BEN, GENERAL, "gpt-5.4")
        await answers_with(bot, ADA, GENERAL, "gpt-5.4-nano")
        await personal(bot, "general")
        await bot.ws.until(lambda: "As in the channel" in str(bot.ws.home(BEN)))
        await answers_with(bot, BEN, GENERAL, "gpt-5.4-nano")
        direct = bot.ws.state.direct(BEN)
        assert direct is not None
        await answers_with(bot, BEN, direct.id, MODEL)
