"""The slash command `/ask`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.errors import NotPermitted
from bot.core.request import Entry
from bot.slack.edge.text import mentions_from, one_line, question_from
from bot.slack.intake.press import open_modal
from bot.slack.intake.questions import NOT_IN_CHANNEL, Question
from bot.slack.intake.slack_part import bug_logged
from bot.slack.ui import words
from bot.slack.ui.blocks import Block
from bot.slack.ui.links import escape_mrkdwn
from bot.text.mentions import Mention

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

ASK = "/ask"
HELP = "help"  # Slack requires it of every command
_LABEL = re.compile(r"<([@#][A-Z0-9]+)\|[^<>\n]*>")
"""A mention in the text of a command (`should_escape`), which has a name next to the id."""
_ORDER = re.compile(r"admin(\s+[a-z]+)?", re.IGNORECASE)  # most likely a mistyped admin command


def register(app: SlackApp) -> None:
    """Listen to the command.

    Without a question it opens the form of a feature, if one has it; `help` shows the person what
    can be asked; `admin …` is for admins.
    """
    identity, questions = app.identity, app.questions
    orders = {"admin pause": app.admin.pause, "admin resume": app.admin.resume}

    @app.bolt.command(ASK)
    async def asked(command: dict[str, Any], ack: AsyncAck) -> None:
        typed = _LABEL.sub(r"<\1>", str(command.get("text") or ""))
        text = await question_from(typed, bot=identity.user, name_of=questions.name)
        if not text and (form := await _question_form(app, command["user_id"])):
            await open_modal(app.clients, command, form)
            await ack()
            return
        try:
            mentioned = await mentions_from(typed, bot=identity.user, name_of=questions.name)
            reply = await told(text, mentioned, command)
        except NotPermitted as refusal:
            reply = str(refusal)
            if refusal.reason == NOT_IN_CHANNEL:
                reply = words.INVITE_HERE(name=identity.name, question=_typed(text))
        await ack(reply)

    async def told(text: str, mentioned: tuple[Mention, ...], command: dict[str, Any]) -> str:
        """Carry out the command. Return the reply that only the person sees; "" for none."""
        user, channel = command["user_id"], command["channel_id"]
        if text.lower().strip(" ?!") in ("", HELP):
            return f"{words.help_text(identity.name)}\n\n{words.ASK_COMMAND()}"
        if order := orders.get(" ".join(text.lower().split())):
            return await order(user)
        if _ORDER.fullmatch(text):
            return words.ADMIN_ORDERS()
        # Between two people there is nobody to invite.
        elsewhere = channel.startswith("D") and not await questions.is_in(channel)
        question = Question(
            entry=Entry.COMMAND,
            user=user,
            channel=await questions.direct_channel(user) if elsewhere else channel,
            thread=None,
            text=text,
            mentioned=mentioned,
            key=f"command:{command['trigger_id']}",
        )
        await questions.ask(question)
        return words.ANSWERED_DIRECTLY() if elsewhere else ""


async def _question_form(app: SlackApp, user: str) -> Block | None:
    """Return the form of the first feature that has one."""
    for part in app.parts:
        with bug_logged(part):
            if form := await part.question_form(user):
                return form
    return None


def _typed(text: str) -> str:
    """Return the command as it was typed, to be copied."""
    return f"`{ASK} {escape_mrkdwn(one_line(text).replace('`', ''))}`"
