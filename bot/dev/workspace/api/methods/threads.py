"""assistant.threads.* and agents.sessions.*: status, prompts and session of a thread."""

from bot.dev.workspace.api.arguments import JsonList, JsonStrings
from bot.dev.workspace.api.methods.method import joined_channel, method
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.posting import check_thread
from bot.dev.workspace.messaging.status import set_session, set_text
from bot.dev.workspace.store.state import Channel, Json

LOADING_MAX = 10
PROMPTS_MAX = 4
TITLE_MAX = 200
SESSION_STATUSES = ("processing", "active", "suspended", "closed")


@method("assistant.threads.setStatus", scope="chat:write", tier=4)
async def set_status(
    core: Core,
    *,
    channel_id: str,
    thread_ts: str,
    status: str,
    loading_messages: JsonStrings | None = None,
    username: str | None = None,  # noqa: ARG001 - how the status looks is not shown here
    icon_emoji: str | None = None,  # noqa: ARG001
    icon_url: str | None = None,  # noqa: ARG001
) -> Json:
    """Show what the app is doing; "" clears it."""
    conversation = _thread(core, channel_id, thread_ts)
    if len(loading_messages or []) > LOADING_MAX:
        raise _invalid("loading_messages", f"must be at most {LOADING_MAX}")
    set_text(core, conversation.id, thread_ts, status, loading_messages or [])
    return {}


@method("assistant.threads.setSuggestedPrompts", scope="assistant:write", tier=4)
async def set_prompts(
    core: Core,
    *,
    channel_id: str,
    prompts: JsonList,
    thread_ts: str | None = None,
    title: str | None = None,
) -> Json:
    """Suggest up to four prompts."""
    conversation = _thread(core, channel_id, thread_ts)
    if not 1 <= len(prompts) <= PROMPTS_MAX:
        raise _invalid("prompts", f"must be 1 to {PROMPTS_MAX}")
    if any(set(p) != {"title", "message"} or not all(_is_text(p[k]) for k in p) for p in prompts):
        raise _invalid("prompts", "each needs a title and a message, and nothing else")
    core.state.status(conversation.id, thread_ts).prompts = prompts
    core.changed(
        "prompts", conversation.id, thread_ts=thread_ts, data={"prompts": prompts, "title": title}
    )
    return {}


@method("agents.sessions.setStatus", scope="chat:write")
async def session_status(
    core: Core,
    *,
    channel_id: str,
    status: str,
    thread_ts: str | None = None,
    title: str | None = None,
    initiator_user_id: str | None = None,
    username: str | None = None,  # noqa: ARG001
    icon_emoji: str | None = None,  # noqa: ARG001
    icon_url: str | None = None,  # noqa: ARG001
) -> Json:
    """Create a session or change its status; "processing" shows the Stop button."""
    conversation = _thread(core, channel_id, thread_ts)
    _check_title(title)
    if status not in SESSION_STATUSES:
        raise SlackFault("invalid_status")
    if thread_ts is None:
        raise SlackFault("thread_ts_required")
    if initiator_user_id is not None and initiator_user_id not in conversation.members:
        raise SlackFault("user_not_found")
    set_session(core, conversation.id, thread_ts, status, title, initiator_user_id)
    if "agent_session_stopped" not in core.state.not_subscribed:
        return {}
    warning = "missing_agent_session_stopped_event_subscription"
    return {"warning": warning, "response_metadata": {"warnings": [warning]}}


def _thread(core: Core, channel: str, thread_ts: str | None) -> Channel:
    conversation = joined_channel(core, channel)
    if conversation.archived:
        raise SlackFault("is_archived")
    check_thread(core, conversation, thread_ts)
    return conversation


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _check_title(title: str | None) -> None:
    if title is not None and len(title) > TITLE_MAX:
        raise _invalid("title", f"must be at most {TITLE_MAX} characters")


def _invalid(name: str, problem: str) -> SlackFault:
    return SlackFault(
        "invalid_arguments", response_metadata={"messages": [f"[ERROR] {problem}: {name}"]}
    )
