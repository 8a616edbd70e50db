"""The status line, the session and the suggested prompts of a thread."""

from bot.dev.workspace.core import STATUS_LIFETIME, Core


def set_text(
    core: Core, channel: str, thread_ts: str | None, text: str, loading: list[str]
) -> None:
    """Set the status line ("" clears it); it disappears after two minutes."""
    status = core.state.status(channel, thread_ts)
    status.text, status.loading_messages = text, loading
    status.until = core.clock.now() + STATUS_LIFETIME
    core.changed(
        "status", channel, thread_ts=thread_ts, data={"status": text, "loading_messages": loading}
    )


def clear_text(core: Core, channel: str, thread_ts: str | None) -> None:
    """Clear the status line because the app has posted."""
    status = core.state.statuses.get((channel, thread_ts))
    if status and status.text:
        set_text(core, channel, thread_ts, "", [])


def set_session(
    core: Core,
    channel: str,
    thread_ts: str | None,
    session: str,
    title: str | None = None,
    initiator: str | None = None,
) -> None:
    """Create a session or change its state; title and initiator count on creation only."""
    status = core.state.status(channel, thread_ts)
    if status.session is None:
        status.title, status.initiator = title, initiator
    status.session = session
    core.changed(
        "session", channel, thread_ts=thread_ts, data={"status": session, "title": status.title}
    )
