"""What people press and submit: the fields of Slack's payloads that listeners need, checked."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted, SlackUnavailable, StoreError
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.payloads import view_of
from bot.slack.ui import words
from bot.slack.ui.button_payload import ButtonPress
from bot.slack.ui.modals import notice_modal
from bot.slack.ui.open_modal import open_modal
from bot.slack.ui.parts import Block, shortened

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)

Body = dict[str, Any]

FAILURES = (StoreError, SlackUnavailable, SlackApiError, *TRANSPORT_ERRORS)
"""Errors that are nobody's mistake: what was pressed may work when it is pressed again."""

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

    @property
    def is_private(self) -> bool:
        """Return whether the message with the button is seen by one person only."""
        return bool((self.body.get("container") or {}).get("is_ephemeral"))

    @property
    def view(self) -> Body:
        """Return the modal or Home tab with the button. Raises MalformedPayload outside of one."""
        return dict(view_of(self.body))

    async def open(self, view: Block) -> None:
        """Open a modal. Possible for three seconds after the press. Raises SlackApiError."""
        await open_modal(self.app.clients, self.body, view)

    async def update(self, view: Block) -> None:
        """Replace the modal in which the button is. Raises SlackApiError."""
        await self.app.clients.writes.views_update(view_id=self.view["id"], view=view)

    def later(self, work: Awaitable[str | None], what: str) -> None:
        """Go on in the background, after the press is acknowledged; `what` names it in the log."""
        self.app.background.start(self.answer(work), what)

    async def answer(self, work: Awaitable[str | None]) -> None:
        """Tell the person what `work` returns, or that it was refused or failed."""
        try:
            sentence = await work
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
            await self.open(notice_modal(shortened(self.app.identity.name, _MAX_TITLE), sentence))
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


def title_of(view: Body) -> str:
    """Return the title of a modal in a payload."""
    return str((view.get("title") or {}).get("text") or "")
