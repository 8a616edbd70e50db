"""Slack Web API clients: one HTTP session, a deadline on every call, and no message sent twice."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.core.errors import ConfigurationError, SlackUnavailable

log = logging.getLogger(__name__)

_WHAT_TO_CHECK = "Check the network, and SLACK_API_URL if you set it; `bot doctor` looks closer."

WRONG_TOKEN = {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}

TRANSPORT_ERRORS = (aiohttp.ClientError, TimeoutError)
"""Errors of the connection, after which Slack may or may not have done what the call asked."""

NO_PLACE = frozenset(
    {
        "channel_not_found",
        "not_in_channel",
        "thread_not_found",
        "cannot_reply_to_message",
        "is_archived",
        "is_inactive",
        "messages_tab_disabled",
        "ekm_access_denied",
        "restricted_action",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "restricted_action_non_threadable_channel",
        "restricted_action_thread_only_channel",
    }
)
"""Error codes of chat.postMessage and chat.update where the bot cannot write, or no longer can."""

_SLOW_DOWN = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})

_MAY_PASS = (
    _SLOW_DOWN
    | WRONG_TOKEN
    | {
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "external_channel_migrating",
        "team_added_to_org",
        "messaging_processing_failed",
    }
)
"""Error codes that do not depend on the call itself: it may succeed later."""


Token = Callable[[], Awaitable[str]]
"""Returns the bot's current token, which changes where Slack rotates tokens. Raises SlackApiError,
as a call with a revoked token would, when the installation is gone."""


class DeadlineClient(AsyncWebClient):
    """An AsyncWebClient whose calls end within `deadline` seconds, retries included.

    It ignores the proxy that the SDK would read from the environment.
    """

    def __init__(self, *, deadline: float, bot_token: Token | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.deadline = deadline
        self.proxy = None
        self._bot_token = bot_token

    @override
    async def api_call(self, api_method: str, **options: Any) -> AsyncSlackResponse:
        async with asyncio.timeout(self.deadline):
            if self._bot_token is not None:
                self.token = await self._bot_token()
            return await super().api_call(api_method, **options)


@dataclass(frozen=True, slots=True)
class Clients:
    """The Web API clients of one workspace, by what may be retried.

    `writes` retries only after a 429, so that nothing is posted twice. `reads` and `updates` are
    safe to repeat, so they also retry after server and connection errors. `live` never retries: it
    is for status updates, which the next update replaces anyway.
    """

    reads: DeadlineClient
    writes: DeadlineClient
    updates: DeadlineClient
    live: DeadlineClient
    session: aiohttp.ClientSession
    token: Token
    base_url: str

    async def direct(self, user: str) -> str:
        """Return the channel id of the direct messages between `user` and the bot. Raises SlackApiError and
        TRANSPORT_ERRORS, as `tell` does."""
        opened = await self.writes.conversations_open(users=user)
        return str(opened["channel"]["id"])

    async def tell(
        self, user: str, text: str, blocks: Sequence[dict[str, Any]] | None = None
    ) -> None:
        """Send somebody a direct message, without previews of links; `text` is the notification if it has
        `blocks`."""
        await self.writes.chat_postMessage(
            channel=await self.direct(user),
            text=text,
            blocks=blocks,
            unfurl_links=False,
            unfurl_media=False,
        )


@asynccontextmanager
async def slack_session(
    tracing: aiohttp.TraceConfig | None = None,
) -> AsyncGenerator[aiohttp.ClientSession]:
    """Open the HTTP session of all calls to Slack; `tracing` observes each of its requests."""
    timeout = aiohttp.ClientTimeout(total=30, sock_connect=5)
    traced = [tracing] if tracing else None
    async with aiohttp.ClientSession(timeout=timeout, trace_configs=traced) as session:
        yield session


def clients_on(
    session: aiohttp.ClientSession, token: Token, *, base_url: str, team: str | None = None
) -> Clients:
    """Return the clients of one workspace.

    `team` is sent with every call. A token of an organisation-wide installation needs it.
    """

    def client(deadline: float, *handlers: AsyncRetryHandler) -> DeadlineClient:
        return DeadlineClient(
            deadline=deadline,
            bot_token=token,
            base_url=base_url,
            session=session,
            team_id=team,
            retry_handlers=list(handlers),
        )

    limited = AsyncRateLimitErrorRetryHandler(max_retry_count=3)
    server = AsyncServerErrorRetryHandler(max_retry_count=2)
    connection = AsyncConnectionErrorRetryHandler(max_retry_count=2)
    return Clients(
        reads=client(20, limited, server, connection),
        writes=client(60, limited),
        updates=client(60, limited, server, connection),
        live=client(10),
        session=session,
        token=token,
        base_url=base_url,
    )


def static_token(token: str) -> Token:
    """Return a `Token` that never changes."""

    async def current() -> str:
        return token

    return current


@asynccontextmanager
async def slack_clients(
    token: str,
    *,
    base_url: str = AsyncWebClient.BASE_URL,
    tracing: aiohttp.TraceConfig | None = None,
) -> AsyncGenerator[Clients]:
    """Open a session, and return the clients of the one workspace that `token` belongs to."""
    async with slack_session(tracing) as session:
        yield clients_on(session, static_token(token), base_url=base_url)


@dataclass(frozen=True, slots=True)
class Identity:
    """The bot's own ids in a workspace.

    `name` is the display name; `url` is the workspace's address, which ends in a slash.
    """

    team: str
    enterprise: str | None
    user: str
    bot: str
    name: str
    url: str

    @property
    def at(self) -> str:
        """The bot and its workspace, for operators."""
        return f"@{self.name} in {self.url.removeprefix('https://').rstrip('/') or self.team}"

    def message_link(self, channel: str, ts: str, thread: str | None = None) -> str:
        """Return the address of a message. Asking Slack for each one would be slow."""
        link = f"{self.url}archives/{channel}/p{ts.replace('.', '')}"
        return f"{link}?thread_ts={thread}&cid={channel}" if thread and thread != ts else link

    def canvas_link(self, canvas: str) -> str:
        """Return the address that opens a canvas, by its id."""
        return f"{self.url}docs/{self.team}/{canvas}"


class TokenRefused(ConfigurationError):
    """Slack does not know the token, or no longer does."""


async def identify(client: AsyncWebClient) -> Identity:
    """Return the identity of the bot that owns the client's token.

    Raises TokenRefused for a wrong token, SlackUnavailable when Slack does not answer.
    """
    try:
        answer = await client.auth_test()
        display_name = await _shown_name(client, str(answer["user_id"]))
    except SlackApiError as error:
        if error_code(error) in WRONG_TOKEN:
            raise TokenRefused(
                f"SLACK_BOT_TOKEN: Slack refuses this token ({error_code(error)}). "
                "Copy the Bot User OAuth Token from the app's Install App page."
            ) from None
        raise SlackUnavailable(
            f"Slack did not say who the bot is: auth.test failed with {failure_name(error)}. "
            f"{_WHAT_TO_CHECK}"
        ) from error
    except TRANSPORT_ERRORS as error:
        raise SlackUnavailable(f"Slack cannot be reached. {_WHAT_TO_CHECK}") from error
    return Identity(
        team=str(answer["team_id"]),
        enterprise=answer.get("enterprise_id"),
        user=str(answer["user_id"]),
        bot=str(answer.get("bot_id") or ""),
        name=display_name or str(answer.get("user") or "bot"),
        url=str(answer.get("url") or "").rstrip("/") + "/",
    )


async def _shown_name(client: AsyncWebClient, user: str) -> str:
    """Return a user's display name, as auth.test has only the handle; "" when Slack fails."""
    try:
        facts = (await client.users_info(user=user))["user"]
    except SlackApiError as error:
        log.warning("users.info of the bot itself failed: %s", error_code(error))
        return ""
    profile = facts.get("profile") or {}
    return str(profile.get("display_name") or profile.get("real_name") or "").strip()


