"""Arguments of a tool from its JSON schema, so that a brain names only the values that matter."""

from __future__ import annotations

from typing import Any

_EMPTY: dict[str, Any] = {"string": "", "integer": 1, "number": 0, "boolean": False, "array": []}


def fill(schema: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return a value for every property of `schema`.

    A property takes its `known` value, else null where the schema allows it, else the first value
    of an enumeration or the emptiest value of its type.
    """
    definitions = schema.get("$defs", {})
    return {
        name: known[name] if known.get(name) is not None else _emptiest(part, definitions)
        for name, part in schema.get("properties", {}).items()
    }


def _emptiest(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _emptiest(definitions.get(schema["$ref"].rsplit("/", 1)[-1], {}), definitions)
    kinds = schema.get("type", [])
    alternatives = [each.get("type") for each in schema.get("anyOf", ())]
    if "null" in ([kinds] if isinstance(kinds, str) else kinds) or "null" in alternatives:
        return None
    if alternatives:
        return _emptiest(schema["anyOf"][0], definitions)
    if schema.get("enum"):
        return schema["enum"][0]
    return _EMPTY.get(kinds if isinstance(kinds, str) else next(iter(kinds), ""), {})
