"""The parts of OpenAI's SDK that calls need, without its front and its thousand types.

A client makes generic requests: `client.responses` and its like would load the types of its answers.
"""

from __future__ import annotations

from bot.core.fronts import leave_out

leave_out("openai", "openai.types", "openai.lib", "httpcore2")

from httpcore2._ssl import default_ssl_context  # noqa: E402
from openai._base_client import DefaultAioHttpClient  # noqa: E402
from openai._client import AsyncOpenAI  # noqa: E402
from openai._exceptions import (  # noqa: E402
    APIConnectionError,
    APIError,
    APIStatusError,
    NotFoundError,
    OpenAIError,
)
from openai._models import FinalRequestOptions  # noqa: E402
from openai._utils._path import path_template  # noqa: E402

__all__ = [
    "APIConnectionError",
    "APIError",
    "APIStatusError",
    "AsyncOpenAI",
    "DefaultAioHttpClient",
    "FinalRequestOptions",
    "NotFoundError",
    "OpenAIError",
    "default_ssl_context",
    "path_template",
]
