"""Tool discovery: tools and providers of `tools/`, of rooms, of the folders in bot.toml, and of
packages.

A mistake in any of them is one line that names its place, and the bot does not start.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from bot.agent.builtin.subagents import dispatch_subagent
from bot.app.entry_points import (
    FEATURES_GROUP,
    MISTAKES,
    entry_of,
    line_about,
    load,
    origin_of,
)
from bot.app.tool_folders import import_packages, module_names, own_folder, room_modules
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.core.folder_permissions import checked_folder
from bot.settings import Settings
from bot.toolkit import Provider, Tool
from bot.toolkit.catalogue import RESERVED, Catalogue
from bot.toolkit.definition_place import short_path, type_name
from bot.toolkit.titles import UNSAID
from bot.toolkit.tool import ToolFunction

ENTRY_POINTS = "slack_answer_bot.tools"
"""The group of entry points by which installed packages offer tools."""

Offered = ToolFunction[Any] | Provider[Any]
"""What `@tool` and `@provider` make."""


@dataclass(frozen=True, slots=True)
class LoadedTools:
    """All tools, and the providers of the clients that they use.

    `origins` says where each tool is from that does not come with the bot, by its name.
    """

    catalogue: Catalogue
    providers: tuple[Provider[Any], ...]
    origins: dict[str, str]


_newest_paths: list[tuple[Path, ...]] = []


def load_tools(paths: tuple[Path, ...] = ()) -> LoadedTools:
    """Load all tools: our own, those in the folders `paths`, and those of installed packages.

    Raises ToolDefinitionError or ConfigurationError with one line that names the place.
    """
    if _newest_paths != [paths]:  # what files import by name is in the folders of these settings
        _imported_packages([own_folder(), *map(_checked_folder, paths)])
        _newest_paths[:] = [paths]
    return _loaded(paths)


@cache
def _loaded(paths: tuple[Path, ...]) -> LoadedTools:
    tools: dict[tuple[str, str], tuple[Tool, str]] = {}
    clients = list[Provider[Any]]()
    for origin, value in _offered(paths):
        if isinstance(value, Provider):
            clients.append(value)
        else:
            made = value.tool
            tools.setdefault((made.name, made.place), (made, origin))  # others may import it
    catalogue = Catalogue.of(made for made, _ in tools.values())  # refuses two of one name
    origins = {name: origin for (name, _), (_, origin) in tools.items() if origin}
    services = _own_services(tool for tool in catalogue.tools if tool.name not in origins)
    providers: dict[type, Provider[Any]] = {}
    for client in clients:
        _add_provider(client, providers, services)
    featured = {origin_of(point) for point in metadata.entry_points(group=FEATURES_GROUP)}
    for tool in catalogue.tools:
        if origins.get(tool.name) not in featured:  # a feature may offer what its own tools ask for
            _check_served(tool, services | providers.keys())
    return LoadedTools(
        catalogue.with_own(dispatch_subagent.tool), tuple(providers.values()), origins
    )


def _own_services(tools: Iterable[Tool]) -> frozenset[type]:
    """Return the services that the bot and its features offer, some of them only in Slack or with a
    setting: all that our own tools ask for."""
    return frozenset(
        kind for tool in (*tools, dispatch_subagent.tool) for kind in tool.services.values()
    )


def check_folders(paths: Sequence[Path]) -> None:
    """Look at the folders again, whose tools may be loaded already. Raises ConfigurationError."""
    for path in paths:
        _checked_folder(path)


def catalogue(paths: tuple[Path, ...] = ()) -> Catalogue:
    """Return the catalogue of `load_tools`."""
    return load_tools(paths).catalogue


def tool_catalogue(settings: Settings) -> Catalogue:
    """Return all tools, with the hosted tools of the model service that are switched on."""
    return load_tools(settings.tools.paths).catalogue.with_hosted(settings.hosted.definitions())


def is_tool_name(settings: Settings, allowed: str) -> bool:
    """Return whether a name, group or pattern fits a tool, or may fit a tool of an MCP server.

    The tools of an MCP server are not known before it is connected.
    """
    return tool_catalogue(settings).has(allowed) or any(
        server.may_have(name, allowed) for name, server in settings.mcp_servers.items()
    )


def tool_label(settings: Settings, name: str) -> str:
    """Return what a tool does, in the reader's language; of a tool of an MCP server only its name."""
    tool = tool_catalogue(settings).get(name)
    return tool.title(UNSAID).removesuffix(": …") if tool else name.replace("_", " ")


