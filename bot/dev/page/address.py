"""What one browser window shows."""

from dataclasses import dataclass

TABS = ("messages", "home")  # of what a pane shows


@dataclass(frozen=True)
class Address:
    """What one browser window shows. Ids are checked against the workspace by `Screens.address`."""

    user: str
    channel: str
    thread_ts: str = ""
    tab: str = "messages"
