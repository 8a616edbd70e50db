"""Personal settings in the Home tab."""

from __future__ import annotations

from bot.slack.intake.home.personal_form import PERSONAL_FORM, personal_form, preferences_of
from bot.slack.intake.home.publish import HomeTab
from bot.slack.intake.home.view import SETTINGS
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp


def register(app: SlackApp, home: HomeTab) -> None:
    """Listen to the button and its modal, which change the settings of the person who acts."""
    models = home.admin.general_settings.models

    @app.button(SETTINGS)
    async def pressed(press: Press) -> None:
        now = await home.preferences.of(app.team, press.user)
        await press.open(personal_form(now, models))

    @app.modal(PERSONAL_FORM)
    async def sent(form: Submitted) -> None:
        before = await home.preferences.of(app.team, form.user)
        changed = preferences_of(form.view, before, models)
        await home.preferences.change(app.team, form.user, changed)
        home.refresh(form.user)
