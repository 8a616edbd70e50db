"""Sorts what the service reports into the kinds that decide what happens next.

Codes and texts are those of the public threads gathered in November 2026; several cases carry no
code and are told by their text.
"""

from __future__ import annotations

from typing import Any

import openai

from bot.core.errors import ModelError, ModelErrorKind

_BY_CODE = {
    "previous_response_not_found": ModelErrorKind.MISSING_PARENT,
    "context_length_exceeded": ModelErrorKind.CONTEXT_OVERFLOW,
    "insufficient_quota": ModelErrorKind.QUOTA,
    "credit_balance_exhausted": ModelErrorKind.QUOTA,
    "project_spend_limit_exceeded": ModelErrorKind.QUOTA,
    "organization_spend_limit_exceeded": ModelErrorKind.QUOTA,
    "organization_usage_limit_exceeded": ModelErrorKind.QUOTA,
    "rate_limit_exceeded": ModelErrorKind.OVERLOADED,
    "server_error": ModelErrorKind.OVERLOADED,
    "invalid_prompt": ModelErrorKind.POLICY,
    "bio_policy": ModelErrorKind.POLICY,
    "misalignment_policy_violation": ModelErrorKind.POLICY,
    "invalid_api_key": ModelErrorKind.AUTHENTICATION,
}
_NO_ENDPOINT = (404, 405)
_BY_TEXT = (
    ("previous response", ModelErrorKind.MISSING_PARENT),
    ("context window", ModelErrorKind.CONTEXT_OVERFLOW),
    ("request too large", ModelErrorKind.CONTEXT_OVERFLOW),
)


def from_exception(error: openai.OpenAIError) -> ModelError:
    """What the SDK raised, sorted."""
    if isinstance(error, openai.APIConnectionError):  # timeouts are among these
        return ModelError(ModelErrorKind.OVERLOADED, _unreached(error))
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        kind = ModelErrorKind.AUTHENTICATION
        return ModelError(kind, error.message, request_id=error.request_id)
    if isinstance(error, openai.APIStatusError):
        if error.status_code in _NO_ENDPOINT and not _is_about_content(error):
            kind = ModelErrorKind.NO_RESPONSES_API
            return ModelError(kind, f"{error.request.url} is not there: {error.message}")
        return _sorted(error.code, error.message, error.status_code, error.request_id)
    if isinstance(error, openai.APIError):
        return _sorted(error.code, error.message, None, None)
    return ModelError(ModelErrorKind.BAD_REQUEST, str(error))


def _is_about_content(error: openai.APIStatusError) -> bool:
    """Whether a service that has the endpoint misses something else: a model, an earlier response."""
    said = error.message.lower()
    return _kind_by_text(said) is not None or str(error.code) in _BY_CODE or "model" in said


def _unreached(error: openai.APIConnectionError) -> str:
    """With the address, which may be the wrong one. The SDK calls all of it a timeout, a connection
    that was refused at once as well: what happened is told by the cause."""
    return f"{error.request.url.host}: {str(error.__cause__ or '') or error}"


def from_body(body: dict[str, Any]) -> ModelError:
    """An error that came inside a stream or a response: flat, or nested under `error`."""
    inner = body.get("error") if isinstance(body.get("error"), dict) else body
    inner = inner or {}
    return _sorted(inner.get("code"), inner.get("message") or "The response failed.", None, None)


def _sorted(
    code: str | None, message: str, status: int | None, request_id: str | None
) -> ModelError:
    # Text first: a request too large for the rate limit has the code of one that came too soon.
    kind = _kind_by_text(message) or _BY_CODE.get(str(code or "")) or _kind_by_status(status)
    if status is None and kind is ModelErrorKind.OVERLOADED:
        kind = ModelErrorKind.INTERRUPTED  # the SDK retries nothing once a stream has begun
    return ModelError(kind, message, request_id=request_id)


def _kind_by_text(message: str) -> ModelErrorKind | None:
    lowered = message.lower()
    return next((kind for words, kind in _BY_TEXT if words in lowered), None)


def _kind_by_status(status: int | None) -> ModelErrorKind:
    if status is None:  # inside a stream the service says no more than that it failed
        return ModelErrorKind.INTERRUPTED
    if status in (408, 409, 429) or status >= 500:
        return ModelErrorKind.OVERLOADED
    return ModelErrorKind.BAD_REQUEST
