"""A JSON schema that is given at run time, as a model class like any other (C3).

The model service is given the schema in the shape of its strict mode; what comes back is checked
against the schema as it was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import jsonschema
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from pydantic import BaseModel, RootModel, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError
from referencing import Registry
from typing_extensions import override

from bot.core.answers import GIVEN
from bot.core.errors import ToolDefinitionError
from bot.toolkit.schema import strict_schema

Schema = dict[str, Any]

_MOST_PROPERTIES, _MOST_ENUM_VALUES, _MOST_CHARACTERS, _DEEPEST = 5_000, 1_000, 120_000, 10
"""Limits of strict mode (guide "Structured outputs", as of November 2026)."""
_REFUSED = {
    "if": "a condition",
    "dependentRequired": "dependent properties",
    "dependencies": "dependent properties",
    "$dynamicRef": "a dynamic reference",
}
_IGNORED_BY_THE_SERVICE = frozenset(
    {
        "$schema", "$id", "$comment", "deprecated", "readOnly", "writeOnly", "contains",
        "minContains", "maxContains", "minProperties", "maxProperties", "propertyNames",
        "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Left out of what the service gets; a result that breaks them goes back to the model."""
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_KINDS = frozenset({"type", "anyOf", "enum", "const", "properties", "oneOf", "allOf", "not"})
_NAMED_PARTS = ("properties", "$defs", "definitions")
_SHOWN = 200  # characters of one error; it may quote all of the data


def given_model(schema: Schema, *, owner: str = "schema") -> type[BaseModel]:
    """A model class whose instances fit `schema`; its `root` is the data.

    Null for an optional property means that it is left out. Raises ToolDefinitionError, naming
    `owner` and the place, for what is no JSON schema or what strict mode cannot express.
    """
    _check(schema, owner)
    model = _model(schema, cast(Schema, _for_the_service(schema)))
    strict_schema(model, owner=owner)
    return model


def loose_model(schema: Schema, *, owner: str) -> type[BaseModel]:
    """As `given_model`, for a schema that strict mode cannot express: the model service does not
    see to it that data fits, only we do. Raises ToolDefinitionError for what is no JSON schema."""
    _check_form(schema, owner)
    return _model(schema, schema)


def _model(schema: Schema, sent: Schema) -> type[BaseModel]:
    kind = validator_for(schema, default=jsonschema.Draft202012Validator)
    validator = kind(schema, registry=Registry(), format_checker=kind.FORMAT_CHECKER)

    class Given(RootModel[Schema]):
        @override
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> Schema:
            return sent

        @model_validator(mode="before")
        @classmethod
        def _fits(cls, given: Any) -> Any:
            try:
                pruned = _without_nulls(validator, given)
                errors = [_error(each) for each in validator.iter_errors(pruned)]
            except RecursionError:  # references in a circle, or data that goes too deep
                raise PydanticCustomError("schema", "This is nested too deeply.") from None
            if errors:
                raise ValidationError.from_exception_data(GIVEN, errors)
            return pruned

    Given.__name__ = Given.__qualname__ = GIVEN
    return Given


