"""Faults that a test orders: errors, lost replies, delays, refused and dropped connections."""

from dataclasses import dataclass

from bot.dev.workspace.events.socket_mode import SocketMode


@dataclass
class Failure:
    """A failure of the next calls; with `error` None the connection is dropped."""

    method: str
    error: str | int | None
    times: int
    retry_after: int | None
    after_effect: bool


@dataclass
class _Delay:
    method: str
    seconds: float
    times: int


class Faults:
    """The faults to come.

    A method is a name such as "chat.postMessage", "upload" for the bytes of a file, or "*" for all
    methods.
    """

    def __init__(self, sockets: SocketMode) -> None:
        self._sockets = sockets
        self._failures: list[Failure] = []
        self._delays: list[_Delay] = []

    def fail(
        self,
        method: str,
        error: str | int | None = None,
        *,
        times: int = 1,
        retry_after: int | None = None,
        after_effect: bool = False,
    ) -> None:
        """Fail the next calls with a Slack error code, an HTTP status or (None) a dropped connection.

        With `after_effect` the call is carried out, and its reply is lost.
        """
        self._failures.append(Failure(method, error, times, retry_after, after_effect))

    def delay(self, method: str, seconds: float, times: int = 1) -> None:
        """Delay the next calls by `seconds` before they are carried out."""
        self._delays.append(_Delay(method, seconds, times))

    def refuse_connections(self, count: int) -> None:
        """Refuse the next Socket Mode handshakes with HTTP 503."""
        self._sockets.to_refuse += count

    def mute_connections(self, count: int) -> None:
        """Accept the next Socket Mode handshakes, and send nothing on them but pongs."""
        self._sockets.to_mute += count

    def drop_sockets(self) -> None:
        """Cut every Socket Mode connection without a close frame."""
        self._sockets.drop()

    def clear(self) -> None:
        """Forget all faults that have not happened yet."""
        self._failures.clear()
        self._delays.clear()

    def failure_of(self, method: str) -> Failure | None:
        """Take the next failure ordered for this method."""
        for failure in self._failures:
            is_meant = failure.method == method or (failure.method == "*" and "." in method)
            if is_meant and failure.times > 0:
                failure.times -= 1
                return failure
        return None

    def delay_of(self, method: str) -> float:
        """Take the seconds by which this call is delayed."""
        for delay in self._delays:
            if delay.method in (method, "*") and delay.times > 0:
                delay.times -= 1
                return delay.seconds
        return 0.0
