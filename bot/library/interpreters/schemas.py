"""Checks of untrusted JSON schemas: is it well-formed, can strict mode express it, does data fit it.

Validation is not safe: a pattern may backtrack for hours, and a few references may expand to
millions of schemas. So these checks run in an isolated process, except for schemas that `weight`
knows to be cheap.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    import jsonschema
    from jsonschema.protocols import Validator

Schema = dict[str, Any]

_MAX_PROPERTIES, _MAX_ENUM_VALUES, _MAX_CHARACTERS, _MAX_DEPTH = 5_000, 1_000, 120_000, 10
"""Limits of strict mode (guide "Structured outputs", as of November 2026)."""
_NOT_IN_STRICT_MODE = {
    "if": "a condition",
    "dependentRequired": "dependent properties",
    "dependencies": "dependent properties",
    "$dynamicRef": "a dynamic reference",
}
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_TYPE_KEYWORDS = frozenset(
    {"type", "anyOf", "enum", "const", "properties", "oneOf", "allOf", "not"}
)
_NAMED_PARTS = ("properties", "$defs", "definitions")
_MAX_MESSAGE = 200  # characters of one error; it may quote all of the data
_MAX_ERRORS = 20


class Misfit(NamedTuple):
    """One reason why data does not fit: its place and a message."""

    path: tuple[str | int, ...]
    message: str


class DoesNotFit(Exception):
    """The data does not fit the schema; `misfits` say where and why."""

    def __init__(self, *misfits: Misfit) -> None:
        super().__init__(*misfits)
        self.misfits = misfits


# Jobs. They take and return JSON text, so that data cannot look like a message of the process.


def inspect(schemas: str) -> list[tuple[str | None, str | None]]:
    """Return the `problems` of each schema in `schemas`, a JSON list of [owner, schema]."""
    return [problems(owner, schema) for owner, schema in json.loads(schemas)]


def fit(schema: str, value: str) -> str:
    """Return {"value": …}, as `fitted` returns it, or {"misfits": [[path, message], …]}."""
    try:
        return json.dumps({"value": fitted(json.loads(schema), json.loads(value))})
    except DoesNotFit as error:
        return json.dumps({"misfits": error.misfits})


def problems(owner: str, schema: Any, *, is_sound: bool = False) -> tuple[str | None, str | None]:
    """Return why `schema` is no JSON schema of an object, and why strict mode cannot express it; None
    for no problem. With `is_sound` the schema is known to be well-formed."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        wrong = f'{owner}: the root must be an object with "type": "object".'
        return wrong, wrong
    problem = None if is_sound else _form_problem(owner, schema)
    return problem, problem or _strict_problem(owner, schema)


def _form_problem(owner: str, schema: Schema) -> str | None:
    import jsonschema

    try:
        jsonschema.validators.validator_for(
            schema, default=jsonschema.Draft202012Validator
        ).check_schema(schema)
    except jsonschema.SchemaError as error:
        place = _place(owner, tuple(map(str, error.absolute_path)))
        return f"{place}: {error.message[:_MAX_MESSAGE]}"
    except RecursionError:
        return f"{owner}: this is nested too deeply."
    return None


def _strict_problem(owner: str, schema: Schema) -> str | None:
    if problem := _size_problem(owner, schema):
        return problem
    for path, node in _nodes(schema):
        if problem := _node_problem(schema, node):
            return f"{_place(owner, path)}: {problem}"
    return None


def fitted(schema: Schema, value: Any) -> Any:
    """Return `value` without the nulls that mean "left out". Raises DoesNotFit."""
    import jsonschema
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    validator = kind(schema, registry=Registry(), format_checker=kind.FORMAT_CHECKER)
    try:
        pruned = _without_nulls(validator, schema, schema, value)
        misfits = [_misfit(each) for each in islice(validator.iter_errors(pruned), _MAX_ERRORS)]
    except RecursionError:  # references in a circle, or data that goes too deep
        raise DoesNotFit(Misfit((), "This is nested too deeply.")) from None
    except Unresolvable as error:
        missing = f"The schema refers to {str(error.ref)[:_MAX_MESSAGE]}, which is not in it."
        raise DoesNotFit(Misfit((), missing)) from None
    if misfits:
        raise DoesNotFit(*misfits)
    return pruned


