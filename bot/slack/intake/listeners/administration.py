"""Buttons of admins that raise a budget."""

from __future__ import annotations

import re

from pydantic import ValidationError

from bot.core.budgets import OverBudget
from bot.core.errors import NotPermitted
from bot.slack.intake.administration import Admin
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.ui import buttons, words

_STEP = re.compile(f"^{buttons.RAISE}_({'|'.join(buttons.RAISE_TIMES)})$")


def register(app: SlackApp, admin: Admin) -> None:
    """Listen to the buttons, and announce a raised budget in the thread.

    Under a private answer only the person who pressed sees the announcement.
    """

    @app.button(_STEP)
    async def pressed(press: Press) -> str:
        try:
            over = OverBudget.model_validate_json(press.value)
        except ValidationError:
            raise NotPermitted(words.NOT_OURS()) from None
        times = buttons.RAISE_TIMES[press.action.rpartition("_")[2]]
        notice = await admin.raise_budget(press.user, press.channel, over, times)
        if press.is_private:
            return notice
        announcing = app.clients.writes.chat_postMessage(
            channel=press.channel,
            thread_ts=press.thread,
            text=notice,
            unfurl_links=False,
            unfurl_media=False,
        )
        app.background.start(announcing, "saying that a budget was raised")
        return ""