def error_code(error: SlackApiError) -> str:
    """Return Slack's error code; "" when the response did not come from Slack's API."""
    response: Any = error.response
    try:
        return str(response.get("error") or "")
    except (AttributeError, ValueError):
        return ""


def failure_name(error: SlackApiError) -> str:
    """Return Slack's error code, or the HTTP status of what did not come from Slack's API."""
    return error_code(error) or f"status {_status(error)}"


def error_reason(error: BaseException) -> str:
    """Return Slack's error code, or the name of any other error, for the log."""
    return error_code(error) if isinstance(error, SlackApiError) else type(error).__name__


def is_rate_limited(error: SlackApiError) -> bool:
    """Return whether the error is any of Slack's codes for a rate limit."""
    return error_code(error) in _SLOW_DOWN


def retry_after(error: SlackApiError) -> float:
    """Return the seconds of the Retry-After header; 1 when there is none."""
    headers: Any = getattr(error.response, "headers", None) or {}
    value = next((v for k, v in headers.items() if k.lower() == "retry-after"), "1")
    try:
        return float(value)
    except ValueError:
        return 1.0


def server_time(response: AsyncSlackResponse) -> float:
    """Return Slack's time of the response in seconds since the epoch; ours without a Date header."""
    headers: Any = response.headers
    date = next((v for k, v in headers.items() if k.lower() == "date"), "")
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return time.time()


