"""The parts of the workspace in one place: state, messages, clock, record, delivery to the app."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from bot.dev.workspace.api.faults import Faults
from bot.dev.workspace.api.installing import OAuthApp
from bot.dev.workspace.api.rates import Rates
from bot.dev.workspace.events.delivery import Delivery
from bot.dev.workspace.store.clock import Clock
from bot.dev.workspace.store.copying import copied
from bot.dev.workspace.store.messages import Messages
from bot.dev.workspace.store.record import Change, Effect, Record
from bot.dev.workspace.store.seed import seed
from bot.dev.workspace.store.state import (
    ActionToken,
    Channel,
    Json,
    Person,
    ResponseUrl,
    State,
    Status,
    Trigger,
)

Found = TypeVar("Found")

STREAM_LIFETIME = 300.0  # seconds; community reports, see the issue python-slack-sdk#1859
TRIGGER_LIFETIME = 3.0
RESPONSE_URL_LIFETIME = 1800.0
RESPONSE_URL_USES = 5
STATUS_LIFETIME = 120.0


class Core:
    """The parts that everything else works on. `url` ends in "/"."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.state = State(url)
        self.clock = Clock()
        self.record = Record()
        self.rates = Rates(self.clock)
        self.store = Messages(self.clock)
        self.oauth = OAuthApp(workspaces=[self])
        self.delivery = Delivery(self.state, self.clock)
        self.faults = Faults(self.delivery.sockets)
        self.stream_lifetime = STREAM_LIFETIME
        self.trigger_lifetime = TRIGGER_LIFETIME
        seed(self.state)

    @property
    def api_url(self) -> str:
        """The value for SLACK_API_URL."""
        return f"{self.url}api/"

    @property
    def bot_token(self) -> str:
        """The bot's token."""
        return self.state.bot_token

    @property
    def app_token(self) -> str:
        """The token for Socket Mode."""
        return self.state.app_token

    @property
    def signing_secret(self) -> str:
        """The secret that signs HTTP requests."""
        return self.state.signing_secret

    @property
    def team_id(self) -> str:
        """The workspace's own team."""
        return self.state.team_id

    @property
    def bot_user_id(self) -> str:
        """The bot's id as a user, as in mentions."""
        return self.state.bot_user_id

    @property
    def bot_id(self) -> str:
        """The bot's id as a bot, as in `bot_id` of messages."""
        return self.state.bot_id

    @property
    def app_id(self) -> str:
        """The app's id."""
        return self.state.app_id

    @property
    def people(self) -> dict[str, Person]:
        """The people by user id, without the bot."""
        return self.state.people

    @property
    def channels(self) -> dict[str, Channel]:
        """The conversations of all kinds by id."""
        return self.state.channels

    @property
    def effects(self) -> list[Effect]:
        """Every Web API call, in order."""
        return self.record.effects

    def subscribe(self) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """Open `async with ws.subscribe() as changes: async for change in changes`."""
        return self.record.subscribe()

    async def until(self, condition: Callable[[], Found], timeout: float = 30) -> Found:  # noqa: ASYNC109 - the public name
        """Wait until `condition` holds and return its value.

        Raises TimeoutError, whose message shows the last effects, after `timeout` seconds.
        """
        return await self.record.until(condition, timeout)

    def messages(
        self, channel: str, thread_ts: str | None = None, viewer: str | None = None
    ) -> list[Json]:
        """Return copies of the channel's top-level messages, or of a thread with its root.

        Ephemeral messages are included for their `viewer`.
        """
        return self.store.seen_by(channel, viewer, thread_ts)

    def views(self, user: str) -> list[Json]:
        """Return copies of the person's open modals, the one on top last."""
        return copied(self.state.open_views.get(user, []))

    def home(self, user: str) -> Json | None:
        """Return a copy of the Home tab that the app published for this person."""
        return copied(self.state.homes.get(user))

    def status(self, channel: str, thread_ts: str | None) -> Status:
        """Return the thread's status; its text is empty two minutes after it was set."""
        status = self.state.status(channel, thread_ts)
        if status.text and self.clock.now() > status.until:
            status.text, status.loading_messages = "", []
        return status

    def changed(self, kind: str, channel: str | None = None, **what: Any) -> None:
        """Send a change to the subscribers, with a copy of the data as it is now."""
        self.record.change(Change(kind, channel, **copied(what)))

    def emit(
        self, event: Json, channel: Channel | None = None, *, context: Json | None = None
    ) -> None:
        """Send an event to the app if it has subscribed to it and may see this channel."""
        if event["type"] in self.state.not_subscribed:
            return
        if channel is None or self.bot_user_id in channel.members:
            shared = channel is not None and channel.is_ext_shared
            self.delivery.event(
                {"event_ts": self.store.next_ts()} | event, shared=shared, extra=context
            )

    def revoke(self) -> None:
        """Revoke the bot's tokens; the app gets `tokens_revoked`."""
        self.state.token_revoked = True
        self.emit({"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [self.bot_user_id]}})

    def new_trigger(self, user: str) -> str:
        """Return a trigger_id for one modal."""
        trigger = f"{self.store.next_ts()}.{secrets.token_hex(8)}"
        self.state.triggers[trigger] = Trigger(user, self.clock.now())
        return trigger

    def new_action_token(self, user: str) -> str:
        """Return a token to search with as `user`, the author of a message to the app."""
        token = f"{secrets.randbelow(10**13)}.{secrets.randbelow(10**13)}.{secrets.token_hex(16)}"
        self.state.action_tokens[token] = ActionToken(user, self.clock.now())
        return token

    def new_response_url(
        self, user: str, channel: str, ts: str | None = None, thread_ts: str | None = None
    ) -> str:
        """Return a URL on which the app may answer an interaction."""
        key = secrets.token_urlsafe(12)
        self.state.response_urls[key] = ResponseUrl(user, channel, self.clock.now(), ts, thread_ts)
        return f"{self.url}actions/{self.team_id}/{key}"
