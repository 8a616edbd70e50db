"""Errors of model services, sorted into the kinds that decide what happens next.

Services share no codes, so errors are recognised by their texts (of servers and public threads in
November 2026). Only fields with the service's own text are searched, never echoed input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from bot.core.errors import ModelError, ModelErrorKind
from bot.text.invisible_text import readable
from bot.text.redaction import redacted

if TYPE_CHECKING:
    from bot.model import sdk

_BY_CODE = {
    "previous_response_not_found": ModelErrorKind.MISSING_PARENT,
    "context_length_exceeded": ModelErrorKind.CONTEXT_OVERFLOW,
    "string_above_max_length": ModelErrorKind.CONTEXT_OVERFLOW,
    "model_not_found": ModelErrorKind.MISSING_MODEL,
    "DeploymentNotFound": ModelErrorKind.MISSING_MODEL,
    "exceed_context_size_error": ModelErrorKind.CONTEXT_OVERFLOW,
    "insufficient_quota": ModelErrorKind.QUOTA,
    "budget_exceeded": ModelErrorKind.QUOTA,
    "credit_balance_exhausted": ModelErrorKind.QUOTA,
    "project_spend_limit_exceeded": ModelErrorKind.QUOTA,
    "organization_spend_limit_exceeded": ModelErrorKind.QUOTA,
    "organization_usage_limit_exceeded": ModelErrorKind.QUOTA,
    "rate_limit_exceeded": ModelErrorKind.OVERLOADED,
    "server_error": ModelErrorKind.OVERLOADED,
    "invalid_prompt": ModelErrorKind.POLICY,
    "content_filter": ModelErrorKind.POLICY,
    "content_policy_violation": ModelErrorKind.POLICY,
    "ResponsibleAIPolicyViolation": ModelErrorKind.POLICY,
    "moderation_blocked": ModelErrorKind.POLICY,
    "bio_policy": ModelErrorKind.POLICY,
    "misalignment_policy_violation": ModelErrorKind.POLICY,
    "invalid_api_key": ModelErrorKind.AUTHENTICATION,
}
_RATE = re.compile(r"rate limit|per (minute|second|hour|day)|\b[tr]p[md]\b")
_OWN_LIMIT = re.compile(r"^\W*(error code: \d+ - )?\W*max_?(output_|completion_|new_)?tokens\b")
"""Limits that no shorter conversation helps against."""
_SIZE = r"(?:context|prompt|inputs?|messages|tokens?|n_ctx|num_ctx|sequence|conversation)"
_TOO_MUCH = r"(?:exceed|too (?:long|large|many|big)|(?:longer|larger|greater|more) than|must be <=|over the)"
_BY_WORDS = (
    (
        ModelErrorKind.POLICY,
        re.compile(
            r"content[ _-]?(management )?(policy|filter)|responsible ?ai ?policy"
            r"|flagged as potentially violating|blocked by .{0,40}(moderation|guardrail|safety)"
        ),
    ),
    (ModelErrorKind.QUOTA, re.compile(r"budget has been exceeded|exceededbudget|budget_exceeded")),
    (
        ModelErrorKind.MISSING_PARENT,
        re.compile(r"previous[ _]response|response (with id )?\S+ (was )?not found"),
    ),
    (
        ModelErrorKind.CONTEXT_OVERFLOW,
        re.compile(
            # OpenAI, LiteLLM; vLLM, OpenRouter, Mistral, Ollama, LM Studio; llama.cpp
            r"context ?window|context length|context[ _]size"
            # Anthropic; vLLM, xAI; Bedrock; Google, Cohere; Groq; one request over OpenAI's rate
            r"|context limit|prompt is too long|maximum (model|prompt) length|max_model_len"
            r"|input is too long|maximum number of (input )?tokens|too many tokens"
            r"|reduce the length of the (messages|input|prompt)|request[ _]too[ _]large"
            # The words of all others, in any order.
            rf"|\b{_SIZE}\b.{{0,100}}?{_TOO_MUCH}|{_TOO_MUCH}\w*.{{0,60}}?\b{_SIZE}\b"
            r"|(payload|request entity|content) too large"
        ),
    ),
    (
        ModelErrorKind.MISSING_MODEL,
        re.compile(
            r"\bmodels?\b.{0,200}?(does not exist|not found|is not a valid|has been deprecated)"
            r"|not a valid model|invalid model (name|id)|unknown model|no models? loaded"
            r"|no endpoints found for|does not have access to (the )?model|^model: "
        ),
    ),
    (
        ModelErrorKind.NO_RESPONSES_API,
        re.compile(
            r"^(error code: \d+ - )?(\d+ )?(page |resource |file )?(not found|method not allowed)"
            r"|invalid url|unexpected endpoint|unknown (endpoint|request url)|cannot (get|post) /"
        ),
    ),
)
_STORES_NOTHING = re.compile(r"not support|unsupported|unknown param|not enabled|zero data")
_OF_POLICY = re.compile(r"polic|flagged|moderation|safety|filter|guardrail")
"""OpenRouter calls every malformed request an `invalid_prompt`."""
_UNAUTHORIZED, _NO_CREDIT, _FORBIDDEN, _TOO_LARGE = 401, 402, 403, 413
_NO_SUCH_PATH = (404, 405)
_MOST_SAID = 300
_MOST_READ = 3000  # characters of an error
_MOST_QUOTED = 60  # characters in quotes that may be a name or a value of a setting
_QUOTED = re.compile(r"(['\"`])((?:(?!\1).)+)\1")
_WRONG_ADDRESS = (
    "There is no Responses API at this address, so OPENAI_BASE_URL is probably wrong: it usually "
    "ends in /v1. For a Chat Completions server, put LiteLLM in front."
)


@cache
def _parameters() -> frozenset[str]:
    """Return the names of the parameters of the Responses API."""
    from openai.types.responses.response_create_params import ResponseCreateParamsBase

    return frozenset(ResponseCreateParamsBase.__annotations__)


def from_exception(error: sdk.OpenAIError) -> ModelError:
    """Return the SDK's error as a ModelError of its kind."""
    from bot.model import sdk

    if isinstance(error, sdk.APIConnectionError):  # timeouts are among these
        return unreached(error.request.url.host, error.__cause__ or error)
    if isinstance(error, sdk.APIStatusError):
        return _classified(error.body, error.message, error.status_code, error.request_id)
    if isinstance(error, sdk.APIError):
        return _classified(error.body, error.message, None, None)
    return ModelError(ModelErrorKind.BAD_REQUEST, str(error))


