"""The guard on calls that leave: whether one could carry away what the run has read.

A page that is fetched learns its own address, a search provider the words, an MCP server all of its
arguments. Once something private was read, any of these may have been made of it; then a person has
to look at the call first, unless each text in it is known: the asker wrote it, or others did, where a
tool quoted it. Choosing among known texts can spell a secret too, so such calls are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks import Hooks
from bot.agent.state import LoopState
from bot.core.context import current_request
from bot.core.request import Request
from bot.core.unseen import exact
from bot.runs.policy import Policy
from bot.toolkit import Tool, ToolResult

_WEB, _THREAD = "web", "the thread"
_PUBLIC = frozenset({_WEB, "math", "time", "units"})
"""Groups of tools that show nothing but what anybody may see."""

_QUOTING = frozenset({_WEB, "slack", "files"})
"""Groups of tools that show what others wrote, word for word. Elsewhere an address in an output may
be the model's own: written to a file and read again, remembered, or put together in SQL."""
_READING = frozenset(
    {"read_artifact", "search_artifact", "search_document", "outline_document", "check_quote"}
)
_READ_BEFORE = "doc_"
"""Handles of pages and files that were read: no tool makes one of what the model wrote."""

MOST_OF_A_SITE = 2
MOST_QUOTED = 6
MOST_OF_ONES_OWN = 12
"""Calls of a run without a yes, once it has read private data: with texts that a site's addresses or
an MCP server were quoted with, with such texts in all, and with the asker's own words to one place.
Each choice among n texts tells log2(n) bits."""
_SMALL_NUMBER = 100
_MOST_CHOICES = 50  # values that a schema lists, as those of an enum
_MOST_REMEMBERED = 1_000_000  # characters of what one server returned

# Bounded in front: outputs hold words of a million letters, and each letter might be the first.
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s<>\"'`|“”„‘’«»]+")
_BETWEEN = re.compile(r"[\s<>\"'`|“”„‘’«»()\[\]]+")
_WORD = re.compile(r"[^\W_]+(?:[-'’.@_][^\W_]+)*")
_ENDS = ".,;:!?)]}*_~…"
_MOST_ENDS = 4
_LONG_PIECE = 3
"""Characters: a shorter piece of an argument counts in an address only as a whole word."""


