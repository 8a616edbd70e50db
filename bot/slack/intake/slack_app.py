"""One workspace as everything that listens sees it.

A `SlackApp` is made once for each workspace, and handed to all listeners, those of features too.
Listeners do not acknowledge, and do not answer errors: `@app.button` and `@app.modal` do.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_bolt.response import BoltResponse

from bot.core.errors import MalformedPayload, NotPermitted
from bot.runs.audit_trail import refused
from bot.runs.policy.access import Policy
from bot.runs.policy.budgets import BudgetPolicy
from bot.runs.policy.channels import Channels
from bot.runs.queue.requests import Requests
from bot.runs.watching import Submit, name_of
from bot.slack.edge.people_and_channels import naming
from bot.slack.edge.tasks import Background, EventRetries
from bot.slack.edge.workspaces import Slack
from bot.slack.intake import (
    administration,
    answer_buttons,
    commands,
    decisions,
    edits,
    intake,
    stop,
)
from bot.slack.intake.access_gate import AccessGate
from bot.slack.intake.administration import Admin
from bot.slack.intake.bolt_app import bolt_app
from bot.slack.intake.decisions import ApprovalDecisions
from bot.slack.intake.intake import Intake
from bot.slack.intake.press import PRESS_SECONDS, Press, Submitted, title_of
from bot.slack.intake.questions import QuestionIntake
from bot.slack.intake.slack_part import SlackPart, bug_logged
from bot.slack.intake.stop import StopAction
from bot.slack.intake.unhandled import answer_unhandled
from bot.slack.ui.approval_kinds import WaitKind, WaitKinds
from bot.slack.ui.blocks import Block, FormErrors, notice_modal
from bot.slack.ui.buttons import AnswerButton
from bot.store import Stores
from bot.text.translation import speak

log = logging.getLogger(__name__)

Body = dict[str, Any]

_SPOKEN_TO = {"app_home_opened", "app_context_changed", "agent_session_stopped"}
"""Events after which the bot speaks to their person; `Intake` does it for messages to the bot."""
_OTHERWISE = "en-US"
_LOCALE_SECONDS = 1.0  # Slack waits three for a modal

ButtonHandler = Callable[[Press], Awaitable[str | None]]
"""Handles a press. The sentence that it returns is told to the person alone; NotPermitted, too."""

ModalHandler = Callable[[Submitted], Awaitable[Block | None]]
"""Handles a submitted modal. Returns the modal that takes its place, if any. Raises FormErrors, which
Slack shows at the fields, and NotPermitted."""


class SlackApp:
    """One workspace: its clients and caches, stores, ways to ask, and what listens there.

    `gate` says who may ask and who is an admin, `questions` asks in somebody's name with their
    rights, `submit` takes a request as it is, and `decisions` decide on calls that wait.
    """

    def __init__(
        self,
        slack: Slack,
        stores: Stores,
        requests: Requests,
        *,
        policy: Policy,
        channels: Channels,
        budgets: BudgetPolicy,
        one_of_many: bool = False,
        background: Background,
        retries: EventRetries,
        answer_buttons: Sequence[AnswerButton] = (),
        waits: Mapping[str, WaitKind] = MappingProxyType({}),
        tool_label: Callable[[str], str] = str,
        signing_secret: str = "",
    ) -> None:
        self.slack = slack
        self.identity, self.clients = slack.identity, slack.clients
        self.people, self.access, self.status = slack.people, slack.access, slack.status
        self.team = slack.identity.team
        self.name_of = naming(slack.people, slack.access)
        """Returns the display name of a mentioned person or channel, by id."""
        self.stores = stores
        self.record = stores.audit.append
        self.requests = requests
        self.submit: Submit = requests.submit
        self.background = background
        self.retries = retries
        self.answer_buttons = answer_buttons
        self.tool_label = tool_label
        """Returns what a tool does, in the reader's language. May load tools: not for the event loop."""
        self.waits = WaitKinds(slack.identity.canvas_link, waits)
        self.gate = AccessGate(self.team, slack.people, policy, channels)
        self.bolt: AsyncApp = bolt_app(
            slack.clients,
            slack.identity,
            partial(answer_unhandled, self),
            signing_secret=signing_secret,
        )
        self.stop = StopAction(self)
        self.intake = Intake(self)
        self.questions = QuestionIntake(self)
        self.decisions = ApprovalDecisions(self)
        self.admin = Admin(self.gate, budgets, self.record, one_of_many=one_of_many)
        self._claimed: set[tuple[str, object]] = set()
        self._handlers: dict[object, ButtonHandler] = {}
        self.parts: list[SlackPart] = []
        """What features add here."""
        self.refresh_home: Callable[[str], None] = lambda _user: None
        """Publishes the Home tab of a person again, soon; set when there is one."""
        self.bolt.middleware(self._in_their_language)
        self.bolt.event("user_change")(self._person_changed)

    def listen(self) -> None:
        """Register the listeners for everything that the manifest subscribes to, and those of
        features."""
        # Edits before other messages: of several listeners the first wins.
        for module in (
            edits,
            intake,
            stop,
            answer_buttons,
            decisions,
            commands,
            administration,
        ):
            module.register(self)
        for part in [*self.parts]:
            try:
                part.register(self)
            except Exception:
                log.exception("%s is left out: it could not be registered", name_of(part))
                self.parts.remove(part)

    def thread_key(self, channel: str, thread: str) -> str:
        """Return the `Request.thread_key`: its team is the bot's own, in shared channels too."""
        return f"{self.team}:{channel}:{thread}"

    def button(self, *actions: str | re.Pattern[str]) -> Callable[[ButtonHandler], ButtonHandler]:
        """Decorate the handler of a button or menu, in a message, a modal or the Home tab.

        It runs before the press is acknowledged, so that it can open a modal, and so that what it
        stores is safe; work that takes longer goes on with `press.later`. A refusal, and an error
        of Slack or a store, is told to the person alone.
        """

        def decorate(handler: ButtonHandler) -> ButtonHandler:
            async def pressed(
                body: Body, action: Body, ack: AsyncAck, respond: AsyncRespond
            ) -> None:
                try:
                    press = Press.on(self, body, action, respond)
                    await press.answer(handler(press), PRESS_SECONDS)
                except MalformedPayload:
                    await self._note_forged(body, action["action_id"])
                    raise
                await ack()

            for action in actions:
                self._claim("button", action)
                self._handlers[action] = handler
                self.bolt.action(action)(pressed)
            return handler

        return decorate

    def handler(self, action: str) -> ButtonHandler | None:
        """Return the handler of a button; None where nothing listens to it."""
        return self._handlers.get(action)

    def link(self, *actions: str) -> None:
        """Acknowledge presses of buttons that are links, which the browser opens by itself."""

        async def opened(ack: AsyncAck) -> None:
            await ack()

        for action in actions:
            self._claim("button", action)
            self.bolt.action(action)(opened)

    def modal(self, *callbacks: str) -> Callable[[ModalHandler], ModalHandler]:
        """Decorate the handler of a modal that is submitted.

        A refusal replaces the modal by a sentence. An error of Slack or a store leaves it as it is:
        Slack then says that it could not be submitted, and the person can do so again.
        """

        def decorate(handler: ModalHandler) -> ModalHandler:
            async def submitted(body: Body, view: Body, ack: AsyncAck) -> None:
                form = Submitted(str(body["user"]["id"]), view)
                try:
                    async with asyncio.timeout(PRESS_SECONDS):
                        next_view = await handler(form)
                except MalformedPayload:
                    await self._note_forged(body, form.callback)
                    raise
                except FormErrors as wrong:
                    await ack(response_action="errors", errors=wrong.errors)
                except NotPermitted as refusal:
                    log.info("%s sent by %s was refused: %s", form.callback, form.user, refusal)
                    notice = notice_modal(title_of(view), str(refusal))
                    await ack(response_action="update", view=notice)
                else:
                    await (ack(response_action="update", view=next_view) if next_view else ack())

            for callback in callbacks:
                self._claim("modal", callback)
                self.bolt.view(callback)(submitted)
            return handler

        return decorate

    async def _note_forged(self, body: Body, what: str) -> None:
        """Write a press or a form that Slack did not make to the audit trail."""
        channel = str((body.get("channel") or {}).get("id") or "")
        await self.record([refused(self.team, str(body["user"]["id"]), what, channel=channel)])

    def _claim(self, kind: str, id_: object) -> None:
        """Raise ValueError if something listens to this id already: Bolt would call the first alone."""
        if (kind, id_) in self._claimed:
            raise ValueError(f"two listeners to the {kind} {id_!r}")
        self._claimed.add((kind, id_))

    async def tell(self, channel: str, thread: str | None, user: str, sentence: str) -> None:
        """Post a sentence that only `user` sees."""
        await self.clients.writes.chat_postEphemeral(
            channel=channel, user=user, thread_ts=thread, text=sentence
        )

    async def _in_their_language(
        self,
        body: Body,
        context: AsyncBoltContext,
        next_: Callable[[], Awaitable[BoltResponse]],
    ) -> BoltResponse:
        """Run the listeners of interactions in the language of their person.

        Other events are not looked at, as most messages in a channel are not for the bot.
        """
        event, user = body.get("event"), context.user_id
        is_spoken_to = user and (not event or event.get("type") in _SPOKEN_TO)
        # Bolt runs the listener after this has returned, in the same task.
        speak(await self._locale(user) if user and is_spoken_to else _OTHERWISE)
        return await next_()

    async def _locale(self, user: str) -> str:
        try:
            async with asyncio.timeout(_LOCALE_SECONDS):
                return await self.people.locale(user)
        except TimeoutError:
            return _OTHERWISE

    async def _person_changed(self, event: Body) -> None:
        """Make a new name or role count at once; end what features do for a person who left."""
        user = event["user"]
        self.people.forget(user["id"])
        if user.get("deleted"):
            for part in self.parts:
                with bug_logged(part):
                    await part.person_left(user["id"])
