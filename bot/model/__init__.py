"""Client of the Responses API: requests, responses and their prices."""

from bot.model.choices import Effort, ModelChoice, ModelChoices, RunModels
from bot.model.client import ResponsesModel, delete_responses, sdk_client
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
    "ResponsesModel",
    "RunModels",
    "ServerTraits",
    "TextPart",
    "delete_responses",
    "sdk_client",
    "whole_response",
]
