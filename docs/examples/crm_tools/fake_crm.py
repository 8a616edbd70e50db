"""A CRM to try the tools with: `python fake_crm.py 8099`. Its token is "let-me-in"."""

from __future__ import annotations

import sys

from aiohttp import web
from aiohttp.test_utils import TestServer
from aiohttp.typedefs import Handler

TOKEN = "let-me-in"
TICKETS = {
    17: "The invoice of November is missing",
    23: "Two invoices for one order",
    42: "The printer is on fire",
}


def fake_crm() -> web.Application:
    """Return the CRM; its tickets can be closed."""
    is_open = dict.fromkeys(TICKETS, True)

    @web.middleware
    async def authorized(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise web.HTTPUnauthorized
        return await handler(request)

    async def account(_request: web.Request) -> web.Response:
        return web.json_response({"name": "support"})

    async def find(request: web.Request) -> web.Response:
        words = request.query["q"].lower().split()
        found = [
            {"id": number, "title": title, "status": "open", "url": f"https://crm.example/{number}"}
            for number, title in TICKETS.items()
            if is_open[number] and all(word in title.lower() for word in words)
        ]
        return web.json_response(found)

    async def close(request: web.Request) -> web.Response:
        number = int(request.match_info["number"])
        if number not in TICKETS:
            raise web.HTTPNotFound
        is_open[number] = False
        return web.json_response({})

    app = web.Application(middlewares=[authorized])
    app.router.add_get("/account", account)
    app.router.add_get("/tickets", find)
    app.router.add_post("/tickets/{number}/close", close)
    return app


def running_crm() -> TestServer:
    """Serve the CRM on a free port for the body."""
    return TestServer(fake_crm())


if __name__ == "__main__":
    web.run_app(fake_crm(), host="127.0.0.1", port=int(sys.argv[1]))
