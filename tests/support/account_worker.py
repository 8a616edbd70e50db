"""A worker that wants a token: `python -m tests.support.account_worker REDIS URL STALE [ID SECRET]`.

It says when it is ready, waits for a line, asks for Anna's token in place of STALE, or for the bot's own
with its ID and SECRET, and says what it got: the token, or the state of the account. ACCOUNT_KEY is the
key of encryption.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from bot.features.accounts.account import AccountOwner, AccountProblem
from bot.features.accounts.accounts import Accounts
from bot.features.accounts.oauth.addresses import PublicAddress
from bot.features.accounts.store import AccountStore
from bot.mcp import McpServer
from bot.store import open_stores
from bot.store.connection import Retention
from bot.store.sealed import box_of


def say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


async def main(redis: str, url: str, stale: str, id_: str = "", secret: str = "") -> None:
    server: dict[str, Any] = {"url": url, "account": "person"}
    if id_:
        oauth = {"grant": "client_credentials", "client_id": id_, "client_secret": secret}
        server |= {"account": "workspace", "oauth": oauth}
    servers = {"notes": McpServer.model_validate(server)}
    async with open_stores(redis) as stores:
        store = AccountStore(stores.redis, Retention(), box_of([os.environ["ACCOUNT_KEY"]]))
        accounts = Accounts(servers, store, stores.mcp, PublicAddress("http://127.0.0.1:1"))
        await stores.redis.call("PING")
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        try:
            tokens = accounts.own if id_ else accounts.calls
            access = await tokens.access(AccountOwner("T1", "UANNA"), "notes", stale=stale)
            say("token", access.token)
        except AccountProblem as problem:
            say("problem", problem.state)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