def _misfit(error: jsonschema.ValidationError) -> Misfit:
    message = (
        error.message if len(error.message) <= _MAX_MESSAGE else f"{error.message[:_MAX_MESSAGE]}…"
    )
    return Misfit(tuple(error.absolute_path), message)


def _node_problem(root: Schema, node: Any) -> str | None:  # noqa: PLR0911 - one return for each rule
    if not isinstance(node, dict):
        return "strict mode needs a schema with a type here."
    for keyword, what in _NOT_IN_STRICT_MODE.items():
        if keyword in node:
            return f"strict mode cannot express {what} ({keyword})."
    if reference := node.get("$ref"):
        target = _target(root, reference)
        return None if target and "$ref" not in target else f"{reference} leads to no schema in it."
    if not _TYPE_KEYWORDS & node.keys():
        return "strict mode needs a type here."
    unknown = sorted(set(node.get("required", ())) - set(node.get("properties", {})))
    if unknown:
        return f"required, but not among the properties: {', '.join(unknown)}."
    if node.get("type") == "array" and not isinstance(node.get("items"), dict):
        return "strict mode needs `items` for an array, one schema for all of them."
    if "format" in node and node["format"] not in _FORMATS:
        return f"strict mode does not know the format {node['format']}."
    return None


def _size_problem(owner: str, schema: Schema) -> str | None:
    nodes = [node for _, node in _nodes(schema) if isinstance(node, dict)]
    names = [name for node in nodes for part in _NAMED_PARTS for name in node.get(part, {})]
    values = [value for node in nodes for value in node.get("enum", ())]
    characters = sum(len(each) for each in (*names, *values) if isinstance(each, str))
    depth = max(
        sum(part in ("properties", "items") for part in path) + 1 for path, _ in _nodes(schema)
    )
    for found, most, what in (
        (sum(len(node.get("properties", {})) for node in nodes), _MAX_PROPERTIES, "properties"),
        (len(values), _MAX_ENUM_VALUES, "values in enumerations"),
        (characters, _MAX_CHARACTERS, "characters of names and enumerations"),
        (depth, _MAX_DEPTH, "levels of nesting"),
    ):
        if found > most:
            return f"{owner}: {found:,} {what}; strict mode takes {most:,}."
    return None


