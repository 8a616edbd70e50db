"""`acquire_tools`: the model asks for tools and skills by name, or searches them."""

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
    call: Item,
    catalogue: Catalogue,
    services: Services,
    context: RequestContext,
    has: Collection[str] = (),
) -> CallOutput:
    """Return the output of a call: the tools and skills that the model has now, and the search
    results. A call of a skill, which has no function, acquires it too. The model `has` skills of
    these names."""
    try:
        asked = _Asked.model_validate_json(call["arguments"])
    except ValidationError:
        asked = _Asked()
    names = (call["name"],) if call["name"] != ACQUIRE else tuple(dict.fromkeys(asked.names))
    found = with_their_tools(names, catalogue)
    lines = [
        f"{name}: you have it; follow what it says."
        if name in has and catalogue.skill(name)
        else await introduce(name, catalogue, services, context)
        for name in names
    ]
    if asked.search:
        lines.append(_found(asked.search, catalogue))
    ok = bool(found or asked.search)
    text = "\n".join(lines) or _HOW
    return CallOutput(call["call_id"], ACQUIRE, text, ok=ok, acquired=found)


def with_their_tools(names: Iterable[str], catalogue: Catalogue) -> tuple[str, ...]:
    """Return those of `names` that exist, and the tools that come with skills among them."""
    found = dict[str, None]()
    for name in names:
        skill = catalogue.skill(name)
        tools = (*skill.tools, *skill.brings) if skill else ()
        found |= dict.fromkeys(tool for tool in tools if catalogue.get(tool))
        if skill or catalogue.get(name):
            found[name] = None
    return tuple(found)


def _found(search: str, catalogue: Catalogue) -> str:
    tools = catalogue.search(search, _MOST_FOUND)
    if not tools:
        return "No tool fits these words. Try others, in English."
    lines = "\n".join(tool.line for tool in tools)
    return f"Tools that fit, the best first; acquire them by name:\n{lines}"


async def introduce(
    name: str, catalogue: Catalogue, services: Services, context: RequestContext
) -> str:
    """Return what the model reads about a tool or skill it asked for, with the tool's own context."""
    if skill := catalogue.skill(name):
        missing = ", ".join(tool for tool in skill.tools if not catalogue.get(tool))
        lacks = missing and f"It names tools that you do not have here: {missing}."
        return "\n".join(filter(None, (f"{name}: what it says follows.", skill.remark, lacks)))
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
