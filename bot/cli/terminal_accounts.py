"""Personal accounts in `bot ask`, connected in a browser on the same machine while it runs."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.app.account_pages import AccountPages
from bot.app.account_words import failure
from bot.app.accounts import open_accounts, telling_changes
from bot.cli.console import Question, go_on_without, typed_line
from bot.core.accounts import AccountChange, AccountOwner, ConnectError, Whom
from bot.core.approvals import Approval, Decision, Verdict
from bot.core.text.invisible_text import escaped
from bot.ops.health import http_server
from bot.settings import Settings
from bot.store import Stores

if TYPE_CHECKING:
    from bot.services.accounts.accounts import Accounts

_SECONDS = 600.0
_WHOM = Whom("you", "", "this terminal")
_ASKED = (
    "\n{title}: open this address in a browser on this machine.\n{link}\nThen type the six digits of "
    "the last page, or paste the address of a page that cannot be opened. Empty: go on without it.\n> "
)
_WRONG_CODE = "That is not the code. Tries left: {left}.\n"


@dataclass(frozen=True, slots=True)
class TerminalAccounts:
    """The accounts of the person at the terminal, for the run, and how they are asked for one."""

    accounts: Accounts | None
    question: Question


@asynccontextmanager
async def terminal_accounts(settings: Settings, stores: Stores) -> AsyncGenerator[TerminalAccounts]:
    """Open the accounts, with the pages on which they are connected, while the body runs.

    Nothing can be connected where BOT_PUBLIC_URL is an address of another process.
    """
    accounts, port = open_accounts(settings, stores), settings.loopback_port
    async with AsyncExitStack() as stack:
        if accounts is None or port is None:
            yield TerminalAccounts(accounts, go_on_without)
            return
        pages = AccountPages()
        await stack.enter_async_context(http_server(pages.routes, port=port, host="127.0.0.1"))
        stack.enter_context(pages.served_by(accounts))
        await stack.enter_async_context(telling_changes(settings, stores, accounts, _nobody))
        yield TerminalAccounts(accounts, _Connecting(accounts).ask)


async def _nobody(_change: AccountChange) -> None:
    """Tell nobody: the person who connects sits here."""


@dataclass(frozen=True, slots=True)
class _Connecting:
    accounts: Accounts

    async def ask(self, approval: Approval) -> Decision:
        """Have the person connect an account; an empty line goes on without it."""
        owner = AccountOwner(approval.thread_key.partition(":")[0], approval.requester)
        link = await self.accounts.ticket(
            owner, approval.tool, _WHOM, approval=approval.id, seconds=_SECONDS
        )
        prompt = _ASKED.format(title=escaped(approval.title), link=link)
        while typed := (await typed_line(prompt)).strip():
            if await self._finished(owner, approval.tool, typed):
                return Decision(verdict=Verdict.APPROVED, by=approval.requester)
            prompt = "> "
        return Decision(verdict=Verdict.DENIED, by=approval.requester)

    async def _finished(self, owner: AccountOwner, server: str, typed: str) -> bool:
        if typed.startswith("http"):
            try:
                return (await self.accounts.finish_pasted(owner, typed)).usable
            except ConnectError as error:
                sys.stderr.write(f"{' '.join(failure(error.why))}\n")
                return False
        result = await self.accounts.confirm(owner, server, re.sub(r"\D", "", typed))
        if not result.accepted:
            sys.stderr.write(_WRONG_CODE.format(left=result.tries_left))
        return result.accepted
