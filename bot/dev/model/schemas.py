"""The rules of strict JSON Schemas, with the API's own words for each violation.

Source: the guide to structured outputs; a keyword that the guide does not list is refused.
"""

from __future__ import annotations

from typing import Any

Path = tuple[str, ...]
Schema = dict[str, Any]

TYPES = {"string", "number", "boolean", "integer", "object", "array", "null"}
FORMATS = {
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
}  # fmt: skip
ALLOWED = {
    "type", "title", "description", "default", "examples", "enum", "const", "properties",
    "required", "additionalProperties", "items", "anyOf", "$ref", "$defs", "definitions",
    "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minItems", "maxItems", "$schema", "$id",
}  # fmt: skip
MAX_PROPERTIES = 5000
MAX_DEPTH = 10
MAX_ENUM_VALUES = 1000
MAX_NAME_CHARACTERS = 120_000


def strict_problem(schema: Any) -> str | None:
    """Return the first violation of the strict rules in a root schema, or None."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        kind = schema.get("type") if isinstance(schema, dict) else None
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
    check = _Check()
    try:
        check.visit(schema, (), 1)
    except _Breach as breach:
        return str(breach)
    return check.size_problem()


class _Breach(Exception):
    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"In context={path!r}, {problem}")


class _Check:
    """A walk over one schema that counts everything with a limit."""

    def __init__(self) -> None:
        self.properties = 0
        self.enum_values = 0
        self.characters = 0

    def visit(self, schema: Any, path: Path, depth: int) -> None:
        if not isinstance(schema, dict):
            raise _Breach(path, "schema must be an object.")
        if depth > MAX_DEPTH:
            raise _Breach(path, f"{depth} levels of nesting exceeds limit of {MAX_DEPTH}.")
        self._keywords(schema, path)
        for name in ("$defs", "definitions"):
            for key, part in schema.get(name, {}).items():
                self.characters += len(key)
                self.visit(part, (*path, name, key), 1)
        if "$ref" in schema:
            return
        for index, option in enumerate(schema.get("anyOf", ())):
            self.visit(option, (*path, "anyOf", str(index)), depth)
        self._typed(schema, path, depth)

    def _keywords(self, schema: Schema, path: Path) -> None:
        for keyword in schema:
            if keyword not in ALLOWED:
                raise _Breach(path, f"'{keyword}' is not permitted.")
        beside = {key for key in schema if key not in ("$ref", "$defs")}
        if "$ref" in schema and beside:
            raise _Breach(path, f"$ref cannot have keywords {beside!r}.")
        if "anyOf" in schema and not path:
            raise _Breach(path, "'anyOf' is not permitted at the root.")
        if (form := schema.get("format")) is not None and form not in FORMATS:
            raise _Breach(path, f"'{form}' is not a valid format.")
        values = schema.get("enum", ())
        self.enum_values += len(values)
        self.characters += sum(len(value) for value in values if isinstance(value, str))

    def _typed(self, schema: Schema, path: Path, depth: int) -> None:
        if "type" not in schema and not {"anyOf", "enum", "const"} & schema.keys():
            raise _Breach(path, "schema must have a 'type' key.")
        kinds = schema.get("type", ())
        kinds = {kinds} if isinstance(kinds, str) else set(kinds)
        for kind in sorted(kinds - TYPES):
            raise _Breach(path, f"'{kind}' is not a valid type.")
        if "object" in kinds:
            self._object(schema, path, depth)
        if "array" in kinds:
            if "items" not in schema:
                raise _Breach(path, "array schema missing items.")
            self.visit(schema["items"], (*path, "items"), depth + 1)

    def _object(self, schema: Schema, path: Path, depth: int) -> None:
        if schema.get("additionalProperties") is not False:
            raise _Breach(
                path, "'additionalProperties' is required to be supplied and to be false."
            )
        properties = schema.get("properties", {})
        required = schema.get("required")
        rule = (
            "'required' is required to be supplied and to be an array including every key in "
            "properties."
        )
        if not isinstance(required, list) and properties:
            raise _Breach(path, f"{rule} Missing '{next(iter(properties))}'.")
        for key in properties:
            if key not in (required or ()):
                raise _Breach(path, f"{rule} Missing '{key}'.")
        for key in required or ():
            if key not in properties:
                raise _Breach(path, f"{rule} Extra required key '{key}' supplied.")
        for key, part in properties.items():
            self.properties += 1
            self.characters += len(key)
            self.visit(part, (*path, "properties", key), depth + 1)

    def size_problem(self) -> str | None:
        if self.properties > MAX_PROPERTIES:
            return f"{self.properties} properties exceed the limit of {MAX_PROPERTIES}."
        if self.enum_values > MAX_ENUM_VALUES:
            return f"{self.enum_values} enum values exceed the limit of {MAX_ENUM_VALUES}."
        if self.characters > MAX_NAME_CHARACTERS:
            return f"{self.characters} characters of names exceed {MAX_NAME_CHARACTERS}."
        return None
