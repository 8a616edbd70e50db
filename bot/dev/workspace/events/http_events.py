"""Signed HTTP requests to the app: events, interactions and slash commands."""

import asyncio
import json
import secrets
from urllib.parse import urlencode

import aiohttp
from slack_sdk.signature import SignatureVerifier

from bot.dev.workspace.errors import NotAnswered
from bot.dev.workspace.events.delivery import Undeliverable
from bot.dev.workspace.store.clock import Clock
from bot.dev.workspace.store.state import Json


class HttpEvents:
    """A transport to the app's Request URL; the caller closes `session`."""

    def __init__(
        self, url: str, signing_secret: str, clock: Clock, session: aiohttp.ClientSession
    ) -> None:
        self._url = url
        self._signer = SignatureVerifier(signing_secret)
        self._clock = clock
        self._session = session

    async def verify(self, token: str, within: float) -> None:
        """Do the url_verification handshake. Raises NotAnswered when the challenge is not returned."""
        challenge = secrets.token_hex(16)
        body = {"type": "url_verification", "token": token, "challenge": challenge}
        answer = await self._post(json.dumps(body), "application/json", {}, within)
        if challenge not in answer:
            raise NotAnswered("the challenge did not come back")

    async def send(
        self, kind: str, payload: Json, *, within: float, retry: int = 0, reason: str | None = None
    ) -> Json:
        """Send one request and return the answer in its body. Raises NotAnswered."""
        headers = {}
        if retry:
            headers = {
                "x-slack-retry-num": str(retry),
                "x-slack-retry-reason": reason or "http_error",
            }
        if kind == "events_api":
            answer = await self._post(json.dumps(payload), "application/json", headers, within)
        else:
            form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
            body = urlencode(form, errors="replace")
            answer = await self._post(body, "application/x-www-form-urlencoded", headers, within)
        return _answer(answer)

    async def _post(
        self, body: str, content_type: str, headers: dict[str, str], within: float
    ) -> str:
        timestamp = str(int(self._clock.now()))
        signed = headers | {
            "Content-Type": content_type,
            "x-slack-request-timestamp": timestamp,
            "x-slack-signature": self._signer.generate_signature(timestamp=timestamp, body=body)
            or "",
        }
        try:
            async with (
                asyncio.timeout(within),
                self._session.post(self._url, data=body.encode(), headers=signed) as response,
            ):
                text = await response.text()
                if response.ok:
                    return text
                stop = response.headers.get("X-Slack-No-Retry") == "1"
                raise (Undeliverable if stop else NotAnswered)("http_error")
        except TimeoutError:
            raise NotAnswered("http_timeout") from None
        except aiohttp.ClientError:
            raise NotAnswered("connection_failed") from None


def _answer(text: str) -> Json:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return {"text": text} if text.strip() else {}
    return found if isinstance(found, dict) else {}