def unreached(host: str, cause: BaseException) -> ModelError:
    """Return the error for a request without a reply: with the host, which may be wrong."""
    import aiohttp
    import httpx2

    is_late = isinstance(cause, aiohttp.SocketTimeoutError)  # the service was there
    is_away = not is_late and isinstance(
        cause, aiohttp.ClientConnectionError | httpx2.ConnectError | httpx2.ConnectTimeout
    )
    kind = ModelErrorKind.UNREACHABLE if is_away else ModelErrorKind.OVERLOADED
    # Its own text has the whole address, and that of some gateways has a key.
    why = cause.message if isinstance(cause, aiohttp.ClientResponseError) else str(cause)
    text = f"{host}: {why or type(cause).__name__}"
    return ModelError(kind, text, detail=text)


def too_large(what: str, most: int) -> ModelError:
    """Return the error for a reply of more than `most` bytes, which another attempt would bring again."""
    text = f"The model service's {what} is too large: it may have {most // 2**20} MiB."
    return ModelError(ModelErrorKind.BAD_REQUEST, text)


def from_body(body: Mapping[str, Any]) -> ModelError:
    """Return the error inside a stream or a response body: flat, or nested under `error`."""
    error = body.get("error")
    inner = error if isinstance(error, Mapping | str) and error else body
    message = _own_words(inner)
    status = body.get("status")
    if not message and isinstance(status, str):
        message = f"The response is {status}."
    return _classified(inner, message or "The response failed.", None, None)


def no_responses_api(message: str = "") -> ModelError:
    """Return the error for an address where something other than a Responses API answers."""
    text = f"{_WRONG_ADDRESS} It said: {message[:_MOST_SAID]}" if message else _WRONG_ADDRESS
    return ModelError(ModelErrorKind.NO_RESPONSES_API, text)


