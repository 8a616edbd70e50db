"""Whether a call could carry away what the run has read (reliability 11).

A page that is fetched learns its own address. Once something private was read, an address that
stands in nothing that a person wrote or a tool returned may have been made of it; then somebody
has to look at it first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks import Hooks
from bot.agent.state import LoopState
from bot.core.request import Request
from bot.toolkit import Tool, ToolResult

_WEB = "web"
_PUBLIC = frozenset({_WEB, "math", "time", "units"})
"""Groups of tools that show nothing but what anybody may see."""

_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s<>\"'`|)\]]+")


class Outgoing(Hooks):
    """Of one run. What an earlier run of the thread read counts as private: nobody knows any more."""

    def __init__(
        self, request: Request, asked: Callable[[], str], open_hosts: tuple[str, ...]
    ) -> None:
        self._asked = asked
        self._quoted = request.quoted
        self._open_hosts = open_hosts
        self._seen: set[str] = set()
        self._private = bool(request.quoted)

    def may_carry(self, tool: Tool, arguments: BaseModel) -> bool:
        """Whether the call goes to an address of which nobody knows where it is from."""
        if tool.group != _WEB or not self._private:
            return False
        values = arguments.model_dump(mode="json").values()
        return any(not self._is_known(url) for url in values if _is_address(url))

    @override
    async def on_run_start(self, state: LoopState) -> None:
        self._seen |= set(map(_same, state.links))
        self._private |= bool(state.parent or state.turn or state.open or len(state.pending) > 1)

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        self._private |= tool.group not in _PUBLIC
        self._seen |= {_same(found) for found in _ADDRESS.findall(result.content)}
        self._seen |= {_same(source.url) for source in result.sources if source.url}
        return ""

    def _is_known(self, url: str) -> bool:
        host = (urlsplit(url).hostname or "").lower()
        if any(fnmatchcase(host, each.lower()) for each in self._open_hosts):
            return True
        bare = _same(url)
        return bare in self._seen or bare in f"{self._asked()}\n{self._quoted}".lower()


def _is_address(value: object) -> bool:
    return isinstance(value, str) and "://" in value


def _same(url: str) -> str:
    """An address as it is compared: people leave out the scheme, and sentences go on behind it."""
    bare = url.strip().partition("://")[2] or url
    return bare.partition("#")[0].rstrip(".,;:!?/").lower()
