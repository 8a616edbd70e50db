"""Tool discovery: tools and providers of `tools/`, of the folders in bot.toml, and of packages.

A mistake in any of them is one line that names its place, and the bot does not start.
"""

from __future__ import annotations

import importlib
import importlib.util
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from bot.agent.builtin.shared_budget import ParentRun
from bot.agent.builtin.subagents import Subagents, dispatch_subagent
from bot.app.folder_permissions import writable_by_others
from bot.app.tool_folders import import_packages, module_names, own_folder
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.toolkit import (
    Artifacts,
    Canvases,
    Conversation,
    Databases,
    Directory,
    Documents,
    Exports,
    Fetcher,
    Memories,
    Provider,
    ScheduledMessages,
    Schedules,
    Tables,
    Tool,
    WebSearch,
)
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.definition_place import short_path, type_name

ENTRY_POINTS = "slack_answer_bot.tools"
"""The group of entry points by which installed packages offer tools."""

_EVERYWHERE = frozenset(
    {
        Artifacts,
        Conversation,
        Databases,
        Documents,
        Exports,
        Fetcher,
        Memories,
        ParentRun,
        Schedules,
        Subagents,
        Tables,
    }
)
"""The services that the bot always offers to tools."""

_IN_SLACK = "it works in Slack only"
OPTIONAL_SERVICES: dict[type, str] = {
    Canvases: _IN_SLACK,
    Directory: _IN_SLACK,
    ScheduledMessages: _IN_SLACK,
    WebSearch: "set [web_search] in bot.toml",
}
"""The services that the bot offers in some places or with some settings, and what is missing then."""

_MISTAKES = (Exception, SystemExit)
"""What importing a file with a mistake may raise."""


@dataclass(frozen=True, slots=True)
class LoadedTools:
    """All tools, and the providers of the clients that they use.

    `origins` says where each tool is from that does not come with the bot, by its name.
    """

    catalogue: Catalogue
    providers: tuple[Provider[Any], ...]
    origins: dict[str, str]


@cache
def load_tools(paths: tuple[Path, ...] = ()) -> LoadedTools:
    """Load all tools: our own, those in the folders `paths`, and those of installed packages.

    Raises ToolDefinitionError or ConfigurationError with one line that names the place.
    """
    tools: dict[tuple[str, str], tuple[Tool, str]] = {}
    providers: dict[type, Provider[Any]] = {}
    for origin, value in _offered(paths):
        if isinstance(value, Provider):
            _add_provider(value, providers)
        elif isinstance(made := getattr(value, "tool", None), Tool):  # `@tool` leaves it there
            tools.setdefault((made.name, made.place), (made, origin))  # others may import it
    catalogue = Catalogue.of(made for made, _ in tools.values())  # refuses two of one name
    for each in catalogue.tools:
        _check_served(each, providers)
    return LoadedTools(
        catalogue.with_own(dispatch_subagent.tool),
        tuple(providers.values()),
        {name: origin for (name, _), (_, origin) in tools.items() if origin},
    )


def catalogue(paths: tuple[Path, ...] = ()) -> Catalogue:
    """Return the catalogue of `load_tools`."""
    return load_tools(paths).catalogue


def _offered(paths: Sequence[Path]) -> Iterator[tuple[str, object]]:
    """Yield all that modules of tools define or import, with where each is from; "" for our own."""
    folders = [_checked_folder(each) for each in paths]
    packages = _imported_packages([own_folder(), *folders])
    for folder, package in packages.items():
        values = [value for each in _modules(folder, package) for value in vars(each).values()]
        if not any(map(_is_tool, values)):
            raise ConfigurationError(f"Wrong setting: tools.paths: there is no tool in {folder}.")
        origin = "" if folder == own_folder() else str(folder)
        yield from ((origin, value) for value in values)
    for point in metadata.entry_points(group=ENTRY_POINTS):
        origin = f"package {point.dist.name}" if point.dist else f"entry point {point.name}"
        yield from ((origin, value) for value in _values_of(point, origin))


def _is_tool(value: object) -> bool:
    return isinstance(value, Provider) or isinstance(getattr(value, "tool", None), Tool)


