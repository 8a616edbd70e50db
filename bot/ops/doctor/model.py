"""Check of the model service: it accepts the key, has the models, and their prices are known."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from openai import APIConnectionError, AsyncOpenAI, AuthenticationError, NotFoundError, OpenAIError

from bot.core.errors import ConfigurationError
from bot.model import sdk_client
from bot.model.errors import from_exception
from bot.ops.doctor.check import SECONDS, Check, ok, problem, warning
from bot.settings import NO_MODEL, Settings
from bot.settings.checks import check_prices, unpriced_models


async def examine_model(settings: Settings) -> list[Check]:
    """Ask for each model's description, which costs nothing."""
    if not settings.has_model:
        return [problem("OPENAI_API_KEY", "is not set", NO_MODEL)]
    key = settings.openai_api_key
    async with sdk_client(
        key.get_secret_value() if key else "none", settings.openai_base_url, max_retries=0
    ) as client:
        described = [await _described(client, name) for name in settings.model_names]
    return [*described, _prices(settings)]


def _prices(settings: Settings) -> Check:
    fix = "set [model] price in bot.toml; until then costs are neither shown nor limited"
    try:
        check_prices(settings)
    except ConfigurationError as error:
        return problem(
            "prices", str(error), "set it in bot.toml, or remove the limits in dollars there"
        )
    if unknown := unpriced_models(settings):
        return warning("prices", f"the price of {', '.join(unknown)} is not known", fix)
    return ok("prices", "are known for every model")


async def _described(client: AsyncOpenAI, name: str) -> Check:
    subject = f"model {name}"
    try:
        async with asyncio.timeout(SECONDS):
            await client.models.retrieve(name)
    except AuthenticationError:
        fix = "create a key on the service's page and set OPENAI_API_KEY"
        return problem(subject, "the service refuses the key", fix)
    except (APIConnectionError, TimeoutError) as error:
        fix = "check the network, and OPENAI_BASE_URL if you set it"
        why = (
            from_exception(error) if isinstance(error, APIConnectionError) else "no answer in time"
        )
        return problem(subject, f"the service cannot be reached: {why}", fix)
    except NotFoundError:
        return await _missing(client, subject)
    except OpenAIError as error:
        fix = "try `bot ask hello`: some services describe no models"
        return warning(subject, f"the service does not say: {error}", fix)
    return ok(subject, "is available")


async def _missing(client: AsyncOpenAI, subject: str) -> Check:
    """Tell a missing model from a wrong address, where there is no list of models either."""
    with suppress(OpenAIError, TimeoutError):
        async with asyncio.timeout(SECONDS):
            await client.models.list()
        fix = "choose one that your key may use: OPENAI_MODEL, OPENAI_FALLBACK_MODELS"
        return problem(subject, "the service has no such model for this key", fix)
    fix = "correct OPENAI_BASE_URL: most addresses end in /v1"
    return problem(subject, "at this address there is no model service", fix)
