"""A worker that wants a token: `python -m tests.support.account_worker REDIS URL STALE`.

It says when it is ready, waits for a line, asks for Anna's token in place of STALE, and says what it
got: the token, or the state of the account. ACCOUNT_KEY is the key of encryption.
"""

from __future__ import annotations

import asyncio
import os
import sys

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


async def main(redis: str, url: str, stale: str) -> None:
    servers = {"notes": McpServer(url=url, account="person")}
    async with open_stores(redis) as stores:
        store = AccountStore(stores.redis, Retention(), box_of([os.environ["ACCOUNT_KEY"]]))
        accounts = Accounts(servers, store, stores.mcp, PublicAddress("http://127.0.0.1:1"))
        await stores.redis.call("PING")
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        try:
            access = await accounts.calls.access(AccountOwner("T1", "UANNA"), "notes", stale=stale)
            say("token", access.token)
        except AccountProblem as problem:
            say("problem", problem.state)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
