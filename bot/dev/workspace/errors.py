"""Errors for the app (answers of the Web API) and for a person (actions Slack does not offer)."""

from typing import Any


class SlackFault(Exception):
    """An answer `{"ok": false, "error": …}`; `details` is merged into that body."""

    def __init__(self, error: str, **details: Any) -> None:
        super().__init__(error)
        self.error = error
        self.details = details

    def body(self) -> dict[str, Any]:
        """Return the JSON body of the answer."""
        return {"ok": False, "error": self.error, **self.details}


class RateLimited(SlackFault):
    """HTTP 429: nothing was done; the app may retry after `retry_after` whole seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("ratelimited")
        self.retry_after = retry_after


class CannotDo(Exception):
    """The Slack client does not offer this to the person: no such button, view not open …

    `text` names its `values` in braces, if it has any, so that a page can say it in other languages.
    """

    def __init__(self, text: str, **values: object) -> None:
        super().__init__(text.format(**values) if values else text)
        self.text, self.values = text, values


class NotAnswered(Exception):
    """The app did not acknowledge within the time Slack gives it; people see a warning sign."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
