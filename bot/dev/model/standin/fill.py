"""Fills a tool's arguments by the names, types and choices of its schema."""

from __future__ import annotations

from typing import Any

EMPTY: dict[str, Any] = {"string": "", "integer": 1, "number": 0, "boolean": False, "array": []}


def fill(schema: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Every property of the schema: what is known under its name, null where that is allowed, else
    the emptiest value of its type."""
    definitions = schema.get("$defs", {})
    return {
        name: _value(name, part, known, definitions)
        for name, part in schema.get("properties", {}).items()
    }


def options(schema: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a schema, references followed, null left out."""
    if "$ref" in schema:
        return options(definitions.get(schema["$ref"].rsplit("/", 1)[-1], {}), definitions)
    if "anyOf" in schema:
        found = [each for part in schema["anyOf"] for each in options(part, definitions)]
        return [each for each in found if each.get("type") != "null"]
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return [{**schema, "type": kind} for kind in kinds if kind != "null"]
    return [schema]


def nullable(schema: dict[str, Any]) -> bool:
    """Whether null is allowed."""
    kinds = schema.get("type")
    listed = isinstance(kinds, list) and "null" in kinds
    return listed or any(part.get("type") == "null" for part in schema.get("anyOf", ()))


def fit(value: Any, schema: dict[str, Any]) -> Any:
    """A value in the shape of a schema: a list for one value, one value of a list, a choice."""
    kind = schema.get("type")
    if kind == "array" and not isinstance(value, list):
        return [value]
    if kind in ("string", "integer", "number") and isinstance(value, list):
        value = value[0] if value else EMPTY[kind]
    choices = schema.get("enum")
    if choices and value not in choices:
        return choices[0]
    return str(value) if kind == "string" else value


def _value(
    name: str, schema: dict[str, Any], known: dict[str, Any], definitions: dict[str, Any]
) -> Any:
    found = known.get(name)
    shapes = options(schema, definitions)
    if found is not None and shapes:
        return fit(found, shapes[0])
    if nullable(schema) or not shapes:
        return None
    if shapes[0].get("enum"):
        return shapes[0]["enum"][0]
    return EMPTY.get(shapes[0].get("type", ""), {})
