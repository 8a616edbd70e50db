"""The feature: an answer that corrects an earlier one marks it, where both stand."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial

from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.core.answers import Answer, stored_name
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features import Feature
from bot.features.corrections.words import CORRECTED
from bot.runs.context.answer_locale import locale_of_message
from bot.runs.watching import Listener, ListenerFor
from bot.slack.edge.client import TRANSPORT_ERRORS, error_reason
from bot.slack.edge.workspaces import Slack
from bot.slack.message.message_metadata import (
    Message,
    answered_by,
    messages_around,
    part_number,
    run_of,
)
from bot.slack.ui.links import escape_mrkdwn
from bot.slack.ui.parts import context
from bot.store import Stores
from bot.text.translation import load_catalogue, reader

log = logging.getLogger(__name__)

_MARK = "corrected_by:"
_LATEST = 100  # messages of a direct message
_DIRECT_SECONDS = 86_400.0  # more than a question there is told of


def corrections() -> Feature:
    """Return the feature."""
    return Feature("corrections", run_listener=_listener)


def _listener(stores: Stores, slack: Slack) -> ListenerFor:
    return partial(CorrectionListener, stores, slack)


class CorrectionListener(Listener):
    """A listener to the run of a request, which marks the answer that the run corrects.

    Both are looked for where people read them, so the link to an answer that only its asker sees
    never stands among others. The mark names its run: a second delivery finds it.
    """

    def __init__(self, stores: Stores, slack: Slack, request: Request) -> None:
        self._stores = stores
        self._slack = slack
        self._request = request

    @override
    async def on_end(self, outcome: Outcome) -> None:
        is_answer = outcome.response_type == stored_name(Answer)
        back = (outcome.result or {}).get("corrects") if is_answer else None
        if not back or back < 0:
            return
        try:
            await self._mark(back, outcome.run_id)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.info("An answer does not say that it is corrected: %s", error_reason(error))

    async def _mark(self, back: int, run_id: str) -> None:
        """Mark the answer that the model read `back` answers before that of a run, in its language."""
        answers = await self._answers()
        if run_id not in answers:
            return
        for earlier in await self._before(run_id, answers):
            kept = await self._stores.runs.answer(earlier)
            if kept is None or kept[0].private or not kept[1].result:
                continue
            back -= 1
            if not back:
                if earlier in answers:
                    locale = locale_of_message(kept[1], kept[0])
                    await self._write(answers[earlier], answers[run_id], run_id, locale)
                return

    async def _before(self, run_id: str, answers: Iterable[str]) -> list[str]:
        """Return the runs before one in the thread, or in the direct message, the newest first."""
        if self._request.top_level:
            runs = await self._stores.direct.recent(self._request, _DIRECT_SECONDS)
        else:
            runs = [*answers][::-1]
        return runs[runs.index(run_id) + 1 :] if run_id in runs else []

    async def _write(self, earlier: Message, correction: Message, run_id: str, locale: str) -> None:
        mark = f"{_MARK}{run_id}"
        blocks = earlier.get("blocks") or []
        if any(block.get("block_id") == mark for block in blocks):
            return
        channel = self._request.channel
        link = self._slack.identity.message_link(
            channel, correction["ts"], correction.get("thread_ts")
        )
        await load_catalogue(locale)
        with reader(locale):
            line = context(f":arrow_down: <{escape_mrkdwn(link)}|{CORRECTED()}>").block
        others = [block for block in blocks if not str(block.get("block_id")).startswith(_MARK)]
        await self._slack.clients.updates.chat_update(
            channel=channel,
            ts=earlier["ts"],
            text=earlier.get("text") or "",
            blocks=[{**line, "block_id": mark}, *others],
        )

    async def _answers(self) -> dict[str, Message]:
        """Return the first message of each of the bot's answers in the thread, or among the latest
        of the direct message, by its run, oldest first."""
        request, reads = self._request, self._slack.clients.reads
        if request.top_level:
            page = await reads.conversations_history(
                channel=request.channel, limit=_LATEST, include_all_metadata=True
            )
            messages = page["messages"][::-1]
        else:
            messages = [m async for m in messages_around(self._slack.clients, request)]
        return {run_of(message) or "": message for message in messages if self._is_answer(message)}

    def _is_answer(self, message: Message) -> bool:
        is_first = part_number(message, run_of(message) or "") == 0
        is_own = message.get("user") == self._slack.identity.user
        return is_own and is_first and bool(answered_by(message))
