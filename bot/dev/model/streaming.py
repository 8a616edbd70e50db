"""Sending a response to the client: as one JSON body, as events, or spoiled by a fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from . import events
from .faults import Fault

TRICKLE_SECONDS = 0.05


class Sender:
    """A sender of one answer. It ignores a client that has disconnected."""

    def __init__(
        self, http: web.Request, headers: dict[str, str], chunk_delay: float, closing: asyncio.Event
    ) -> None:
        self._http = http
        self._headers = headers
        self._delay = chunk_delay
        self._closing = closing
        self._numbers = events.counter()
        self._gone = False
        self.stream = web.StreamResponse(
            headers={**headers, "Content-Type": "text/event-stream; charset=utf-8"}
        )

    async def open(self, response: dict[str, Any]) -> None:
        """Send the headers and announce the response."""
        try:
            await self.stream.prepare(self._http)
        except ConnectionError:
            self._gone = True
        await self.send(events.opening(response))

    async def send(self, sequence: Iterator[events.Event]) -> None:
        """Send events, one by one with the delay between them, or all at once without one."""
        encoded = map(events.encode, events.numbered(self._numbers, sequence))
        if not self._delay:
            await self.write(b"".join(encoded))
            return
        for piece in encoded:
            await self.write(piece)
            await asyncio.sleep(self._delay)

    async def finish(self, response: dict[str, Any]) -> None:
        """Send the items and the final event."""
        await self.send(events.body(response["output"]))
        await self.send(events.closing(response))
        await self.end()

    async def end(self) -> None:
        """End the body properly."""
        if self._gone:
            return
        try:
            await self.stream.write_eof()
        except ConnectionError:
            self._gone = True

    async def write(self, data: bytes) -> None:
        """Write bytes unless the client has disconnected."""
        if self._gone:
            return
        try:
            await self.stream.write(data)
        except ConnectionError:
            self._gone = True

    async def spoil(self, fault: Fault, failed: dict[str, Any], error: dict[str, Any]) -> None:
        """Send half an answer (none with `after_created`) and then the fault."""
        whole = list(events.body(failed["output"]))
        half = len(whole) if fault.kind == "no_terminal" else len(whole) // 2
        await self.send(iter(whole[: 0 if fault.where == "after_created" else half]))
        match fault.kind:
            case "cut":
                self._abort()
            case "half_event":
                await self.write(events.encode(events.Event(whole[half], sequence_number=99))[:-9])
                await self.end()
            case "bad_json":
                await self.write(b'event: response.output_text.delta\ndata: {"type": "resp\n\n')
                await self.end()
            case "clean_eof" | "no_terminal":
                await self.end()
            case "trickle":
                await self._trickle(whole[half])
            case "hang":
                await self._closing.wait()
            case "response_failed":
                await self.send(events.closing({**failed, "output": []}))
                await self.end()
            case "in_stream_error_flat":
                flat = {
                    "type": "error",
                    **{key: error[key] for key in ("code", "message", "param")},
                }
                await self.send(iter([flat]))
                await self.end()
            case _:
                await self.send(iter([{"type": "error", "error": error}]))
                await self.end()

    async def spoil_plain(self, fault: Fault, failed: dict[str, Any]) -> web.StreamResponse:
        """Send the same fault for a request without a stream."""
        whole = json.dumps(failed).encode()
        if fault.kind == "bad_json":
            return self._plain(whole[:-20])
        if fault.kind in ("response_failed", "in_stream_error_flat", "in_stream_error_nested"):
            return self._plain(whole)
        if fault.kind == "hang":
            await self._closing.wait()
        self.stream = web.StreamResponse(headers=self._headers)
        self.stream.content_type = "application/json"
        self.stream.content_length = len(whole)
        await self.stream.prepare(self._http)
        await self.write(whole[: len(whole) // 2])
        if fault.kind == "trickle":
            await self._drip(whole[len(whole) // 2 :])
        self._abort()
        return self.stream

    def _plain(self, data: bytes) -> web.Response:
        return web.Response(body=data, content_type="application/json", headers=self._headers)

    async def _trickle(self, event: events.Event) -> None:
        while not self._gone and not self._closing.is_set():
            await self.send(iter([dict(event)]))
            await asyncio.sleep(TRICKLE_SECONDS)

    async def _drip(self, data: bytes) -> None:
        for byte in data:
            if self._gone or self._closing.is_set():
                return
            await self.write(bytes([byte]))
            await asyncio.sleep(TRICKLE_SECONDS)

    def _abort(self) -> None:
        if transport := self._http.transport:
            transport.abort()
