"""Shortcuts, and the modals that they open."""

from __future__ import annotations

import asyncio
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.errors import SlackApiError

from bot.core.answers import Answer, stored_name
from bot.core.errors import NotPermitted
from bot.core.request import Entry
from bot.features.shortcuts.tasks import TASKS, Task
from bot.runs.policy.preferences import PreferenceBook
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.text import clean, decode
from bot.slack.intake.press import Submitted, open_modal
from bot.slack.intake.questions import Question, QuestionIntake
from bot.slack.intake.slack_app import SlackApp
from bot.slack.message.message_contents import file_refs, said_in
from bot.slack.ui import modals, words
from bot.slack.ui.blocks import Block, FormErrors
from bot.slack.ui.markdown import plain_text
from bot.slack.ui.modals import About, Submission

_NAMING_SECONDS = 1.0
"""Seconds for looking up mentioned names: a modal must be open within three seconds."""


def register(app: SlackApp, preferences: PreferenceBook) -> None:
    """Listen to the shortcuts and to their modals."""
    questions = app.questions

    async def about_message(body: dict[str, Any], ack: AsyncAck) -> None:
        about, user = _about(body), body["user"]["id"]
        only_me = (await preferences.of(questions.team, user)).only_me
        shown, where = await asyncio.gather(
            _shown(about.quoted, questions), _only_place(about.channel, questions)
        )
        about = about.model_copy(update={"where": where})
        if "bot_id" in body["message"]:
            shown = plain_text(shown)  # apps write Markdown, whose marks are nothing to read
        task = TASKS.get(body["callback_id"])
        refusal = await _refusal(about, user, task, questions)
        if refusal:
            view = modals.cannot_modal(task, refusal)
        elif task:
            view = modals.task_modal(task, about, shown, only_me=only_me)
        else:
            view = modals.ask_about_modal(about, shown, only_me=only_me)
        await open_modal(app.clients, body, view)
        await ack()

    @app.bolt.global_shortcut(modals.ASK_ANYWHERE)
    async def anywhere(body: dict[str, Any], ack: AsyncAck) -> None:
        await open_modal(app.clients, body, await anywhere_modal(questions, body["user"]["id"]))
        await ack()

    @app.modal(modals.ASK_ABOUT, modals.ASK_ANYWHERE, *TASKS)
    async def submitted(form: Submitted) -> None:
        question = modals.submission_of(form.view)
        if errors := await _submit(question, form.user, f"view:{form.view['id']}", questions):
            raise FormErrors(errors)

    for callback in (modals.ASK_ABOUT, *TASKS):
        app.bolt.message_shortcut(callback)(about_message)


async def anywhere_modal(questions: QuestionIntake, user: str) -> Block:
    """Return the form for a question from anywhere, or why the person may ask nowhere."""
    try:
        await questions.may_ask_somewhere(user)
    except NotPermitted as refusal:
        return modals.cannot_modal(None, str(refusal))
    return modals.ask_anywhere_modal()


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
    away = about.where == modals.MODAL_ONLY_ME
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
                return modals.MODAL_ONLY_ME
    except (TimeoutError, SlackApiError, *TRANSPORT_ERRORS):  # checked again on submission
        return ""
    return modals.MODAL_THREAD if channel.startswith("D") else ""


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
) -> dict[str, str]:
    """Ask the question of the form. Return its errors, by block id."""
    if not form.task and not clean(form.question):
        return modals.question_error(words.EMPTY_QUESTION())
    if form.about is None and form.where == modals.MODAL_CHANNEL and not form.channel:
        return modals.place_error(form, words.CHOOSE_CHANNEL())
    try:
        await questions.ask(await _question(form, user, key, questions))
    except NotPermitted as refusal:
        return modals.place_error(form, str(refusal))
    except SlackApiError:
        return modals.question_error(words.TRY_AGAIN())
    return {}


def _needs_no_thread(form: Submission) -> bool:
    """Return whether the question is about one message only.

    Such a question is possible where the bot is not a member, as in people's direct messages.
    """
    return form.about is not None and (form.task is None or form.task.about_message)


async def _question(form: Submission, user: str, key: str, questions: QuestionIntake) -> Question:
    if form.about is None:
        to_channel = form.where == modals.MODAL_CHANNEL and form.channel
        return Question(
            entry=Entry.GLOBAL_SHORTCUT,
            user=user,
            channel=to_channel or await questions.direct_channel(user),
            thread=None,
            text=form.question,
            key=key,
        )
    about, task, only_me = form.about, form.task, form.where == modals.MODAL_ONLY_ME
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
