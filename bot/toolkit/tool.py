"""The `Tool` class, and the `tool` decorator that makes a tool from a typed function."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from string import Formatter
from types import MappingProxyType
from typing import Annotated, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter

from bot.core.answers import Source
from bot.core.chain import ReportCheck
from bot.core.errors import ToolDefinitionError
from bot.toolkit.acquired_text import AcquiredText
from bot.toolkit.definition_place import place_of
from bot.toolkit.docstrings import descriptions
from bot.toolkit.misuse import explains_misuse
from bot.toolkit.offering import Input
from bot.toolkit.retrying import MOST_RETRIES, OnRetry, call_with_retries
from bot.toolkit.running import call_function
from bot.toolkit.safety import Changes, Reads, Safety, mistake_in, named_arguments
from bot.toolkit.schema import strict_schema
from bot.toolkit.signature import arguments_model, result_validator
from bot.toolkit.titles import title_function

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Function names that the Responses API accepts. bot.toml names groups like tools."""


class _Provided:
    """The marker of a parameter that the bot fills in and the model never sees."""


_PROVIDED = _Provided()
Provided = Annotated[T, _PROVIDED]
"""`artifacts: Provided[Artifacts]` asks for a service; the model neither sees nor sets it."""

Services = Mapping[type, object]
"""The services that tools can ask for with `Provided[...]`, by type."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool that returns more than text.

    The model reads `content`. `sources` are recorded with it; their addresses may be posted as
    links. `handles` name the artifacts that the result is based on or created. `own` marks content
    that the model may have written itself: addresses in it do not count as found. `calculated` marks
    what was made of the arguments alone: it is evidence only as far as they are. `note` is the bot's
    own text about the result, outside the marks that surround a foreign tool's data.
    `report` is set for the report of a sub-agent whose claims were traced.
    """

    content: str
    sources: tuple[Source, ...] = ()
    handles: tuple[str, ...] = ()
    own: bool = False
    calculated: bool = False
    note: str = ""
    report: ReportCheck | None = None

    @property
    def addresses(self) -> frozenset[str]:
        """The addresses of the sources."""
        return frozenset(source.url for source in self.sources if source.url)


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool, as the agent loop uses it.

    `summary` is the tool's line in `acquire_tools`; the model reads `description` once the tool is
    offered. Requests always carry `core` tools. `strict` makes the model service enforce the
    schema. After a temporary error there are up to `retries` further attempts; `timeout` is in
    seconds, for all of them together. `title` makes the one-line summary of a call for people from
    its arguments. `on_acquired` returns text that enters the conversation when the model acquires
    the tool. `narrowing` names the arguments that make the output smaller. `offered_with` names what
    a tool that only reads works on, and `asked_as` has patterns of the words by which people ask for
    what a tool does: requests with one of them carry the tool at once. `replaces` names tools that are
    gone, with how this one says what they did: a call of one is answered so, and a channel that allows
    it by its name is allowed this one. `safety` says what the tool
    reads or changes; the loop and the hooks ask for it by the properties below. `account` names the
    MCP server on whose account of the asker a call runs, "" for a tool that needs none.
    """

    name: str
    group: str
    summary: str
    description: str
    arguments: type[BaseModel]
    parameters: dict[str, Any]
    function: Callable[..., Any]
    services: Mapping[str, type]
    returns: TypeAdapter[Any]
    safety: Safety
    core: bool = False
    strict: bool = True
    timeout: float = 30.0
    retries: int = 0
    title: Callable[[BaseModel], str]
    on_acquired: Callable[[Services], Awaitable[str]] | None = None
    narrowing: tuple[str, ...] = ()
    offered_with: tuple[Input, ...] = ()
    asked_as: tuple[re.Pattern[str], ...] = ()
    replaces: Mapping[str, str] = field(default_factory=dict)
    account: str = ""

    @property
    def changes(self) -> Changes | None:
        """The safety of a tool that changes something; None for one that only reads."""
        return self.safety if isinstance(self.safety, Changes) else None

    @property
    def mutates(self) -> bool:
        """Whether the tool changes something outside the bot."""
        return self.changes is not None

    @property
    def sensitive(self) -> bool:
        """Whether a person must approve each call."""
        return self.changes is not None and self.changes.sensitive

    @property
    def foreign(self) -> bool:
        """Whether other people wrote what the tool returns."""
        return self.safety.foreign

    @property
    def quotes(self) -> bool:
        """Whether it returns what other people wrote, word for word."""
        return isinstance(self.safety, Reads) and self.safety.quotes

    @property
    def is_public(self) -> bool:
        """Whether anybody may read what the tool returns, or it computes with its arguments."""
        return isinstance(self.safety, Reads) and (self.safety.public or self.calculates)

    @property
    def calculates(self) -> bool:
        """Whether the result is arithmetic on the arguments: evidence only as far as they are."""
        return isinstance(self.safety, Reads) and self.safety.calculates

    @property
    def reads(self) -> bool:
        """Whether an output counts as having been read: it is evidence for figures and quotes."""
        return self.safety.evidence and not self.calculates

    @property
    def repeatable(self) -> bool:
        """Whether code may make a call again later, to get the data as it is then."""
        safety = self.safety
        return isinstance(safety, Reads) and safety.repeatable and safety.evidence

    @property
    def sends(self) -> tuple[str, ...]:
        """The arguments of a tool that only reads whose words leave the bot."""
        return self.safety.sends if isinstance(self.safety, Reads) else ()

    @property
    def asks(self) -> bool:
        """Whether it asks a person, so that calls behind it in the same response are not made."""
        return isinstance(self.safety, Reads) and self.safety.asks

    @property
    def place(self) -> str:
        """The file and line of its definition."""
        return place_of(self.function)

    @property
    def acquired_text(self) -> AcquiredText | None:
        """The text that the tool brings into the conversation; None for a tool without."""
        make = self.on_acquired
        return AcquiredText(make, seconds=self.timeout) if make else None

    @property
    def line(self) -> str:
        """The line of this tool in a list of tools."""
        return f"- {self.name}: {self.summary}"

    @property
    def words(self) -> tuple[tuple[str, float], ...]:
        """The texts by which a search finds the tool, each with its weight."""
        given = self.parameters.get("properties", {}).values()
        arguments = (each.get("description", "") for each in given if isinstance(each, dict))
        named = ((self.name, 3.0), (self.summary, 2.0), (self.group, 2.0), (self.description, 1.0))
        return (*named, (" ".join(self.replaces), 2.0), (" ".join(arguments), 0.5))

    def definition(self) -> dict[str, Any]:
        """Return the function tool for a request to the Responses API."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "strict": self.strict,
        }

    async def run(
        self, arguments: BaseModel, services: Services, on_retry: OnRetry = lambda _: None
    ) -> ToolResult:
        """Call the function for up to `timeout` seconds, again if `retries` allow it; a blocking
        function runs in a thread.

        Raises ToolTimeout, ToolCrashed, and any exception of the function. A result that violates
        the return annotation raises pydantic's ValidationError: the tool's bug, not the model's.
        """
        provided = {name: services[kind] for name, kind in self.services.items()}
        result = await call_with_retries(
            self.function,
            vars(arguments) | provided,
            name=self.name,
            seconds=self.timeout,
            retries=self.retries,
            on_retry=on_retry,
        )
        return self._as_result(result)

    @property
    def is_of_server(self) -> bool:
        """Whether an MCP server provides the tool. Its group is then the name of the server, which
        may equal one of our own groups."""
        return "__" in self.name

    @property
    def is_outward(self) -> bool:
        """Whether arguments leave the bot: for a change, the web, an MCP server, or by `sends`."""
        return self.mutates or self.group == "web" or self.is_of_server or bool(self.sends)

    async def checked(self, arguments: BaseModel, services: Services) -> BaseModel:
        """Run `check` for up to `timeout` seconds. Return the arguments to make the call with.

        Raises ToolError for a call that cannot succeed, ToolTimeout, ToolCrashed, and any other
        exception of `check`.
        """
        if self.changes is None or self.changes.check is None:
            return arguments
        check = partial(self.changes.check, arguments, services)
        bound = await call_function(check, {}, name=self.name, seconds=self.timeout)
        return bound if isinstance(bound, BaseModel) else arguments

    def _as_result(self, result: Any) -> ToolResult:
        if isinstance(result, ToolResult):
            return result
        checked = self.returns.validate_python(result)
        if isinstance(checked, str):
            return ToolResult(checked)
        return ToolResult(self.returns.dump_json(checked).decode())


