"""Slack's door: what a feature adds to a workspace, without Slack knowing which features there are.

The buttons that a feature puts under answers are `AnswerButton` in `bot.slack.ui.buttons`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from slack_sdk.errors import SlackApiError

from bot.core.errors import BotError
from bot.core.request import Entry, Request
from bot.core.schedule import Schedule
from bot.runs.trials import TrialCase
from bot.runs.watching import name_of
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients
from bot.slack.edge.payloads import Event
from bot.slack.ui.blocks import Block
from bot.text.translation import Text, load_catalogue, reader

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HomeViewer:
    """Who opens a Home tab, and whether they may ask the bot."""

    user: str
    may_ask: bool


@dataclass(frozen=True, slots=True)
class Reaction:
    """An emoji on a message, which `user` added or `removed`. `emoji` is its name without skin tones."""

    channel: str
    ts: str
    emoji: str
    user: str
    removed: bool


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """A message in a channel that is not to the bot, of a person or another app, as Slack's event or
    history has it. `late` and `restored` are as in `Request`."""

    event: Event
    late: bool = False
    restored: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChannelChoice:
    """A choice in the form in which admins set how the bot behaves in a channel.

    - `name`: the field of the settings that it sets.
    - `options`: what may be chosen. `usual`: what applies where a channel sets nothing, which can
      then be chosen, too; None if each channel has a value of its own.
    """

    name: str
    label: Text
    options: Mapping[str, Text]
    usual: str | None = None


class SlackPart:
    """What a feature adds to one workspace. Override what is needed: every method does nothing.

    A part that cannot be made or registered is left out. What another method raises is logged, and
    what it would have done is missing; nothing else fails with it.
    `channel_choices` are choices in the form of a channel's settings. `text_form_label` is what a button
    says that opens the `text_form`.
    """

    channel_choices: Sequence[ChannelChoice] = ()
    text_form_label: Text | None = None

    def register(self, app: SlackApp) -> None:
        """Listen to the buttons, forms and events of the feature."""

    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        """Return the section of the feature in the Home tab of a person, with its heading."""
        return ()

    async def admin_home(self, user: str) -> Sequence[Block]:
        """Return the section of the feature in the part of the Home tab that only admins see."""
        return ()

    async def channel_blocks(self, channel: str) -> Sequence[Block]:
        """Return what the form of a channel's settings shows of the feature, below the fields."""
        return ()

    def text_form(self, text: str, case: TrialCase) -> Block | None:
        """Return the form in which an admin makes something else of `text`, which they wrote as instructions
        for a channel and try on `case`."""
        return None

    async def question_form(self, user: str) -> Block | None:
        """Return the form that `/ask` opens without a question."""
        return None

    async def take_due(self, schedule: Schedule) -> bool:
        """Do what a schedule of the feature is for, as it is due. Return False for all others.

        Safe to repeat. Raises NotPermitted with a sentence for its owner.
        """
        return False

    async def message_changed(self, channel: str, thread: str, ts: str) -> None:
        """Forget what the feature keeps of a message that was edited or deleted. Safe to repeat."""

    async def reacted(self, reaction: Reaction) -> None:
        """Do what a reaction of a person or another app on a message means. Safe to repeat; the event is
        acknowledged afterwards. Those that stop runs do not come here."""

    async def posted(self, message: ChannelMessage) -> None:
        """Look at a message in a channel that is not to the bot, never the bot's own. Safe to repeat: it
        comes again from Slack or from its history, and after StoreUnavailable and SlackUnavailable.
        It is acknowledged afterwards, and most messages in channels come here: be quick."""

    async def person_left(self, user: str) -> None:
        """End what the feature does for a person whose Slack account has ended."""

    async def account_connected(self, user: str, server: str) -> None:
        """Go on with what waited for a person's account at an MCP server. Safe to repeat."""

    async def run(self) -> None:
        """Work in the background while the bot listens to the workspace.

        Several processes may do so at once. Work that raises starts again soon, and work that ends is
        over until the process starts again.
        """


@contextmanager
def bug_logged(part: SlackPart) -> Generator[None]:
    """Log a bug of a part, which must not end what others do. What is nobody's mistake is raised."""
    try:
        yield
    except (BotError, SlackApiError, *TRANSPORT_ERRORS):
        raise
    except Exception:
        log.exception("%s failed", name_of(part))


SlackPartFor = Callable[["SlackApp"], SlackPart]
"""Makes the part of one workspace."""


def is_switched_off(request: Request, surfaces: Container[Entry]) -> bool:
    """Return whether a request came in by a feature that alone can show its run, and is not there."""
    return request.is_of_program and request.entry not in surfaces


async def tell_alone(clients: Clients, request: Request, text: Text) -> None:
    """Tell whoever made a request why it has no result; nobody else sees that. Of one by a rule nobody
    waits for a result."""
    if request.is_by_rule:
        return
    await load_catalogue(request.locale)
    with reader(request.locale):
        sentence = text()
    try:
        if request.is_of_program:
            await clients.updates.functions_completeError(
                function_execution_id=request.thread, error=sentence
            )
            return
        await clients.writes.chat_postEphemeral(
            channel=request.channel,
            user=request.user,
            thread_ts=None if request.job else request.reply_to,
            text=sentence,
        )
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.warning("Nobody was told what became of a request: %s", type(error).__name__)