def tool_names(settings: Settings) -> frozenset[str]:
    """Return the names of all tools, also those of the agent itself and of the model service."""
    known = tool_catalogue(settings)
    hosted = (str(definition["type"]) for definition in known.hosted)
    return RESERVED.union(hosted, (tool.name for tool in known.tools))


def _offered(paths: Sequence[Path]) -> Iterator[tuple[str, Offered]]:
    """Yield all tools and providers, imported ones too, with their origin; "" for our own."""
    folders = [_checked_folder(each) for each in paths]
    packages = _imported_packages([own_folder(), *folders])
    for folder, package in packages.items():
        found = [value for each in _modules(folder, package) for value in _in_module(each)]
        if not found:
            raise ConfigurationError(f"Wrong setting: tools.paths: there is no tool in {folder}.")
        origin = "" if folder == own_folder() else str(folder)
        yield from ((origin, value) for value in found)
    for name in room_modules():
        yield from (("", value) for value in _in_module(importlib.import_module(name)))
    for point in metadata.entry_points(group=ENTRY_POINTS):
        yield from ((origin_of(point), value) for value in _at_entry_point(point))


def _in_module(module: object) -> list[Offered]:
    return [each for each in vars(module).values() if _is_offered(each)]


def _is_offered(value: object) -> TypeGuard[Offered]:
    # Its class alone: asking other objects for attributes may do anything, as with a lazy client.
    return issubclass(type(value), ToolFunction | Provider)


def _checked_folder(path: Path) -> Path:
    return checked_folder(path, "tools.paths")


def _imported_packages(folders: Sequence[Path]) -> dict[Path, str]:
    """Return the packages of `folders`.

    Raises ToolDefinitionError for a mistake in an `__init__.py`.
    """
    try:
        return import_packages(folders)
    except MISTAKES as error:
        raise ToolDefinitionError(line_about(error, *folders)) from error


def _modules(folder: Path, package: str) -> Iterator[ModuleType]:
    """Import the modules in `folder`. Raises ToolDefinitionError that names a file and its line."""
    for name in module_names(folder):
        try:
            yield importlib.import_module(f"{package}.{name}")
        except MISTAKES as error:
            line = line_about(error, folder)
            file = short_path(str(folder / name))
            raise ToolDefinitionError(line if file in line else f"{file}.py: {line}") from error


def _at_entry_point(point: metadata.EntryPoint) -> list[Offered]:
    """Return the tools and providers of an entry point: a module, or one tool or provider."""
    loaded = load(point)
    found = _in_module(loaded) if isinstance(loaded, ModuleType) else [loaded]
    if not found or not _is_offered(found[0]):
        raise ToolDefinitionError(
            f"{entry_of(point)}: there is no tool. Name the module that defines them."
        )
    return found


def _add_provider(
    made: Provider[Any], providers: dict[type, Provider[Any]], services: Collection[type]
) -> None:
    """Add a provider. Raises ToolDefinitionError when its type is provided already, as are `services`."""
    if made.provides in services:
        raise ToolDefinitionError(
            f"{made.place}: provider {made.name}: the bot itself provides {made.type_name}."
        )
    known = providers.setdefault(made.provides, made)
    if known.place != made.place:
        raise ToolDefinitionError(
            f"Two providers yield {made.type_name}: {known.name} in {known.place}, and {made.name} "
            f"in {made.place}. Remove one of them."
        )


def _check_served(made: Tool, provided: Collection[type]) -> None:
    """Raise ToolDefinitionError when a tool asks for a service that can never be there."""
    for name, kind in made.services.items():
        if kind not in provided:
            raise ToolDefinitionError(
                f"{made.place}: tool {made.name}: nobody provides {type_name(kind)}, which its "
                f"parameter {name} asks for. Write a @provider that yields it, or install its package."
            )
