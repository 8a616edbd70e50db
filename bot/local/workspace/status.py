"""The status line under a thread."""

from bot.local.workspace.core import Core


def clear_text(core: Core, channel: str, thread_ts: str | None) -> None:
    """The app posted: its status line goes, as Slack does it."""
    status = core.state.statuses.get((channel, thread_ts))
    if status and status.text:
        status.text, status.loading_messages = "", []
        core.changed("status", channel, thread_ts=thread_ts, data={"status": ""})
