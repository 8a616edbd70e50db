"""The accounts of a workspace in Slack: a section of the Home tab with its buttons, and what admins are
told. Whoever connects or disconnects one is an admin by what Slack says then, whatever a button carries."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.features.accounts.account import (
    ADMINS_MEND,
    AccountChange,
    AccountOwner,
    AccountState,
    AccountView,
    AdminState,
    Outcome,
    Revoked,
)
from bot.features.accounts.records import digest_of
from bot.features.accounts.slack import words
from bot.features.accounts.slack.messages import (
    Connection,
    link_modal,
    not_me_button,
    paste_modal,
)
from bot.features.accounts.slack.people import PeopleAccounts
from bot.runs.policy.access import Person, PersonKind
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.people_and_channels import people_of
from bot.slack.intake.access_gate import may_administer
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import HomeViewer
from bot.slack.ui.approval import plain
from bot.slack.ui.blocks import (
    Block,
    actions,
    button,
    divider,
    header,
    section,
    with_confirmation,
    with_label,
)
from bot.slack.ui.parts import Part, local_time
from bot.text.translation import reader

log = logging.getLogger(__name__)

CONNECT, DISCONNECT = "connect_workspace_account", "disconnect_workspace_account"

_MOST_ADMINS = 10  # who are told; one of them is enough
_TOLD = "workspace-account"


@dataclass(frozen=True, slots=True)
class WorkspaceAccounts:
    """The accounts of one workspace that serve everybody there."""

    people: PeopleAccounts
    app: SlackApp

    def register(self, app: SlackApp) -> None:
        """Listen to the buttons."""
        app.button(CONNECT)(self._connect)
        app.button(DISCONNECT)(self._disconnect)

    async def home(self, viewer: HomeViewer) -> list[Block]:
        """Return the section of the Home tab of a person: what they may use, and for admins all, with
        buttons."""
        accounts = self.people.accounts
        views = await accounts.workspace_views(self.app.team)
        if not views:
            return []
        is_admin = await may_administer(self.app.people, self.app.gate.policy, viewer.user)
        views = tuple(
            view
            for view in views
            if is_admin or (viewer.may_ask and accounts.may_use(view.server, viewer.user))
        )
        blocks = [divider(), header(words.HOME_WORKSPACE())] if views else []
        for view in views:
            line = _state(view)
            if is_admin and (notice := words.NO_ADMIN_NOW.get(await self._seen(view))):
                line = f"{line}\n:warning: {notice(person=f'<@{view.by}>')}"
            blocks.append(section(line))
            blocks += [actions(*_buttons(view))] if is_admin and _buttons(view) else []
        return blocks

    async def look_at_admins(self) -> None:
        """Note who connected an account and is an admin no longer, for the Home tab and `bot doctor`."""
        for view in await self.people.accounts.workspace_views(self.app.team):
            await self._seen(view)

    async def _seen(self, view: AccountView) -> AdminState:
        if not view.by:
            return AdminState.ADMIN
        person = await self.app.people.find_now(view.by)
        state = AdminState.ADMIN if self._is_admin(person) else AdminState.MEMBER
        state = AdminState.LEFT if person.kind is PersonKind.UNKNOWN else state
        if state is not view.admin:
            await self.people.accounts.note_admin(self.app.team, view.server, view.id, state)
        return state

    def _is_admin(self, person: Person) -> bool:
        try:
            self.app.gate.policy.may_administer(person)
        except NotPermitted:
            return False
        return True

    async def _connect(self, press: Press) -> None:
        server = await self._checked(press)
        if not server:
            return
        accounts = self.people.accounts
        view = await accounts.view(AccountOwner.workspace(self.app.team), server)
        link = await self.people.workspace_link(press.user, server, replaces=view.id)
        terms = words.WORKSPACE_TERMS(server=plain(view.label))
        if accounts.takes_pasted:
            await press.open(paste_modal(server, view.label, link, terms))
        else:
            await press.open(link_modal(view.label, link, terms))

    async def _disconnect(self, press: Press) -> None:
        if server := await self._checked(press):
            ending = self._end(press.user, server, Connection.read(press.value).id)
            press.later(ending, "disconnecting the account of the workspace")

    async def _checked(self, press: Press) -> str:
        """Return the server of a press, "" if it has no account of the workspace any more. Raises
        NotPermitted unless an admin pressed, and puts that on record."""
        server = Connection.read(press.value).server
        if not self.people.accounts.is_of_workspace(server):
            return ""
        try:
            await self.app.gate.admin(press.user)
        except NotPermitted:
            await self.people.note(press.user, _what(Outcome.REFUSED, server), ok=False)
            raise
        return server

    async def _end(self, user: str, server: str, connection: str) -> None:
        owner, label = AccountOwner.workspace(self.app.team), self.people.accounts.label(server)
        revoked = await self.people.accounts.ending.disconnect(
            owner, server, id=connection, by=user
        )
        if revoked is not Revoked.NOW:
            notice = words.NOT_REVOKED[revoked](server=plain(label))
            await self.app.clients.tell(user, notice)
        self.app.refresh_home(user)

    async def tell(self, change: AccountChange) -> None:
        """Act on a change of an account. Raises when it has to be told again; may be repeated."""
        match change.outcome:
            case Outcome.CONNECTED if change.by:
                with reader(await self.app.people.locale(change.by)):
                    await self._say_once(change.by, f"{change.id}/connected", _connected(change))
            case Outcome.ENDED | Outcome.WANTED:
                await self._ask_admins(change.server)
            case _:
                pass
        name = f"{change.server}/{change.id}/{change.outcome}/{change.at:.3f}/on record"
        threads = self.app.stores.threads
        if change.outcome is not Outcome.WANTED and await threads.first_notice(
            self.app.team, _TOLD, name
        ):
            ok = change.outcome in (Outcome.CONNECTED, Outcome.DISCONNECTED)
            what = _what(change.outcome, change.server)
            await self.people.note(change.by, what, ok=ok)
        if change.by:
            self.app.refresh_home(change.by)

    async def _ask_admins(self, server: str) -> None:
        """Ask the admins to connect an account, once for what it lacks."""
        accounts, team = self.people.accounts, self.app.team
        view = await accounts.view(AccountOwner.workspace(team), server)
        if view.state not in ADMINS_MEND or await accounts.was_asked(team, view):
            return
        asked = [person async for person in self._admins(view.by)]
        for person in asked:
            with reader(person.locale):
                name = f"{view.server}/{view.id}/{view.state}"
                await self._say_once(person.id, name, _asking(view))
        if not asked:
            log.warning("There is no admin who could connect %s for the workspace", server)
        await accounts.note_asked(team, view)

    async def _admins(self, first: str) -> AsyncGenerator[Person]:
        """Yield some admins: who connected it, those of bot.toml, else those of the workspace."""
        count, listed = 0, (self.app.gate.policy.admins or ())
        for user in dict.fromkeys((first, *listed)):
            person = await self.app.people.find_now(user) if user else None
            if person and count < _MOST_ADMINS and self._is_admin(person):
                count += 1
                yield person
        if listed:
            return
        async for person in people_of(self.app.clients.reads, self.app.identity):
            if count < _MOST_ADMINS and person.id != first and self._is_admin(person):
                count += 1
                yield person

    async def _say_once(self, user: str, name: str, part: Part) -> None:
        """Send somebody a direct message, unless that was done before. Who cannot be reached is left
        out: others are told, too."""
        threads, name = self.app.stores.threads, f"{digest_of(user)[:12]}/{name}"
        if await threads.was_noticed(self.app.team, _TOLD, name):
            return
        try:
            await self.app.clients.tell(user, part.text, part.blocks)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("An admin was not told of an account: %s", type(error).__name__)
            return
        await threads.first_notice(self.app.team, _TOLD, name)


def _what(outcome: Outcome, server: str) -> str:
    return f"{outcome} {server} for the workspace"


def _state(view: AccountView) -> str:
    """Return the line about an account in the Home tab."""
    when = local_time(int(view.connected_at))
    if view.usable and view.by:
        state = words.WORKSPACE_CONNECTED_BY(person=f"<@{view.by}>", when=when)
    else:
        state = words.WORKSPACE_STATES[view.state](when=when)
    return f"*{plain(view.label)}* · {state}"


def _buttons(view: AccountView) -> list[Block]:
    value = Connection(server=view.server, id=view.id).model_dump_json()
    if view.state in (AccountState.CHANGED, AccountState.BUSY):
        return []
    label = words.CONNECT_AGAIN if view.id else words.HOME_CONNECT
    connect = with_label(button(label(), CONNECT, value), view.label)
    if not view.id:
        return [connect]
    disconnect = with_confirmation(
        with_label(button(words.DISCONNECT(), DISCONNECT, value), view.label),
        words.DISCONNECT_TITLE(server=view.label),
        words.WORKSPACE_DISCONNECT_TEXT(),
        yes=words.DISCONNECT(),
        no=words.KEEP(),
    )
    return [disconnect, connect]


def _connected(change: AccountChange) -> Part:
    """Return the message to the admin who connected an account."""
    when = local_time(int(change.at))
    said = words.WORKSPACE_NOW_CONNECTED(server=plain(change.label), when=when)
    return Part(
        [section(said), actions(not_me_button(change))],
        words.NOW_CONNECTED_NOTIFY(server=plain(change.label)),
    )


def _asking(view: AccountView) -> Part:
    """Return the message that asks an admin to connect an account."""
    state = AccountState.NONE if view.state is AccountState.UNCONFIRMED else view.state
    scopes = [scope for scope in view.wanted.split() if scope not in view.scope.split()]
    said = words.ASK_ADMINS[state](
        server=plain(view.label), scopes=plain(", ".join(scopes))[:500] or "?"
    )
    value = Connection(server=view.server, id=view.id).model_dump_json()
    label = words.CONNECT_AGAIN if view.id else words.HOME_CONNECT
    connect = with_label(button(label(), CONNECT, value, style="primary"), view.label)
    return Part([section(said), actions(connect)], said)
