"""A local model server: a strict Responses API.

async with ResponsesServer.open(brain=Script([text("hello")])) as api:
    client = AsyncOpenAI(base_url=api.url, api_key=api.api_key)
"""

from .errors import ApiError
from .replies import (
    Reply,
    call,
    calls,
    empty,
    finish,
    held,
    incomplete,
    raw,
    reasoning,
    refusal,
    text,
)
from .request import ModelRequest
from .script import Script, ScriptBook, respond
from .server import Received, ResponsesServer
from .speech import spoken

__all__ = [
    "ApiError",
    "ModelRequest",
    "Received",
    "Reply",
    "ResponsesServer",
    "Script",
    "ScriptBook",
    "call",
    "calls",
    "empty",
    "finish",
    "held",
    "incomplete",
    "raw",
    "reasoning",
    "refusal",
    "respond",
    "spoken",
    "text",
]
