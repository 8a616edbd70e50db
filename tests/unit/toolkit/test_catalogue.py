"""How the model comes to know tools: a few at once, the others on demand (D1)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.app.tool_loading import catalogue as shipped
from bot.core.errors import ToolDefinitionError
from bot.toolkit import Changes, Reads, Tool, tool
from bot.toolkit.catalogue import ACQUIRE, Catalogue


def named(name: str, group: str = "g", *, core: bool = False, changes: bool = False) -> Tool:
    async def act(what: str) -> str:
        "Acts."
        return what

    act.__name__ = name
    safety = Changes() if changes else Reads()
    return tool(group=group, summary=f"Does {name}", safety=safety, core=core)(act).tool


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


def test_every_tool_has_its_line_up_to_the_setting_and_of_more_the_groups() -> None:
    """D1: bare names told the model nothing of 13 tools and more; where there are too many for a
    line of each, what a tool does can be searched."""
    many = Catalogue.of([*SOME, *(named(f"tool_{n}", "z") for n in range(20))])
    definition = many.listing(23).acquire_definition
    lines = definition["description"].splitlines()
    assert [each for each in many.tools if not each.core and each.line not in lines] == []
    assert definition["parameters"]["required"] == ["names"]
    grouped = many.listing(22).acquire_definition
    assert grouped["description"].endswith("b (2), c (1), z (20)")
    assert grouped["parameters"]["required"] == ["names", "search"]


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


def test_hints_are_few_and_clear() -> None:
    """D1: one word that many tools mention is no hint, nor are more than four, and one shared word,
    in whatever forms, is no reason to name a tool that changes something."""
    names = ("find_people", "list_people", "draw_people", "invite_people", "count_people")
    many = Catalogue.of([*(named(each) for each in names), *SOME, named("post_note", changes=True)])
    assert many.hints("How many people live there?") == []
    assert many.hints("Post posts, posting") == []
    assert [each.name for each in many.hints("Post a note")] == ["post_note"]
    found = many.hints("Find query people, then count people")
    assert {each.name for each in found} == {"find_people", "count_people", "query_table"}
    same = Catalogue.of(named(f"weather_{n}", f"group{n}") for n in range(9))
    assert len(same.hints("weather " + " ".join(f"group{n}" for n in range(9)))) <= 4
    assert many.hints("") == []


@pytest.mark.parametrize(
    "asked", ["people", "How many people live there?", "Who are you?", "thanks!"]
)
def test_the_shipped_tools_give_no_noise(asked: str) -> None:
    """D1: eight tools were named for "people", `draw_lots` among them."""
    assert shipped().listing(0).hints(asked) == []


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("Draw lots for three of us", "draw_lots"),
        ("Convert 5 miles to km", "convert_units"),
        ("Which holidays are there in June?", "list_holidays"),
    ],
)
def test_the_shipped_tools_are_found_by_what_they_do(asked: str, first: str) -> None:
    """D1: a hint that clearly fits is given."""
    assert shipped().listing(0).hints(asked)[0].name == first
