"""The state of the workspace as plain data: people, channels, files, views, tokens."""

import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from bot.dev.workspace.store.sections import Canvas

Json = dict[str, Any]
Kind = Literal["public", "private", "im", "mpim"]

TEAM = "T0LOCAL001"
OTHER_TEAM = "T0OTHER001"
BOT_USER = "U0BOT00001"
SLACKBOT = "USLACKBOT"


BOT_SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "chat:write",
        "commands",
        "im:write",
        *(
            f"{kind}:{right}"
            for kind in ("channels", "groups", "im", "mpim")
            for right in ("history", "read")
        ),
        "files:read",
        "files:write",
        "reactions:read",
        "reactions:write",
        "canvases:read",
        "canvases:write",
        "pins:read",
        "search:read.public",
        "users:read",
    }
)
"""The scopes the bot was granted when it was installed, except `State.missing_scopes`."""

APP_SCOPES = frozenset({"connections:write"})


@dataclass
class Person:
    """A person with an account; the `team_id` of external people is not the workspace's. A bot user is that
    of the app `app_id`, "" for the app that is tried here."""

    id: str
    name: str
    real_name: str
    colour: str
    is_admin: bool = False
    is_guest: bool = False
    is_external: bool = False
    is_bot: bool = False
    is_deactivated: bool = False
    locale: str = "en-GB"
    tz: str = "Europe/London"
    team_id: str = TEAM
    app_id: str = ""

    @property
    def bot_id(self) -> str:
        """The id as a bot, as in `bot_id` of messages; "" for people."""
        return f"B{self.app_id[1:]}" if self.app_id else ""

    @property
    def tz_offset(self) -> int:
        """How many seconds the person's clock is ahead of UTC today."""
        ahead = datetime.now(ZoneInfo(self.tz)).utcoffset()
        return int(ahead.total_seconds()) if ahead else 0


@dataclass(frozen=True)
class Pin:
    """A pinned message."""

    ts: str
    user: str
    created: int


@dataclass
class Channel:
    """A conversation of any kind.

    `members` keeps the order in which people joined. `canvas` is the id of the channel's own
    canvas; other canvases may be shared in it as well.
    """

    id: str
    name: str
    kind: Kind
    members: list[str]
    archived: bool = False
    topic: str = ""
    is_ext_shared: bool = False
    created: int = 1_700_000_000
    canvas: str = ""
    pins: list[Pin] = field(default_factory=list)

    @property
    def is_direct(self) -> bool:
        """Whether this is a direct message between two or more people."""
        return self.kind in ("im", "mpim")


@dataclass(frozen=True)
class FakeFile:
    """A file of which only the size is real: a download makes up `size` bytes."""

    name: str
    size: int


@dataclass(frozen=True)
class ExternalFile:
    """A file that is stored elsewhere (mode "external"); Slack has only a link to it."""

    name: str
    url: str


@dataclass(frozen=True)
class Transcript:
    """What Slack writes down of a clip, in some workspaces: `lines` from when to when, in seconds.

    While the `status` is "processing" nothing is there. The preview of a file has the first
    characters, and captions all lines with their times, unless `has_captions` is false.
    """

    lines: tuple[tuple[float, float, str], ...] = ()
    status: Literal["processing", "complete", "failed"] = "complete"
    has_captions: bool = True

    @property
    def text(self) -> str:
        """All that is said, without times."""
        return " ".join(text for _, _, text in self.lines)

    @property
    def captions(self) -> str:
        """The lines as WebVTT."""
        cues = (
            f"{number}\n{_time(start)} --> {_time(end)}\n- {text}\n"
            for number, (start, end, text) in enumerate(self.lines, 1)
        )
        return "\n".join(["WEBVTT\n", *cues])


def _time(seconds: float) -> str:
    whole, rest = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{rest:03}"


@dataclass(frozen=True)
class ClipFile:
    """A voice or video clip that a person records in Slack."""

    name: str
    content: bytes
    seconds: float
    transcript: Transcript | None = None


Attachable = tuple[str, bytes] | FakeFile | ExternalFile | ClipFile


@dataclass
class File:
    """A file or canvas; `content` is None until the upload, and for fake and external files. A clip that
    was recorded in Slack has `seconds`."""

    id: str
    name: str
    size: int
    user: str
    created: int
    content: bytes | None = None
    is_fake: bool = False
    external_url: str | None = None
    title: str = ""
    alt_txt: str | None = None
    canvas: Canvas | None = None
    seconds: float | None = None
    transcript: Transcript | None = None
    channels: list[str] = field(default_factory=list)
    shares: list[tuple[str, str]] = field(default_factory=list)
    deleted: bool = False

    @property
    def is_there(self) -> bool:
        """Whether the content has arrived."""
        return self.content is not None or self.is_fake or self.external_url is not None


