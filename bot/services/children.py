"""Isolated processes in the name of the asker."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.library.isolated import Busy
from bot.library.isolated.pool import isolated
from bot.library.isolated.process import (
    DEFAULT_LIMITS,
    OWN_FOLDER,
    IsolatedLimits,
    IsolatedProcess,
    Reach,
)


@asynccontextmanager
async def asker_process(
    jobs: str,
    limits: IsolatedLimits = DEFAULT_LIMITS,
    reach: Reach = OWN_FOLDER,
    *,
    once: bool = False,
) -> AsyncGenerator[IsolatedProcess]:
    """Provide a process as `isolated` does, counted for the asker if there is one, and shared with
    nobody else. Raises ToolError when none can be had."""
    try:
        request = current_request().request
        owner = (request.team, request.user)
    except LookupError:
        owner = None
    try:
        async with isolated(jobs, limits, reach, owner=owner, once=once) as process:
            yield process
    except Busy as error:
        raise ToolError(str(error)) from None
