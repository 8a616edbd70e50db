"""The local model server refuses what the real API refuses, in its words (loop B2, B8, C1)."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from openai import AsyncOpenAI, AuthenticationError, BadRequestError
from openai.types.responses import FunctionToolParam

from bot.dev.model import ResponsesServer, Script, call, text


def tool(name: str = "look", **parameters: Any) -> FunctionToolParam:
    """Return a strict function tool."""
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return {
        "type": "function",
        "name": name,
        "description": "Look.",
        "strict": True,
        "parameters": {**schema, **parameters},
    }


def prop(schema: dict[str, Any]) -> FunctionToolParam:
    """Return a tool with one property `p` of the given schema."""
    return tool(properties={"p": schema}, required=["p"])


async def refused(**body: Any) -> BadRequestError:
    """Return the error of one request."""
    async with (
        ResponsesServer.open(Script([text("never")])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        with pytest.raises(BadRequestError) as caught:
            await client.responses.create(**{"model": "m", "input": "hi", **body})
        assert api.requests[-1].error == caught.value.body
    return caught.value


ALL_KEYS = "to be an array including every key in properties."
SCHEMAS = [
    (tool(required=None), None),
    (tool(additionalProperties=True), "In context=(), 'additionalProperties' is required"),
    (tool(properties={"p": {"type": "string"}}), f"{ALL_KEYS} Missing 'p'."),
    (tool(required=["q"]), "Extra required key 'q' supplied."),
    (
        tool(type="array"),
        "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'",
    ),
    (prop({}), "In context=('properties', 'p'), schema must have a 'type' key."),
    (prop({"oneOf": [{"type": "string"}]}), "'oneOf' is not permitted."),
    (prop({"type": "string", "minLength": 1}), "'minLength' is not permitted."),
    (prop({"type": "string", "format": "uri"}), "'uri' is not a valid format."),
    (prop({"type": "array"}), "array schema missing items."),
    (prop({"type": "object", "additionalProperties": {"type": "string"}}), "to be false."),
    (prop({"$ref": "#/$defs/A", "description": "x"}), "$ref cannot have keywords"),
    (prop({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "P", "default": None}), None),
    (prop({"type": ["string", "null"], "enum": ["a", None]}), None),
]


@pytest.mark.parametrize(("given", "problem"), SCHEMAS)
async def test_strict_schemas_are_judged(given: FunctionToolParam, problem: str | None) -> None:
    """A schema outside the strict rules is refused with its path and name; others pass."""
    if problem is None:
        async with (
            ResponsesServer.open(Script([text("ok")])) as api,
            AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
        ):
            await client.responses.create(model="m", input="hi", tools=[given])
        return
    error = await refused(tools=[tool("first"), given])
    assert error.code == "invalid_function_parameters"
    assert error.param == "tools[1].parameters"
    assert error.message.find("Invalid schema for function 'look': ") > 0
    assert problem in error.message


async def test_a_tool_that_is_not_strict_is_not_judged() -> None:
    """The strict rules apply only with `strict: true`."""
    loose: Any = {**prop({"oneOf": []}), "strict": False}
    async with (
        ResponsesServer.open(Script([text("ok")])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        await client.responses.create(model="m", input="hi", tools=[loose])


BODIES = [
    ({"extra_body": {"verbosity": "low"}}, "unknown_parameter", "verbosity", "Unknown parameter: 'verbosity'."),
    ({"extra_body": {"frobnicate": 1}}, "unknown_parameter", "frobnicate", "Unknown parameter"),
    ({"input": [{"role": "user", "content": 5}]}, "invalid_type", "input[0].content", "Invalid type"),
    ({"input": [{"type": "function_call_output", "output": "x"}]}, "missing_required_parameter", "input[0].call_id", "Missing required parameter: 'input[0].call_id'."),
    ({"input": [{"role": "user", "content": "x", "async_": None}]}, "unknown_parameter", "input[0].async_", "Unknown parameter"),
    ({"tools": [tool(), tool()]}, "invalid_value", "tools[1].name", "used twice"),
    ({"tools": [tool("no spaces please")]}, "invalid_value", "tools[0].name", "does not match pattern"),
    ({"tools": [tool()], "tool_choice": {"type": "function", "name": "gone"}}, None, "tool_choice", "Tool choice 'function' not found in 'tools' parameter."),
    ({"max_output_tokens": 3}, "invalid_value", "max_output_tokens", "Expected a value >= 16"),
    ({"previous_response_id": "resp_gone"}, "previous_response_not_found", "previous_response_id", "Previous response with id 'resp_gone' not found."),
    ({"input": [{"type": "function_call_output", "call_id": "call_X", "output": "x"}]}, None, "input", "No tool call found for function call output with call_id call_X."),
    ({"input": [{"type": "function_call", "call_id": "call_X", "name": "a", "arguments": "{}"}]}, None, "input", "No tool output found for function call call_X."),
    ({"input": [{"type": "item_reference", "id": "msg_1"}]}, None, "input", "Item with id 'msg_1' not found."),
    ({"input": [{"type": "function_call", "id": "call_X", "call_id": "call_X", "name": "a", "arguments": "{}"}]}, "invalid_value", "input[0].id", "Expected an ID that begins with 'fc'."),
    ({"store": False, "input": [{"type": "reasoning", "id": "rs_1", "summary": []}]}, None, "input", "Items are not persisted when `store` is set to false."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code", "param", "words"), BODIES)
async def test_a_wrong_request_gets_the_real_error(
    body: dict[str, Any], code: str | None, param: str, words: str
) -> None:
    """The error has status 400 and the service's code, parameter and sentence."""
    error = await refused(**body)
    assert (error.code, error.param) == (code, param)
    assert error.type == "invalid_request_error"
    assert words in error.message


