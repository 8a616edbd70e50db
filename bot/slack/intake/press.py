"""What people press and submit: the checked fields of Slack's payloads, and ways to answer.

Slack lets a modal open only within three seconds of a person's action.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackApiError

from bot.core.errors import MalformedPayload, NotPermitted, SlackUnavailable, StoreError
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, error_code
from bot.slack.edge.payloads import view_of
from bot.slack.ui import words
from bot.slack.ui.approval import PressedCard, Shown
from bot.slack.ui.blocks import Block, notice_modal, shortened

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """A press of a button or menu.

    `value` is that of the button, or of the option or conversation that was chosen. In a view,
    `value` may be "" and `channel` is. `thread` is the thread of the message with the button, None
    outside threads. `at` is the action's ts, which is unique for each press.
    """

    action: str
    value: str
    user: str
    channel: str
    thread: str | None
    message: str
    at: str

    @classmethod
    def of(cls, body: dict[str, Any], action: dict[str, Any]) -> ButtonPress:
        """Return the press of a block_actions payload. Raises MalformedPayload for a wrong button."""
        container = body.get("container") or {}
        in_view = bool(body.get("view"))
        value = _value_of(action)
        if not (value or in_view):
            raise MalformedPayload("a button that carries nothing")
        return ButtonPress(
            action=str(action["action_id"]),
            value=value,
            user=str(body["user"]["id"]),
            channel="" if in_view else channel_of(body),
            thread=thread_of(body),
            message=str(container.get("message_ts") or ""),
            at=str(action["action_ts"]),
        )


def _value_of(action: dict[str, Any]) -> str:
    option = action.get("selected_option") or {}
    value = action.get("value") or option.get("value") or action.get("selected_conversation")
    return str(value or "")


def channel_of(body: dict[str, Any]) -> str:
    """Return the channel of the pressed button. Raises MalformedPayload when it has none."""
    channel, container = body.get("channel") or {}, body.get("container") or {}
    if channel_id := channel.get("id") or container.get("channel_id"):
        return str(channel_id)
    raise MalformedPayload("a press outside of a channel")


def thread_of(body: dict[str, Any]) -> str | None:
    """Return the thread of the message with the button; None outside threads."""
    message = body.get("message") or {}
    container = body.get("container") or {}
    return message.get("thread_ts") or container.get("thread_ts")


async def open_modal(clients: Clients, body: Body, view: Body) -> str:
    """Open a modal for the person whose payload `body` has a trigger_id. Return its id, "" if it was not
    opened.

    A repeated payload opens no second modal. When it is too late, the person gets a message. Raises
    MalformedPayload for an invented trigger_id, and SlackApiError.
    """
    try:
        opened = await clients.live.views_open(trigger_id=body["trigger_id"], view=view)
    except SlackApiError as error:
        code = error_code(error)
        if code == "expired_trigger_id":
            await _say_too_late(clients, body)
        elif code == "invalid_trigger_id":
            raise MalformedPayload("a trigger_id that Slack did not give out") from None
        elif code != "exchanged_trigger_id":
            raise
        return ""
    return str(opened["view"]["id"])


async def _say_too_late(clients: Clients, body: Body) -> None:
    user = str(body.get("user_id") or body["user"]["id"])
    channel = body.get("channel_id") or (body.get("channel") or {}).get("id")
    log.warning("A modal for %s was not opened: the trigger_id had expired", user)
    try:
        if not channel or not await _post_ephemeral(clients, str(channel), thread_of(body), user):
            await clients.writes.chat_postMessage(channel=user, text=words.MODAL_TOO_LATE())
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.warning("The message about it was not posted either: %s", type(error).__name__)


async def _post_ephemeral(clients: Clients, channel: str, thread: str | None, user: str) -> bool:
    """Post the message for `user` alone. Return False where the bot is not in the channel."""
    try:
        await clients.writes.chat_postEphemeral(
            channel=channel, user=user, thread_ts=thread, text=words.MODAL_TOO_LATE()
        )
    except SlackApiError:
        return False
    return True


FAILURES = (StoreError, SlackUnavailable, SlackApiError, *TRANSPORT_ERRORS)
"""Errors that are nobody's mistake: what was pressed may work when it is pressed again."""

PRESS_SECONDS = 30.0
"""How long a handler may take; Slack shows a warning after three."""
_LATER_SECONDS = 600.0  # for what goes on in the background

_MAX_TITLE = 24


