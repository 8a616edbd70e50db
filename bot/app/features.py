"""The list of features, which is all that the composition knows of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from bot.app.channel_policy import channel_policy
from bot.app.feature_packages import features_of_packages
from bot.app.tool_loading import is_tool_name, tool_catalogue, tool_names
from bot.app.tool_providers import bound_providers
from bot.core.approvals import CALL
from bot.core.errors import ConfigurationError
from bot.features import Feature, OperatorPart, ServiceDeps
from bot.features.accounts.feature import accounts
from bot.features.ask_person.feature import ask_person
from bot.features.canvases.feature import canvases
from bot.features.clips.feature import clips
from bot.features.commands.feature import commands
from bot.features.corrections.feature import corrections
from bot.features.effort.feature import effort
from bot.features.evaluation.feature import evaluation
from bot.features.evidence.feature import evidence
from bot.features.feedback.feature import feedback
from bot.features.home.feature import home
from bot.features.home.home_tab import HomeConfig
from bot.features.memories.feature import memories
from bot.features.profiles.feature import profiles
from bot.features.profiles.forms import ProfileConfig
from bot.features.programs.feature import programs
from bot.features.reactions.feature import reactions
from bot.features.refresh.feature import refresh
from bot.features.schedules.feature import schedules
from bot.features.server_questions.feature import server_questions
from bot.features.sharing.feature import sharing
from bot.features.shortcuts.feature import shortcuts
from bot.features.skills.feature import skills
from bot.features.skills.report import skill_lines
from bot.features.skills.skill_file import same_name
from bot.features.triggers.feature import triggers
from bot.features.workflow_step.feature import workflow_step
from bot.mcp import McpServers, Pins
from bot.mcp.doors import McpDoors
from bot.runs.trials import RunCase
from bot.settings import Settings
from bot.settings.checks import unpriced_models
from bot.slack.ui.approval_kinds import WaitKind
from bot.slack.ui.buttons import AnswerButton
from bot.store import Stores
from bot.store.families import OWN, Families
from bot.toolkit import Tool, WebSearch
from bot.toolkit.skill import GROUP

log = logging.getLogger(__name__)

T = TypeVar("T")


def all_features(
    settings: Settings,
    run_case: RunCase | None = None,
    packages: Sequence[Feature] | None = None,
) -> Sequence[Feature]:
    """List the features: our own, then those of installed packages, or `packages` instead.

    The commands of the operator come last, as they judge calls as other hooks leave them. Buttons under an answer and sections of the Home tab stand in this order. The first completes a
    run last, and sees what the others found. `run_case` runs the evaluation cases that admins try.
    Raises ToolDefinitionError for a package with a mistake, and ConfigurationError for a wrong table
    in bot.toml or a name that is taken.
    """
    if packages is None:
        packages = features_of_packages(settings)
    features = (*own_features(settings, run_case), *packages, commands(settings.hooks))
    check_names(features)
    return features


def own_features(settings: Settings, run_case: RunCase | None = None) -> tuple[Feature, ...]:
    """List our own features but for the commands. Their hooks stand in this order: evidence fills references in, effort
    looks at what is whole, and the judge, which costs a call, comes last."""
    keys = settings.bot_encryption_keys
    features = list[Feature]()
    is_allowed = partial(_is_allowed, settings, features)
    features += (
        refresh(),
        evidence(settings.evidence),
        memories(),
        programs(settings.programs),
        skills(settings.skills, partial(_is_taken, settings), _loaded_in(settings), run_case),
        profiles(
            ProfileConfig(is_allowed, settings.models),
            partial(channel_policy, settings),
        ),
        feedback(run_case),
        server_questions(),
        ask_person(),
        accounts(
            settings.account_servers,
            keys.get_secret_value() if keys else None,
            settings.bot_public_url,
        ),
        schedules(),
        sharing(),
        shortcuts(),
        reactions(
            settings.reactions, {key: table.reactions for key, table in settings.channels.items()}
        ),
        triggers(
            settings.triggers,
            settings.access,
            partial(channel_policy, settings),
            partial(unpriced_models, settings),
        ),
        canvases(),
        clips(
            settings.clips,
            settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none",
            settings.openai_base_url,
        ),
        corrections(),
        workflow_step(),
        effort(settings.limits),
        evaluation(settings.model.evaluation),
    )
    return (*features, home(_home_config(settings, tuple(features), is_allowed)))


def lines_about_skills(
    settings: Settings, *, folder: Path | None = None, check: bool = False
) -> list[str]:
    """Return the lines of `bot skills`. Raises ConfigurationError."""
    taken = partial(_is_taken, settings)
    return skill_lines(settings.skills, taken, folder=folder, check=check)


def _is_taken(settings: Settings, name: str) -> bool:
    """Return whether a tool or the agent itself has this name, or one that looks like it."""
    return same_name(name) in map(same_name, tool_names(settings))


def allowed_names(settings: Settings) -> Callable[[str], bool]:
    """Return what says whether a name, group or pattern in the `tools` of a channel fits a tool or a
    skill. It knows the skills of now, which it reads once."""
    return partial(_is_allowed, settings, own_features(settings))


def _is_allowed(settings: Settings, features: Sequence[Feature], allowed: str) -> bool:
    fits = (feature.may_have for feature in features if feature.may_have)
    return is_tool_name(settings, allowed) or any(may_have(allowed) for may_have in fits)


def is_name(settings: Settings, name: str) -> bool:
    """Return whether a name is that of a tool or a skill, and neither that of a group nor a pattern."""
    groups = {GROUP, *(tool.group for tool in tool_catalogue(settings).tools)}
    is_one = name not in groups and not any(sign in name for sign in "*?[")
    return is_one and allowed_names(settings)(name)


def _loaded_in(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield each channel and profile with a skill that its threads begin with."""
    tables = {f"channels.{key}": table.load for key, table in settings.channels.items()}
    tables |= {f"profiles.{name}": table.load for name, table in settings.profiles.items()}
    yield from ((key, name) for key, names in tables.items() for name in names)


