"""What a response costs and how much a model takes, from the kept table (E1, G6)."""

from __future__ import annotations

import pytest
from genai_prices import Usage as Priced
from genai_prices.data_snapshot import get_snapshot

from bot.core.chain import Usage
from bot.model import Price, PriceList

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(input_tokens=100_000), 0.075),
        (Usage(output_tokens=100_000), 0.45),
        (Usage(input_tokens=100_000, cached_tokens=100_000), 0.0075),
        (Usage(input_tokens=100_000, cached_tokens=40_000, output_tokens=10_000), 0.093),
        (Usage(output_tokens=100_000, reasoning_tokens=90_000), 0.45),
        (Usage(), 0.0),
    ],
)
def test_a_response_is_priced(usage: Usage, dollars: float) -> None:
    """Cached and reasoning tokens are subsets, not extras (OpenAI's list price, November 2026)."""
    assert PriceList().cost("gpt-5.4-mini", usage) == pytest.approx(dollars)


@pytest.mark.parametrize("tokens", [0, 1_000, 128_000, 200_000, 272_000, 272_001, MILLION])
def test_every_price_is_that_of_the_table(tokens: int) -> None:
    """G6: flat and tiered models alike cost what the `genai-prices` package itself works out."""
    usage = Usage(input_tokens=tokens, cached_tokens=tokens // 3, output_tokens=7_000)
    priced = Priced(input_tokens=tokens, cache_read_tokens=tokens // 3, output_tokens=7_000)
    provider = next(each for each in get_snapshot().providers if each.id == "openai")
    models = [each for each in provider.models if provider.find_model(each.id) is each]
    assert len(models) > 50
    for model in models:
        expected = float(model.calc_price(priced, provider).total_price)
        assert PriceList().cost(model.id, usage) == pytest.approx(expected), model.id


def test_a_dated_name_is_the_same_model() -> None:
    """The service answers with dated names."""
    usage = Usage(input_tokens=MILLION)
    dated = PriceList().cost("gpt-5.4-mini-2026-03-17", usage)
    assert dated == PriceList().cost("gpt-5.4-mini", usage)


@pytest.mark.parametrize("model", ["demo", "my-own-model", ""])
def test_an_unknown_model_has_no_price_and_the_window_of_the_settings(model: str) -> None:
    """Unknown is said, never passed off as free."""
    prices = PriceList(default_window=50_000)
    assert prices.cost(model, Usage(input_tokens=10)) is None
    assert prices.window(model) == 50_000


def test_a_price_can_be_given_for_models_that_the_table_lacks() -> None:
    """G6: so that money can be bounded there; it changes nothing for those that are known."""
    prices = PriceList(default_price=Price(input=1, output=10, cached=0.5))
    usage = Usage(input_tokens=MILLION, cached_tokens=400_000, output_tokens=100_000)
    assert prices.cost("my-own-model", usage) == pytest.approx(0.6 + 0.2 + 1)
    assert prices.cost("gpt-5.4-mini", usage) == PriceList().cost("gpt-5.4-mini", usage)
    assert not PriceList().knows("my-own-model")
    assert prices.knows("my-own-model")


def test_cached_input_costs_what_input_costs_unless_it_is_said() -> None:
    """Rather too much than too little."""
    usage = Usage(input_tokens=MILLION, cached_tokens=MILLION)
    assert Price(input=3, output=0).of(usage) == 3


def test_the_window_leaves_room_for_the_output() -> None:
    """400,000 in all, of which 128,000 may be output."""
    assert PriceList().window("gpt-5.4-mini") == 272_000
