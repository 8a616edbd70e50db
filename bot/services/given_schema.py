"""Model classes for JSON schemas that are given at run time.

The model service gets the schema in the form of its strict mode; the data it returns is checked
against the original schema. The schema comes from outside, and a hostile one can make checking take
hours: only checks that are known to be cheap run in this process, the others in an isolated one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar, cast

from cachetools import LRUCache
from pydantic import BaseModel, RootModel, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError
from typing_extensions import override

from bot.core.answers import GIVEN
from bot.core.errors import ToolDefinitionError, ToolError
from bot.library.interpreters import schemas
from bot.library.interpreters.schemas import DoesNotFit as DoesNotFit
from bot.library.interpreters.schemas import Misfit, Schema
from bot.library.isolated import ProcessLost
from bot.library.isolated.process import IsolatedLimits
from bot.services.children import asker_process
from bot.toolkit.schema import strict_schema

M = TypeVar("M", bound=BaseModel)

_MAX_SCHEMA = 500_000  # characters of one schema
_MAX_INSPECTED = 20_000  # characters of a schema that can be inspected without delay
_MAX_STEPS = 5_000  # of validation in this process: about 15 ms
_MAX_QUOTED = 1_000_000  # that these steps may quote in messages in total
LIMITS = IsolatedLimits(memory=2**29, output=2**20, cpu=3.0, seconds=10.0, reply=32_000_000)
_TOO_MUCH = "checking it takes more time or memory than is allowed. Make the schema simpler."
_NOT_SENT = frozenset(
    {
        "$schema", "$id", "$comment", "deprecated", "readOnly", "writeOnly", "contains",
        "minContains", "maxContains", "minProperties", "maxProperties", "propertyNames",
        "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords that are not sent to the service; a result that violates them goes back to the model."""

Problems = tuple[str | None, str | None]
"""Why a schema cannot be used at all, and why not in strict mode; None for no problem."""

_inspected: LRUCache[bytes, Problems] = LRUCache(2_000)
"""Problems that an isolated process found, by digest of owner and schema."""


class GivenModel(RootModel[Schema]):
    """Data that follows a schema given at run time; `root` is the data.

    pydantic only checks that it is an object; `validated` checks the schema (`given`). `strict` says
    whether the service's strict mode can express the schema; `sent` is the form that it gets.
    """

    given: ClassVar[Schema]
    sent: ClassVar[Schema]
    strict: ClassVar[bool]

    @override
    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> Schema:
        return cls.sent


async def validated(model: type[M], value: Any) -> M:
    """Return `value` as an instance of `model`, within limits of time and memory.

    For a `GivenModel`, null for an optional property means that the property is left out. Raises
    pydantic's ValidationError, also when the check exceeds the limits.
    """
    if issubclass(model, GivenModel):
        try:
            value = await fitted(model.given, value)
        except DoesNotFit as error:
            raise _validation_error(error.misfits) from None
    return model.model_validate(value)


def validated_at_once(model: type[M], value: Any) -> M:
    """Return `value` like `validated`, but only where the check is known to be cheap. Raises
    pydantic's ValidationError, also for an expensive check."""
    if issubclass(model, GivenModel):
        if not _is_cheap(model.given, value):
            raise _validation_error([Misfit((), _TOO_MUCH)])
        try:
            value = schemas.fitted(model.given, value)
        except DoesNotFit as error:
            raise _validation_error(error.misfits) from None
    return model.model_validate(value)


async def fitted(schema: Schema, value: Any) -> Any:
    """Return `value` without the nulls that mean "left out". Raises DoesNotFit, also when the check
    exceeds the limits."""
    if _is_cheap(schema, value):
        return schemas.fitted(schema, value)
    try:
        given = await asyncio.to_thread(lambda: (json.dumps(schema), json.dumps(value)))
        found = await _isolated("fit", schema=given[0], value=given[1])
        result = await asyncio.to_thread(json.loads, found)
    except (TimeoutError, ProcessLost, ToolError, RecursionError, ValueError):
        raise DoesNotFit(Misfit((), f"It was not accepted: {_TOO_MUCH}")) from None
    if "misfits" in result:
        raise DoesNotFit(*(Misfit(tuple(path), why) for path, why in result["misfits"]))
    return result["value"]


async def given_model(schema: Any, *, owner: str = "schema") -> type[GivenModel]:
    """Return a model class for `schema`. Raises ToolDefinitionError, naming `owner` and the place,
    for an invalid schema, for one that strict mode cannot express, and for one that is too expensive
    to check."""
    [(_, problem)] = await _problems([(owner, schema)])
    if problem:
        raise ToolDefinitionError(problem)
    return await asyncio.to_thread(_strict_model, schema, owner)


