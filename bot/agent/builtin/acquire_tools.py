"""`acquire_tools`: the model asks for tools by name, or searches them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable

from pydantic import BaseModel, ValidationError

from bot.agent import prompts
from bot.agent.calls.outputs import CallOutput
from bot.core.chain import Item
from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.core.request import FileRef, Request
from bot.text.invisible_text import without_invisible
from bot.text.redaction import redacted
from bot.toolkit.catalogue import ACQUIRE, Catalogue
from bot.toolkit.offering import inputs_of
from bot.toolkit.tool import Services, Tool

log = logging.getLogger(__name__)

_MOST_FOUND = 15
_HOW = 'Give {"names": ["…"]} with names from the list in the description.'


class _Asked(BaseModel):
    names: list[str] = []
    search: str | None = None


def tools_offered(
    request: Request, files: Iterable[FileRef], catalogue: Catalogue, *, in_thread: bool
) -> list[str]:
    """Return the names of the tools that a request carries at once, for what its words and `files`
    bring; `in_thread` with messages above that it does not hold. Only the asker's own words name an
    act."""
    names = [file.name for file in (*request.files, *files)]
    inputs = inputs_of(request.text, names, in_thread=in_thread)
    return catalogue.offers(request.text, inputs)


def tool_hints(
    request: Request, catalogue: Catalogue, offered: Collection[str]
) -> tuple[Item, ...]:
    """Return a note with the tools that clearly fit a request and are not `offered`.

    The hints are no part of the tool's description, which must be the same for all requests for the
    prompt cache."""
    found = catalogue.hints(f"{request.text}\n{request.quoted}")
    lines = [tool.line for tool in found if tool.name not in offered]
    return (prompts.note(prompts.tool_hints("\n".join(lines))),) if lines else ()


async def acquire(
    call: Item, catalogue: Catalogue, services: Services, context: RequestContext
) -> CallOutput:
    """Return the output of a call: the tools that can be called now, and the search results."""
    try:
        asked = _Asked.model_validate_json(call["arguments"])
    except ValidationError:
        asked = _Asked()
    names = tuple(dict.fromkeys(asked.names))
    found = tuple(name for name in names if catalogue.get(name))
    lines = [await introduce(name, catalogue, services, context) for name in names]
    if asked.search:
        lines.append(_found(asked.search, catalogue))
    ok = bool(found or asked.search)
    text = "\n".join(lines) or _HOW
    return CallOutput(call["call_id"], ACQUIRE, text, ok=ok, acquired=found)


def _found(search: str, catalogue: Catalogue) -> str:
    tools = catalogue.search(search, _MOST_FOUND)
    if not tools:
        return "No tool fits these words. Try others, in English."
    lines = "\n".join(tool.line for tool in tools)
    return f"Tools that fit, the best first; acquire them by name:\n{lines}"


async def introduce(
    name: str, catalogue: Catalogue, services: Services, context: RequestContext
) -> str:
    """Return what the model reads about a tool it asked for, with the tool's own context."""
    tool = catalogue.get(name)
    if tool is None:
        near = ", ".join(catalogue.near(name)) or "none"
        return f"{name}: there is no such tool. Similar: {near}."
    about = await introduction_of(tool, services, context)
    return "\n".join(filter(None, (f"{name}: you can call it now.", about)))


async def introduction_of(tool: Tool, services: Services, context: RequestContext) -> str:
    """Return what the tool says of itself when it is acquired; "" if it says nothing."""
    if tool.on_acquired is None:
        return ""
    try:
        with bound_request(context):
            async with asyncio.timeout(tool.timeout):
                about = await tool.on_acquired(services)
    except (ToolError, TimeoutError) as error:
        return f"(Its notes could not be loaded: {str(error) or 'it took too long'})"
    except Exception:
        log.exception("on_acquired failed", extra={"tool": tool.name})
        return ""
    return redacted(without_invisible(about))
