"""Buttons and modals of personal accounts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.errors import NotPermitted
from bot.features.accounts.account import ConnectError, Revoked
from bot.features.accounts.slack import messages as account_messages
from bot.features.accounts.slack import words as words
from bot.features.accounts.slack.messages import Connection
from bot.features.accounts.slack.people import PeopleAccounts
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import Clients
from bot.slack.edge.payloads import value_of
from bot.slack.intake.decisions import ApprovalDecisions
from bot.slack.intake.listeners.actions import tell
from bot.slack.ui import buttons
from bot.slack.ui.button_payload import ButtonPress
from bot.slack.ui.open_modal import open_modal

Body = dict[str, Any]

_NOT_REVOKED = {
    Revoked.LATER: words.DELETED_REVOKED_LATER,
    Revoked.NEVER: words.DELETED_NOT_REVOKED,
}


@dataclass(frozen=True, slots=True)
class AccountListeners:
    """What the listeners work with. `refresh_home` publishes a person's Home tab again."""

    people: PeopleAccounts
    decisions: ApprovalDecisions
    clients: Clients
    background: Background
    refresh_home: Callable[[str], None]

    def register(self, app: AsyncApp) -> None:
        """Listen to buttons and modals.

        Whose account it is follows from who pressed, never from what a button carries.
        """
        app.action(re.compile(f"^({buttons.CONNECT}|{buttons.OPEN_ACCOUNT_PAGE})$"))(_opened_link)
        app.action(buttons.PASTE_ADDRESS)(self._paste)
        app.action(buttons.ENTER_CODE)(self._enter_code)
        app.action(buttons.NOT_ME)(self._not_me)
        app.action(buttons.CONNECT_FROM_HOME)(self._connect_from_home)
        app.action(buttons.DISCONNECT)(self._disconnect)
        app.view(account_messages.CODE)(self._code_typed)
        app.view(account_messages.PASTE)(self._address_pasted)

    async def _paste(self, body: Body, action: Body, ack: AsyncAck) -> None:
        press = ButtonPress.of(body, action)
        try:
            _, approval = await self.decisions.approval_of(press)
        except NotPermitted as refusal:
            self.background.start(tell(self.clients, press, str(refusal)), "ephemeral reply")
        else:
            if press.user == approval.requester:
                link = await self.people.connect_link(approval)
                await self._open_paste(body, approval.tool, link)
        await ack()

    async def _connect_from_home(self, body: Body, action: Body, ack: AsyncAck) -> None:
        user, server = body["user"]["id"], Connection.read(value_of(action)).server
        if self._is_usable(user, server):
            link, label = await self.people.link(user, server), self._label(server)
            if self.people.accounts.takes_pasted:
                await self._open_paste(body, server, link)
            else:
                view = account_messages.link_modal(label, link)
                await open_modal(self.clients, body, view)
        await ack()

    async def _open_paste(self, body: Body, server: str, link: str) -> None:
        view = account_messages.paste_modal(server, self._label(server), link)
        await open_modal(self.clients, body, view)

    async def _enter_code(self, body: Body, action: Body, ack: AsyncAck) -> None:
        server = Connection.read(value_of(action)).server
        if self.people.accounts.is_personal(server):
            view = account_messages.code_modal(server, self._label(server))
            await open_modal(self.clients, body, view)
        await ack()

    async def _code_typed(self, body: Body, view: Body, ack: AsyncAck) -> None:
        server = Connection.read(str(view.get("private_metadata"))).server
        typed = re.sub(r"\D", "", account_messages.typed_in(view))
        result = await self.people.confirm(body["user"]["id"], server, typed)
        if result.accepted:
            await ack()
        else:
            await ack(response_action="errors", errors=account_messages.code_errors(result))

    async def _address_pasted(self, body: Body, view: Body, ack: AsyncAck) -> None:
        try:
            await self.people.paste(body["user"]["id"], account_messages.typed_in(view))
        except ConnectError as error:
            await ack(response_action="errors", errors=account_messages.paste_errors(error.why))
        else:
            await ack()

    async def _not_me(self, body: Body, action: Body, ack: AsyncAck) -> None:
        press, of = ButtonPress.of(body, action), Connection.read(value_of(action))
        if self.people.accounts.is_personal(of.server):
            self.background.start(self._disown(press, of), "disconnecting an account")
        await ack()

    async def _disown(self, press: ButtonPress, of: Connection) -> None:
        revoked = await self.people.disown(press.user, of.server, of.id)
        part = account_messages.disowned_part(
            self._label(of.server), revoked=revoked is Revoked.NOW
        )
        await self.clients.updates.chat_update(
            channel=press.channel, ts=press.message, text=part.text, blocks=part.blocks
        )

    async def _disconnect(self, body: Body, action: Body, ack: AsyncAck) -> None:
        user, of = body["user"]["id"], Connection.read(value_of(action))
        if self.people.accounts.is_personal(of.server):
            self.background.start(self._end(user, of), "disconnecting an account")
        await ack()

    async def _end(self, user: str, of: Connection) -> None:
        revoked = await self.people.disconnect(user, of.server, of.id)
        if notice := _NOT_REVOKED.get(revoked):
            await self.people.tell(user, notice(server=self._label(of.server)))
        self.refresh_home(user)

    def _is_usable(self, user: str, server: str) -> bool:
        accounts = self.people.accounts
        return accounts.is_personal(server) and accounts.may_use(server, user)

    def _label(self, server: str) -> str:
        return self.people.accounts.label(server)


async def _opened_link(ack: AsyncAck) -> None:
    """Acknowledge: Slack has opened the button's link in the person's browser."""
    await ack()
