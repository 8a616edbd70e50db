"""Doors of the servers: what features add to them. This module does not load the protocol's SDK.

`PersonalServers` reaches the servers with accounts (`account = "person"` or "workspace");
`ServerQuestions` puts questions of servers to the asker. Without the first, those servers are off;
without the second, servers are told that nobody can be asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypedDict

from bot.mcp.pins import ToolFacts

if TYPE_CHECKING:
    import httpx2
    from mcp import MCPError
    from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult, InputRequiredResult
    from mcp_types import InputResponses

    from bot.mcp.connection import Connection

OnListed = Callable[[Sequence[ToolFacts]], Awaitable[Sequence[str]]]
"""Called with the tools that a server lists, after each listing. Returns the names of those that are
accepted."""

OnPersonListed = Callable[[Sequence[ToolFacts], bool], Awaitable[Sequence[str]]]
"""Called with the tools that a server lists on a person's account, and whether that person is trusted
to show them to everybody. Returns the names of those that are accepted."""

OnUnreachable = Callable[[str], Awaitable[None]]
"""Called with the reason when a server cannot be reached or refuses the bot."""


@dataclass(frozen=True, slots=True)
class OwnTool:
    """A tool of ours at a server, beside those that it lists. `call` returns its output."""

    facts: ToolFacts
    call: Callable[[Connection], Awaitable[str]]


class Connections(Protocol):
    """The connections to one server. `account` is its name if each person has an account of their
    own there, else "". `own_tools` are offered beside the server's, by name."""

    @property
    def name(self) -> str: ...

    @property
    def account(self) -> str: ...

    @property
    def own_tools(self) -> Mapping[str, OwnTool]: ...

    def for_asker(self, tool: str) -> AbstractAsyncContextManager[Connection]:
        """Return the connection for the person whose request is in progress, for a call of `tool`.

        Raises ToolError when they have none.
        """


@dataclass(frozen=True, slots=True)
class SignedIn:
    """How the bot signs in to a server by itself: `auth` does so, and `why` says why it could not when it
    was last tried, for operators; "" if it could."""

    auth: httpx2.Auth
    why: Callable[[], str]


class Connect(Protocol):
    """Makes a connection to a server; it is opened by its first call."""

    def __call__(
        self, on_listed: OnListed, on_unreachable: OnUnreachable, *, auth: httpx2.Auth
    ) -> Connection:
        """Return a connection that `auth` authorizes."""


@dataclass(frozen=True, slots=True)
class IssuerStatus:
    """Who lets people in to a personal server. It `is_off` until an admin accepts the `changes`: what
    changed, as it was, and as the server says now."""

    is_off: bool = False
    changes: Sequence[tuple[str, str, str]] = ()


class PersonalServers(Protocol):
    """The servers at which people have accounts of their own, or the bot signs in by itself."""

    def signed_in(self, name: str) -> SignedIn:
        """Return how the bot signs in to a server by itself."""

    def connections(
        self, name: str, connect: Connect, on_listed: OnPersonListed, on_unreachable: OnUnreachable
    ) -> Connections | None:
        """Return the connections to a server, one for each person; None where nobody can call it."""

    async def issuer(self, name: str) -> IssuerStatus:
        """Return who lets people in to a server, as far as is known."""

    async def issuer_error(self, name: str) -> str:
        """Ask a server who lets people in. Return why nobody can connect, "" if they can."""

    async def accept_issuer(self, name: str) -> IssuerStatus:
        """Accept what a server said last of who lets people in. Return the status before."""

    async def close_idle(self) -> None:
        """Close connections that people have not used for a while, for ever."""

    async def close(self) -> None:
        """Close all connections."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a call carries besides its arguments: answers by the server's keys, and its state."""

    answers: InputResponses | None = None
    state: str | None = None


NO_INPUTS = Inputs()

SWITCH = "questions = true in its entry in bot.toml lets it ask people"
NOBODY_ASKS = "this bot puts no questions of servers to people"
"""Why a server may not ask."""

Call = Callable[[Inputs], Awaitable["CallToolResult | InputRequiredResult"]]
"""Makes the call. It ends with questions in place of a result when the server asks."""


class LiveQuestions(Protocol):
    """The questions that a server asks while one call runs."""

    async def put(self, params: ElicitRequestParams) -> ElicitResult:
        """Return the answer to a question. May be called in any task, also after the call."""

    def answered(self) -> AbstractAsyncContextManager[None]:
        """Answer the questions during the body. Raises TimeoutError when the time is up."""

    def noted(self, result: CallToolResult) -> CallToolResult:
        """Return the result of the call, which says what was asked and not shown."""


class ServerQuestions(Protocol):
    """What puts questions of servers to the asker of a call."""

    async def answered_call(self, server: str, call: Call, *, may_ask: bool) -> CallToolResult:
        """Make a call with all that its asker has answered so far.

        Raises PersonNeeded for the next question, and ToolError for one that must not be asked.
        """

    def live(self, server: str, seconds: float) -> LiveQuestions:
        """Return the questions of one call that has `seconds`, without those of its asker."""

    def asked_in(self, error: MCPError) -> InputRequiredResult | None:
        """Return the questions in an error of a server, None if it has none."""


class McpDoors(TypedDict, total=False):
    """What features add to MCP servers."""

    personal: PersonalServers
    questions: ServerQuestions