def _home_config(
    settings: Settings, features: Sequence[Feature], is_tool: Callable[[str], bool]
) -> HomeConfig:
    def servers(stores: Stores) -> McpServers:
        return McpServers(settings.mcp_servers, stores.mcp, **mcp_doors(features, stores.mcp))

    return HomeConfig(
        limits=settings.limits,
        models=settings.models,
        is_priced=not unpriced_models(settings),
        is_tool=is_tool,
        tools=partial(served_tools, settings, features),
        servers=servers,
    )


def tools_off(settings: Settings, features: Sequence[Feature]) -> dict[str, str]:
    """Return why tools are off, by name: a setting or a feature does not serve them.

    Raises ConfigurationError as `bound_providers` does.
    """
    off: dict[type, str] = {
        bound.provider.provides: bound.off for bound in bound_providers(settings) if bound.off
    }
    for feature in features:
        off |= feature.off() if feature.off else {}
    if settings.web_search is None:
        off[WebSearch] = "set [web_search] in bot.toml"
    return tool_catalogue(settings).needing(off)


def served_tools(settings: Settings, features: Sequence[Feature]) -> list[Tool]:
    """Return the tools that are not off."""
    off = tools_off(settings, features)
    return [tool for tool in tool_catalogue(settings).tools if tool.name not in off]


def operator_parts(features: Sequence[Feature]) -> list[OperatorPart]:
    """Return what features add for operators."""
    return [feature.operator_part for feature in features if feature.operator_part]


def check_features(features: Sequence[Feature]) -> None:
    """Raise ConfigurationError when a setting is missing that a feature needs."""
    for feature in features:
        try:
            if feature.operator_part:
                feature.operator_part.check()
        except ConfigurationError:
            raise
        except Exception as error:
            line = f"{type(error).__name__}: {error}"
            raise ConfigurationError(f"Feature {feature.name}: its check failed: {line}") from error


def check_names(features: Sequence[Feature]) -> None:
    """Raise ConfigurationError when two features, or one and the bot, use a name that only one can
    have."""
    owners = dict.fromkeys((("family of keys", family.name) for family in OWN), "the bot")
    owners["kind of wait", CALL] = "the bot"
    names = [feature.name for feature in features]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigurationError(f"Two features have the name {twice[0]!r}: remove one of the two.")
    for feature in features:
        for name in _exclusive_names(feature):
            other = owners.setdefault(name, feature.name)
            if other != feature.name:
                kind, text = name
                raise ConfigurationError(
                    f"Feature {feature.name}: {other} has the {kind} {text!r} already; "
                    "give it a name of its own, or remove one of the two."
                )


def _exclusive_names(feature: Feature) -> Iterator[tuple[str, str]]:
    """Yield what only one feature can have: kind and name."""
    yield from (("kind of wait", name) for name in feature.waits)
    yield from (("kind of job", name) for name in feature.jobs)
    yield from (("family of keys", family.name) for family in feature.stored)
    yield from (("service", service.__name__) for service in feature.services)
    yield from (("button", button.action) for button in feature.buttons)
    yield from (("page", f"{page.method} {page.path}") for page in feature.pages)


def made(feature: Feature, what: str, make: Callable[..., T], *deps: Any) -> T | None:
    """Return what a feature makes. Return None if it raises: the bot goes on without that."""
    try:
        return make(*deps)
    except Exception:
        log.exception("feature %s has no %s, which could not be made", feature.name, what)
        return None


def mcp_doors(features: Sequence[Feature], pins: Pins, stores: Stores | None = None) -> McpDoors:
    """Return what features add to MCP servers; without `stores` these are only looked at."""
    doors = McpDoors()
    for feature in features:
        if feature.mcp_doors:
            doors |= feature.mcp_doors(pins, stores)
    return doors


def wait_kinds(features: Sequence[Feature], deps: ServiceDeps) -> dict[str, WaitKind]:
    """Return the kinds of what features wait for, by their names."""
    makers = ((each, name, make) for each in features for name, make in each.waits.items())
    kinds = {name: made(each, f"wait {name}", make, deps) for each, name, make in makers}
    return {name: kind for name, kind in kinds.items() if kind}


def services_of(features: Sequence[Feature], deps: ServiceDeps) -> dict[type, object]:
    """Return the services that all features offer to tools."""
    makers = ((each, kind, make) for each in features for kind, make in each.services.items())
    services = {
        kind: made(each, f"service {kind.__name__}", make, deps) for each, kind, make in makers
    }
    return {kind: service for kind, service in services.items() if service is not None}


def families_of(settings: Settings) -> Families:
    """Return the families of keys that the bot and its features store."""
    return Families(family for feature in all_features(settings) for family in feature.stored)


def answer_buttons(features: Sequence[Feature]) -> tuple[AnswerButton, ...]:
    """Return the buttons of all features under an answer."""
    return tuple(button for feature in features for button in feature.buttons)