class EgressGuard(Hooks):
    """Guards one run, which answers `asked`. What an earlier run of the thread read counts as
    private: nobody knows any more."""

    def __init__(self, asked: Callable[[], Sequence[Request]], policy: Policy) -> None:
        self._asked = asked
        self._policy = policy
        self._quoted: set[str] = set()
        self._told: dict[str, str] = {}
        self._read: set[str] = set()
        """Where private data came from: the thread, groups of tools, servers."""
        self._began_clean: set[str] = set()
        self._used: Counter[str] = Counter()

    def may_leak(self, tool: Tool, arguments: BaseModel) -> bool:
        """Whether the call could tell somebody outside what the run has read."""
        if not self._guards(tool) or not self._knows_private_data(tool):
            return False
        uses = self._uses(tool, arguments)
        return uses is None or any(self._used[use] + n > most for use, n, most in uses)

    def count(self, tool: Tool, arguments: BaseModel) -> None:
        """Count a call that goes out though nobody looked at it."""
        if self._guards(tool) and self._knows_private_data(tool):
            for use, n, _ in self._uses(tool, arguments) or ():
                self._used[use] += n

    @override
    async def on_run_start(self, state: LoopState) -> None:
        self._quoted |= set(map(_same, state.links))
        told = [each for each in state.pending if each.get("role") != "developer"]  # not by us
        went_on = bool(state.parent or state.turn or state.open or len(told) > 1)
        if went_on or any(isinstance(item.get("content"), list) for item in state.pending):
            self._read.add(_THREAD)

    @override
    def on_exposure(self, tool: Tool) -> None:
        if not self._knows_private_data(tool):
            self._began_clean.add(current_request().idempotency_key)
        if tool.is_of_server or tool.group not in _PUBLIC:
            self._read.add(_origin(tool))

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        if tool.is_of_server:
            told = f"{self._told.get(tool.group, '')}\n{result.content}"
            self._told[tool.group] = told[-_MOST_REMEMBERED:]
        sources = {source.url for source in result.sources if source.url}
        if not tool.is_of_server:
            self._quoted |= set(map(_same, sources))
        if not result.own and _quotes(tool, arguments):
            quoted = {*_ADDRESS.findall(result.content), *(sources if tool.is_of_server else ())}
            is_made = self._made_of(tool, arguments)
            kept = (each for each in quoted if not is_made(each))
            self._quoted.update(chain.from_iterable(map(_forms, kept)))
        return ""

    def _guards(self, tool: Tool) -> bool:
        if tool.is_of_server:
            return not any(fnmatchcase(tool.group, each) for each in self._policy.open_servers)
        if tool.sends:
            return not self._policy.open_searches
        return tool.group == _WEB

    def _knows_private_data(self, tool: Tool) -> bool:
        """Whether the run knows what those whom the call reaches may not know. A server knows what
        it said itself."""
        others = self._read - ({_origin(tool)} if tool.is_of_server else set())
        return bool(others) or any(map(_shows_more, self._asked()))

    def _uses(self, tool: Tool, arguments: BaseModel) -> list[tuple[str, int, int]] | None:
        """What the call uses up: of what, how much, and how much of it there is. None where the call
        sends a text that nobody knows."""
        found: Counter[str] = Counter()
        place = tool.group if tool.is_of_server else tool.name
        given = arguments.model_dump(mode="json")
        given = {name: given[name] for name in _leaving(tool, given)} if given else {}
        for text in _texts(given, _fixed_by(tool)):
            if "://" not in text and self._is_own(text):
                continue
            url = _address_in(text)
            if url is not None and self._is_open(url):
                continue
            if url is not None and any(_same(url) in _written(each) for each in self._asked()):
                found[f"own:{_site(_host(url))}"] += 1
            elif url is not None and _same(url) in self._quoted:
                found[f"quoted:{_site(_host(url))}"] += 1
            elif tool.is_of_server and _stands_in(text, self._told.get(tool.group, "")):
                found[f"quoted:{place}"] += 1
            else:
                return None
        quoted = sum(each.startswith("quoted:") for each in found)
        bounded = [
            (each, n, MOST_OF_A_SITE if each.startswith("quoted:") else MOST_OF_ONES_OWN)
            for each, n in found.items()
        ]
        words = (f"own:{place}", int(not found), MOST_OF_ONES_OWN)
        return [*bounded, ("all quoted", quoted, MOST_QUOTED), words]

    def _is_own(self, text: str) -> bool:
        asked = (each.text for each in self._asked() if not each.suggested)
        return any(_are_words_of(text, exact(each)) for each in asked)

    def _is_open(self, url: str) -> bool:
        return any(fnmatchcase(_host(url), each.lower()) for each in self._policy.open_hosts)

    def _made_of(self, tool: Tool, arguments: BaseModel) -> Callable[[str], bool]:
        """Tell addresses that quote nobody: they hold what the call was given. Nothing private can
        stand in a call that began before anything private was read; and who was called at an address
        learns nothing from another one there."""
        given = arguments.model_dump(mode="json")
        whole = [_letters(text) for text in _texts(given, frozenset())]
        clean = current_request().idempotency_key in self._began_clean
        sent = (
            [] if clean else list(_texts({n: given[n] for n in _leaving(tool, given)}, frozenset()))
        )
        sites = {_site(_host(url)) for text in sent if (url := _address_in(text))}
        own = {word for each in self._asked() if not each.suggested for word in _pieces(each.text)}
        pieces = {piece for text in sent for piece in _pieces(text)} - own

        def made(address: str) -> bool:
            forms = {_letters(_same(address)), _letters(_same(address.rstrip(_ENDS)))}
            if any(form in text for form in forms for text in whole):
                return True
            if _site(_host(address)) in sites and not tool.is_of_server:
                return False
            words, letters = _pieces(address), unquote(address).casefold()
            return any(p in words or (len(p) >= _LONG_PIECE and p in letters) for p in pieces)

        return made


def _origin(tool: Tool) -> str:
    return f"server {tool.group}" if tool.is_of_server else tool.group


def _quotes(tool: Tool, arguments: BaseModel) -> bool:
    """Whether the call shows what others wrote, and nothing else."""
    if tool.name in _READING:
        return str(getattr(arguments, "handle", "")).startswith(_READ_BEFORE)
    return tool.group in _QUOTING or tool.is_of_server


def _shows_more(request: Request) -> bool:
    """Whether the model sees more of it than the words of who asks."""
    images = any(file.media_type.startswith("image/") for file in request.files)
    return images or bool(request.quoted)


def _leaving(tool: Tool, given: dict[str, Any]) -> list[str]:
    """The arguments that leave. Those that only make an output smaller stay here."""
    if tool.is_of_server:
        return list(given)
    return [each for each in given if each in tool.sends or each not in tool.narrowing]


