"""Buttons of approval cards."""

from __future__ import annotations

from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.ui import buttons
from bot.slack.ui.approval import approval_modal
from bot.slack.ui.approval_kinds import VERDICTS


def register(app: SlackApp) -> None:
    """Listen to the buttons of approval cards.

    A decision is stored before the press is acknowledged. The run then shows it on the card.
    """
    decisions = app.decisions
    app.button(*VERDICTS)(decisions.press)

    @app.button(buttons.SHOW_ALL)
    async def show(press: Press) -> None:
        _, approval = await decisions.approval_of(press)
        await press.open(approval_modal(approval, app.identity.canvas_link))
