"""JSON schemas that the strict mode of the Responses API accepts.

Rules (docs "Structured outputs", as of November 2026): the root is an object; every object has
`additionalProperties: false` and lists all of its properties as required, so that an optional one
is nullable; no allOf, not, oneOf, if/then/else, no free-form dictionaries.
"""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema

from bot.core.errors import ToolDefinitionError

_DROPPED = frozenset({"title", "default", "examples", "minLength", "maxLength", "uniqueItems"})
_REFUSED = {
    "oneOf": "a discriminated union (use a plain union)",
    "allOf": "an intersection",
    "not": "a negation",
    "prefixItems": "a tuple (use a list or a model)",
    "patternProperties": "a dictionary with key patterns",
    "dependentSchemas": "dependent schemas",
    "contentEncoding": "bytes",
}
_PLAIN = ("string", "number", "integer", "boolean", "array")
_NULL = {"type": "null"}


def strict_schema(model: type[BaseModel], *, owner: str) -> dict[str, Any]:
    """Return the strict JSON schema of `model`.

    Fields with a default become nullable: the language model sends null to omit them; see
    `without_nulls`. Rules that the schema cannot express are checked by pydantic at each call.
    Raises ToolDefinitionError, naming `owner` and the field, for a type that strict mode cannot
    express.
    """
    try:
        schema = model.model_json_schema(mode="validation")
    except PydanticInvalidForJsonSchema as error:
        raise ToolDefinitionError(f"{owner}: {error.message}") from None
    strict = _strict(schema, where=owner)
    if not isinstance(strict, dict) or strict.get("type") != "object":
        raise ToolDefinitionError(f"{owner}: the root of a schema must be an object.")
    return strict


def without_nulls(model: type[BaseModel], given: Any) -> Any:
    """Return `given` without nulls that mean "omitted", at any depth, so that defaults apply."""
    return _without_nulls(model, given)


def _without_nulls(annotation: Any, given: Any) -> Any:
    if isinstance(given, list):
        return [_without_nulls(annotation, each) for each in given]
    models = _models_in(annotation)
    if not isinstance(given, dict) or not models:
        return given
    fields = max(models, key=lambda each: len(each.model_fields.keys() & given.keys())).model_fields
    return {
        name: _without_nulls(fields[name].annotation, value) if name in fields else value
        for name, value in given.items()
        if value is not None or name not in fields or fields[name].is_required()
    }


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in a type annotation: A and B for `list[A] | B`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in get_args(annotation) for model in _models_in(each)]


def _strict(node: Any, *, where: str) -> Any:
    if isinstance(node, list):
        return [_strict(each, where=where) for each in node]
    if not isinstance(node, dict):
        return node
    for key, what in _REFUSED.items():
        if key in node:
            raise ToolDefinitionError(f"{where}: strict mode cannot express {what}.")
    if node.get("format") == "binary":
        raise ToolDefinitionError(f"{where}: strict mode cannot express bytes.")
    kept = {key: value for key, value in node.items() if key not in _DROPPED}
    if not kept.keys() - {"description"}:
        raise ToolDefinitionError(f"{where}: a value of any type; give it a type.")
    if "$ref" in kept and len(kept) > 1:  # the service takes no keyword beside $ref
        kept["anyOf"] = [{"$ref": kept.pop("$ref")}]
    if kept.get("type") == "object" or "properties" in kept:
        return _strict_object(kept, where=where)
    return {
        key: value if key in {"enum", "const", "required"} else _strict_member(key, value, where)
        for key, value in kept.items()
    }


def _strict_member(key: str, value: Any, where: str) -> Any:
    if key == "$defs":
        return {name: _strict(each, where=f"{where}, {name}") for name, each in value.items()}
    return _strict(value, where=where)


def _strict_object(node: dict[str, Any], *, where: str) -> dict[str, Any]:
    if node.get("additionalProperties"):
        raise ToolDefinitionError(f"{where}: a dictionary with free keys; use a list of models.")
    required = set(node.get("required", ()))
    properties = {
        name: _property(each, optional=name not in required, where=f"{where}, field {name}")
        for name, each in node.get("properties", {}).items()
    }
    strict: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    if "description" in node:
        strict["description"] = node["description"]
    if "$defs" in node:
        strict["$defs"] = _strict_member("$defs", node["$defs"], where)
    return strict


def _property(node: dict[str, Any], *, optional: bool, where: str) -> Any:
    strict = _strict(node, where=where)
    if not optional or allows_null(strict):
        return _shorter(strict)
    described = {"description": strict.pop("description")} if "description" in strict else {}
    return _shorter({**described, "anyOf": [strict, _NULL]})


def _shorter(node: dict[str, Any]) -> dict[str, Any]:
    """Write a nullable plain type as a list of types: it takes half the tokens of `anyOf`, and most
    arguments of most tools have such a type."""
    plain, *others = node.get("anyOf", [{}])
    if others != [_NULL] or plain.get("type") not in _PLAIN or plain.keys() & {"enum", "const"}:
        return node
    details = {key: value for key, value in node.items() if key != "anyOf"}
    return {**plain, **details, "type": [plain["type"], "null"]}


def allows_null(node: dict[str, Any]) -> bool:
    """Return whether a node of a strict schema accepts null."""
    kinds = node.get("type")
    listed = "null" in kinds if isinstance(kinds, list) else kinds == "null"
    return listed or any(allows_null(each) for each in node.get("anyOf", ()))
