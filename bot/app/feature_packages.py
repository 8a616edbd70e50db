"""Features of installed packages, by entry points of the group `slack_answer_bot.features`.

An entry point names a function that returns a `Feature` of its name. If the function has a
parameter, that is the model of the feature's settings, the table `[features.<name>]` of bot.toml.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import metadata
from typing import Any, get_type_hints

from pydantic import BaseModel, ValidationError

from bot.app.entry_points import (
    FEATURES_GROUP,
    MISTAKES,
    entry_of,
    folders_of,
    line_about,
    load,
)
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.features import Feature
from bot.settings import Settings
from bot.settings.errors import setting_error


def features_of_packages(settings: Settings) -> tuple[Feature, ...]:
    """Make the features of installed packages, in the order of their names.

    Raises ToolDefinitionError with one line that names the place of a mistake, and
    ConfigurationError for a wrong or unknown table in bot.toml.
    """
    points = sorted(metadata.entry_points(group=FEATURES_GROUP), key=lambda point: point.name)
    names = [point.name for point in points]
    for point in points:
        if names.count(point.name) > 1:
            raise ToolDefinitionError(
                f"{entry_of(point)}: another package has a feature of this name."
            )
    if unknown := sorted(settings.features.keys() - set(names)):
        known = f"; there are {', '.join(names)}" if names else ""
        raise ConfigurationError(
            f"Wrong setting: features.{unknown[0]}: no installed package has this feature{known}."
        )
    return tuple(_feature(point, settings) for point in points)


def _feature(point: metadata.EntryPoint, settings: Settings) -> Feature:
    make = load(point)
    if not inspect.isfunction(make):
        raise ToolDefinitionError(f"{entry_of(point)}: it must name a function.")
    try:
        kinds = _parameter(make)
        made = make(*(_checked(kind, settings, point.name) for kind in kinds))
    except ConfigurationError:
        raise
    except MISTAKES as error:
        line = line_about(error, *folders_of(point))
        raise ToolDefinitionError(f"{entry_of(point)}: {line}") from error
    if not isinstance(made, Feature) or made.name != point.name:
        raise ToolDefinitionError(
            f"{entry_of(point)}: the function must return a Feature with the name {point.name}."
        )
    return made


def _parameter(make: Callable[..., Any]) -> list[type[BaseModel]]:
    """Return the model of the settings that the function takes, if it takes one.

    Raises ToolDefinitionError for any other parameter.
    """
    names = list(inspect.signature(make).parameters)
    kinds = [kind for name, kind in get_type_hints(make).items() if name in names]
    is_model = all(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds)
    if len(names) > 1 or len(kinds) < len(names) or not is_model:
        raise ToolDefinitionError(
            f"{make.__name__} must have no parameter, or one whose type is the pydantic model of its "
            "settings"
        )
    return kinds


def _checked(kind: type[BaseModel], settings: Settings, name: str) -> BaseModel:
    """Return the settings of a feature. Raises ConfigurationError that names the wrong keys."""
    table = settings.features.get(name, {})
    keys = {field.alias or key for key, field in kind.model_fields.items()}
    if unknown := sorted(table.keys() - keys):
        known = ", ".join(sorted(keys))
        raise ConfigurationError(
            f"Wrong setting: features.{name}.{unknown[0]}: there is no such key; there are {known}."
        )
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        wrong = []
        for each in error.errors():
            each["loc"] = ("features", name, *each["loc"])
            wrong.append(setting_error(each, ["features"]))
        raise ConfigurationError(f"Wrong setting: {'; '.join(wrong)}") from None