def is_definitive(error: Exception) -> bool:
    """Return whether Slack refused a call, did nothing, and would refuse it again."""
    code = error_code(error) if isinstance(error, SlackApiError) else ""
    return bool(code) and code not in _MAY_PASS and not is_ambiguous(error)


def is_own_failure(error: SlackApiError) -> bool:
    """Return whether Slack itself fails or asks for patience: neither the call nor a token is wrong."""
    return is_ambiguous(error) or error_code(error) in _MAY_PASS - WRONG_TOKEN


def is_ambiguous(error: Exception) -> bool:
    """Return whether Slack may have done what the failed call asked, so a retry could post twice."""
    if isinstance(error, SlackApiError):
        return _status(error) >= 500
    return isinstance(error, TRANSPORT_ERRORS)


def _status(error: SlackApiError) -> int:
    response: Any = error.response
    status: Any = getattr(response, "status_code", None) or getattr(response, "status", 500)
    return int(status)


_EVERY = 60.0
_GOOD_FOR = 150.0  # longer than two intervals, so that one failed call does not count


class SlackApiWatch:
    """A periodic check whether Slack answers the bot.

    `ask` makes one call every `every` seconds. `answers` makes none, so readiness probes may call
    it as often as they like: it is True for `good_for` seconds after each answer.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[object]],
        *,
        every: float = _EVERY,
        good_for: float = _GOOD_FOR,
    ) -> None:
        self._ask = ask
        self._every = every
        self._good_for = good_for
        self._last_answer = float("-inf")  # on the event loop's clock

    async def answers(self) -> bool:
        """Return whether Slack answered lately, and has not refused the bot's token since."""
        return asyncio.get_running_loop().time() - self._last_answer < self._good_for

    async def run(self) -> None:
        """Ask until cancelled. Log when Slack stops answering, and when it answers again."""
        logged = ""
        while True:
            failure = await self._failure()
            if failure and failure != logged:
                log.warning("Slack does not answer the bot: %s; see `bot doctor`", failure)
            elif logged and not failure:
                log.warning("Slack answers the bot again")
            logged = failure
            await asyncio.sleep(self._every)

    async def _failure(self) -> str:
        """Ask once. Return an error code or the name of an exception; "" when Slack answered."""
        try:
            await self._ask()
        except SlackApiError as error:
            if error_code(error) in WRONG_TOKEN:
                self._last_answer = float("-inf")
            return error_code(error) or "not an answer from Slack"
        except (SlackUnavailable, *TRANSPORT_ERRORS) as error:
            return type(error).__name__
        self._last_answer = asyncio.get_running_loop().time()
        return ""
