"""Requests for responses as OpenAI's SDK makes them, on aiohttp without the layers in between.

The SDK says where they go, over which connections and proxy, with which headers and time limits, when
they are made again, and what its errors are. The private methods of its client are used here and nowhere
else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, encode_basic_auth
from httpx2 import HTTPError, Request, Response
from yarl import URL

from bot.core.errors import ModelErrorKind
from bot.model.errors import from_exception, too_large, unreached
from bot.model.sdk import AsyncOpenAI, FinalRequestOptions

if TYPE_CHECKING:
    from openai._vendor.httpx_aiohttp import AiohttpTransport

_Send = Callable[..., Awaitable[ClientResponse]]

_POST = FinalRequestOptions.construct(method="post", url="/responses")
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 20
_SET_BY_AIOHTTP = ("accept-encoding", "content-length", "cookie")
_OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")
_UNREACHED = (ClientError, TimeoutError, HTTPError, ValueError)
"""What sending raises; the last for an address or a header that no request can have."""
_LASTING = (ModelErrorKind.QUOTA, ModelErrorKind.CONTEXT_OVERFLOW)
_MOST_OF_A_BODY = 16 * 1024 * 1024  # bytes
_MOST_OF_AN_ERROR = 64 * 1024  # bytes; a few sentences, after which some servers echo the request


class Endpoint:
    """Where a client that `sdk_client` returned asks for responses."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client
        self._http = client._client

    async def post(self, body: bytes) -> ClientResponse:
        """Return the reply to a request, with its body unread.

        Raises ModelError when the service cannot be reached, and APIStatusError when it refuses.
        """
        most = self._client.max_retries
        for retries in range(most + 1):
            refusal: Response | None = None
            try:
                reply = await self._sent(body, retries)
                if 200 <= reply.status < 300:
                    return reply
                async with reply:
                    refusal = await self._refusal(reply, is_last=retries == most)
            except _UNREACHED as error:
                if retries == most:
                    raise unreached(self._request().url.host, error) from error
            await self._client._sleep_for_retry(
                retries_taken=retries, max_retries=most, options=_POST, response=refusal
            )
        raise AssertionError("the last attempt returns or raises")

    async def _sent(self, body: bytes, retries: int) -> ClientResponse:
        send = self._sender(self._request(retries)) if retries else self._send
        reply = await send(data=body)
        return await self._redirected(reply, body, retries) if _is_redirect(reply) else reply

    async def _redirected(self, reply: ClientResponse, body: bytes, retries: int) -> ClientResponse:
        """Follow redirects as the SDK does."""
        request = self._request(retries)
        for _ in range(_MOST_REDIRECTS):
            async with reply:  # read, so that the connection can be reused
                await _beginning_of(reply, _MOST_OF_AN_ERROR)
            request = self._http._build_redirect_request(request, _head(reply))
            if "authorization" not in request.headers:  # on another host, which is not told the key
                request.headers.pop("api-key", None)
            reply = await self._sender(request)(data=body if request.method == "POST" else None)
            if not _is_redirect(reply):
                break
        return reply

    async def _refusal(self, reply: ClientResponse, *, is_last: bool) -> Response:
        """Return what is known of the refusal of a request that is to be made again.

        Raises APIStatusError for others: the last, and those that stay, such as that no credit is left
        or that the request is larger than the rate limit.
        """
        head = _head(reply)
        may_pass = not is_last and self._client._should_retry(head)
        if may_pass and reply.status != HTTPStatus.TOO_MANY_REQUESTS:
            return head
        said = await _beginning_of(reply, _MOST_OF_AN_ERROR)
        error = self._client._make_status_error_from_response(
            Response(reply.status, headers=head.headers, content=said, request=self._request())
        )
        if may_pass and from_exception(error).kind not in _LASTING:
            return head
        raise error

    def _request(self, retries: int = 0) -> Request:
        """Return the SDK's request, but for its body."""
        return self._client._build_request(_POST, retries_taken=retries)

    @cached_property
    def _send(self) -> _Send:
        """What sends first attempts: they differ only in their bodies."""
        return self._sender(self._request())

    def _sender(self, request: Request) -> _Send:
        """Return what sends the request with a body, over the connections and proxy of the SDK."""
        transport = cast("AiohttpTransport", self._http._transport_for_url(request.url))
        if not isinstance(transport.client, ClientSession):
            transport.client = transport.get_client()
        headers = dict(request.headers)
        for name in _SET_BY_AIOHTTP:
            headers.pop(name, None)
        proxy, for_proxy = transport.proxy, dict[str, str]()
        if proxy and proxy.auth:
            password = {"proxy-authorization": encode_basic_auth(*proxy.auth)}
            if request.url.scheme == "https":  # in a tunnel, which the proxy is asked for first
                for_proxy = password
            else:
                headers |= password
        limits = request.extensions["timeout"]
        return partial(
            transport.client.request,
            request.method,
            URL(str(request.url)),
            headers=headers,
            allow_redirects=False,
            timeout=ClientTimeout(
                sock_connect=limits["connect"], sock_read=limits["read"], connect=limits["pool"]
            ),
            proxy=str(proxy.url) if proxy else None,
            proxy_headers=for_proxy,
        )


async def content_of(reply: ClientResponse) -> bytes:
    """Read a whole body. Raises ModelError, which is not retried, when it is too large."""
    content = await _beginning_of(reply, _MOST_OF_A_BODY + 1)
    if len(content) > _MOST_OF_A_BODY:
        raise too_large("response", _MOST_OF_A_BODY)
    return content


async def _beginning_of(reply: ClientResponse, most: int) -> bytes:
    """Read at most so many bytes of a body."""
    content = bytearray()
    while len(content) < most and (part := await reply.content.readany()):
        content += part
    return bytes(content[:most])


def _is_redirect(reply: ClientResponse) -> bool:
    return reply.status in _REDIRECTS and "location" in reply.headers


def _head(reply: ClientResponse) -> Response:
    """Return the status and headers as the SDK reads them, for a body that is not encoded any more."""
    head = Response(reply.status, headers=reply.raw_headers)
    for name in _OF_THE_BODY:
        head.headers.pop(name, None)
    return head
