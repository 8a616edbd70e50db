"""Whether a call could carry away what the run has read (reliability 11).

A page that is fetched learns its own address. Once something private was read, an address that
stands in nothing that a person wrote or a tool quoted may have been made of it; then somebody has
to look at it first. Letter by letter: the case of a path, or what is appended to an address, could
spell out anything. Words that are sent to somebody outside, as those of a search, are looked at as
well, unless they are the asker's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from urllib.parse import urlsplit

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks import Hooks
from bot.agent.state import LoopState
from bot.core.request import Request
from bot.runs.policy import Policy
from bot.toolkit import Tool, ToolResult

_WEB = "web"
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

# Bounded in front: outputs hold words of a million letters, and each letter might be the first.
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s<>\"'`|“”„‘’«»]+")
_BETWEEN = re.compile(r"[\s<>\"'`|“”„‘’«»()\[\]]+")
_ENDS = ".,;:!?)]}*_~…"
_MOST_ENDS = 4
_SMALL = frozenset({"a", "an", "and", "for", "from", "in", "is", "of", "on", "or", "the", "to"})
"""Words that carry nothing."""


class Outgoing(Hooks):
    """Of one run, which is to answer `asked`. What an earlier run of the thread read counts as
    private: nobody knows any more."""

    def __init__(self, asked: Callable[[], Sequence[Request]], policy: Policy) -> None:
        self._asked = asked
        self._open_hosts = policy.open_hosts
        self._open_searches = policy.open_searches
        self._seen: set[str] = set()
        self._private = False

    def may_carry(self, tool: Tool, arguments: BaseModel) -> bool:
        """Whether the call goes to an address, or sends words, of which nobody knows where they are
        from."""
        if not (tool.group == _WEB or _is_of_a_server(tool)):
            return False
        if not (self._private or any(map(_shows_more, self._asked()))):
            return False
        own = self._open_searches or self._are_own(getattr(arguments, each) for each in tool.sends)
        return not (own and all(map(self._is_known, _addresses(arguments))))

    @override
    async def on_run_start(self, state: LoopState) -> None:
        self._seen |= set(map(_same, state.links))
        told = [each for each in state.pending if each.get("role") != "developer"]  # not by us
        self._private |= bool(state.parent or state.turn or state.open or len(told) > 1)
        self._private |= any(isinstance(item.get("content"), list) for item in state.pending)

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        self._private |= tool.group not in _PUBLIC or _is_of_a_server(tool)
        self._seen |= {_same(source.url) for source in result.sources if source.url}
        if not result.own and _quotes(tool, arguments):
            given = "\n".join(_texts(arguments.model_dump(mode="json")))
            quoted = (each for each in _ADDRESS.findall(result.content) if each not in given)
            self._seen.update(chain.from_iterable(map(_forms, quoted)))
        return ""

    def _are_own(self, sent: Iterable[str | None]) -> bool:
        """Whether the asker wrote each word that is sent; what was quoted to them is another's."""
        asked = (each.text for each in self._asked() if not each.suggested)
        return _words(" ".join(filter(None, sent))) <= _words(" ".join(asked)) | _SMALL

    def _is_known(self, url: str) -> bool:
        host = _host(url)
        if any(fnmatchcase(host, each.lower()) for each in self._open_hosts):
            return True
        return _same(url) in self._seen or any(_same(url) in _written(r) for r in self._asked())


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.casefold()))


def _is_of_a_server(tool: Tool) -> bool:
    """Its group is the server's name, which may be that of a group of ours."""
    return "__" in tool.name


def _quotes(tool: Tool, arguments: BaseModel) -> bool:
    """Whether the call shows what others wrote, and nothing else."""
    if tool.name in _READING:
        return str(getattr(arguments, "handle", "")).startswith(_READ_BEFORE)
    return tool.group in _QUOTING or _is_of_a_server(tool)


def _shows_more(request: Request) -> bool:
    """Whether the model sees more of it than the words of who asks."""
    images = any(file.media_type.startswith("image/") for file in request.files)
    return images or bool(request.quoted)


def _texts(value: object) -> Iterator[str]:
    """All texts in a JSON value."""
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            yield from _texts([*value, *value.values()])
        case _:
            pass


def _addresses(arguments: BaseModel) -> Iterator[str]:
    """A text that is an address goes out as it stands, whatever letters it has; in others there may
    be some."""
    for text in _texts(arguments.model_dump(mode="json")):
        if text.strip().lower().startswith(("http:", "https:")):
            yield text.strip()
        else:
            yield from _ADDRESS.findall(text)


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
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
