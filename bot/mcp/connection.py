"""A connection to one MCP server, opened when it is first needed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import MappingProxyType
from typing import Annotated, TypeVar

import httpx2
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    InputRequiredResult,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Discriminator, Tag, TypeAdapter

from bot.core.background import alongside
from bot.core.errors import StoreError, ToolError
from bot.mcp.config import McpServer
from bot.mcp.doors import (
    NO_INPUTS,
    NOBODY_ASKS,
    SWITCH,
    Inputs,
    LiveQuestions,
    OnListed,
    OnUnreachable,
    OwnTool,
    ServerQuestions,
)
from bot.mcp.listing import Listing, list_tools
from bot.mcp.pins import ToolFacts
from bot.mcp.transports import (
    LastLine,
    Refused,
    describe_error,
    failure,
    first_error,
    http,
    refusal,
    shorten,
    statuses,
    stdio,
)
from bot.toolkit.progress import current_progress

log = logging.getLogger(__name__)

T = TypeVar("T")


def _result_type(raw: object) -> str:
    """Return which result of a call it is; servers before 2026-07-28 know only one."""
    asks = isinstance(raw, Mapping) and raw.get("resultType") == "input_required"
    return "input_required" if asks else "complete"


_CALL_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
    Annotated[
        Annotated[CallToolResult, Tag("complete")]
        | Annotated[InputRequiredResult, Tag("input_required")],
        Discriminator(_result_type),
    ]
)

_CLOSED_MESSAGE = "Connection closed"
"""The SDK's message for a connection that ended. Its error code is no proof: servers may use it, and
many use it for every error."""

_SESSION_LOST_MESSAGE = "Session terminated"
"""The SDK's message when a server no longer knows the session: the call was not begun."""

_NOT_BEGUN = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY})
"""Protocol errors which say that a call was not begun."""

MAYBE_DONE = (
    "What was asked of it may have been done or not. Look before you do it again, and say so."
)

CONNECT_SECONDS = 30.0  # npx and uvx may have to download the server first
LONGEST_CALL = 3_600.0  # of a server that may ask people; each wait for a person is shorter
_CLOSE_SECONDS = 5.0
_LIST_SECONDS = 600.0  # maximum age of the list of tools when a tool is called
_LIST_PAUSE = 2.0  # before the first listing that a notice of the server causes
_FIRST_PAUSE, _LONGEST_PAUSE, _MAX_PAUSES = 0.1, 2.0, 30  # between calls made again
_LISTEN_PAUSE = 60.0  # before the bot listens again for such notices


