"""The `provider` decorator: an own client for tools, opened once per worker and closed on drain."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError

from bot.core.errors import ToolDefinitionError
from bot.toolkit.definition_place import place_of, type_name
from bot.toolkit.misuse import explains_misuse

T = TypeVar("T")

_GROUP = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_GENERATORS = (AsyncGenerator, AsyncIterator, AsyncIterable)


@dataclass(frozen=True, slots=True)
class Secret:
    """The mark of a secret parameter: `token: Annotated[str, Secret("CRM_TOKEN")]`.

    `variable` is the environment variable, or line of `.env`, that holds it. The value is redacted
    in logs, answers and everything that the model reads.
    """

    variable: str


@dataclass(frozen=True, kw_only=True)
class Provider(Generic[T]):
    """A function that opens a client for tools: what `@provider` makes.

    Tools ask for the client by its type, `provides`. `settings` is the model of the function's
    parameters: their values are the table `[tools.<group>]` of bot.toml and, for `secrets`, the
    environment variables by parameter. An `optional` provider is off until bot.toml has that table.
    """

    name: str
    group: str
    provides: type[T]
    settings: type[BaseModel]
    secrets: Mapping[str, str]
    optional: bool
    function: Callable[..., AsyncIterator[T]]

    @property
    def place(self) -> str:
        """The file and line of its definition."""
        return place_of(self.function)

    @property
    def type_name(self) -> str:
        """The name of the type that it provides."""
        return type_name(self.provides)

    def opened(self, **arguments: Any) -> AbstractAsyncContextManager[T]:
        """Open a client for the body; `arguments` are those of the function."""
        return asynccontextmanager(self.function)(**arguments)


@explains_misuse
def provider(
    *, group: str, optional: bool = False
) -> Callable[[Callable[..., AsyncIterator[T]]], Provider[T]]:
    """Make a provider from an async generator function that yields one client.

    Each worker runs it once: up to its `yield` to open the client, and the rest, best in a
    `finally`, to close it. Each has ten seconds. Its parameters are the keys of `[tools.<group>]`
    in bot.toml, except those marked as `Secret`. With `optional`, it is off until bot.toml has that
    table.

    Raises ToolDefinitionError for a function that is no such generator, and for a parameter whose
    type is not data.
    """

    def decorate(function: Callable[..., AsyncIterator[T]]) -> Provider[T]:
        name = getattr(function, "__name__", str(function))
        if not inspect.isasyncgenfunction(function):
            raise ToolDefinitionError(
                f"Provider {name} must be an async generator function: `async def`, with one `yield` "
                "and no other decorator."
            )
        if not _GROUP.fullmatch(group) or group == "paths":
            raise ToolDefinitionError(f"Provider {name}: {group!r} cannot be the name of a group.")
        hints = get_type_hints(function, include_extras=True)
        return Provider(
            name=name,
            group=group,
            provides=_yielded(name, hints.pop("return", None)),
            settings=_settings_model(name, function, hints),
            secrets={key: each.variable for key, hint in hints.items() for each in _secrets(hint)},
            optional=optional,
            function=function,
        )

    return decorate


def _yielded(name: str, returns: Any) -> Any:
    """Return the type that the function yields, from its return annotation."""
    if get_origin(returns) not in _GENERATORS or get_args(returns)[0] in (Any, None, type(None)):
        raise ToolDefinitionError(
            f"Provider {name} must say what it yields: `-> AsyncGenerator[Crm]`, with your own class."
        )
    return get_args(returns)[0]


def _settings_model(
    name: str, function: Callable[..., Any], hints: Mapping[str, Any]
) -> type[BaseModel]:
    """Return a model of the parameters, which refuses unknown keys."""
    fields: dict[str, Any] = {}
    for key, parameter in inspect.signature(function).parameters.items():
        if isinstance(parameter.default, Secret):
            raise ToolDefinitionError(
                f"Provider {name}: write `{key}: Annotated[str, {parameter.default!r}]`."
            )
        if key not in hints or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ToolDefinitionError(
                f"Provider {name}: parameter {parameter} needs a name and an annotation."
            )
        given = parameter.default is not inspect.Parameter.empty
        fields[key] = (hints[key], Field(default=parameter.default) if given else ...)
    try:
        return create_model(f"{name}_settings", __config__=ConfigDict(extra="forbid"), **fields)
    except (PydanticUserError, NameError, TypeError) as error:
        why = str(error).splitlines()[0]
        raise ToolDefinitionError(f"Provider {name}: a parameter is not data. {why}") from None


def _secrets(hint: Any) -> list[Secret]:
    return [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Secret)]
