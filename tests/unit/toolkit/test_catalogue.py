"""How the model comes to know tools: a few at once, the others on demand (D1)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.errors import ToolDefinitionError
from bot.toolkit import Tool, tool
from bot.toolkit.catalogue import ACQUIRE, Catalogue


def named(name: str, group: str = "g", *, core: bool = False) -> Tool:
    async def act(what: str) -> str:
        "Acts."
        return what

    act.__name__ = name
    return tool(group=group, summary=f"Does {name}", core=core)(act).tool


SOME = [
    named("zeta", "b"),
    named("alpha", "b"),
    named("read_file", "a", core=True),
    named("query_table", "c"),
]


@pytest.fixture
def catalogue() -> Catalogue:
    return Catalogue.of(SOME)


def names(definitions: tuple[dict[str, Any], ...]) -> list[str]:
    return [each["name"] for each in definitions]


def test_the_first_request_carries_core_tools_and_a_line_for_each_other(
    catalogue: Catalogue,
) -> None:
    """Grouped, and none twice."""
    assert names(catalogue.always) == ["read_file", ACQUIRE]
    listed = catalogue.acquire_definition["description"].splitlines()[-5:]
    assert listed == [
        "b:",
        "- alpha: Does alpha",
        "- zeta: Does zeta",
        "c:",
        "- query_table: Does query_table",
    ]


def test_of_more_tools_the_names_are_listed_and_of_very_many_the_groups() -> None:
    """D1: a line for each would be most of a first request; what a tool does can be searched."""
    many = Catalogue.of([*SOME, *(named(f"tool_{n}", "z") for n in range(20))])
    definition = many.acquire_definition
    assert definition["description"].splitlines()[1:3] == ["b: alpha, zeta", "c: query_table"]
    assert definition["parameters"]["required"] == ["names", "search"]
    assert many.listing(5).acquire_definition["description"].endswith("b (2), c (1), z (20)")


def test_the_order_does_not_hang_on_that_of_the_modules(catalogue: Catalogue) -> None:
    """The same prefix in every process and every turn, so that the prompt cache holds."""
    assert Catalogue.of(reversed(SOME)).always == catalogue.always


def test_acquired_tools_come_in_the_order_in_which_they_were_asked_for(
    catalogue: Catalogue,
) -> None:
    """One more at the end leaves what stands before it as it was; what has gone is passed over."""
    assert names(catalogue.acquired(["zeta", "gone", "read_file", "alpha"])) == ["zeta", "alpha"]


def test_nothing_is_to_be_acquired_when_all_are_core() -> None:
    """A tool without use is not offered."""
    assert names(Catalogue.of([named("only", core=True)]).always) == ["only"]


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("read_files", "read_file"), ("tableQuery", "query_table"), ("alpah", "alpha")],
)
def test_a_wrong_name_brings_near_ones(catalogue: Catalogue, wrong: str, meant: str) -> None:
    """Not the whole catalogue."""
    assert meant in catalogue.near(wrong)
    assert len(catalogue.near(wrong)) <= 3
    assert catalogue.get(wrong) is None


@pytest.mark.parametrize("name", ["alpha", ACQUIRE])
def test_a_name_given_twice_is_found_at_start(name: str, catalogue: Catalogue) -> None:
    """The service would refuse every request."""
    with pytest.raises(ToolDefinitionError, match=name):
        Catalogue.of([*catalogue.tools, named(name)])