@dataclass(frozen=True, slots=True)
class ToolFunction(Generic[R_co]):
    """A decorated function: still callable, with its `Tool` as an attribute."""

    function: Callable[..., R_co]
    tool: Tool

    def __call__(self, *args: Any, **kwargs: Any) -> R_co:
        return self.function(*args, **kwargs)


@explains_misuse
def tool(
    *,
    group: str,
    summary: str,
    safety: Safety = Reads(),  # noqa: B008 - immutable
    core: bool = False,
    timeout: float = 30.0,
    retries: int = 0,
    title: str | Callable[[Any], str] = "",
    on_acquired: Callable[[Services], Awaitable[str]] | None = None,
    narrowing: tuple[str, ...] = (),
    offered_with: tuple[Input, ...] = (),
    asked_as: tuple[str, ...] = (),
    replaces: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Callable[..., R_co]], ToolFunction[R_co]]:
    """Make a tool from a typed function; its docstring is the description that the model reads.

    Each parameter becomes an argument: `Annotated[int, Field(ge=1, description="…")]` describes and
    bounds it; the description may be in the docstring's `Args:` section instead. The model may omit
    a parameter with a default (it sends null). `title`, up to 80 characters, is a format string
    over the arguments, or a function of the validated arguments. `safety` is `Reads(...)` or
    `Changes(...)`; `Tool` describes the other options.

    Raises ToolDefinitionError, naming the tool, when strict mode cannot express a parameter, when
    `safety` contradicts itself or `retries`, and when an option names an unknown parameter.
    """

    def decorate(function: Callable[..., R_co]) -> ToolFunction[R_co]:
        mistake = mistake_in(safety) or _mistake_in_retries(retries, safety)
        if on_acquired and (offered_with or asked_as):
            mistake = "what on_acquired tells comes with acquiring it: leave offered_with and asked_as out"
        if mistake:
            raise ToolDefinitionError(f"Tool {function.__name__}: {mistake}.")
        made = _read(function)(
            group=group,
            summary=summary,
            safety=safety,
            core=core,
            timeout=timeout,
            retries=retries,
            title=title_function(function.__name__, title),
            on_acquired=on_acquired,
            narrowing=narrowing,
            offered_with=offered_with,
            asked_as=_phrases(function.__name__, asked_as),
            replaces=replaces,
        )
        _check_arguments(made, title)
        _check_names(made)
        return ToolFunction(function, made)

    return decorate


