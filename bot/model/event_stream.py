"""Server-sent events in the bytes of a stream: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

from __future__ import annotations

from bot.model.errors import too_large

_MOST_OF_AN_EVENT = 16 * 1024 * 1024  # bytes; the last event of a response repeats all of it
_MOST_OF_A_STREAM = 4 * _MOST_OF_AN_EVENT


class EventStream:
    """A stream of events, each of at most 16 MiB; all together have at most 64."""

    def __init__(self) -> None:
        self._size = 0
        self._line = bytearray()  # the beginning of a line
        self._ends_in_return = False  # whose line feed may be yet to come
        self._name = b""
        self._data: list[bytes] = []
        self._data_size = 0

    def read(self, chunk: bytes) -> list[tuple[str, bytes]]:
        """Return the events, each with its name ("" if it has none) and data, that more bytes complete.

        Raises ModelError when the stream is too large.
        """
        self._size += len(chunk)
        if self._size > _MOST_OF_A_STREAM:
            raise too_large("stream", _MOST_OF_A_STREAM)
        if self._ends_in_return:
            chunk = chunk.removeprefix(b"\n")
        self._ends_in_return = chunk.endswith(b"\r")
        self._line += chunk
        events = list[tuple[str, bytes]]()
        if b"\n" in chunk or b"\r" in chunk:  # only then: a long line comes in thousands of chunks
            lines = bytes(self._line).splitlines()
            self._line = bytearray(b"" if chunk.endswith((b"\n", b"\r")) else lines.pop())
            events += [event for line in lines if (event := self._event(line))]
        if self._data_size + len(self._line) > _MOST_OF_AN_EVENT:
            raise too_large("stream's event", _MOST_OF_AN_EVENT)
        return events

    def _event(self, line: bytes) -> tuple[str, bytes] | None:
        """Return the event that a line ends, if it does."""
        if not line:
            event = (self._name.decode(errors="replace"), b"\n".join(self._data))
            self._name, self._data, self._data_size = b"", [], 0
            return event if event[1] else None
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
            self._data_size += len(value)
        elif field == b"event":
            self._name = value.removeprefix(b" ")
        return None
