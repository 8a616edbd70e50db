"""Checks that features bring."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from bot.app.features import all_features
from bot.core.check import SECONDS, Check, problem
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.ops.doctor.redis import UNREADABLE
from bot.runs.watching import name_of
from bot.settings import Settings
from bot.store import open_stores

if TYPE_CHECKING:
    from bot.features import OperatorPart


def examine_features(settings: Settings) -> dict[str, Awaitable[list[Check]]]:
    """Return the checks of each feature that has some, by its name."""
    try:
        features = all_features(settings)
    except (ToolDefinitionError, ConfigurationError) as error:
        return {"features": _broken(str(error))}
    return {
        feature.name: _checks(settings, feature.operator_part)
        for feature in features
        if feature.operator_part
    }


async def _broken(text: str) -> list[Check]:
    return [problem("features", text, "correct it: the bot does not start before")]


async def _checks(settings: Settings, part: OperatorPart) -> list[Check]:
    """Make the checks of a feature; the check of Redis reports one that cannot be reached."""
    try:
        async with asyncio.timeout(SECONDS), AsyncExitStack() as stack:
            url = settings.redis_url
            stores = await stack.enter_async_context(open_stores(url)) if url else None
            return list(await part.checks(stores))
    except UNREADABLE:
        return []
    except Exception as error:  # noqa: BLE001 - a feature may be anybody's
        text = f"{name_of(part)}: {type(error).__name__}: {error}"
        return [problem("features", text, "correct its checks")]
