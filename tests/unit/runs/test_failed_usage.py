"""What a failed response used is charged and measured as the service says it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, cast

import pytest

from bot.core.errors import ModelError
from bot.dev.model import Script
from bot.model import whole_response
from bot.model.decoding import read_response
from bot.model.types import ModelRequest, Progress
from bot.runs.run import Run
from bot.settings import ChannelTable
from bot.store import Stores
from bot.telemetry.metrics import Metrics
from tests.support.redis import asked
from tests.support.runs import bot_with

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
    item = {"role": "user", "content": "x" * 1_500}
    async with bot_with(stores, Script([])) as bot:
        deps = replace(bot.runner.deps, observers=(metrics,))
        spending = Run.of_job(deps, request, ChannelTable(), "run_1").spending
        with pytest.raises(ModelError):
            await whole_response(spending.model(Failing(body)), ModelRequest("m", "", (item,), ()))
        today, _ = await deps.budgets.of_person(request.team, request.user)
    return today.position.spent.tokens


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