def text_field_of(schema: Schema) -> str | None:
    """The one property that makes a whole result when plain text is put into it; None where other
    values would have to be made up."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    texts = [name for name, part in properties.items() if _is_text(part)]
    if len(required) > 1 or not set(required) <= set(texts):
        return None
    return next(iter([*required, *texts]), None)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "string" and "enum" not in part


def _check(schema: Any, owner: str) -> None:
    _check_form(schema, owner)
    _check_sizes(schema, owner)
    for path, node in _nodes(schema):
        _check_node(schema, node, _place(owner, path))


def _check_form(schema: Any, owner: str) -> None:
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise ToolDefinitionError(f'{owner}: the root must be an object with "type": "object".')
    try:
        validator_for(schema, default=jsonschema.Draft202012Validator).check_schema(schema)
    except jsonschema.SchemaError as error:
        place = _place(owner, tuple(map(str, error.absolute_path)))
        raise ToolDefinitionError(f"{place}: {error.message[:_SHOWN]}") from None


def _check_node(root: Schema, node: Any, place: str) -> None:
    if not isinstance(node, dict):
        raise ToolDefinitionError(f"{place}: strict mode needs a schema with a type here.")
    for keyword, what in _REFUSED.items():
        if keyword in node:
            raise ToolDefinitionError(f"{place}: strict mode cannot express {what} ({keyword}).")
    if problem := _problem(root, node):
        raise ToolDefinitionError(f"{place}: {problem}")


def _problem(root: Schema, node: Schema) -> str | None:
    if reference := node.get("$ref"):
        target = _target(root, reference)
        return None if target and "$ref" not in target else f"{reference} leads to no schema in it."
    if not _KINDS & node.keys():
        return "strict mode needs a type here."
    unknown = sorted(set(node.get("required", ())) - set(node.get("properties", {})))
    if unknown:
        return f"required, but not among the properties: {', '.join(unknown)}."
    if node.get("type") == "array" and not isinstance(node.get("items"), dict):
        return "strict mode needs `items` for an array, one schema for all of them."
    if "format" in node and node["format"] not in _FORMATS:
        return f"strict mode does not know the format {node['format']}."
    return None


def _check_sizes(schema: Schema, owner: str) -> None:
    nodes = [node for _, node in _nodes(schema) if isinstance(node, dict)]
    names = [name for node in nodes for part in _NAMED_PARTS for name in node.get(part, {})]
    values = [value for node in nodes for value in node.get("enum", ())]
    characters = sum(len(each) for each in (*names, *values) if isinstance(each, str))
    depth = max(
        sum(part in ("properties", "items") for part in path) + 1 for path, _ in _nodes(schema)
    )
    for found, most, what in (
        (sum(len(node.get("properties", {})) for node in nodes), _MOST_PROPERTIES, "properties"),
        (len(values), _MOST_ENUM_VALUES, "values in enumerations"),
        (characters, _MOST_CHARACTERS, "characters of names and enumerations"),
        (depth, _DEEPEST, "levels of nesting"),
    ):
        if found > most:
            raise ToolDefinitionError(f"{owner}: {found:,} {what}; strict mode takes {most:,}.")


def _nodes(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every schema within a schema, itself first, with the path to it."""
    yield path, node
    if not isinstance(node, dict):
        return
    for part in _NAMED_PARTS:
        for name, each in node.get(part, {}).items():
            yield from _nodes(each, (*path, part, name))
    if isinstance(node.get("items"), dict | bool):
        yield from _nodes(node["items"], (*path, "items"))
    for index, each in enumerate(node.get("anyOf", ())):
        yield from _nodes(each, (*path, "anyOf", str(index)))


def _place(owner: str, path: tuple[str, ...]) -> str:
    return f"{owner}, at /{'/'.join(path)}" if path else owner


def _for_the_service(node: Any) -> Any:
    """The schema without what the service ignores at best."""
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if key not in _IGNORED_BY_THE_SERVICE}
    for part in _NAMED_PARTS:
        if part in kept:
            kept[part] = {name: _for_the_service(each) for name, each in kept[part].items()}
    if "items" in kept:
        kept["items"] = _for_the_service(kept["items"])
    if "anyOf" in kept:
        kept["anyOf"] = [_for_the_service(each) for each in kept["anyOf"]]
    return kept


def _target(root: Schema, reference: Any) -> Any:
    """What a reference within the schema points at; None when there is nothing."""
    head, *steps = str(reference).split("/")
    if head != "#":
        return None
    found: Any = root
    for step in steps:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if found else None
        if not isinstance(found, dict):
            return None
    return found


def _without_nulls(validator: Validator, given: Any) -> Any:
    """`given` without the nulls that stand for "left out"."""
    root = cast(Schema, validator.schema)
    return _pruned(validator, root, root, given)


def _pruned(validator: Validator, root: Schema, node: Schema, given: Any) -> Any:
    if not isinstance(node, dict):  # true, or a reference to nothing
        return given
    if "$ref" in node:
        return _pruned(validator, root, cast(Schema, _target(root, node["$ref"])), given)
    if "anyOf" in node:
        tried = ((each, _pruned(validator, root, each, given)) for each in node["anyOf"])
        fitting = (value for each, value in tried if validator.evolve(schema=each).is_valid(value))
        return next(fitting, given)
    if isinstance(given, list) and "items" in node:
        return [_pruned(validator, root, node["items"], each) for each in given]
    properties = node.get("properties")
    if not isinstance(given, dict) or not properties:
        return given
    return {
        name: _pruned(validator, root, properties[name], value) if name in properties else value
        for name, value in given.items()
        if value is not None
        or name in node.get("required", ())
        or name not in properties
        or validator.evolve(schema=properties[name]).is_valid(None)
    }


def _error(error: jsonschema.ValidationError) -> InitErrorDetails:
    message = error.message if len(error.message) <= _SHOWN else f"{error.message[:_SHOWN]}…"
    kind = PydanticCustomError("schema", "{message}", {"message": message})
    return InitErrorDetails(type=kind, loc=tuple(error.absolute_path), input=None)