async def test_a_window_that_is_too_small() -> None:
    """A model's window counts the whole chain; `truncation: auto` lets the request pass."""
    async with (
        ResponsesServer.open(Script([text("a" * 400), text("ok")])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        api.windows["small"] = 100
        first = await client.responses.create(model="small", input="hi")
        with pytest.raises(BadRequestError, match="exceeds the context window") as caught:
            await client.responses.create(model="small", input="hi", previous_response_id=first.id)
        assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "input")
        passed = await client.responses.create(
            model="small", input="hi", previous_response_id=first.id, truncation="auto"
        )
        assert passed.usage
        assert passed.usage.input_tokens == 100


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"model": "m", "input": "\\ud83d"}',
        b'{"model": "m", "input": "a\\u0000b"}',
        b'{"model": "m", "input": "hi", "temperature": NaN}',
        b'{"model": "m", "input": "\xff"}',
        b"[]",
    ],
)
async def test_what_no_json_may_hold_is_refused(body: bytes) -> None:
    """Broken JSON, lone surrogates, NUL, NaN and bad UTF-8 all get 400."""
    async with ResponsesServer.open(Script([])) as api, aiohttp.ClientSession() as session:
        answer = await session.post(
            f"{api.url}/responses", data=body, headers={"Authorization": f"Bearer {api.api_key}"}
        )
        assert answer.status == 400
        assert "could not parse the JSON body" in (await answer.json())["error"]["message"]
        assert answer.headers["x-request-id"]


async def test_escaped_backslashes_and_whole_pairs_are_json() -> None:
    """An escaped backslash-u and a proper surrogate pair pass."""
    async with ResponsesServer.open(Script([text("ok")])) as api, aiohttp.ClientSession() as http:
        answer = await http.post(
            f"{api.url}/responses",
            data=b'{"model": "m", "input": "\\\\u0000 \\ud83d\\ude00"}',
            headers={"Authorization": f"Bearer {api.api_key}"},
        )
        assert answer.status == 200


async def test_keys_are_checked() -> None:
    """A wrong key gets 401 and is not repeated in full; a missing key gets 401."""
    async with ResponsesServer.open(Script([])) as api:
        wrong = "sk-this-key-is-quite-wrong"
        async with AsyncOpenAI(base_url=api.url, api_key=wrong, max_retries=0) as client:
            with pytest.raises(AuthenticationError) as caught:
                await client.responses.create(model="m", input="hi")
        assert caught.value.code == "invalid_api_key"
        assert wrong not in caught.value.message
        async with aiohttp.ClientSession() as session:
            answer = await session.get(f"{api.url}/models")
            assert answer.status == 401
            lost = await session.get(
                f"{api.url}/nowhere", headers={"Authorization": f"Bearer {api.api_key}"}
            )
            assert lost.status == 404


async def test_tools_added_in_the_conversation_can_be_forced() -> None:
    """Tools of `additional_tools` items can be forced later in the chain."""
    added: Any = {"type": "additional_tools", "role": "developer", "tools": [tool("later")]}
    choice: Any = {"type": "function", "name": "later"}
    async with (
        ResponsesServer.open(Script([text("ok"), call("later", {})])) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        first = await client.responses.create(
            model="m", input=[{"role": "user", "content": "hi"}, added]
        )
        await client.responses.create(
            model="m", input="go", previous_response_id=first.id, tool_choice=choice
        )


@pytest.mark.parametrize(
    ("hosted", "says"),
    [
        ({"type": "web_search", "depth": 2}, "tools[0].depth"),
        ({"type": "file_search", "vector_store_ids": []}, "tools[0].vector_store_ids"),
        ({"type": "code_interpreter"}, "[0]"),
        ({"type": "web_surf"}, "[0]"),
    ],
)
async def test_hosted_tools_are_judged(hosted: dict[str, Any], says: str) -> None:
    """The keys of hosted tools are checked as well."""
    assert says in str(await refused(tools=[hosted]))
