"""Observers of requests, runs and model calls, for metrics and traces.

They wrap the interfaces of a run from outside, so that its code does not depend on them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from bot.core.budgets import Spent
from bot.core.request import Request
from bot.model import Model, PriceList
from bot.runs.surface import OpenSurface

Submit = Callable[[Request, str], Awaitable[bool]]
"""Stores a request and its event id durably; returns False when either was seen before.

Raises when the request could not be stored."""


class Observer(Protocol):
    """A wrapper of the interfaces that requests, runs and model calls pass through.

    Must not change their behaviour.
    """

    def submits(self, submit: Submit) -> Submit:
        """Return `submit` with observation."""

    def surfaces(self, open_surface: OpenSurface) -> OpenSurface:
        """Return `open_surface` with observation."""

    def model(self, model: Model, prices: PriceList) -> Model:
        """Return `model` with observation."""

    def estimated(self, model: str, spent: Spent) -> None:
        """Note what a call that broke off is charged, as its usage is unknown."""