@dataclass(frozen=True, slots=True)
class Press(ButtonPress):
    """A press of a button or menu in a message, a modal or the Home tab, and ways to answer it.

    `value` is that of the button, or of the option or conversation that was chosen; "" where a view
    carries none. `channel` is "" in a view. `respond` replaces or deletes the message.
    """

    app: SlackApp
    body: Body
    respond: AsyncRespond

    @classmethod
    def on(cls, app: SlackApp, body: Body, action: Body, respond: AsyncRespond) -> Press:
        """Return the press of a block_actions payload. Raises MalformedPayload for a wrong one."""
        press = ButtonPress.of(body, action)
        return cls(
            action=press.action,
            value=press.value,
            user=press.user,
            channel=press.channel,
            thread=press.thread,
            message=press.message,
            at=press.at,
            app=app,
            body=body,
            respond=respond,
        )

    def card(self, shown: Shown) -> PressedCard:
        """Return the pressed card, for the metadata of a modal that the press opens."""
        return PressedCard(shown=shown, channel=self.channel, message=self.message, at=self.at)

    @property
    def is_private(self) -> bool:
        """Return whether the message with the button is seen by one person only."""
        return bool((self.body.get("container") or {}).get("is_ephemeral"))

    @property
    def view(self) -> Body:
        """Return the modal or Home tab with the button. Raises MalformedPayload outside of one."""
        return dict(view_of(self.body))

    async def open(self, view: Block) -> str:
        """Open a modal, and return its id. Possible for three seconds after the press. Raises
        SlackApiError."""
        return await open_modal(self.app.clients, self.body, view)

    async def update(self, view: Block) -> None:
        """Replace the modal in which the button is. Raises SlackApiError."""
        await self.app.clients.writes.views_update(view_id=self.view["id"], view=view)

    def later(self, work: Awaitable[str | None], what: str) -> None:
        """Go on in the background, after the press is acknowledged; `what` names it in the log."""
        self.app.background.start(self.answer(work, _LATER_SECONDS), what)

    async def answer(self, work: Awaitable[str | None], seconds: float) -> None:
        """Tell the person what `work` returns, or that it was refused or failed, or took too long."""
        try:
            async with asyncio.timeout(seconds):
                sentence = await work
        except MalformedPayload:
            raise
        except NotPermitted as refusal:
            sentence = str(refusal)
        except FAILURES as error:
            is_slack = isinstance(error, SlackApiError | SlackUnavailable)
            log.warning(
                "%s, pressed by %s in %s %s, failed: %s: %s",
                self.action,
                self.user,
                self.channel or "a view",
                self.message,
                type(error).__name__,
                error,
            )
            sentence = words.TRY_AGAIN() if is_slack else words.WENT_WRONG()
        except Exception:
            log.exception("%s, pressed by %s, failed", self.action, self.user)
            sentence = words.WENT_WRONG()
        if sentence:
            self.tell(sentence)

    def tell(self, sentence: str) -> None:
        """Say something that only the person sees, where they pressed, in the background."""
        self.app.background.start(self._tell(sentence), "ephemeral reply")

    async def _tell(self, sentence: str) -> None:
        view = self.body.get("view")
        if not view:
            await self.app.tell(self.channel, self.thread, self.user, sentence)
        elif view.get("type") == "home":
            await self.open(notice_modal(name_title(self.app.identity.name), sentence))
        else:
            await self.update(notice_modal(title_of(view), sentence))


@dataclass(frozen=True, slots=True)
class Submitted:
    """A modal that somebody submitted."""

    user: str
    view: Body

    @property
    def callback(self) -> str:
        """Return the id that says which modal it is."""
        return str(self.view["callback_id"])

    @property
    def metadata(self) -> str:
        """Return what the modal carries."""
        return str(self.view.get("private_metadata") or "")

    @property
    def pressed(self) -> ButtonPress:
        """Return the submission as a press on the card from which the modal was opened.

        Raises MalformedPayload for metadata of another origin.
        """
        try:
            card = PressedCard.model_validate_json(self.metadata)
        except ValidationError:
            raise MalformedPayload("a modal with metadata that is not ours") from None
        return ButtonPress(
            action=self.callback,
            value=card.shown.model_dump_json(),
            user=self.user,
            channel=card.channel,
            thread=None,
            message=card.message,
            at=card.at,
        )


def name_title(name: str) -> str:
    """Return the name of the bot as the title of a modal."""
    return shortened(name, _MAX_TITLE)


def title_of(view: Body) -> str:
    """Return the title of a modal in a payload."""
    return str((view.get("title") or {}).get("text") or "")
