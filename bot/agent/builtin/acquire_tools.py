"""`acquire_tools`: the model asks for tools and skills by name, or searches them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pydantic import BaseModel, ValidationError

from bot.agent import prompts
from bot.agent.calls.outputs import CallOutput
from bot.core.chain import Item
from bot.core.request import FileRef, Request
from bot.toolkit.catalogue import ACQUIRE, Catalogue
from bot.toolkit.offering import inputs_of

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


def acquire(call: Item, catalogue: Catalogue, noted: Collection[str] = ()) -> CallOutput:
    """Return the output of a call: the tools and skills that the model has now, and the search
    results. A call of a skill, which has no function, acquires it too. `noted` are the names whose
    texts the conversation has."""
    try:
        asked = _Asked.model_validate_json(call["arguments"])
    except ValidationError:
        asked = _Asked()
    names = (call["name"],) if call["name"] != ACQUIRE else tuple(dict.fromkeys(asked.names))
    found = with_their_tools(names, catalogue)
    lines = [_introduced(name, catalogue, noted) for name in names]
    if asked.search:
        lines.append(_found(asked.search, catalogue))
    ok = bool(found or asked.search)
    text = "\n".join(lines) or _HOW
    return CallOutput(call["call_id"], ACQUIRE, text, ok=ok, acquired=found)


def with_their_tools(names: Iterable[str], catalogue: Catalogue) -> tuple[str, ...]:
    """Return those of `names` that exist, what replaces tools that are gone, and the tools that come
    with skills among them."""
    found = dict[str, None]()
    for name in map(catalogue.now, names):
        skill = catalogue.skill(name)
        tools = map(catalogue.now, (*skill.tools, *skill.brings)) if skill else ()
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


def _introduced(name: str, catalogue: Catalogue, noted: Collection[str]) -> str:
    """Return what the model reads about a tool or skill it asked for; the text of it is a note."""
    if skill := catalogue.skill(name):
        if name in noted:
            return f"{name}: you have it; follow what it says."
        missing = ", ".join(tool for tool in skill.tools if not catalogue.get(catalogue.now(tool)))
        lacks = missing and f"It names tools that you do not have here: {missing}."
        return "\n".join(filter(None, (f"{name}: what it says follows.", lacks)))
    if catalogue.get(name) is None:
        return f"{name}: {catalogue.missing(name) or 'There is no such tool.'}"
    if catalogue.text_of(name) is None:
        return f"{name}: you can call it now."
    where = "above" if name in noted else "below"
    return f"{name}: you can call it now. What there is to know is {where}."
