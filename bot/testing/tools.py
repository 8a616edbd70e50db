"""One tool in a test: its schema, and a call of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any, cast

from bot.core.context import current_request
from bot.services.artifact_services import artifact_services
from bot.services.given_schema import validated
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation, asked
from bot.toolkit import Artifacts, Conversation, FileReaders, Services, Tool, ToolResult
from bot.toolkit.progress import bound_progress, safe_progress, shown_progress
from bot.toolkit.schema import without_nulls
from bot.toolkit.tool import ToolFunction


def with_memory(services: Mapping[Any, object]) -> dict[type, object]:
    """Return `services` with those that work without Slack, Redis or a network.

    These are the conversation, the artifacts, and what works on artifacts, such as tables.
    """
    artifacts = cast(Artifacts, services.get(Artifacts) or MemoryArtifacts())
    own = {Conversation: MemoryConversation(), FileReaders: FileReaders()}
    return {**own, **artifact_services(artifacts), **services}


def tool_of(given: Tool | ToolFunction[Any]) -> Tool:
    """Return the tool of a decorated function, or the tool itself."""
    return given.tool if isinstance(given, ToolFunction) else given


async def run_tool(
    tool: Tool | ToolFunction[Any],
    arguments: Mapping[str, Any] = MappingProxyType({}),
    services: Mapping[Any, object] = MappingProxyType({}),
    *,
    progress: list[str] | None = None,
) -> ToolResult:
    """Call a tool as a run does: validate `arguments` (JSON, as from a model), check them, call it.

    `services` by type are added to those in memory. `progress` gets every line that the tool shows
    meanwhile. Without a bound request (see `asked`), one of U1 is bound. Raises pydantic's
    ValidationError for arguments that do not fit, LookupError for a service that is missing, and
    what the tool raises.
    """
    made, given = tool_of(tool), with_memory(services)
    check_services(made, given)
    lines = [] if progress is None else progress

    def tell(text: str, share: float | None) -> None:
        lines.append(shown_progress(*safe_progress(text, share)))

    with nullcontext() if _is_bound() else asked(), bound_progress(tell):
        values = await validated(made.arguments, without_nulls(made.arguments, dict(arguments)))
        return await made.run(await made.checked(values, given), given)


def assert_schema(
    tool: Tool | ToolFunction[Any], arguments: Mapping[str, Mapping[str, Any]]
) -> None:
    """Assert that the model sees exactly these arguments, each with a description.

    For each argument give the part of its JSON schema that matters: `{"type": "number"}`.
    """
    made = tool_of(tool)
    properties = made.parameters["properties"]
    assert set(properties) == set(arguments), f"{made.name} has {sorted(properties)}"  # noqa: S101
    for name, expected in arguments.items():
        schema = properties[name]
        assert schema.get("description"), f"{made.name}: {name} has no description"  # noqa: S101
        actual = {key: schema.get(key) for key in expected}
        assert actual == dict(expected), f"{made.name}: {name} is {schema}"  # noqa: S101


def check_services(tool: Tool, services: Services) -> None:
    """Raise LookupError when `tool` asks for a service that is not among `services`."""
    missing = [service.__name__ for service in tool.services.values() if service not in services]
    if missing:
        raise LookupError(f"{tool.name} asks for {', '.join(missing)}: pass it in services.")


def _is_bound() -> bool:
    try:
        current_request()
    except LookupError:
        return False
    return True