def _nodes(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a schema and every schema inside it, each with its path."""
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


def _target(root: Schema, reference: Any) -> Any:
    """Return the target of a reference within the schema; None when there is none."""
    head, *steps = str(reference).split("/")
    if head != "#":
        return None
    found: Any = root
    for step in steps:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if found else None
        if not isinstance(found, dict):
            return None
    return found


def _without_nulls(validator: Validator, root: Schema, node: Schema, given: Any) -> Any:
    if not isinstance(node, dict):  # true, or a reference to nothing
        return given
    if "$ref" in node:
        return _without_nulls(validator, root, cast(Schema, _target(root, node["$ref"])), given)
    if "anyOf" in node:
        tried = ((each, _without_nulls(validator, root, each, given)) for each in node["anyOf"])
        fitting = (value for each, value in tried if validator.evolve(schema=each).is_valid(value))
        return next(fitting, given)
    if isinstance(given, list) and "items" in node:
        return [_without_nulls(validator, root, node["items"], each) for each in given]
    properties = node.get("properties")
    if not isinstance(given, dict) or not properties:
        return given
    return {
        name: _without_nulls(validator, root, properties[name], value)
        if name in properties
        else value
        for name, value in given.items()
        if value is not None
        or name in node.get("required", ())
        or name not in properties
        or validator.evolve(schema=properties[name]).is_valid(None)
    }


class Size(NamedTuple):
    """The size of data: the number of values, nested ones included, and of characters."""

    values: int
    characters: int


def size(value: Any, most: int) -> Size | None:
    """Return the size of JSON `value`; None when it has more than `most` values."""
    values = characters = 0
    left = [value]
    while left:
        each = left.pop()
        values += 1
        if isinstance(each, dict):
            left += each.values()
            characters += sum(map(len, each))
        elif isinstance(each, list):
            left += each
        elif isinstance(each, str):
            characters += len(each)
        if values + len(left) > most:
            return None
    return Size(values, characters)


# Weight: an upper bound of the cost of validation, found without validating.

_DEFINITIONS = ("$defs", "definitions")
_TYPE_NAMES = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_type(value: Any) -> bool:
    names = value if isinstance(value, list) and value else [value]
    return all(isinstance(each, str) and each in _TYPE_NAMES for each in names) and len(names) <= 7


_CHEAP: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("title", "description", "$comment", "$schema"), _is_text),
    **dict.fromkeys(("default", "examples", "deprecated", "readOnly", "writeOnly"), lambda _: True),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minProperties", "maxProperties"), _is_count),
    "type": _is_type,
    "const": _is_scalar,
    "format": lambda value: isinstance(value, str) and value in _FORMATS,
    "enum": lambda value: isinstance(value, list) and bool(value) and all(map(_is_scalar, value)),
    "required": lambda value: isinstance(value, list) and all(map(_is_text, value)),
}
"""Keywords whose cost is proportional to schema and data, with a check that they are well-formed.
Patterns, keywords that compare all items, and external or circular references are not among them."""


def weight(schema: Any) -> int | None:
    """Return the most steps that validation takes for each value of the data; None when that is
    unknown: the schema has keywords that may be expensive, or is not well-formed."""
    try:
        return _Weigher(schema).total()
    except (_Unknown, RecursionError):
        return None


class _Unknown(Exception):
    """The cost of this schema is unknown."""


class _Weigher:
    """Adds up the cost of a schema; a definition counts for each reference to it."""

    def __init__(self, schema: Any) -> None:
        if not isinstance(schema, dict):
            raise _Unknown
        self._root = {key: value for key, value in schema.items() if key not in _DEFINITIONS}
        self._definitions: dict[str, Any] = {}
        for part in _DEFINITIONS:
            named = schema.get(part, {})
            if not isinstance(named, dict) or any(set(name) & set("/~%") for name in named):
                raise _Unknown
            self._definitions |= {f"#/{part}/{name}": each for name, each in named.items()}
        self._costs: dict[str, int] = {}
        self._open: set[str] = set()

    def total(self) -> int:
        """Return the steps for one value. Raises _Unknown."""
        for reference in self._definitions:  # all must be well-formed, even without a reference
            self._reference(reference)
        return self.steps(self._root)

    def steps(self, node: Any) -> int:
        """Return the steps of one nested schema. Raises _Unknown."""
        if isinstance(node, bool):
            return 1
        if not isinstance(node, dict):
            raise _Unknown
        return 1 + sum(self._keyword(key, value) for key, value in node.items())

    def _keyword(self, key: str, value: Any) -> int:
        if key in _CHEAP:
            if not _CHEAP[key](value):
                raise _Unknown
            return 1 + len(value) // 10 if isinstance(value, list) else 1
        match key, value:
            case "properties", dict():
                return 1 + sum(map(self.steps, value.values()))
            case (("items" | "additionalProperties"), (dict() | bool())):
                return self.steps(value)
            case (("anyOf" | "oneOf" | "allOf"), [_, *_]):
                # To leave out nulls, each branch is pruned and then tried: twice the work.
                return 1 + 2 * sum(map(self.steps, value))
            case "$ref", str():
                return self._reference(value)
            case _:
                raise _Unknown

    def _reference(self, reference: str) -> int:
        if reference in self._open or reference not in self._definitions:
            raise _Unknown
        if reference not in self._costs:
            self._open.add(reference)
            self._costs[reference] = self.steps(self._definitions[reference])
            self._open.discard(reference)
        return self._costs[reference]
