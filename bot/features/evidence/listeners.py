"""*Show evidence* and the pages of its modal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from typing_extensions import override

from bot.core.errors import MalformedPayload
from bot.features.evidence import words
from bot.features.evidence.dialog import EvidenceDialog
from bot.features.evidence.modal import PAGE, SHOW
from bot.features.evidence.settings import EvidenceSettings
from bot.runs.context.run_loader import read_before
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import ChannelChoice, SlackPart


@dataclass(frozen=True, slots=True)
class EvidenceListeners(SlackPart):
    """The listeners of one workspace, and the mode of a channel. Each press checks the rights again."""

    dialog: EvidenceDialog
    channel_choices: tuple[ChannelChoice, ...]

    @classmethod
    def of(cls, settings: EvidenceSettings, app: SlackApp) -> EvidenceListeners:
        """Return the listeners of a workspace."""
        dialog = EvidenceDialog(
            app.team,
            app.questions,
            app.access,
            answer_of=app.stores.runs.answer,
            ledger_of=partial(read_before, app.stores),
        )
        mode = ChannelChoice("evidence", words.CHANNEL_EVIDENCE, words.MODES, settings.mode)
        return cls(dialog, (mode,))

    @override
    def register(self, app: SlackApp) -> None:
        """Listen to the button of an answer, and to Back and Next."""
        app.button(SHOW)(self._show)
        app.button(re.compile(f"^{PAGE}_(back|next)$"))(self._turn)

    async def _show(self, press: Press) -> None:
        await press.open(await self.dialog.page(press.value, 0, press.user))

    async def _turn(self, press: Press) -> None:
        run_id, _, number = press.value.rpartition(":")
        if not number.isdecimal():
            raise MalformedPayload("a page of evidence without a number")
        await press.update(await self.dialog.page(run_id, int(number), press.user))
