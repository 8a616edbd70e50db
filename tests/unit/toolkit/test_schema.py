"""Schemas as strict mode takes them, judged by the stand-in's rules (responses-api §4)."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from bot.core.answers import RESPONSE_TYPES, Answer
from bot.core.errors import ToolDefinitionError
from bot.dev.model.schemas import strict_problem
from bot.toolkit import tool
from bot.toolkit.schema import strict_schema, without_nulls


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Filter(BaseModel):
    """A condition."""

    column: str
    limit: int = 10


class Sorting(BaseModel):
    by: str
    downwards: bool = False


class Tree(BaseModel):
    name: str
    children: list[Tree]


class Wide(BaseModel):
    """One field of every shape that a tool may take."""

    text: str
    number: Annotated[int, Field(ge=1, le=9, description="From 1 to 9.")]
    share: float | None
    colour: Colour
    kind: Literal["a", "b"]
    day: datetime.date
    at: datetime.datetime
    id: uuid.UUID
    names: Annotated[list[str], Field(min_length=1, max_length=3)]
    unique: set[int]
    either: Filter | Sorting
    described: Annotated[Filter, Field(description="Which rows.")]
    tree: Tree
    title: str = "none"
    default: int = 3
    many: list[Filter | Sorting] = []
    maybe: Filter | None = None


class Keyed(BaseModel):
    model_config = ConfigDict(extra="allow")


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


def properties(model: type[BaseModel]) -> dict[str, Any]:
    found: dict[str, Any] = strict_schema(model, owner="test")["properties"]
    return found


@pytest.mark.parametrize("model", [Wide, *RESPONSE_TYPES.values()])
def test_the_service_takes_every_shape_we_allow(model: type[BaseModel]) -> None:
    """D1 C1: what the decorator lets through, the API must not refuse."""
    assert strict_problem(strict_schema(model, owner="test")) is None


def test_every_field_is_required_and_those_with_a_default_take_null() -> None:
    """Strict mode knows no optional field: null says that it is left out."""
    schema = strict_schema(Wide, owner="test")
    assert schema["required"] == list(Wide.model_fields)
    assert schema["additionalProperties"] is False
    assert properties(Wide)["title"] == {"type": ["string", "null"]}
    assert properties(Wide)["text"] == {"type": "string"}


def test_null_is_said_once_and_descriptions_stay() -> None:
    """What already takes null is not wrapped; a description is what the model reads."""
    assert properties(Wide)["share"] == {"type": ["number", "null"]}
    assert len(properties(Wide)["maybe"]["anyOf"]) == 2
    assert properties(Wide)["number"]["description"] == "From 1 to 9."


def test_a_reference_has_nothing_beside_it() -> None:
    """The API refuses `$ref` with a description next to it: the reference is wrapped."""
    described = properties(Wide)["described"]
    assert described == {"anyOf": [{"$ref": "#/$defs/Filter"}], "description": "Which rows."}


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (Any, "a value of any type"),
        (object, "a value of any type"),
        (list, "a value of any type"),
        (list[Any], "a value of any type"),
        (dict[str, int], "a dictionary with free keys"),
        (dict, "a dictionary with free keys"),
        (Keyed, "a dictionary with free keys"),
        (list[dict[str, str]], "a dictionary with free keys"),
        (dict[Annotated[str, Field(pattern="^a")], int], "a dictionary with key patterns"),
        (tuple[int, str], "a tuple"),
        (bytes, "bytes"),
        (Pet, "a discriminated union"),
        (list[Pet], "a discriminated union"),
        (Annotated[int, Field(json_schema_extra={"not": {"const": 3}})], "a negation"),
        (Annotated[int, Field(json_schema_extra={"allOf": []})], "an intersection"),
    ],
    ids=str,
)
def test_a_shape_that_strict_mode_cannot_say_is_refused_by_name(annotation: Any, said: str) -> None:
    """D3: the author learns at start which tool and which field, not the user at the first call."""

    async def search(where: Any) -> str:
        "Searches."
        return ""

    search.__annotations__["where"] = annotation
    with pytest.raises(ToolDefinitionError) as caught:
        tool(group="g", summary="s")(search)
    assert said in str(caught.value)
    assert "tool search" in str(caught.value)
    assert any(place in str(caught.value) for place in ("field where", "Keyed")), caught.value


def test_a_type_that_is_not_data_is_refused_by_name() -> None:
    """Neither a function nor a class of one's own can be sent as JSON."""

    class Connection:
        pass

    async def query(connection: Any) -> str:
        "Queries."
        return ""

    for wrong in (Connection, Callable[[], int]):
        query.__annotations__["connection"] = wrong
        with pytest.raises(ToolDefinitionError, match=r"(?i)tool query"):
            tool(group="g", summary="s")(query)


def test_nulls_that_mean_left_out_give_way_to_defaults_at_any_depth() -> None:
    """D3: the schema makes the model send null; a default must then apply, not an error."""
    sent = {
        "default": None,
        "share": None,
        "described": {"column": "a", "limit": None},
        "many": [{"column": "b", "limit": None}, {"by": "c", "downwards": None}],
        "maybe": None,
        "unknown": None,
    }
    assert without_nulls(Wide, sent) == {
        "share": None,
        "described": {"column": "a"},
        "many": [{"column": "b"}, {"by": "c"}],
        "unknown": None,
    }
    assert Filter.model_validate(without_nulls(Filter, {"column": "a", "limit": None})).limit == 10


@pytest.mark.parametrize("odd", [None, 3, "x", [], [None], [[{"column": None}]]])
def test_what_is_no_object_is_left_to_validation(odd: Any) -> None:
    """Nothing that a model sends may break the cleaning itself."""
    assert without_nulls(Filter, odd) == odd


@given(st.builds(Answer))
def test_any_answer_goes_through_unharmed(answer: Answer) -> None:
    """C1: what the model returned is what is kept, posted and read back."""
    assert Answer.model_validate_json(answer.model_dump_json()) == answer
    assert Answer.model_validate(without_nulls(Answer, answer.model_dump())) == answer
