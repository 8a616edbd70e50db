"""Shortcuts on messages and from anywhere, and the questions of their forms."""

from __future__ import annotations

import asyncio
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.core.answers import Answer, stored_name
from bot.core.errors import NotPermitted
from bot.core.request import Entry, Request
from bot.features.shortcuts import forms, words
from bot.features.shortcuts.forms import About, Submission
from bot.features.shortcuts.tasks import TASKS, Task
from bot.runs.policy.preferences import PreferenceBook
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.text import clean, decode
from bot.slack.intake.press import Submitted, open_modal
from bot.slack.intake.questions import Question, QuestionIntake
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.message.message_contents import file_refs, said_in
from bot.slack.ui import words as ui_words
from bot.slack.ui.blocks import Block, FormErrors
from bot.slack.ui.markdown import plain_text

_NAMING_SECONDS = 1.0
"""Seconds for looking up mentioned names: a modal must be open within three seconds."""


class ShortcutsPart(SlackPart):
    """Shortcuts in one workspace."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._preferences = PreferenceBook(app.stores.preferences)

    @override
    def register(self, app: SlackApp) -> None:
        app.bolt.global_shortcut(forms.ASK_ANYWHERE)(self._anywhere)
        for callback in (forms.ASK_ABOUT, *TASKS):
            app.bolt.message_shortcut(callback)(self._about_message)
        app.modal(forms.ASK_ABOUT, forms.ASK_ANYWHERE, *TASKS)(self._submitted)

    @override
    async def question_form(self, user: str) -> Block:
        try:
            await self._app.questions.may_ask_somewhere(user)
        except NotPermitted as refusal:
            return forms.cannot_modal(None, str(refusal))
        return forms.ask_anywhere_modal()

    async def _anywhere(self, body: dict[str, Any], ack: AsyncAck) -> None:
        form = await self.question_form(body["user"]["id"])
        await open_modal(self._app.clients, body, form)
        await ack()

    async def _about_message(self, body: dict[str, Any], ack: AsyncAck) -> None:
        questions, about, user = self._app.questions, _about(body), body["user"]["id"]
        only_me = (await self._preferences.of(questions.team, user)).only_me
        shown, where = await asyncio.gather(
            _shown(about.quoted, questions), _only_place(about.channel, questions)
        )
        about = about.model_copy(update={"where": where})
        if "bot_id" in body["message"]:
            shown = plain_text(shown)  # apps write Markdown, whose marks are nothing to read
        task = TASKS.get(body["callback_id"])
        refusal = await _refusal(about, user, task, questions)
        if refusal:
            view = forms.cannot_modal(task, refusal)
        elif task:
            view = forms.task_modal(task, about, shown, only_me=only_me)
        else:
            view = forms.ask_about_modal(about, shown, only_me=only_me)
        await open_modal(self._app.clients, body, view)
        await ack()

    async def _submitted(self, form: Submitted) -> Block | None:
        question, key = forms.submission_of(form.view), f"view:{form.view['id']}"
        asked = await _submit(question, form.user, key, self._app.questions)
        return self._app.questions.working_view(asked) if asked and asked.private else None


def _about(body: dict[str, Any]) -> About:
    message = body["message"]
    return About(
        channel=body["channel"]["id"],
        thread=message.get("thread_ts") or message["ts"],
        quoted=clean(said_in(message)),
        files=file_refs(message.get("files") or ()),
    )


async def _refusal(about: About, user: str, task: Task | None, questions: QuestionIntake) -> str:
    """Return why the person cannot ask this there; "" if they can. Checked before the form opens."""
    away = about.where == forms.MODAL_ONLY_ME
    try:
        await questions.may_ask(user, "" if away else about.channel)
    except NotPermitted as refusal:
        return str(refusal)
    if away and task and not task.about_message:
        return words.BETWEEN_PEOPLE() if about.channel.startswith("D") else questions.invitation()
    return ""


async def _only_place(channel: str, questions: QuestionIntake) -> str:
    """Return the only possible place of the answer; "" when the person chooses.

    Where the bot is not a member, only the person sees the answer. In direct messages with the bot,
    which nobody else reads, it goes to the thread.
    """
    try:
        async with asyncio.timeout(_NAMING_SECONDS):
            if not await questions.is_in(channel):
                return forms.MODAL_ONLY_ME
    except (TimeoutError, SlackApiError, *TRANSPORT_ERRORS):  # checked again on submission
        return ""
    return forms.MODAL_THREAD if channel.startswith("D") else ""


async def _shown(markup: str, questions: QuestionIntake) -> str:
    """Return a message as people read it; with ids for names when Slack takes too long."""

    async def its_id(user: str) -> str:
        return user

    try:
        async with asyncio.timeout(_NAMING_SECONDS):
            return await decode(markup, questions.name)
    except TimeoutError:
        return await decode(markup, its_id)


async def _submit(
    form: Submission, user: str, key: str, questions: QuestionIntake
) -> Request | None:
    """Ask the question of the form; return None when that was done before. Raises FormErrors."""
    if not form.task and not clean(form.question):
        raise FormErrors(forms.question_error(ui_words.EMPTY_QUESTION()))
    if form.about is None and form.where == forms.MODAL_CHANNEL and not form.channel:
        raise FormErrors(forms.place_error(form, words.CHOOSE_CHANNEL()))
    try:
        return await questions.ask(await _question(form, user, key, questions))
    except NotPermitted as refusal:
        raise FormErrors(forms.place_error(form, str(refusal))) from None
    except SlackApiError:
        raise FormErrors(forms.question_error(ui_words.TRY_AGAIN())) from None


def _needs_no_thread(form: Submission) -> bool:
    """Return whether the question is about one message only.

    Such a question is possible where the bot is not a member, as in people's direct messages.
    """
    return form.about is not None and (form.task is None or form.task.about_message)


async def _question(form: Submission, user: str, key: str, questions: QuestionIntake) -> Question:
    if form.about is None:
        to_channel = form.where == forms.MODAL_CHANNEL and form.channel
        return Question(
            entry=Entry.GLOBAL_SHORTCUT,
            user=user,
            channel=to_channel or await questions.direct_channel(user),
            thread=None,
            text=form.question,
            key=key,
        )
    about, task, only_me = form.about, form.task, form.where == forms.MODAL_ONLY_ME
    elsewhere = only_me and _needs_no_thread(form) and not await questions.is_in(about.channel)
    channel = await questions.direct_channel(user) if elsewhere else about.channel
    return Question(
        entry=Entry.MESSAGE_SHORTCUT,
        user=user,
        channel=channel,
        thread=None if elsewhere else about.thread,
        text=task.question(clean(form.question)) if task else form.question,
        key=key,
        quoted=about.quoted if not task or task.about_message else "",
        files=about.files,
        # Nobody else reads a direct message with the bot, and there the answer may stay.
        private=only_me and not channel.startswith("D"),
        response_type=task.response_type if task else stored_name(Answer),
    )