def _checked_folder(path: Path) -> Path:
    """Return the absolute path. Raises ConfigurationError for a folder that must not be loaded."""
    folder = path.expanduser().absolute()
    try:
        if not folder.is_dir():
            problem = "is not a folder" if folder.exists() else "does not exist"
            raise ConfigurationError(f"Wrong setting: tools.paths: {folder} {problem}.")
        next(folder.iterdir(), None)
        place = writable_by_others(folder)
    except PermissionError as error:
        raise ConfigurationError(
            f"Wrong setting: tools.paths: {error.filename} cannot be read: {error.strerror}."
        ) from None
    if place:
        raise ConfigurationError(
            f"Wrong setting: tools.paths: others can change the code in {folder}, because they may "
            f"write to {place}. Run `chmod go-w {place}`."
        )
    return folder


def _imported_packages(folders: Sequence[Path]) -> dict[Path, str]:
    """Return the packages of `folders`. Raises ToolDefinitionError for a mistake in an `__init__.py`."""
    try:
        return import_packages(folders)
    except _MISTAKES as error:
        raise ToolDefinitionError(_line_about(error, *folders)) from error


def _modules(folder: Path, package: str) -> Iterator[ModuleType]:
    """Import the modules in `folder`. Raises ToolDefinitionError that names a file and its line."""
    for name in module_names(folder):
        try:
            yield importlib.import_module(f"{package}.{name}")
        except _MISTAKES as error:
            line = _line_about(error, folder)
            file = short_path(str(folder / name))
            raise ToolDefinitionError(line if file in line else f"{file}.py: {line}") from error


def _values_of(point: metadata.EntryPoint, origin: str) -> list[object]:
    """Return what an entry point names: all names of a module, or one tool or provider."""
    entry = f"{origin}, entry point {point.name} = {point.value}"
    try:
        loaded = point.load()
    except _MISTAKES as error:
        package = importlib.util.find_spec(point.module.partition(".")[0])
        folder = Path(package.origin).parent if package and package.origin else None
        line = _line_about(error, *filter(None, (folder,)))
        raise ToolDefinitionError(f"{entry}: {line}") from error
    values = [*vars(loaded).values()] if isinstance(loaded, ModuleType) else [loaded]
    if not any(map(_is_tool, values)):
        raise ToolDefinitionError(f"{entry}: there is no tool. Name the module that defines them.")
    return values


def _line_about(error: BaseException, *folders: Path) -> str:
    """Return one line about a mistake in the code of `folders`: its last place there, and what is wrong."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{short_path(error.filename)}, line {error.lineno}: {error.msg}."
    text = " ".join(str(error).split())
    if not isinstance(error, ToolDefinitionError):
        text = f"{type(error).__name__}: {text}"
    places = [
        f"{short_path(each.filename)}, line {each.lineno}: "
        for each in traceback.extract_tb(error.__traceback__)
        if any(Path(each.filename).is_relative_to(folder) for folder in folders)
    ]
    return f"{places[-1]}{text}" if places else text


def _add_provider(made: Provider[Any], providers: dict[type, Provider[Any]]) -> None:
    """Add a provider. Raises ToolDefinitionError when its type is provided already."""
    if made.provides in _EVERYWHERE or made.provides in OPTIONAL_SERVICES:
        raise ToolDefinitionError(
            f"{made.place}: provider {made.name}: the bot itself provides {made.type_name}."
        )
    known = providers.setdefault(made.provides, made)
    if known.place != made.place:
        raise ToolDefinitionError(
            f"Two providers yield {made.type_name}: {known.name} in {known.place}, and {made.name} "
            f"in {made.place}. Remove one of them."
        )


def _check_served(made: Tool, providers: Mapping[type, object]) -> None:
    """Raise ToolDefinitionError when a tool asks for a service that can never be there."""
    for name, kind in made.services.items():
        if kind not in _EVERYWHERE and kind not in OPTIONAL_SERVICES and kind not in providers:
            raise ToolDefinitionError(
                f"{made.place}: tool {made.name}: nobody provides {type_name(kind)}, which its "
                f"parameter {name} asks for. Write a @provider that yields it, or install its package."
            )
