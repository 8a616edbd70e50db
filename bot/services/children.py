"""Isolated processes in the name of the asker."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.library.isolated import Busy
from bot.library.isolated.pool import USUAL, Share, isolated
from bot.library.isolated.process import (
    DEFAULT_LIMITS,
    OWN_FOLDER,
    IsolatedLimits,
    IsolatedProcess,
    Reach,
)
from bot.text.translation import Text
from bot.toolkit.progress import progress

_WAITING = Text("waits for a free place")


def _say_it_waits() -> None:
    progress(_WAITING())


@asynccontextmanager
async def asker_process(
    jobs: str,
    limits: IsolatedLimits = DEFAULT_LIMITS,
    reach: Reach = OWN_FOLDER,
    *,
    once: bool = False,
    share: Share = USUAL,
) -> AsyncGenerator[IsolatedProcess]:
    """Provide a process as `isolated` does, counted for the asker if there is one, and shared with
    nobody else; the step of the call says if it waits. Raises ToolError when none can be had."""
    try:
        request = current_request().request
        owner = (request.team, request.user)
    except LookupError:
        owner = None
    try:
        async with isolated(
            jobs, limits, reach, owner=owner, once=once, share=share, on_wait=_say_it_waits
        ) as process:
            yield process
    except Busy as error:
        raise ToolError(str(error)) from None
