"""The Responses API: requests, responses, their prices, and what servers can do.

`bot.model.client` calls it. It loads OpenAI's SDK, which is slow, so import it where a client is made.
"""

from bot.model.choices import Effort, ModelChoice, ModelChoices, RunModels
from bot.model.prices import Price, PriceList
from bot.model.traits import ServerTraits
from bot.model.types import (
    ArgumentsPart,
    Model,
    ModelRequest,
    ModelResponse,
    Progress,
    ReasoningPart,
    TextPart,
    whole_response,
)

__all__ = [
    "ArgumentsPart",
    "Effort",
    "Model",
    "ModelChoice",
    "ModelChoices",
    "ModelRequest",
    "ModelResponse",
    "Price",
    "PriceList",
    "Progress",
    "ReasoningPart",
    "RunModels",
    "ServerTraits",
    "TextPart",
    "whole_response",
]
