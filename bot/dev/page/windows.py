"""Which of a person's windows they are at."""


class LastUsed:
    """The window that each person did something in last: a modal that opens, opens there, as in Slack."""

    def __init__(self) -> None:
        self._window: dict[str, str] = {}

    def used(self, user: str, window: str) -> None:
        """The person did something in this window, named as the page names itself."""
        self._window[user] = window

    def is_used(self, user: str, window: str) -> bool:
        """Whether it is the one they used last; until they used one, any is."""
        return self._window.get(user, window) == window
