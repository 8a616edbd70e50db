"""C3: a JSON schema given at run time is kept to, and refused clearly when it cannot be."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from bot.core.errors import ToolDefinitionError
from bot.dev.model.schemas import strict_problem
from bot.services.given_schema import given_model, text_field_of, validated
from bot.toolkit.schema import strict_schema

INVOICE: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Invoice",
    "type": "object",
    "properties": {
        "number": {"type": "string", "minLength": 3, "description": "As printed."},
        "due": {"type": "string", "format": "date"},
        "paid": {"type": ["boolean", "null"]},
        "lines": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Line"}},
        "payer": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "string"}]},
        "replaces": {"$ref": "#"},
    },
    "required": ["number", "lines"],
    "$defs": {
        "Line": {
            "type": "object",
            "properties": {"what": {"type": "string"}, "price": {"type": "number", "minimum": 0}},
            "required": ["what"],
        },
        "Person": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}


async def data(schema: dict[str, Any], text: str) -> Any:
    return (await validated(await given_model(schema), json.loads(text))).model_dump(mode="json")


async def test_the_service_takes_what_is_sent_for_it():
    assert strict_problem(strict_schema(await given_model(INVOICE), owner="test")) is None


async def test_null_leaves_an_optional_property_out_at_any_depth():
    """Strict mode makes the model name every property; whoever gave the schema wants its own."""
    text = (
        '{"number": "A-1", "due": null, "paid": null, "replaces": null, "payer": {"name": null},'
        ' "lines": [{"what": "pen", "price": null}]}'
    )
    assert await data(INVOICE, text) == {
        "number": "A-1",
        "paid": None,
        "payer": {},
        "lines": [{"what": "pen"}],
    }


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ('{"number": "A-1", "lines": []}', ("lines",), "non-empty"),
        ('{"number": "A", "lines": [{"what": "x"}]}', ("number",), "too short"),
        ('{"number": "A-1", "lines": [{"what": "x", "price": -1}]}', ("lines", 0, "price"), "less"),
        ('{"number": "A-1", "lines": [{"what": "x"}], "due": "soon"}', ("due",), "date"),
        ('{"lines": [{"what": "x"}]}', (), "'number' is a required property"),
        ("[]", (), "object"),
    ],
)
async def test_what_does_not_fit_is_said_with_its_place(text, place, says):
    """C2: the model gets this back."""
    with pytest.raises(ValidationError) as caught:
        await data(INVOICE, text)
    [error] = caught.value.errors()
    assert error["loc"] == place
    assert says in error["msg"]


def root(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def nested(levels: int) -> dict[str, Any]:
    return root(a=nested(levels - 1)) if levels else {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ([], 'S: the root must be an object with "type": "object"'),
        ({"type": "array", "items": {"type": "string"}}, "S: the root must be an object"),
        (root(a={"type": "word"}), "S, at /properties/a/type: "),
        (root(a={"oneOf": [{"type": "string"}]}), "S, field a: strict mode cannot express a disc"),
        (root(a={"type": "string", "if": {}}), "S, at /properties/a: .* a condition"),
        (root(a={}), "S, at /properties/a: strict mode needs a type"),
        (root(a=True), "S, at /properties/a: strict mode needs a schema with a type"),
        (root(a={"type": "array"}), "S, at /properties/a: .*items"),
        (root(a={"type": "array", "items": True}), "S, at /properties/a"),
        (root(a={"type": "string", "format": "colour"}), "the format colour"),
        (root(a={"$ref": "https://evil.example/s"}), "leads to no schema in it"),
        (root(a={"$ref": "#/$defs/none"}), "leads to no schema in it"),
        ({**root(a={"$ref": "#/$defs/L"}), "$defs": {"L": {"$ref": "#/$defs/L"}}}, "/\\$defs/L"),
        ({**root(), "required": ["b"]}, "not among the properties: b"),
        ({**root(), "additionalProperties": {"type": "string"}}, "dictionary with free keys"),
        (root(a={"enum": [f"v{n}" for n in range(1001)]}), "1,001 values in enumerations"),
        (root(**{f"p{n}": {"type": "string"} for n in range(5001)}), "5,001 properties"),
        (nested(10), "11 levels of nesting"),
    ],
)
async def test_what_strict_mode_cannot_express_is_refused_with_its_place(schema, says):
    with pytest.raises(ToolDefinitionError, match=says):
        await given_model(schema, owner="S")


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        (root(a={"type": "string"}), "a"),
        ({**root(a={"type": "string"}, b={"type": "string"}), "required": ["b"]}, "b"),
        ({**root(a={"type": "string"}, n={"type": "number"}), "required": ["a", "n"]}, None),
        (root(a={"type": "string", "enum": ["x"]}), None),
        (root(n={"type": "number"}), None),
    ],
)
def test_plain_text_goes_only_where_nothing_else_is_made_up(schema, field):
    assert text_field_of(schema) == field