@dataclass
class Stream:
    """A message that is being streamed; `parts` are the chunks that arrived, in order."""

    channel: str
    ts: str
    thread_ts: str | None
    started: float
    plan_mode: bool
    parts: list[Json] = field(default_factory=list)
    tasks: dict[str, Json] = field(default_factory=dict)
    plan_title: str | None = None
    mode: Literal["text", "chunks"] | None = None
    state: Literal["live", "stopped", "stopped_by_user", "expired"] = "live"
    ended: str = ""
    """The ts at which it became an ordinary message."""


@dataclass
class Status:
    """The status line of a thread (`text` is "" without one), its session and its prompts."""

    text: str = ""
    loading_messages: list[str] = field(default_factory=list)
    until: float = 0.0
    session: str | None = None
    title: str | None = None
    initiator: str | None = None
    prompts: list[Json] = field(default_factory=list)


@dataclass
class Trigger:
    """A person's action, which allows the app to open one modal within three seconds."""

    user: str
    created: float
    used: bool = False


@dataclass(frozen=True)
class ActionToken:
    """A token of an event, with which the app may search as the event's author."""

    user: str
    created: float


@dataclass
class ResponseUrl:
    """A URL for answers to one interaction: five times within thirty minutes."""

    user: str
    channel: str
    created: float
    ts: str | None = None
    thread_ts: str | None = None
    uses: int = 0


@dataclass
class Execution:
    """A run of the app's step in a workflow.

    `outputs_declared` are the names that the app's manifest gives its outputs; `by` started it.
    """

    function: str
    inputs: Json
    outputs_declared: frozenset[str]
    by: str | None = None
    outputs: Json | None = None
    error: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether the app has completed the step or failed."""
        return self.outputs is not None or self.error is not None


def token(prefix: str) -> str:
    """Return a random secret that looks like Slack's."""
    return f"{prefix}-{secrets.token_hex(16)}"


@dataclass
class State:
    """Everything in the workspace except its messages (see `messages.py`)."""

    url: str
    team_id: str = TEAM
    team_name: str = "Local"
    team_domain: str = "local"
    app_id: str = "A0BOT00001"
    app_name: str = "Bot"
    bot_id: str = "B0BOT00001"
    bot_user_id: str = BOT_USER
    bot_token: str = field(default_factory=lambda: token("xoxb-1"))
    app_token: str = field(default_factory=lambda: token("xapp-1-A0BOT00001"))
    signing_secret: str = field(default_factory=lambda: secrets.token_hex(16))
    verification_token: str = field(default_factory=lambda: secrets.token_hex(12))
    missing_scopes: set[str] = field(default_factory=set)
    not_subscribed: set[str] = field(default_factory=set)
    token_revoked: bool = False
    edit_window: float | None = None
    """Seconds for which messages may be edited, or None; admins set this and `may_delete`."""
    may_delete: bool = True
    former_tokens: set[str] = field(default_factory=set)
    organisation: str | None = None
    people: dict[str, Person] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    streams: dict[tuple[str, str], Stream] = field(default_factory=dict)
    statuses: dict[tuple[str, str | None], Status] = field(default_factory=dict)
    scheduled: dict[str, Json] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    search_enabled: bool = True
    action_tokens: dict[str, ActionToken] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    open_views: dict[str, list[Json]] = field(default_factory=dict)
    chosen: dict[tuple[str, str, str], dict[tuple[str, str], Json]] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    homes: dict[str, Json] = field(default_factory=dict)
    executions: dict[str, Execution] = field(default_factory=dict)

    def owns(self, token: str) -> bool:
        """Whether the token is one of the bot's, even if it has been revoked."""
        return token == self.bot_token or token in self.former_tokens

    def scopes_of(self, token: str) -> frozenset[str]:
        """Return the scopes of a token; none for a token of somebody else."""
        granted = {self.app_token: APP_SCOPES}.get(token, frozenset())
        return (BOT_SCOPES if self.owns(token) else granted) - self.missing_scopes

    def everyone(self) -> dict[str, Person]:
        """Return the people and the bot's own user, which has the app's name."""
        bot = Person(self.bot_user_id, "bot", self.app_name, "#4a154b", is_bot=True)
        return {**self.people, bot.id: bot}

    def direct(self, user: str) -> Channel | None:
        """Return the direct message between this person and the bot."""
        wanted = {user, self.bot_user_id}
        return next(
            (c for c in self.channels.values() if c.kind == "im" and set(c.members) == wanted), None
        )

    def status(self, channel: str, thread_ts: str | None) -> Status:
        """Return the status of a thread; the first call creates it."""
        return self.statuses.setdefault((channel, thread_ts), Status())
