"""Messages and modals about personal accounts, for their owner alone."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.core.errors import MalformedPayload
from bot.features.accounts.account import (
    AccountChange,
    AccountState,
    AccountView,
    CodeResult,
    ConnectFailure,
)
from bot.features.accounts.slack import words as words
from bot.slack.ui.approval import plain
from bot.slack.ui.blocks import Block, section, text_object, with_confirmation, with_label
from bot.slack.ui.links import escape_mrkdwn
from bot.slack.ui.parts import Part, context, local_time

ENTER_CODE = "enter_account_code"
NOT_ME = "account_was_not_me"
CONNECT_FROM_HOME = "connect_account_from_home"
DISCONNECT = "disconnect_account"
OPEN_ACCOUNT_PAGE = "open_account_page"

CODE, PASTE = "account_code", "account_address"
"""Callback ids of the modals."""
_INPUT = "typed"


class Connection(BaseModel):
    """The value of a button about an account: the server, and the connection ("" for none)."""

    model_config = ConfigDict(frozen=True)

    server: str
    id: str = ""

    @classmethod
    def read(cls, value: str) -> Connection:
        """Parse a button's value or a modal's metadata. Raises MalformedPayload."""
        try:
            return cls.model_validate_json(value)
        except ValidationError:
            raise MalformedPayload("an account's button with a value that is not ours") from None


def code_part(change: AccountChange) -> Part:
    """Return the message that asks for the finish code."""
    label = plain(change.label)
    enter = _button(words.ENTER_CODE(), ENTER_CODE, change) | {"style": "primary"}
    said = words.CODE_NEEDED(server=label)
    row = {"type": "actions", "elements": [with_label(enter, change.label)]}
    return Part([section(said), row, context(words.CODE_WARNING()).block], said)


def connected_part(change: AccountChange) -> Part:
    """Return the message after a connection, with which its owner can take it back."""
    label, name = plain(change.label), plain(change.name)
    said = words.NOW_CONNECTED(server=label, when=local_time(int(change.at)))
    if name:
        said = words.NOW_CONNECTED_AS(server=label, name=name, when=local_time(int(change.at)))
    row = {"type": "actions", "elements": [not_me_button(change)]}
    return Part([section(said), row], words.NOW_CONNECTED_NOTIFY(server=label))


def not_me_button(change: AccountChange) -> Block:
    """Return the button with which whoever connected an account takes it back."""
    not_me = _button(words.NOT_ME(), NOT_ME, change) | {"style": "danger"}
    return with_label(not_me, change.label)


def disowned_part(label: str, *, revoked: bool) -> Part:
    """Return what takes the place of the message whose button "That was not me" was pressed."""
    said = (words.DISOWNED_REVOKED() if revoked else words.DISOWNED()).format(server=plain(label))
    return Part([section(said)], said)


def code_modal(server: str, label: str) -> Block:
    """Return the modal in which the finish code is typed."""
    element = {"type": "plain_text_input", "action_id": _INPUT, "min_length": 6, "max_length": 20}
    return _modal(CODE, server, words.CODE_TITLE(), words.CODE_LABEL(server=label), element)


def paste_modal(server: str, label: str, link: str, terms: str = "") -> Block:
    """Return the modal in which the address is pasted that the browser could not open, after `terms`."""
    element = {"type": "plain_text_input", "action_id": _INPUT, "max_length": 3_000}
    modal = _modal(PASTE, server, words.PASTE_TITLE(), words.PASTE_LABEL(), element)
    steps = words.PASTE_STEPS(server=plain(label))
    before = [section(terms)] if terms else []
    return modal | {"blocks": [*before, section(steps), *_link_row(label, link), *modal["blocks"]]}


def link_modal(label: str, link: str, terms: str = "") -> Block:
    """Return the modal with a link to connect an account, on `terms` if they are not the usual ones."""
    return {
        "type": "modal",
        "title": text_object(words.LINK_TITLE()),
        "close": text_object(words.CLOSE()),
        "blocks": [
            section(terms or words.LINK_TEXT(server=plain(label))),
            *_link_row(label, link),
        ],
    }


def typed_in(view: Block) -> str:
    """Return what was typed into one of the modals."""
    value = view["state"]["values"].get(_INPUT, {}).get(_INPUT, {}).get("value")
    return str(value or "").strip()


def code_errors(result: CodeResult) -> dict[str, str]:
    """Return what is wrong with a typed code, by the block of the modal."""
    left = result.tries_left
    wrong = words.WRONG_CODE if left == 1 else words.WRONG_CODE_SEVERAL
    return {_INPUT: wrong(left=left) if left else words.NO_TRIES_LEFT()}


def paste_errors(why: ConnectFailure) -> dict[str, str]:
    """Return what is wrong with a pasted address, by the block of the modal."""
    return {_INPUT: words.PASTE_FAILURES.get(why, words.PASTE_FAILED)()}


def own_accounts(views: Sequence[AccountView]) -> list[Block]:
    """Return the section of the Home tab with a person's accounts."""
    if not views:
        return []
    heading = {"type": "header", "text": text_object(words.HOME_ACCOUNTS())}
    return [{"type": "divider"}, heading, *map(_account, views)]


def _account(view: AccountView) -> Block:
    label, server = escape_mrkdwn(view.label), Connection(server=view.server, id=view.id)
    state = words.HOME_STATES[view.state](
        name=escape_mrkdwn(view.name), when=local_time(int(view.connected_at))
    )
    if view.usable and view.name:
        state = words.HOME_CONNECTED_AS(name=escape_mrkdwn(view.name))
    block = section(f"*{label}* · {state}") | {"block_id": f"account-{view.server}"[:255]}
    button: Block = {"type": "button", "value": server.model_dump_json()}
    if view.usable:
        button |= {"action_id": DISCONNECT, "text": text_object(words.DISCONNECT())}
        button = with_confirmation(
            with_label(button, view.label),
            words.DISCONNECT_TITLE(server=view.label),
            words.DISCONNECT_TEXT(),
            yes=words.DISCONNECT(),
            no=words.KEEP(),
        )
    elif view.state in (AccountState.CHANGED, AccountState.BUSY):
        return block
    else:
        button |= {"action_id": CONNECT_FROM_HOME, "text": text_object(words.HOME_CONNECT())}
        button = with_label(button, view.label)
    return block | {"accessory": button}


def _modal(callback: str, server: str, title: str, label: str, element: Block) -> Block:
    return {
        "type": "modal",
        "callback_id": callback,
        "private_metadata": Connection(server=server).model_dump_json(),
        "title": text_object(title),
        "submit": text_object(words.SUBMIT()),
        "close": text_object(words.CLOSE()),
        "blocks": [
            {
                "type": "input",
                "block_id": _INPUT,
                "label": text_object(label),
                "element": element,
            }
        ],
    }


def _link_row(label: str, link: str) -> list[Block]:
    text = text_object(words.CONNECT(server=label)[:75])
    button = {"type": "button", "action_id": OPEN_ACCOUNT_PAGE, "text": text, "url": link}
    return [{"type": "actions", "elements": [button | {"style": "primary"}]}]


def _button(label: str, action: str, change: AccountChange) -> Block:
    value = Connection(server=change.server, id=change.id).model_dump_json()
    return {"type": "button", "action_id": action, "text": text_object(label), "value": value}
