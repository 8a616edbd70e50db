"""Buttons and modals of personal accounts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from bot.features.accounts.account import AccountChange, ConnectError, Revoked
from bot.features.accounts.slack import cards, words
from bot.features.accounts.slack import messages as account_messages
from bot.features.accounts.slack.messages import Connection, own_accounts
from bot.features.accounts.slack.people import AccountChanges, PeopleAccounts
from bot.features.accounts.slack.workspace import WorkspaceAccounts
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import HomeViewer, SlackPart
from bot.slack.ui.blocks import Block, FormErrors


@dataclass(frozen=True, slots=True)
class AccountListeners(SlackPart):
    """The accounts of one workspace."""

    people: PeopleAccounts
    app: SlackApp

    @property
    def workspace(self) -> WorkspaceAccounts:
        """Return the accounts that serve everybody."""
        return WorkspaceAccounts(self.people, self.app)

    async def tell(self, change: AccountChange) -> None:
        """Act on a change of an account. Raises when it has to be told again."""
        of = self.workspace if change.owner.is_workspace else self.changes
        await of.tell(change)

    @property
    def changes(self) -> AccountChanges:
        """Return what follows from changes of accounts."""
        return AccountChanges(self.people, self.app)

    @override
    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        own = own_accounts(await self.people.views(viewer.user))
        return [*own, *await self.workspace.home(viewer)]

    @override
    async def run(self) -> None:
        await self.people.erase_of_people_who_left(self.workspace.look_at_admins)

    @override
    def register(self, app: SlackApp) -> None:
        """Listen to buttons and modals.

        Whose account it is follows from who pressed, never from what a button carries.
        """
        self.workspace.register(app)
        app.link(cards.CONNECT, account_messages.OPEN_ACCOUNT_PAGE)
        app.button(cards.PASTE_ADDRESS)(self._paste)
        app.button(account_messages.ENTER_CODE)(self._enter_code)
        app.button(account_messages.NOT_ME)(self._not_me)
        app.button(account_messages.CONNECT_FROM_HOME)(self._connect_from_home)
        app.button(account_messages.DISCONNECT)(self._disconnect)
        app.modal(account_messages.CODE)(self._code_typed)
        app.modal(account_messages.PASTE)(self._address_pasted)

    @override
    async def person_left(self, user: str) -> None:
        await self.people.left(user)
        await self.workspace.look_at_admins()

    async def _paste(self, press: Press) -> None:
        _, approval = await self.app.decisions.to_decide(press)
        link = await self.people.connect_link(approval)
        await self._open_paste(press, approval.tool, link)

    async def _connect_from_home(self, press: Press) -> None:
        server = Connection.read(press.value).server
        if self._is_usable(press.user, server):
            link, label = await self.people.link(press.user, server), self._label(server)
            if self.people.accounts.takes_pasted:
                await self._open_paste(press, server, link)
            else:
                await press.open(account_messages.link_modal(label, link))

    async def _open_paste(self, press: Press, server: str, link: str) -> None:
        await press.open(account_messages.paste_modal(server, self._label(server), link))

    async def _enter_code(self, press: Press) -> None:
        server = Connection.read(press.value).server
        if self._is_known(server):
            await press.open(account_messages.code_modal(server, self._label(server)))

    async def _code_typed(self, form: Submitted) -> None:
        server = Connection.read(form.metadata).server
        typed = re.sub(r"\D", "", account_messages.typed_in(form.view))
        result = await self.people.confirm(form.user, server, typed)
        if not result.accepted:
            raise FormErrors(account_messages.code_errors(result))

    async def _address_pasted(self, form: Submitted) -> None:
        try:
            await self.people.paste(form.user, account_messages.typed_in(form.view))
        except ConnectError as error:
            raise FormErrors(account_messages.paste_errors(error.why)) from None

    async def _not_me(self, press: Press) -> None:
        of = Connection.read(press.value)
        if self._is_known(of.server):
            press.later(self._disown(press, of), "disconnecting an account")

    async def _disown(self, press: Press, of: Connection) -> None:
        revoked = await self.people.disown(press.user, of.server, of.id)
        part = account_messages.disowned_part(
            self._label(of.server), revoked=revoked is Revoked.NOW
        )
        await press.app.clients.updates.chat_update(
            channel=press.channel, ts=press.message, text=part.text, blocks=part.blocks
        )

    async def _disconnect(self, press: Press) -> None:
        of = Connection.read(press.value)
        if self.people.accounts.is_personal(of.server):
            press.later(self._end(press.user, of), "disconnecting an account")

    async def _end(self, user: str, of: Connection) -> None:
        revoked = await self.people.disconnect(user, of.server, of.id)
        if notice := words.NOT_REVOKED.get(revoked):
            await self.app.clients.tell(user, notice(server=self._label(of.server)))
        self.app.refresh_home(user)

    def _is_usable(self, user: str, server: str) -> bool:
        accounts = self.people.accounts
        return accounts.is_personal(server) and accounts.may_use(server, user)

    def _is_known(self, server: str) -> bool:
        accounts = self.people.accounts
        return accounts.is_personal(server) or accounts.is_of_workspace(server)

    def _label(self, server: str) -> str:
        return self.people.accounts.label(server)
