"""The models that can be asked: any that a service has, and two that cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from bot.dev.model.standin import StandIn
from bot.evals.cases import Case
from bot.evals.local_model import local_model
from bot.evals.walkthrough import Walkthroughs
from bot.settings import Settings

STAND_IN = "stand-in"
WALKTHROUGH = "walkthrough"


def asking(
    model: str | None, settings: Settings, cases: Sequence[Case]
) -> AbstractAsyncContextManager[Settings]:
    """`settings` with the model of this name; None is the one that they name."""
    if model == WALKTHROUGH:
        return local_model(settings, Walkthroughs(cases))
    if model == STAND_IN:
        return local_model(settings, StandIn())
    return nullcontext(settings.model_copy(update={"openai_model": model}) if model else settings)
