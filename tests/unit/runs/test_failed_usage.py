"""What a failed response used is charged and measured as the service says it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest

from bot.agent.events import Event
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.core.errors import ModelError
from bot.model import PriceList, whole_response
from bot.model.decoding import read_response
from bot.model.types import ModelRequest, Progress
from bot.runs.policy.budgets import BudgetPolicy, Budgets
from bot.runs.policy.channels import Channels
from bot.runs.policy.estimates import CallEstimates
from bot.runs.policy.spending import Spending
from bot.store import Stores
from bot.telemetry.metrics import Metrics
from tests.support.redis import asked

FAILED = {
    "id": "resp_1",
    "status": "failed",
    "error": {"code": "server_error", "message": "No."},
    "output": [None, {"type": "function_call"}, {"type": "web_search_call"}],
    "usage": {"input_tokens": 1_000, "output_tokens": 50},
}


class Failing:
    """A model whose response fails after some output."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        read_response(self.body)
        yield cast(Progress, None)


async def charged(stores: Stores, metrics: Metrics, body: dict[str, Any]) -> int:
    """Have a run call a model that fails. Return the tokens that its person is charged."""
    request = asked()
    budgets = BudgetPolicy(Budgets(), Channels({}, stores.channels), stores.budgets, stores.pause)
    estimates, listeners = CallEstimates(PriceList(100_000)), [metrics.listener(request)]
    spending = Spending(
        request, "run_1", budgets, {}, estimates, Limits(), Interrupt(), _show, listeners
    )
    item = {"role": "user", "content": "x" * 1_500}
    with pytest.raises(ModelError):
        await whole_response(spending.model(Failing(body)), ModelRequest("m", "", (item,), ()))
    today, _ = await budgets.of_person(request.team, request.user)
    return today.position.spent.tokens


async def _show(_event: Event) -> None: ...


@pytest.mark.parametrize("usage", [FAILED["usage"], None, {}, {"input_tokens": "x"}])
async def test_a_failed_response_is_charged_and_measured_alike(
    stores: Stores, usage: object
) -> None:
    """O12: by its usage where the service gives it, else by an estimate, which the metric labels so."""
    metrics = Metrics()
    charge = await charged(stores, metrics, FAILED | {"usage": usage})
    text = metrics.text().decode()
    if usage == FAILED["usage"]:
        assert charge == 1_050
        assert 'bot_model_tokens_total{kind="input",model="m"} 1000.0' in text
        assert 'kind="estimated"' not in text
    else:
        assert charge > 500
        assert f'bot_model_tokens_total{{kind="estimated",model="m"}} {float(charge)}' in text
        assert 'bot_model_estimated_cost_dollars_total{model="m"}' in text
        assert 'kind="input"' not in text
