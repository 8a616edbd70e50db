"""Models to evaluate: any model of the service, and two local models that cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from bot.dev.demo import demo
from bot.evals.cases import Case
from bot.evals.local_model import local_model
from bot.evals.walkthrough import Walkthroughs
from bot.settings import Settings

DEMO = "demo"
WALKTHROUGH = "walkthrough"


def model_for_cases(
    model: str | None, settings: Settings, cases: Sequence[Case]
) -> AbstractAsyncContextManager[Settings]:
    """Open the model of this name and return the settings for it; None is the configured model."""
    if model == WALKTHROUGH:
        return local_model(settings, Walkthroughs(cases), name=WALKTHROUGH)
    if model == DEMO:
        return local_model(settings, demo, name=DEMO)
    return nullcontext(settings.model_copy(update={"openai_model": model}) if model else settings)
