"""The models that can be asked: any that a service has, and two that cost nothing."""

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


def asking(
    model: str | None, settings: Settings, cases: Sequence[Case]
) -> AbstractAsyncContextManager[Settings]:
    """Return `settings` with the model of this name; None is the one that they name."""
    if model == WALKTHROUGH:
        return local_model(settings, Walkthroughs(cases), name=WALKTHROUGH)
    if model == DEMO:
        return local_model(settings, demo, name=DEMO)
    return nullcontext(settings.model_copy(update={"openai_model": model}) if model else settings)
