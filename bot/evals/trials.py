"""One case run for a trial, as `bot eval` runs cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pydantic import ValidationError

from bot.app.run_setup import redis_and_stores
from bot.core.errors import ConfigurationError
from bot.evals.cases import Case
from bot.evals.running import CHANNEL, TEAM, run_case, separated
from bot.model import Model
from bot.runs.trials import CaseRun, TrialCase, Variant
from bot.settings import Settings
from bot.store import Decisions


async def run_trial_case(
    settings: Settings,
    pins: Decisions,
    case: TrialCase,
    variant: Variant,
    metered: Callable[[Model], Model],
) -> CaseRun:
    """Run a case once with a variant, on a temporary Redis, changing nothing. Its run calls what `metered`
    makes of the model.

    `pins` are the tools of MCP servers that the operator accepted. Raises ConfigurationError when
    no case can be run.
    """
    separate = separated(settings).model_copy(update={"channels": {CHANNEL: variant.settings}})
    try:
        made = Case.model_validate(
            {"name": "trial", "question": case.question, "live": True, "expect": case.expected}
        )
    except ValidationError as error:
        raise ConfigurationError(f"the case is not valid: {error.errors()[0]['msg']}") from None
    async with (
        redis_and_stores(separate, data_dir=None) as (_, stores),
        stores.signals.listening(),
    ):
        if variant.prepare:
            await variant.prepare(stores, TEAM)
        result = await run_case(separate, replace(stores, mcp=pins), made, metered=metered)
    return CaseRun(result.reasons, result.said, result.totals.cost)
