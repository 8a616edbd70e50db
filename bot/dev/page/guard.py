"""The guard of the page, which takes requests only from its own documents on this machine.

The workspace has no passwords, so a web site open in another tab must not reach it: a foreign Host
means DNS rebinding, a foreign Origin a cross-site request.
"""

import re
from collections.abc import Awaitable, Callable

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?")


def guarded(handler: Handler) -> Handler:
    """Return the handler behind both checks, with the page's security headers on its answers."""

    async def checked(request: web.Request) -> web.StreamResponse:
        if not _LOOPBACK.fullmatch(request.host):
            raise web.HTTPForbidden(text="This page answers on this machine only.")
        if _is_foreign(request):
            raise web.HTTPForbidden(text="This page takes no requests from other sites.")
        response = await handler(request)
        if not response.prepared:
            response.headers.update(_headers(request.host))
        return response

    return checked


def _is_foreign(request: web.Request) -> bool:
    origin = request.headers.get("Origin")
    if origin is not None:
        return origin != f"http://{request.host}"
    # A foreign page may link here, but it may not even learn how long an answer takes.
    follows_link = request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate"
    return not follows_link and request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")


def _headers(host: str) -> dict[str, str]:
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"connect-src 'self' ws://{host}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-cache",
    }
