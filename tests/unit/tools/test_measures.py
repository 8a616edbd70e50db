"""Units, lots and counts that a model gets wrong by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.errors import ToolError
from bot.services import isolated_interpreters as interpreters
from bot.services.isolated_interpreters import IsolatedInterpreters
from tools.measures import convert_units, count_words, draw_lots

INTERPRETERS = IsolatedInterpreters()


@pytest.mark.parametrize(
    ("value", "unit", "to", "found"),
    [
        (26.2, "mile", "km", "42.1648128 km"),
        (100, "degF", "°C", "37.7777777778 °C"),
        (1, "GiB", "MB", "1,073.741824 MB"),
        (90, "km/h", "m/s", "25 m/s"),
        (3, "kWh", "MJ", "10.8 MJ"),
        (1, "m2", "sq ft", "10.7639104167 sq ft"),
        (100, "C", "F", "212 F"),
        (1, "C", "mAh", "0.277777777778 mAh"),
        (8, "Mb", "MB", "1 MB"),
        (2, "KB", "kb", "16 kb"),
        (100, "PS", "kW", "73.549875 kW"),
        (1, "cm²", "mm²", "100 mm²"),
        (30, "mpg", "l/100km", "7.84048611111 l/100km"),
        (1, "bbl", "l", "158.987294928 l"),
    ],
)
async def test_units_are_converted(value: float, unit: str, to: str, found: str) -> None:
    """V10: also by the names that people give them."""
    assert (
        (await convert_units(value, unit, to, INTERPRETERS)).splitlines()[0].endswith(f"= {found}")
    )


@pytest.mark.parametrize(
    ("unit", "to", "said"),
    [
        ("bbl", "l", "oil_barrel is 42 US gallons of oil"),
        ("ton", "kg", "short ton"),
        ("gallon", "l", "imperial_gallon"),
        ("mpg", "l/100km", "US gallon"),
        ("GB", "MiB", "2^30 are a GiB"),
        ("month", "day", "30.4375"),
    ],
)
async def test_a_unit_of_which_there_is_more_than_one_is_named(
    unit: str, to: str, said: str
) -> None:
    """V10: whoever reads the figure can tell which one was meant."""
    assert said in await convert_units(1, unit, to, INTERPRETERS)
    assert "note" not in await convert_units(1, "mile", "km", INTERPRETERS)


@pytest.mark.parametrize(
    ("unit", "to"),
    [
        ("kg", "m"),
        ("furrow", "m"),
        ("m^99999", "km"),
        ("__import__('os')", "m"),
        ("m^9^9^9", "m"),
        ("m**9**9", "m"),
        ("(m*(m*(m", "m"),
        ("(" * 60, "m"),
    ],
)
async def test_what_is_no_unit_is_explained(
    unit: str, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D3: a slip of the model, not a crash; and no arithmetic that never ends."""
    monkeypatch.setattr(interpreters, "_LIMITS", replace(interpreters._LIMITS, cpu=1.0))
    with pytest.raises(ToolError):
        await convert_units(1, unit, to, INTERPRETERS)


@pytest.mark.parametrize(
    ("unit", "to"),
    [
        ("USD", "EUR"),
        ("usd", "eur"),
        ("$", "€"),
        ("US$", "£"),
        ("dollars", "pounds"),
        ("pounds", "euros"),
        ("EUR/kg", "USD/lb"),
        ("Swiss francs", "yen"),
        ("kg", "GBP"),
        ("BTC", "USD"),
    ],
)
async def test_money_is_said_to_have_no_fixed_rate(unit: str, to: str) -> None:
    """V19: a missing unit is not what is wrong."""
    with pytest.raises(ToolError, match="is money: currencies have no fixed rate"):
        await convert_units(100, unit, to, INTERPRETERS)


@pytest.mark.parametrize(("unit", "to"), [("pounds", "kg"), ("cup", "l")])
async def test_units_that_share_a_name_with_money_are_units(unit: str, to: str) -> None:
    """V19: a pound of flour is no money."""
    assert "money" not in await convert_units(1, unit, to, INTERPRETERS)


def test_lots_draw_each_once() -> None:
    names = [f"person {n}" for n in range(7)]
    assert sorted(line.split(". ")[1] for line in draw_lots(names).splitlines()) == names
    assert len(draw_lots(names, 2).splitlines()) == 2
    grouped = draw_lots(names, group_size=3)
    assert (
        sorted(grouped.replace("group 1: ", "").replace("\ngroup 2: ", ", ").split(", ")) == names
    )
    with pytest.raises(ToolError):
        draw_lots(names, 8)


def test_words_are_counted() -> None:
    assert count_words("It's a well-known fact. Is it?").startswith(
        "words: 6 · characters: 30 · without spaces: 25 · sentences: 2 · lines: 1"
    )