async def given_models(
    given: Sequence[tuple[str, Schema]],
) -> list[type[GivenModel] | ToolDefinitionError]:
    """Return a model class for each (owner, schema), or an error that says why there is none.

    A schema that strict mode cannot express gets a class with `strict` false: the model service then
    does not guarantee that data fits, and only our own check does.
    """
    models: list[type[GivenModel] | ToolDefinitionError] = []
    problems = await _problems(given)
    for (owner, schema), (form, strict) in zip(given, problems, strict=True):
        if form:
            models.append(ToolDefinitionError(form))
        else:
            may_be_strict = (
                None if strict else await asyncio.to_thread(_strict_model_or_none, schema, owner)
            )
            models.append(may_be_strict or _model(schema, schema, strict=False))
    return models


async def _problems(given: Sequence[tuple[str, Any]]) -> list[Problems]:
    """Return what is wrong with each (owner, schema)."""
    found: list[Problems | None] = []
    keys: dict[int, bytes] = {}
    for index, (owner, schema) in enumerate(given):
        text = _json_text(schema)
        if text is None or len(text) > _MAX_SCHEMA:
            found.append(_unusable(f"{owner}: this is too large, or nested too deeply."))
        elif len(text) <= _MAX_INSPECTED and schemas.weight(schema) is not None:
            found.append(schemas.problems(owner, schema, is_sound=True))
        else:
            keys[index] = hashlib.sha256(f"{owner}\n{text}".encode()).digest()
            found.append(_inspected.get(keys[index]))
        await asyncio.sleep(0)  # let other tasks run
    unknown = [index for index in keys if found[index] is None]
    if unknown:
        text = await asyncio.to_thread(json.dumps, [given[index] for index in unknown])
        try:
            answers = await _isolated("inspect", schemas=text)
        except (TimeoutError, ProcessLost, ToolError):
            answers = [_unusable(f"{given[index][0]}: {_TOO_MUCH}") for index in unknown]
        else:
            _inspected.update(zip((keys[index] for index in unknown), answers, strict=True))
        for index, answer in zip(unknown, answers, strict=True):
            found[index] = answer
    return cast(list[Problems], found)


def _unusable(problem: str) -> Problems:
    return problem, problem


def _json_text(value: Any) -> str | None:
    try:
        return json.dumps(value)
    except (RecursionError, ValueError):
        return None


async def _isolated(job: str, **arguments: Any) -> Any:
    """Return what a job of `bot.library.interpreters.schemas` returns. Raises TimeoutError and ProcessLost."""
    async with asker_process("bot.library.interpreters.schemas", LIMITS) as process:
        return await process.call(job, **arguments)


def _is_cheap(schema: Schema, value: Any) -> bool:
    """Return whether checking `value` takes a few milliseconds at most, whatever it contains."""
    if (weight := _weight(schema)) is None:
        return False
    size = schemas.size(value, _MAX_STEPS // weight)
    return (
        size is not None
        and weight * size.values <= _MAX_STEPS
        and weight * size.characters <= _MAX_QUOTED
    )


def _weight(schema: Schema) -> int | None:
    """Return the weight of a schema, None if it is unknown or too long to inspect each time."""
    text = _json_text(schema)
    return schemas.weight(schema) if text and len(text) <= _MAX_INSPECTED else None


def _strict_model(schema: Schema, owner: str) -> type[GivenModel]:
    model = _model(schema, cast(Schema, _sent_form(schema)), strict=True)
    strict_schema(model, owner=owner)
    return model


def _strict_model_or_none(schema: Schema, owner: str) -> type[GivenModel] | None:
    try:
        return _strict_model(schema, owner)
    except ToolDefinitionError:
        return None


def _model(schema: Schema, sent: Schema, *, strict: bool) -> type[GivenModel]:
    facts = {"given": schema, "sent": sent, "strict": strict, "__module__": __name__}
    return type(GIVEN, (GivenModel,), facts)


def text_field_of(schema: Schema) -> str | None:
    """Return the one property that plain text can fill to make a complete result; None where other
    values would have to be invented."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    texts = [name for name, part in properties.items() if _is_text(part)]
    if len(required) > 1 or not set(required) <= set(texts):
        return None
    return next(iter([*required, *texts]), None)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "string" and "enum" not in part


def _sent_form(node: Any) -> Any:
    """Return the schema without the keywords that the service ignores or rejects."""
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if key not in _NOT_SENT}
    for part in ("properties", "$defs", "definitions"):
        if part in kept:
            kept[part] = {name: _sent_form(each) for name, each in kept[part].items()}
    if "items" in kept:
        kept["items"] = _sent_form(kept["items"])
    if "anyOf" in kept:
        kept["anyOf"] = [_sent_form(each) for each in kept["anyOf"]]
    return kept


def _validation_error(misfits: Sequence[Misfit]) -> ValidationError:
    errors = [
        InitErrorDetails(
            type=PydanticCustomError("schema", "{message}", {"message": each.message}),
            loc=each.path,
            input=None,
        )
        for each in misfits
    ]
    return ValidationError.from_exception_data(GIVEN, errors)
