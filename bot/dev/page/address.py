"""The place that one browser window shows."""

from dataclasses import dataclass

TABS = ("messages", "home")


@dataclass(frozen=True)
class Address:
    """What one browser window shows; `Screens.address` checks its ids against the workspace."""

    user: str
    channel: str
    thread_ts: str = ""
    tab: str = "messages"