def _texts(value: Any, fixed: frozenset[str]) -> Iterator[str]:
    """All texts and large numbers in a JSON value, keys included, but those that are `fixed`."""
    match value:
        case bool() | None:
            pass
        case str():
            if value and value not in fixed:
                yield value
        case int() | float():
            if (
                not (isinstance(value, int) and 0 <= value <= _SMALL_NUMBER)
                and str(value) not in fixed
            ):
                yield str(value)
        case list():
            for each in value:
                yield from _texts(each, fixed)
        case dict():
            yield from _texts([*value, *value.values()], fixed)
        case _:
            yield str(value)


def _fixed_by(tool: Tool) -> frozenset[str]:
    """The names of arguments, and the few values that the tool's schema lists."""
    names: set[str] = set(tool.arguments.model_fields)
    values: set[str] = set()
    pending: list[Any] = [tool.parameters]
    while pending:
        match pending.pop():
            case dict() as schema:
                if isinstance(properties := schema.get("properties"), dict):
                    names |= properties.keys()
                    pending += properties.values()
                for key in ("enum", "const", "default"):
                    listed = schema.get(key)
                    listed = listed if isinstance(listed, list) else [listed]
                    values |= {str(each) for each in listed if each is not None}
                pending += [each for key, each in schema.items() if key != "properties"]
            case list() as several:
                pending += several
            case _:
                pass
    return frozenset(names | (values if len(values) <= _MOST_CHOICES else set()))


def _are_words_of(text: str, asked: str) -> bool:
    """Whether `text` is a part of what the asker wrote, or words of it in their order, each at most
    once, with a space between; as they were written, or all in small letters. Anything else, such as
    other letters, signs, doubled words or spaces, could spell something out."""
    if _stands_in(text, asked):
        return True
    for written, sent in (
        (asked, text),
        (asked.casefold(), text if text == text.casefold() else ""),
    ):
        words = iter(_WORD.findall(written))
        if sent and all(each in words for each in sent.split(" ")):  # takes up to there
            return True
    return False


def _stands_in(text: str, whole: str) -> bool:
    """Whether `text`, letter by letter, stands in `whole` and does not cut a word."""
    at = whole.find(text)
    while at >= 0:
        before, after = whole[at - 1 : at] if at else "", whole[at + len(text) :][:1]
        inside = (before + text[0]).isalnum() and before, (text[-1] + after).isalnum() and after
        if not any(inside):
            return True
        at = whole.find(text, at + 1)
    return False


def _address_in(text: str) -> str | None:
    """A text that is one address goes out as it is, whatever letters it has."""
    text = text.strip()
    return text if text and not re.search(r"\s", text) and re.search(r"[.:/]", text) else None


def _written(request: Request) -> set[str]:
    """The addresses in what a person wrote, who may leave out the scheme. The words of a suggestion
    that somebody took up are the model's."""
    text = request.quoted if request.suggested else f"{request.text}\n{request.quoted}"
    words = (word for word in _BETWEEN.split(text) if "." in word)
    found = (*_ADDRESS.findall(text), *words)
    return {form for word in found for form in _forms(word)}


def _forms(address: str) -> set[str]:
    """An address as it stands in a text, and without what may be the sentence's."""
    forms = {_same(address), _same(address.rstrip(_ENDS))}
    for _ in range(_MOST_ENDS):
        if address[-1:] not in _ENDS:
            break
        address = address[:-1]
        forms.add(_same(address))
    return forms


def _same(address: str) -> str:
    """An address as it is compared: without scheme and fragment, the host in small letters."""
    bare = (address.partition("://")[2] or address).partition("#")[0]
    host = re.match(r"[^/?]*", bare)
    assert host is not None  # noqa: S101 - it matches nothing too
    rest = bare[host.end() :]
    return host[0].lower() + rest.removesuffix("/")


def _host(url: str) -> str:
    try:
        return (urlsplit(url if "://" in url else f"//{url}").hostname or "").lower()
    except ValueError:
        return ""


def _site(host: str) -> str:
    """The part of a host that somebody registered, roughly: one who has a name has all below it."""
    labels = host.split(".")
    if host.replace(".", "").isdigit() or ":" in host:
        return host
    is_below_country = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3 if is_below_country else -2 :])


def _letters(text: str) -> str:
    """The letters and digits of `text`, however they are written: escaped or in capitals."""
    return "".join(filter(str.isalnum, unquote(text).casefold()))


def _pieces(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", unquote(text).casefold()))
