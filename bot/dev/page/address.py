"""What one browser window shows."""

from dataclasses import dataclass

TABS = ("messages", "home", "threads")  # of what a pane shows; the last is of every conversation


@dataclass(frozen=True)
class Address:
    """What one browser window shows. Ids are checked against the workspace by `Screens.address`."""

    user: str
    channel: str
    thread_ts: str = ""
    tab: str = "messages"
    away: bool = False

    def sees(self, channel: str, thread: str = "") -> bool:
        """Whether somebody reads this conversation there now, or this thread of it."""
        is_open = self.thread_ts == thread if thread else self.tab == "messages"
        return self.channel == channel and is_open and not self.away
