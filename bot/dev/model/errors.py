"""The API's error bodies, in the exact words that clients have seen.

An `ApiError` carries the HTTP status, the body's fields and the headers that steer a client's
retries. The same body is used as an HTTP answer and inside a stream.
"""

from __future__ import annotations

from typing import Any

RETRY_TEXT = (
    "An error occurred while processing your request. You can retry your request, or contact us "
    "through our help center if the error persists."
)


class ApiError(Exception):
    """A refused request: `status` is the HTTP status, `body` the JSON body for the client."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.code = code
        self.param = param
        self.headers = headers or {}

    @property
    def error(self) -> dict[str, Any]:
        """The inner object, which a nested stream event shows too."""
        return {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }

    @property
    def body(self) -> dict[str, Any]:
        """The whole HTTP body."""
        return {"error": self.error}


def bad_json() -> ApiError:
    """Return the error for a body that is not valid JSON."""
    return ApiError(
        400,
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't "
        "using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was "
        "sent was not valid JSON.)",
    )


def no_key() -> ApiError:
    """Return the error for a missing Authorization header."""
    return ApiError(
        401,
        "You didn't provide an API key. You need to provide your API key in an Authorization "
        "header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    )


def wrong_key(key: str) -> ApiError:
    """Return the error for an unknown key; as in the real service it shows only the key's ends."""
    shown = f"{key[:3]}{'*' * max(len(key) - 7, 3)}{key[-4:]}" if len(key) > 8 else "***"
    return ApiError(
        401,
        f"Incorrect API key provided: {shown}. You can find your API key in your account settings.",
        code="invalid_api_key",
    )


def not_found(path: str) -> ApiError:
    """Return the error for an unknown path."""
    return ApiError(404, f"Invalid URL ({path})")


def response_not_found(response_id: str) -> ApiError:
    """Return the error for a response that is not stored."""
    return ApiError(404, f"Response with id '{response_id}' not found.")


def unknown_parameter(name: str) -> ApiError:
    """Return the error for an unknown key of the body."""
    return ApiError(400, f"Unknown parameter: '{name}'.", code="unknown_parameter", param=name)


def missing_parameter(name: str) -> ApiError:
    """Return the error for a missing required key."""
    return ApiError(
        400,
        f"Missing required parameter: '{name}'.",
        code="missing_required_parameter",
        param=name,
    )


def invalid_type(name: str, problem: str) -> ApiError:
    """Return the error for a value of the wrong type; `problem` is the type checker's sentence."""
    return ApiError(400, f"Invalid type for '{name}': {problem}", code="invalid_type", param=name)


def invalid_value(name: str, problem: str) -> ApiError:
    """Return the error for a value of the right type that is not allowed."""
    return ApiError(400, f"Invalid '{name}': {problem}", code="invalid_value", param=name)


def invalid_schema(owner: str, problem: str, param: str, code: str) -> ApiError:
    """Return the error for a strict schema that breaks a rule.

    `owner` reads "function 'X'" or "response_format 'X'".
    """
    return ApiError(400, f"Invalid schema for {owner}: {problem}", code=code, param=param)


def _about_input(message: str) -> ApiError:
    return ApiError(400, message, param="input")


def unanswered_call(call_id: str) -> ApiError:
    """Return the error for a function call without an output."""
    return _about_input(f"No tool output found for function call {call_id}.")


def unknown_call(call_id: str) -> ApiError:
    """Return the error for an output of a call that the chain does not contain."""
    return _about_input(f"No tool call found for function call output with call_id {call_id}.")


def answered_twice(call_id: str) -> ApiError:
    """Return the error for a second output of one call."""
    return _about_input(
        f"Duplicate function_call_output for call_id '{call_id}'. Each function_call must have "
        "exactly one matching function_call_output."
    )


def duplicate_item(item_id: str) -> ApiError:
    """Return the error for an item that the chain already contains."""
    return _about_input(
        f"Duplicate item found with id {item_id}. Remove duplicate items from your input and try "
        "again."
    )