def stores_nothing(missing_parent: ModelError) -> bool:
    """Return whether the service says that it has no parents at all, not only that one is missing."""
    return bool(_STORES_NOTHING.search(str(missing_parent).lower()))


def _own_words(body: object) -> str:
    """Return the message of an error: LM Studio sends a bare text, FastAPI servers a `detail`."""
    if isinstance(body, str):
        return body
    given = body if isinstance(body, Mapping) else {}
    candidates = (given.get(name) for name in ("message", "detail", "error"))
    return next((each for each in candidates if isinstance(each, str) and each), "")


def _classified(
    body: object, message: str, status: int | None, request_id: str | None
) -> ModelError:
    given = body if isinstance(body, Mapping) else {}
    own_words = _own_words(body)
    if own_words and own_words not in message:
        message = f"{message} - {own_words[:_MOST_SAID]}"
    code = given.get("code")
    # Texts first: a request larger than the rate limit has the same code as one sent too soon.
    words = f"{(own_words or message)[:_MOST_READ]}\n{given.get('type') or ''}"
    kind = _by_words(words) or _BY_CODE.get(str(code)) or _by_status(status, is_json=bool(given))
    if kind is ModelErrorKind.POLICY and not _OF_POLICY.search(f"{code} {words}".lower()):
        kind = ModelErrorKind.BAD_REQUEST
    if isinstance(inner := given.get("innererror"), Mapping):
        kind = _BY_CODE.get(str(inner.get("code")), kind)
    if status == _NO_CREDIT:
        kind = ModelErrorKind.QUOTA
    if status == _TOO_LARGE:
        kind = ModelErrorKind.CONTEXT_OVERFLOW
    if status == _UNAUTHORIZED or (
        status == _FORBIDDEN and kind is not ModelErrorKind.MISSING_MODEL
    ):
        kind = ModelErrorKind.AUTHENTICATION
    if status is None and kind is ModelErrorKind.OVERLOADED:
        kind = ModelErrorKind.INTERRUPTED  # the SDK does not retry a stream that has begun
    if kind is ModelErrorKind.NO_RESPONSES_API:
        return no_responses_api(message)
    known = str(code) if str(code) in _BY_CODE else ""
    detail = " ".join(filter(None, (f"HTTP {status}" if status else "", known)))
    return ModelError(kind, message, request_id=request_id, detail=detail)


def _by_words(text: str) -> ModelErrorKind | None:
    lowered = text.lower()[: _MOST_READ + 100]  # the patterns take quadratic time
    kind = next((kind for kind, words in _BY_WORDS if words.search(lowered)), None)
    is_own_limit = _OWN_LIMIT.search(lowered) or (
        _RATE.search(lowered) and "request too large" not in lowered
    )
    return None if kind is ModelErrorKind.CONTEXT_OVERFLOW and is_own_limit else kind


def said_by_service(error: ModelError, sent: str) -> str:
    """Return the service's own words in one line of at most 300 characters, for operators: without
    secrets, without long quotes, and without what it quotes from `sent`, which people wrote. "" where it
    said nothing."""
    if str(error) == error.detail:  # nobody answered
        return ""
    lowered = sent.lower()

    def unless_sent(quoted: re.Match[str]) -> str:
        is_long, words = len(quoted[2]) > _MOST_QUOTED, quoted[2].lower()
        if words in _parameters():
            return quoted[0]
        return "'…'" if is_long or words in lowered else quoted[0]

    words = _QUOTED.sub(unless_sent, redacted(readable(str(error)[:_MOST_READ])))
    return " ".join(words.split())[:_MOST_SAID]


def _by_status(status: int | None, *, is_json: bool) -> ModelErrorKind:
    if status is None:  # inside a stream there is no status
        return ModelErrorKind.INTERRUPTED
    if status in (408, 409, 429) or status >= 500:
        return ModelErrorKind.OVERLOADED
    if status in _NO_SUCH_PATH and not is_json:
        return ModelErrorKind.NO_RESPONSES_API
    return ModelErrorKind.BAD_REQUEST
