"""The model service: does it take the key, has it the models, are their prices known."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from openai import APIConnectionError, AsyncOpenAI, AuthenticationError, NotFoundError, OpenAIError

from bot.core.errors import ConfigurationError
from bot.model import sdk_client
from bot.model.errors import from_exception
from bot.ops.doctor.findings import SECONDS, Finding, ok, problem, warning
from bot.settings import NO_MODEL, Settings
from bot.settings.checks import check_prices, unpriced_models


async def examine_model(settings: Settings) -> list[Finding]:
    """Asks for each model's description, which costs nothing."""
    if not settings.has_model:
        return [problem("OPENAI_API_KEY", "is not set", NO_MODEL)]
    key = settings.openai_api_key
    async with sdk_client(
        key.get_secret_value() if key else "none", settings.openai_base_url, max_retries=0
    ) as client:
        names = dict.fromkeys((settings.openai_model, *settings.openai_fallback_models))
        asked = [await _described(client, name) for name in names]
    return [*asked, _prices(settings)]


def _prices(settings: Settings) -> Finding:
    mend = "set [model] price in bot.toml; until then cost is not shown and money not bounded"
    try:
        check_prices(settings)
    except ConfigurationError as error:
        return problem("prices", str(error), "set it in bot.toml, or take the bounds out there")
    if unknown := unpriced_models(settings):
        return warning("prices", f"nobody knows what {', '.join(unknown)} costs", mend)
    return ok("prices", "are known for every model")


async def _described(client: AsyncOpenAI, name: str) -> Finding:
    subject = f"model {name}"
    try:
        async with asyncio.timeout(SECONDS):
            await client.models.retrieve(name)
    except AuthenticationError:
        mend = "create a key on the service's page and set OPENAI_API_KEY"
        return problem(subject, "the service refuses the key", mend)
    except (APIConnectionError, TimeoutError) as error:
        mend = "check the network, and OPENAI_BASE_URL if you set it"
        why = (
            from_exception(error) if isinstance(error, APIConnectionError) else "no answer in time"
        )
        return problem(subject, f"the service cannot be reached: {why}", mend)
    except NotFoundError:
        return await _missing(client, subject)
    except OpenAIError as error:
        mend = "try `bot ask hello`: some services describe no models"
        return warning(subject, f"the service does not say: {error}", mend)
    return ok(subject, "is there")


async def _missing(client: AsyncOpenAI, subject: str) -> Finding:
    """What has no list of models either has another address."""
    with suppress(OpenAIError, TimeoutError):
        async with asyncio.timeout(SECONDS):
            await client.models.list()
        mend = "choose one that your key may use: OPENAI_MODEL, OPENAI_FALLBACK_MODELS"
        return problem(subject, "the service has no such model for this key", mend)
    mend = "correct OPENAI_BASE_URL: mostly it ends in /v1"
    return problem(subject, "at this address there is no model service", mend)