class Connection:
    """A connection to one server, opened by the first call and again after it broke.

    The client runs in a task of its own, because its context must be left in the task that entered
    it. `questions` puts those of the server to the asker; without it, nobody can be asked. `why_refused`
    says why `auth` had nothing that the server takes, "" where it cannot tell.
    """

    account = ""
    own_tools: Mapping[str, OwnTool] = MappingProxyType({})

    def __init__(
        self,
        name: str,
        server: McpServer,
        on_listed: OnListed,
        on_unreachable: OnUnreachable,
        *,
        questions: ServerQuestions | None = None,
        auth: httpx2.Auth | None = None,
        why_refused: Callable[[], str] = lambda: "",
    ) -> None:
        self.name = name
        self._server = server
        self._questions = questions
        self._asking = questions if server.questions else None
        self._auth = auth
        self._why_refused = why_refused
        self._on_listed = on_listed
        self._on_unreachable = on_unreachable
        self._listing = Listing()
        self.accepted: Sequence[str] = ()
        """The tools of the last listing that are accepted."""
        self.errors = LastLine()
        """What its command wrote last, since it was last started."""
        self._listed_at = 0.0
        self._list_changed = asyncio.Event()
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._client: Client | None = None
        self._alone = asyncio.Lock()
        self._live: LiveQuestions | None = None

    @asynccontextmanager
    async def for_asker(self, _tool: str) -> AsyncGenerator[Connection]:
        """Yield this connection, which everybody shares."""
        yield self

    async def refresh(self) -> None:
        """Ask the server for its tools. Raises ToolError when it cannot be reached."""
        self._listed_at = 0.0
        await self._connected()

    async def call(
        self, tool: ToolFacts, arguments: dict[str, object], inputs: Inputs = NO_INPUTS
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool, show its progress and put its questions to the asker. Raises ToolError as
        `ask` does.

        The result is not checked against the tool's output schema: the SDK would do that in this
        process and drop a result that does not fit.
        """
        pause = _FIRST_PAUSE
        for _ in range(_MAX_PAUSES):  # while the server only wants to be called again
            result = await self._call(tool, arguments, inputs)
            if isinstance(result, CallToolResult) or result.input_requests:
                break
            inputs = Inputs(None, result.request_state)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return result

    async def answered_call(self, tool: ToolFacts, arguments: dict[str, object]) -> CallToolResult:
        """Make a call with what its asker has answered so far. Raises ToolError, and PersonNeeded
        for a question to the asker."""
        call = partial(self.call, tool, arguments)
        if self._questions:
            may_ask = bool(self._server.questions)
            return await self._questions.answered_call(self.name, call, may_ask=may_ask)
        result = await call()
        if isinstance(result, CallToolResult):
            return result
        raise ToolError(
            f"The MCP server {self.name} wants to ask a person. Nothing was done: {NOBODY_ASKS}."
        )

    async def _call(
        self, tool: ToolFacts, arguments: dict[str, object], inputs: Inputs
    ) -> CallToolResult | InputRequiredResult:
        client = await self._connected()
        if self._asking is None or client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return await self.ask(tool, partial(self._request, tool, arguments, inputs))
        # The server does not say during which call it asks: a call has a connection of its own.
        if self._alone.locked():
            own = Connection(
                self.name,
                self._server,
                self._on_listed,
                self._on_unreachable,
                questions=self._questions,
                auth=self._auth,
                why_refused=self._why_refused,
            )
            try:
                return await own.call(tool, arguments, inputs)
            finally:
                await own.close()
        async with self._alone:
            return await self.ask(tool, partial(self._request_alone, self._asking, tool, arguments))

    async def _request_alone(
        self,
        asking: ServerQuestions,
        tool: ToolFacts,
        arguments: dict[str, object],
        client: Client,
    ) -> CallToolResult | InputRequiredResult:
        """Make a call during which the server may ask. A call that is given up ends the connection,
        as its questions would come during the next."""
        self._live = live = asking.live(self.name, self._server.timeout)
        try:
            async with live.answered():
                result = await self._request(
                    tool, arguments, NO_INPUTS, client, seconds=LONGEST_CALL
                )
            return live.noted(result) if isinstance(result, CallToolResult) else result
        except TimeoutError:
            await self.close()
            raise MCPError(REQUEST_TIMEOUT, "") from None
        except asyncio.CancelledError:
            self._client = None  # the next call closes and opens it
            self._closing.set()
            raise
        finally:
            self._live = None

    async def _request(
        self,
        tool: ToolFacts,
        arguments: dict[str, object],
        inputs: Inputs,
        client: Client,
        *,
        seconds: float | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Make a call, for up to `seconds` if they differ from the server's own."""
        tell = current_progress()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            of_all = f" of {total:g}" if total else ""
            tell(message or f"step {progress:g}{of_all}", progress / total if total else None)

        given = CallToolRequestParams(name=tool.name, arguments=arguments)
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            given.input_responses, given.request_state = inputs.answers, inputs.state
        try:
            return await client.session.send_request(
                CallToolRequest(params=given),
                _CALL_RESULT,
                request_read_timeout_seconds=seconds,
                progress_callback=report,
            )
        except MCPError as error:
            if self._questions and (pages := self._questions.asked_in(error)):
                return pages
            raise

    async def ask(self, tool: ToolFacts, request: Callable[[Client], Awaitable[T]]) -> T:
        """Make a request for a call of `tool`, if the server still lists the accepted facts.

        Raises ToolError with the server's own message; it says so where the call may have been
        made.
        """
        client = await self._connected()
        if not tool.ours and tool.name not in self._listing.tools:
            raise ToolError(
                f"The MCP server {self.name} does not offer {tool.name} any more. Nothing was done; "
                "go on without it and say so."
            )
        if not tool.ours and not self._listing.tools[tool.name].is_like(tool):
            raise ToolError(
                f"{tool.name} of the MCP server {self.name} is not what it was. It stays off until "
                "an admin accepts the change; go on without it and say so."
            )
        async with self._errors_for_model("answered", "" if tool.read_only else MAYBE_DONE):
            return await request(client)

    @property
    def listing(self) -> Listing:
        """What the server listed last."""
        return self._listing

    @property
    def needs_tasks(self) -> frozenset[str]:
        """Tools that require MCP tasks, which the bot does not support; from the last listing."""
        return self._listing.needs_tasks

    async def close(self) -> None:
        """Disconnect from the server; a later call connects again."""
        self._client = None
        task, self._task = self._task, None
        if task is None:
            return
        self._closing.set()
        _, late = await asyncio.wait({task}, timeout=_CLOSE_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    @asynccontextmanager
    async def _errors_for_model(self, did: str, doubt: str = "") -> AsyncGenerator[None]:
        """Turn any error before the server `did` something into a ToolError for the model, with the
        `doubt` about what was done. Disconnect when the connection broke."""
        collected: list[int] = []
        token = statuses.set(collected)
        try:
            yield
        except MCPError as error:
            # The first status is that of the call itself; later ones belong to its response.
            if refused := self._refusal(collected[:1]):
                raise Refused(f"The MCP server {self.name} {refused}. Nothing was done.") from None
            if (error.code, error.message) == (CONNECTION_CLOSED, _CLOSED_MESSAGE):
                raise await self._disconnect(error, did, doubt) from error
            if error.message == _SESSION_LOST_MESSAGE:
                await self.close()
                raise ToolError(
                    f"The MCP server {self.name} was restarted. Nothing was done: call it again."
                ) from None
            if error.code == REQUEST_TIMEOUT:
                problem = f"did not answer within {self._server.timeout:g} s."
            else:
                problem = f"says: {shorten(error.message)}"
            if error.code == MISSING_REQUIRED_CLIENT_CAPABILITY and not self._asking:
                why = SWITCH if self._questions else NOBODY_ASKS
                problem += f" It may want to ask a person: {why}."
            doubt = "" if error.code in _NOT_BEGUN else doubt
            raise ToolError(f"The MCP server {self.name} {problem} {doubt}".rstrip()) from error
        except Exception as error:
            # A server may cause any error here; none is a bug of ours.
            raise await self._disconnect(error, did, doubt) from error
        finally:
            statuses.reset(token)

    def _refusal(self, collected: Sequence[int]) -> str:
        refused = refusal(collected)
        return (self._why_refused() or refused) if refused else ""

    async def _disconnect(self, error: Exception, did: str, doubt: str) -> ToolError:
        """Disconnect, and return the error for the model; the next call connects again."""
        log.warning("MCP server %s broke off: %s", self.name, first_error(error))
        await self.close()
        return ToolError(f"The MCP server {self.name} broke off before it {did}. {doubt}".rstrip())

    async def _connected(self) -> Client:
        """Return the connected client, after refreshing the list of tools if it is old."""
        async with self._lock:
            if self._client is None or (self._task and self._task.done()):
                await self.close()
                self._client = await self._open()
                self._listed_at = 0.0
            client, now = self._client, time.monotonic()
            if not self._listed_at or now - self._listed_at > _LIST_SECONDS:
                self._list_changed.clear()
                await self._list(client)
                self._listed_at = 0.0 if self._list_changed.is_set() else now
            return client

    async def _list(self, client: Client) -> None:
        async with self._errors_for_model("listed its tools"), asyncio.timeout(CONNECT_SECONDS):
            self._listing = await list_tools(client, self.name, self._server, self._listing)
        self.accepted = await self._on_listed([*self._listing.tools.values()])

    async def _open(self) -> Client:
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        opened.add_done_callback(_mark_retrieved)  # the waiting task may have been cancelled
        self._closing = asyncio.Event()
        collected: list[int] = []
        token = statuses.set(collected)
        self._task = asyncio.create_task(
            self._run(opened, self._closing), name=f"MCP server {self.name}"
        )
        statuses.reset(token)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.shield(opened)
        except TimeoutError:
            await self.close()
            await self._on_unreachable("does not answer")
            log.warning("MCP server %s does not answer; see `bot doctor`", self.name)
            raise ToolError(f"The MCP server {self.name} does not answer.") from None
        except asyncio.CancelledError:
            self._closing.set()  # the next call closes it
            raise
        except Exception as error:
            if refused := self._refusal(collected):
                await self._on_unreachable(refused)
                log.warning("MCP server %s %s; see `bot doctor`", self.name, refused)
                raise Refused(f"The MCP server {self.name} {refused}.") from None
            if failing := failure(collected):
                await self._on_unreachable(failing)
                log.warning("MCP server %s %s; see `bot doctor`", self.name, failing)
                raise ToolError(f"The MCP server {self.name} {failing}.") from None
            await self._on_unreachable("cannot be reached")
            why = describe_error(error)
            log.warning("MCP server %s cannot be reached: %s; see `bot doctor`", self.name, why)
            raise ToolError(f"The MCP server {self.name} cannot be reached.") from error

    async def _run(self, opened: asyncio.Future[Client], closing: asyncio.Event) -> None:
        server = self._server
        if server.command is not None:
            env = {key: value.get_secret_value() for key, value in server.env.items()}
            self.errors = LastLine()
            transport = stdio(server.command, server.args, env, self.errors)
        else:
            headers = {key: value.get_secret_value() for key, value in server.headers.items()}
            seconds = LONGEST_CALL if self._asking else server.timeout
            transport = http(server.url or "", headers, server.timeout, self._auth, silent=seconds)
        try:
            client_of = Client(
                transport,
                mode="legacy" if self._asking and server.questions == "live" else "auto",
                read_timeout_seconds=server.timeout,
                cache=None,
                message_handler=self._hear,
                # The SDK takes the callback for our word that people can be asked.
                elicitation_callback=self._ask_asker if self._asking else None,
            )
            async with client_of as client:
                opened.set_result(client)
                async with (
                    alongside(self._listen(client), name=f"notices of MCP server {self.name}"),
                    alongside(self._list_again(), name=f"changes of MCP server {self.name}"),
                ):
                    await closing.wait()
        except Exception as error:  # noqa: BLE001 - a server may cause any error
            if opened.done():
                log.warning("MCP server %s: %s", self.name, first_error(error))
            else:
                opened.set_exception(error)

    async def _hear(self, message: IncomingMessage) -> None:
        """Note that the list of tools changed, which servers before 2026-07-28 tell unasked."""
        if isinstance(message, ToolListChangedNotification):
            self._note_change()

    async def _ask_asker(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the SDK's
        params: ElicitRequestParams,
    ) -> ElicitResult:
        """Put a question to the asker of the call that runs; nobody answers one between calls."""
        live = self._live
        return await live.put(params) if live else ElicitResult(action="cancel")

    async def _listen(self, client: Client) -> None:
        """Listen for changes of the list of tools, as servers since 2026-07-28 want to be asked."""
        tools = client.server_capabilities.tools
        is_told = client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools
        while is_told and is_told.list_changed:
            try:
                async with client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self._note_change()
            except Exception as error:  # noqa: BLE001 - a server may cause any error, its tools go on
                log.debug("MCP server %s tells of no changes: %s", self.name, first_error(error))
            await asyncio.sleep(_LISTEN_PAUSE)

    def _note_change(self) -> None:
        self._listed_at = 0.0  # so that a call made now lists first
        self._list_changed.set()

    async def _list_again(self) -> None:
        """List the tools again soon after each change, so that the next run has them as they are.

        The pauses grow for a server that tells of one change after the other.
        """
        pause = _LIST_PAUSE
        while True:
            try:
                async with asyncio.timeout(_LIST_SECONDS):
                    await self._list_changed.wait()
            except TimeoutError:
                pause = _LIST_PAUSE
                continue
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LIST_SECONDS)
            with suppress(ToolError, StoreError):  # the next call lists
                await self._connected()


def _mark_retrieved(opened: asyncio.Future[Client]) -> None:
    if not opened.cancelled():
        opened.exception()
