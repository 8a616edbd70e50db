"""Models that people may choose from, and the one that a run asks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.model.prices import Price
from bot.model.types import Model, ModelRequest, Progress

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
"""How much a model reasons before it answers."""


class ModelChoice(BaseModel):
    """A model and its effort that people may choose by `name`: `[[model.choices]]` in bot.toml.

    `effort` replaces `reasoning` of `[model]`. `price` (dollars per million tokens) is for a model
    that the price table lacks or prices wrongly.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=30)
    model: str = Field(min_length=1)
    effort: Effort | None = None
    price: Price | None = None

    @property
    def label(self) -> str:
        """The choice for people: "thorough (gpt-6.1-sol, effort high)"."""
        effort = f", effort {self.effort}" if self.effort else ""
        return f"{self.name} ({self.model}{effort})"


@dataclass(frozen=True, slots=True)
class RunModels:
    """The models of one run: `names` are tried in order, the others when the first fails.

    `choice` is the name of the choice that the first one is, "" for the configured model. `effort`
    is sent with calls of the first one; None leaves it to the settings.
    """

    names: tuple[str, ...]
    choice: str = ""
    effort: Effort | None = None

    def name(self, fallback: int) -> str:
        """Return the model in use after `fallback` of them were given up."""
        return self.names[min(fallback, len(self.names) - 1)]

    def effort_of(self, model: str) -> Effort | None:
        """Return the effort of a call of `model`; None leaves it to the settings."""
        return self.effort if model == self.names[0] else None

    def applied_to(self, model: Model) -> Model:
        """Return `model` with the effort of this run."""
        return _WithEffort(model, self) if self.effort else model


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """The configured model with its fallbacks, and the choices beside it.

    `deeper` is the name of the choice for *Look deeper*, "" for none.
    """

    configured: tuple[str, ...]
    choices: Sequence[ModelChoice] = ()
    deeper: str = ""

    def first_of(self, *names: str) -> str:
        """Return the first of `names` that is still a choice; "" for the configured model."""
        known = {each.name for each in self.choices}
        return next((name for name in names if name in known), "")

    def label_of(self, name: str) -> str:
        """Return the choice `name` for people; the configured model if it is no longer there."""
        labels = {choice.name: choice.label for choice in self.choices}
        return labels.get(name, self.configured[0])

    def models(self, choice: str) -> RunModels:
        """Return the models of a run with this choice; the configured one if it is no longer there."""
        for each in self.choices:
            if each.name == choice:
                spare = (name for name in self.configured[1:] if name != each.model)
                return RunModels((each.model, *spare), each.name, each.effort)
        return RunModels(self.configured)


@dataclass(frozen=True, slots=True)
class _WithEffort:
    """A model whose calls carry the effort of their run."""

    inner: Model
    models: RunModels

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        """Respond as `Model.respond` does."""
        effort = self.models.effort_of(request.model)
        async with aclosing(self.inner.respond(replace(request, effort=effort))) as parts:
            async for part in parts:
                yield part
