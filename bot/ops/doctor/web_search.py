"""Check of the web search provider: it answers."""

from __future__ import annotations

from bot.app.run_setup import web_search
from bot.core.check import Check, ok, problem, warning
from bot.core.errors import ConfigurationError, ToolError
from bot.settings import Settings
from bot.toolkit import Search

_SUBJECT = "web search"


async def examine_web_search(settings: Settings) -> list[Check]:
    """Search once, as the tool does; check nothing when no provider is set."""
    if settings.web_search is None:
        return []
    name = settings.web_search.provider
    try:
        found = await web_search(settings, settings.web_search).search(Search("wikipedia", limit=1))
    except ConfigurationError as error:
        return [problem(_SUBJECT, "no key is set", str(error))]
    except ToolError as error:
        fix = "check [web_search] in bot.toml, WEB_SEARCH_API_KEY, and your plan with the provider"
        cause, *_ = str(error).split(". ")  # the rest tells the model what to do
        return [warning(_SUBJECT, f"{name}: {cause.rstrip('.')}", fix)]
    if not found:
        fix = "check the search engines it queries: they probably block it"
        return [warning(_SUBJECT, f"{name} answers but finds nothing", fix)]
    return [ok(_SUBJECT, f"{name} answers")]