def parent_not_found(response_id: str) -> ApiError:
    """Return the error for a previous response that is not stored (any more)."""
    return ApiError(
        400,
        f"Previous response with id '{response_id}' not found.",
        code="previous_response_not_found",
        param="previous_response_id",
    )


def zero_data_retention() -> ApiError:
    """Return the error for chaining in an organisation that keeps no data."""
    return ApiError(
        400,
        "Previous response cannot be used for this organization due to Zero Data Retention.",
        param="previous_response_id",
    )


def item_not_found(item_id: str, *, store: bool) -> ApiError:
    """Return the error for a reference to an item that is not stored."""
    advice = (
        ""
        if store
        else " Items are not persisted when `store` is set to false. Try again with `store` set to "
        "true, or remove this item from your input."
    )
    return _about_input(f"Item with id '{item_id}' not found.{advice}")


def lonely_reasoning(item_id: str) -> ApiError:
    """Return the error for a reasoning item without the item that followed it."""
    return _about_input(
        f"Item '{item_id}' of type 'reasoning' was provided without its required following item."
    )


def missing_reasoning(item_id: str, kind: str, reasoning_id: str) -> ApiError:
    """Return the error for a replayed item without the reasoning before it."""
    return _about_input(
        f"Item '{item_id}' of type '{kind}' was provided without its required 'reasoning' item: "
        f"'{reasoning_id}'."
    )


def altered_reasoning(item_id: str) -> ApiError:
    """Return the error for encrypted reasoning that was changed."""
    return ApiError(
        400,
        f"The encrypted content for item {item_id} could not be verified. Reason: Encrypted "
        "content could not be decrypted or parsed.",
        code="invalid_encrypted_content",
    )


def choice_not_in_tools() -> ApiError:
    """Return the error for a forced tool that is not among the request's tools."""
    return ApiError(
        400, "Tool choice 'function' not found in 'tools' parameter.", param="tool_choice"
    )


def context_length() -> ApiError:
    """Return the error for an input larger than the model's window."""
    return ApiError(
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try "
        "again.",
        code="context_length_exceeded",
        param="input",
    )


def rate_limit(model: str, retry_after: float) -> ApiError:
    """Return the error for too many tokens per minute; `retry_after` is in seconds."""
    return ApiError(
        429,
        f"Rate limit reached for {model} in organization org-local on tokens per min (TPM): "
        f"Limit 30000, Used 29500, Requested 1200. Please try again in {retry_after:g}s.",
        kind="tokens",
        code="rate_limit_exceeded",
        headers={"retry-after-ms": f"{retry_after * 1000:g}"},
    )


def request_too_large(model: str) -> ApiError:
    """Return the error for a single request over the tokens per minute."""
    return ApiError(
        429,
        f"Request too large for {model} in organization org-local on tokens per min (TPM): "
        "Limit 30000, Requested 41000. The input or output tokens must be reduced in order to run "
        "successfully.",
        kind="tokens",
        code="rate_limit_exceeded",
    )


def quota() -> ApiError:
    """Return the error for an account without money."""
    return ApiError(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        kind="insufficient_quota",
        code="insufficient_quota",
    )


def server_error(status: int = 500) -> ApiError:
    """Return the error for a failure of the service."""
    return ApiError(status, RETRY_TEXT, kind="server_error", code="server_error")


def invalid_prompt() -> ApiError:
    """Return the error for a flagged prompt."""
    return ApiError(
        400,
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy. "
        "Please try again with a different prompt.",
        code="invalid_prompt",
    )


def model_not_found(model: str) -> ApiError:
    """Return the error for a model that does not exist or is not open to this key."""
    return ApiError(
        400,
        f"The requested model '{model}' does not exist.",
        code="model_not_found",
        param="model",
    )


def test_error(message: str) -> ApiError:
    """Return the error for a mistake of the test itself, which clients never retry."""
    return ApiError(
        500,
        f"Test error: {message}",
        kind="server_error",
        code="test_error",
        headers={"x-should-retry": "false"},
    )
