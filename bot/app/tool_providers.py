"""Arguments of providers: `[tools.<group>]` of bot.toml, and secrets from the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from bot.app.tool_loading import load_tools
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.settings import Settings
from bot.settings.errors import setting_error
from bot.text.redaction import redact_setting
from bot.toolkit.provider import Provider
from bot.toolkit.tool_clients import BoundProvider


def bound_providers(settings: Settings) -> list[BoundProvider]:
    """Return all providers with their arguments.

    Raises ConfigurationError with one line that names each wrong key and each secret that is not
    set.
    """
    providers = load_tools(settings.tools.paths).providers
    bound: list[BoundProvider] = []
    wrong = [*_unknown_keys(settings.tools.groups, providers)]
    for each in providers:
        if each.optional and each.group not in settings.tools.groups:
            bound.append(BoundProvider(each, off=f"set [tools.{each.group}] in bot.toml"))
            continue
        arguments, mistakes = _arguments(each, settings)
        bound.append(BoundProvider(each, arguments))
        wrong += mistakes
    if wrong:
        raise ConfigurationError(f"Wrong setting: {'; '.join(dict.fromkeys(wrong))}")
    return bound


def secret_variables(settings: Settings) -> set[str]:
    """Return the variables that hold secrets of providers; none while tools cannot be loaded."""
    with suppress(ConfigurationError, ToolDefinitionError):
        providers = load_tools(settings.tools.paths).providers
        return {variable for each in providers for variable in each.secrets.values()}
    return set()


def _unknown_keys(
    groups: Mapping[str, Mapping[str, Any]], providers: Sequence[Provider[Any]]
) -> Iterator[str]:
    """Yield a line for each table and key that no provider has."""
    known = sorted({each.group for each in providers})
    for group, table in groups.items():
        fields = [
            each.settings.model_fields.keys() - each.secrets.keys()
            for each in providers
            if each.group == group
        ]
        if not fields:
            names = f"; there are {', '.join(known)}" if known else ""
            yield f"tools.{group}: no provider has this group{names}. Is its package installed?"
        elif unknown := sorted(table.keys() - set().union(*fields)):
            keys = ", ".join(f"tools.{group}.{each}" for each in unknown)
            names = ", ".join(sorted(set().union(*fields))) or "no keys at all"
            yield f"{keys}: there is no such key; there are {names}"


def _arguments(made: Provider[Any], settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a provider, and a line for each that is missing or wrong."""
    table = settings.tools.groups.get(made.group, {})
    fields = made.settings.model_fields
    values = {
        key: value for key, value in table.items() if key in fields and key not in made.secrets
    }
    mistakes = []
    for key, variable in made.secrets.items():
        if value := settings.variable(variable):
            redact_setting(value, variable)
            values[key] = value
        elif fields[key].is_required():
            mistakes.append(
                f"{variable} is not set, which provider {made.name} ({made.place}) needs"
            )
    try:
        checked = made.settings.model_validate(values)
    except ValidationError as error:
        for each in error.errors():
            key = str(each["loc"][0]) if each["loc"] else ""
            if key not in made.secrets:
                each["loc"] = ("tools", made.group, *each["loc"])
                mistakes.append(setting_error(each, ["tools"]))
            elif key in values:
                each["loc"] = (made.secrets[key],)
                mistakes.append(setting_error(each, []))
        return {}, mistakes
    return {key: getattr(checked, key) for key in fields}, mistakes
