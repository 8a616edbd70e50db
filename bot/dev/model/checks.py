"""Checks of a request body: first the SDK's own types, then the rules that types cannot express."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from openai.types.responses import (
    easy_input_message_param,
    file_search_tool_param,
    response_create_params,
    response_function_tool_call_param,
    response_input_item_param,
    response_output_message_param,
    response_reasoning_item_param,
    tool_param,
    web_search_tool_param,
)
from pydantic import TypeAdapter, ValidationError

from . import errors
from .replies import Item
from .schemas import strict_problem

ADAPTER: TypeAdapter[Any] = TypeAdapter(response_create_params.ResponseCreateParamsBase)
KEYS = {*response_create_params.ResponseCreateParamsBase.__annotations__, "stream"}
UNSUPPORTED = ("conversation", "prompt")
MIN_OUTPUT_TOKENS = 16
IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
ITEM_KEYS = {
    "message": {
        *easy_input_message_param.EasyInputMessageParam.__annotations__,
        *response_input_item_param.Message.__annotations__,
        *response_output_message_param.ResponseOutputMessageParam.__annotations__,
    },
    "function_call": {*response_function_tool_call_param.ResponseFunctionToolCallParam.__annotations__},
    "function_call_output": {*response_input_item_param.FunctionCallOutput.__annotations__},
    "reasoning": {*response_reasoning_item_param.ResponseReasoningItemParam.__annotations__},
}  # fmt: skip
HOSTED_KEYS = {
    "web_search": {*web_search_tool_param.WebSearchToolParam.__annotations__},
    "file_search": {*file_search_tool_param.FileSearchToolParam.__annotations__},
    "code_interpreter": {*tool_param.CodeInterpreter.__annotations__},
}
NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


def parse(raw: bytes) -> dict[str, Any]:
    """Return the body as JSON. Raises ApiError also for lone surrogates, NUL and NaN."""
    try:
        body = json.loads(raw, parse_constant=_no_constant)
        if b"\\u" in raw:
            _check_characters(body)
    except ValueError as problem:
        raise errors.bad_json() from problem
    if not isinstance(body, dict):
        raise errors.bad_json()
    return body


def check_body(body: dict[str, Any]) -> None:
    """Check everything about a body that does not depend on the chain. Raises ApiError."""
    for key in body:
        if key not in KEYS:
            raise errors.unknown_parameter(key)
    for key in UNSUPPORTED:
        if body.get(key) is not None:
            raise errors.invalid_value(key, "the local model server does not offer this.")
    if not body.get("model"):
        raise errors.missing_parameter("model")
    if not isinstance(body.get("stream"), bool | None):
        raise errors.invalid_type("stream", "expected a boolean.")
    _check_types(body)
    limit = body.get("max_output_tokens")
    if limit is not None and limit < MIN_OUTPUT_TOKENS:
        raise errors.invalid_value(
            "max_output_tokens",
            f"Expected a value >= {MIN_OUTPUT_TOKENS}, but got {limit} instead.",
        )
    _check_text_format(body.get("text") or {})
    _check_items(body.get("input"))


def as_items(given: Any) -> list[Item]:
    """Return the input as a list of items; a plain string is one user message."""
    if given is None:
        return []
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return list(given)


@cache
def check_tools(tools_text: str) -> None:
    """Check the tools of a request, given as JSON text so that a cache can hold the result."""
    seen: set[str] = set()
    for index, tool in enumerate(json.loads(tools_text)):
        if tool.get("type") != "function":
            _check_hosted(tool, index)
            continue
        name = tool.get("name", "")
        if not NAME.match(name):
            raise errors.invalid_value(
                f"tools[{index}].name",
                "string does not match pattern. Expected a string that matches the pattern "
                "'^[a-zA-Z0-9_-]+$'.",
            )
        if name in seen:
            raise errors.invalid_value(f"tools[{index}].name", f"'{name}' is used twice.")
        seen.add(name)
        problem = strict_problem(tool.get("parameters")) if tool.get("strict") else None
        if problem:
            raise errors.invalid_schema(
                f"function '{name}'",
                problem,
                f"tools[{index}].parameters",
                "invalid_function_parameters",
            )


def _check_hosted(tool: dict[str, Any], index: int) -> None:
    """Check the type and keys of a tool that the service runs itself."""
    kind = tool.get("type")
    if kind not in HOSTED_KEYS:
        raise errors.invalid_value(f"tools[{index}].type", f"'{kind}' is not offered here.")
    for key in tool:
        if key not in HOSTED_KEYS[kind]:
            raise errors.unknown_parameter(f"tools[{index}].{key}")
    if kind == "file_search" and not tool.get("vector_store_ids"):
        raise errors.missing_parameter(f"tools[{index}].vector_store_ids")


def check_choice(body: dict[str, Any], tools: Iterable[dict[str, Any]]) -> None:
    """Check that a forced or allowed function is among the tools."""
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        if choice == "required" and not list(tools):
            raise errors.choice_not_in_tools()
        return
    names = {tool.get("name") for tool in tools}
    wanted = choice.get("tools", [choice])
    for tool in wanted:
        if tool.get("type") == "function" and tool.get("name") not in names:
            raise errors.choice_not_in_tools()


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_characters(value: Any) -> None:
    if isinstance(value, str):
        value.encode()  # a lone surrogate raises UnicodeEncodeError
        if "\0" in value:
            raise ValueError("NUL")
    elif isinstance(value, dict):
        for key, part in value.items():
            _check_characters(key)
            _check_characters(part)
    elif isinstance(value, list):
        for part in value:
            _check_characters(part)


def _check_types(body: dict[str, Any]) -> None:
    # The types require `strict` and `parameters` of a function; the API does not.
    tools = body.get("tools")
    if isinstance(tools, list):
        filled = [
            {"strict": None, "parameters": None, **tool} if isinstance(tool, dict) else tool
            for tool in tools
        ]
        body = {**body, "tools": filled}
    try:
        _exhaust(ADAPTER.validate_python(body))
    except ValidationError as problem:
        raise _type_error(problem) from problem


def _exhaust(checked: dict[str, Any]) -> None:
    # The types use `Iterable`, which pydantic validates only while it is read.
    for value in (checked, *_dicts(checked.get("input"))):
        for part in value.values():
            if not isinstance(part, str | list | dict) and isinstance(part, Iterable):
                list(part)


def _dicts(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _type_error(problem: ValidationError) -> errors.ApiError:
    first = max(problem.errors(include_url=False), key=lambda error: len(error["loc"]))
    steps = [step for step in first["loc"] if isinstance(step, int) or _is_key(step)]
    name = ""
    for step in steps:
        name += f"[{step}]" if isinstance(step, int) else f".{step}"
    return errors.invalid_type(name.removeprefix("."), f"{first['msg'].lower()}.")


def _is_key(step: str) -> bool:
    # A location contains keys and the labels of union members: class names, `list[…]`, `str`.
    return step.islower() and "[" not in step and step not in ("str", "int", "bool", "float")


def _check_text_format(text: dict[str, Any]) -> None:
    form = text.get("format") or {}
    if form.get("type") != "json_schema" or not form.get("strict"):
        return
    if problem := strict_problem(form.get("schema")):
        raise errors.invalid_schema(
            f"response_format '{form.get('name')}'",
            problem,
            "text.format.schema",
            "invalid_json_schema",
        )


def _check_items(given: Any) -> None:
    for index, item in enumerate(given if isinstance(given, list) else ()):
        kind = item.get("type", "message")
        allowed = ITEM_KEYS.get(kind)
        for key in item:
            if allowed is not None and key not in allowed:
                raise errors.unknown_parameter(f"input[{index}].{key}")
        if kind in ("function_call", "function_call_output") and not item.get("call_id"):
            raise errors.missing_parameter(f"input[{index}].call_id")
        if kind == "additional_tools":
            check_tools(json.dumps(item["tools"]))
        content = item.get("content")
        for number, part in enumerate(content if isinstance(content, list) else ()):
            if part.get("type") == "input_image":
                _check_image(part.get("image_url"), f"input[{index}].content[{number}].image_url")


def _check_image(url: Any, name: str) -> None:
    """Check an image: a URL, or a data URL whose bytes are of a supported kind."""
    if not isinstance(url, str) or not url.startswith(("https://", "http://", "data:")):
        raise errors.invalid_value(name, "expected a valid URL.")
    if not url.startswith("data:"):
        return
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    try:
        begins = base64.b64decode(data, validate=True)[:12]
    except ValueError:
        begins = b""
    if kind not in IMAGES or not begins.startswith(IMAGES[kind]):
        raise errors.invalid_value(name, "the image data does not represent a valid image.")
