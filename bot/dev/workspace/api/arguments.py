"""Arguments of Web API calls: form or JSON, checked against the signature of the method's function."""

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any

from aiohttp import web
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, create_model

from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.store.state import Json

# Arguments that have an error of their own.
NAMED = {"blocks": "invalid_blocks_format", "metadata": "invalid_metadata_format"}
WORDS = {"missing": "missing required field", "extra_forbidden": "unexpected argument"}


def _decode(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        raise ValueError("not JSON") from None


def _split(value: Any) -> Any:
    return (
        [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, str)
        else value
    )


JsonList = Annotated[list[Json], BeforeValidator(_decode)]
JsonObject = Annotated[Json, BeforeValidator(_decode)]
Strings = Annotated[list[str], BeforeValidator(_split)]
JsonStrings = Annotated[
    list[str],
    BeforeValidator(lambda value: _decode(value) if str(value).startswith("[") else _split(value)),
]


def model_of(function: Callable[..., Any]) -> type[BaseModel]:
    """Return a model of a function's keyword-only parameters that refuses anything else."""
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            required = parameter.default is parameter.empty
            fields[name] = (parameter.annotation, ... if required else parameter.default)
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def check(model: type[BaseModel], given: Json) -> Json:
    """Return the typed arguments. Raises SlackFault invalid_arguments or one of NAMED."""
    if "team_id" not in model.model_fields:
        given = {
            name: value for name, value in given.items() if name != "team_id"
        }  # Bolt sends it with every call
    try:
        checked = model.model_validate(given)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        names = {str(p["loc"][0]) for p in problems}
        code = next((NAMED[n] for n in names if n in NAMED), "invalid_arguments")
        messages = [
            f"[ERROR] {WORDS.get(p['type'], p['msg'])}: {'/'.join(map(str, p['loc']))}"
            for p in problems
        ]
        raise SlackFault(code, response_metadata={"messages": messages}) from None
    return {name: getattr(checked, name) for name in type(checked).model_fields}


async def read(request: web.Request) -> Json:
    """Return query and body together, as strings (form) or JSON values. Raises SlackFault."""
    given: Json = dict(request.query)
    if request.content_type == "application/json":
        return given | await _read_json(request)
    if request.method == "POST":
        given |= {k: v for k, v in (await request.post()).items() if isinstance(v, str)}
    return given


async def _read_json(request: web.Request) -> Json:
    body = await request.text()
    if not body:
        return {}
    try:
        found = json.loads(body)
    except json.JSONDecodeError:
        raise SlackFault("invalid_json") from None
    if not isinstance(found, dict):
        raise SlackFault("json_not_object")
    return {key: value for key, value in found.items() if value is not None}
