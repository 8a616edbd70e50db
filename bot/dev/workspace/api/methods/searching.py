"""assistant.search.context for a bot's token, which reaches public channels only."""

from bot.dev.workspace.api.arguments import Strings
from bot.dev.workspace.api.methods.method import method
from bot.dev.workspace.api.paging import page
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.text import has_words
from bot.dev.workspace.store.messages import SERVICE_SUBTYPES, link_to
from bot.dev.workspace.store.state import Channel, Json, Person

TOKEN_LIFETIME = 600.0  # seconds; Slack documents only that it is short
LIMIT_MAX = 20


@method("assistant.search.context", scope="search:read.public")
async def search(
    core: Core,
    *,
    query: str,
    action_token: str | None = None,
    content_types: Strings | None = None,
    channel_types: Strings | None = None,
    limit: int = LIMIT_MAX,
    before: int | None = None,
    after: int | None = None,
    cursor: str | None = None,
) -> Json:
    """Return messages with all words of the query that the token's person could read, newest first."""
    if not core.state.search_enabled:
        raise SlackFault("feature_not_enabled")
    person = _searcher(core, action_token)
    _check_kinds(content_types, channel_types)
    if not 1 <= limit <= LIMIT_MAX:
        raise SlackFault("invalid_limit")
    found = [
        _result(core, channel, message)
        for channel in core.channels.values()
        if channel.kind == "public" and _sees(person, channel)
        for message in core.store.in_channel(channel.id)
        if _fits(message, query, after, before)
    ]
    found.sort(key=lambda each: float(each["message_ts"]), reverse=True)
    shown, more = page(found, limit, cursor)
    return {"results": {"messages": shown}, "response_metadata": more["response_metadata"]}


def _searcher(core: Core, given: str | None) -> Person:
    token = core.state.action_tokens.get(given or "")
    if token is None or core.clock.now() > token.created + TOKEN_LIFETIME:
        raise SlackFault("invalid_action_token")
    return core.people[token.user]


def _check_kinds(content: list[str] | None, channels: list[str] | None) -> None:
    """Check that the search is for messages of public channels, as the bot's scopes allow."""
    if set(content or ["messages"]) != {"messages"}:
        raise SlackFault("missing_scope", needed="search:read.files")
    if set(channels or ["public_channel"]) != {"public_channel"}:
        raise SlackFault("missing_scope", needed="search:read.private")


def _sees(person: Person, channel: Channel) -> bool:
    return not (person.is_guest or person.is_external) or person.id in channel.members


def _fits(message: Json, query: str, after: int | None, before: int | None) -> bool:
    at, text = float(message["ts"]), str(message.get("text") or "")
    in_time = (after is None or at > after) and (before is None or at < before)
    by_person = "bot_id" not in message and message.get("subtype") not in SERVICE_SUBTYPES
    return in_time and by_person and has_words(text, query)


def _result(core: Core, channel: Channel, message: Json) -> Json:
    return {
        "author_user_id": message["user"],
        "team_id": core.team_id,
        "channel_id": channel.id,
        "channel_name": channel.name,
        "message_ts": message["ts"],
        "content": message["text"],
        "is_author_bot": False,
        "permalink": link_to(core.url, channel.id, message),
    }
