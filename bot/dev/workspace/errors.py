"""What goes wrong: for the app (an error of the Web API), and for a person (something they cannot
do)."""

from typing import Any


class SlackFault(Exception):
    """An answer `{"ok": false, "error": …}`; `details` is merged into that body."""

    def __init__(self, error: str, **details: Any) -> None:
        super().__init__(error)
        self.error = error
        self.details = details

    def body(self) -> dict[str, Any]:
        """The JSON body Slack answers with."""
        return {"ok": False, "error": self.error, **self.details}


class RateLimited(SlackFault):
    """HTTP 429: nothing was done; ask again after `retry_after` whole seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("ratelimited")
        self.retry_after = retry_after


class CannotDo(Exception):
    """A person tried something the Slack client does not offer them: no such button, view not open …"""


class NotAnswered(Exception):
    """The app did not acknowledge within the time Slack gives it; people see a warning sign."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
