"""What a failed response used is charged and measured as the service says it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.core.errors import ModelError
from bot.model import PriceList
from bot.model.decoding import read_response
from bot.model.types import ModelRequest, Progress
from bot.runs.policy.estimates import CallEstimates, ExpectedCall
from bot.runs.policy.spending import _SpendingModel
from bot.telemetry.metrics import Metrics

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


class Charging:
    """The part of `Spending` that charges calls."""

    def __init__(self) -> None:
        self.settled = list[object]()

    def expected(self, request: object) -> None: ...

    async def hold(self, call: object, *, is_last: bool) -> None: ...

    async def settle(self, hold: object, spent: object) -> None:
        self.settled.append(spent)

    def estimate(self, call: object, output_bytes: int) -> object:
        return "estimated"

    def count_failed(self, call: object, usage: object) -> object:
        return usage


@pytest.mark.parametrize("usage", [FAILED["usage"], None, {}, {"input_tokens": "x"}])
async def test_the_usage_of_a_failed_response_is_counted_where_it_is_given(usage: object) -> None:
    """O12: the same tokens in the budget and in the metric; without usage, the metric has none."""
    metrics, spending = Metrics(), Charging()
    model = metrics.model(Failing(FAILED | {"usage": usage}), PriceList(100_000))
    charged = _SpendingModel(model, cast(Any, spending))
    request = cast(ModelRequest, SimpleNamespace(model="m", is_last=False))
    with pytest.raises(ModelError):
        _ = [each async for each in charged.respond(request)]
    counted = 'bot_model_tokens_total{kind="input",model="m"} 1000.0' in metrics.text().decode()
    charge = getattr(spending.settled[0], "input_tokens", None)
    assert (counted, charge) == ((True, 1_000) if usage == FAILED["usage"] else (False, None))


async def test_what_a_call_that_broke_off_is_charged_is_measured_apart() -> None:
    """O12: usage and metric add up: the charge of a call without usage is an estimate, labelled so."""
    metrics = Metrics()
    estimates = CallEstimates(PriceList(100_000), None, [metrics.estimated])
    spent = estimates.interrupted(ExpectedCall("m", new_tokens=500), 4_000)
    assert spent.tokens > 500
    said = metrics.text().decode()
    assert f'bot_model_tokens_total{{kind="estimated",model="m"}} {float(spent.tokens)}' in said
    assert 'bot_model_estimated_cost_dollars_total{model="m"}' in said