def _phrases(name: str, phrases: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    try:
        return tuple(re.compile(phrase, re.IGNORECASE) for phrase in phrases)
    except re.error as error:
        raise ToolDefinitionError(
            f"Tool {name}: asked_as is no regular expression: {error}."
        ) from None


def _mistake_in_retries(retries: int, safety: Safety) -> str:
    if not 0 <= retries <= MOST_RETRIES:
        return f"retries is a number from 0 to {MOST_RETRIES}"
    if retries and isinstance(safety, Changes):
        return "retries are for Reads(...): a change that failed may have been made"
    return ""


def _read(function: Callable[..., Any]) -> partial[Tool]:
    """Return a partial `Tool` with the fields that the function itself determines."""
    name = function.__name__
    hints = get_type_hints(function, include_extras=True)
    returns = hints.pop("return", None)
    description, described = descriptions(function)
    if returns is None or not description:
        raise ToolDefinitionError(f"Tool {name} needs a return annotation and a docstring.")
    services = {key: get_args(hint)[0] for key, hint in hints.items() if _is_provided(hint)}
    arguments = arguments_model(function, hints, services, described)
    return partial(
        Tool,
        name=name,
        description=description,
        arguments=arguments,
        parameters=strict_schema(arguments, owner=f"tool {name}"),
        function=function,
        services=services,
        returns=result_validator(name, Any if returns is ToolResult else returns),
    )


def _is_provided(hint: Any) -> bool:
    return get_origin(hint) is Annotated and _PROVIDED in get_args(hint)[1:]


def _check_names(made: Tool) -> None:
    for name in (made.name, made.group):
        if not _NAME.fullmatch(name):
            raise ToolDefinitionError(
                f"Tool {made.name}: {name!r} is no name: up to 64 of a-z, A-Z, 0-9, _ and -."
            )


def _check_arguments(made: Tool, title: str | Callable[[Any], str]) -> None:
    """Raise ToolDefinitionError when an option names an argument that the tool does not have."""
    named = {*made.narrowing, *named_arguments(made.safety)}
    if isinstance(title, str):
        fields = [field for _, field, _, _ in Formatter().parse(title) if field is not None]
        named |= {re.split(r"[.\[]", field)[0] for field in fields}
    if unknown := named - made.arguments.model_fields.keys():
        raise ToolDefinitionError(
            f"Tool {made.name}: title, narrowing, standing, sends or mentions name "
            f"{', '.join(sorted(unknown))}, which is none of its parameters."
        )
