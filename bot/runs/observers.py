"""Whoever looks on from the edges: counts, traces. Nothing inside knows of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from bot.core.request import Request
from bot.model import Model, PriceList
from bot.runs.surface import OpenSurface

Submit = Callable[[Request, str], Awaitable[bool]]
"""Keeps a request and its event id, at once and for good; False when either was seen before.

Raises when it could not be kept."""


class Observer(Protocol):
    """Wraps what requests, runs and calls of the model pass through; must not change what they do."""

    def submits(self, submit: Submit) -> Submit:
        """`submit`, watched."""

    def surfaces(self, open_surface: OpenSurface) -> OpenSurface:
        """`open_surface`, watched."""

    def model(self, model: Model, prices: PriceList) -> Model:
        """`model`, watched."""
