"""Trials that admins start in a form: a worker runs them, and shows that admin the result."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from slack_sdk.errors import SlackApiError

from bot.core.request import Entry, Job, Request
from bot.runs.policy.access import Person
from bot.runs.run_deps import RunDeps
from bot.runs.trials import Comparison, NotTried, TrialCase, Trials, Variant
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients
from bot.slack.intake.press import Press
from bot.slack.ui import words
from bot.slack.ui.blocks import Block, section
from bot.slack.ui.trials import compared, problem

log = logging.getLogger(__name__)

_MAX_DEATHS = 3


async def start_trial(press: Press, person: Person, kind: str, subject: str) -> None:
    """Have a worker do a job of this `kind` about the open form, on the person's budget."""
    app, view, now = press.app, str(press.view["id"]), f"{time.time():.6f}"
    request = Request(
        entry=Entry.JOB,
        team=app.team,
        channel=await app.clients.direct(press.user),
        thread=now,
        ts=now,
        user=press.user,
        author=person.name,
        text="",
        locale=person.locale,
        time_zone=person.time_zone,
        job=Job(kind=kind, subject=subject, view=view),
    )
    await app.submit(request, f"job:{view}:{press.at}")


@dataclass(frozen=True, slots=True)
class Trial:
    """A case, what it is run with `before` and `after` the change, the `form` in which the result is shown,
    and the `message` if that was closed; it is given why the trial failed, or ""."""

    case: TrialCase
    before: Variant
    after: Variant
    form: Callable[..., Block]
    message: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class TrialJobs:
    """The trials of one kind in one workspace; `read` makes them of the subjects of jobs."""

    trials: Trials
    clients: Clients
    read: Callable[[RunDeps, Request, str], Awaitable[Trial]]

    async def run(self, request: Request, deaths: int) -> None:
        """Run the trial of a job, if its admin still is one. Safe to repeat: only the result is shown again."""
        assert request.job  # noqa: S101 - that is why it is called
        deps = self.trials.deps
        if not await deps.frontend.may_administer(request.user):
            log.warning("a trial was dropped: whoever started it is no admin any more")
            return
        trial = await self.read(deps, request, request.job.subject)
        compare = partial(self.trials.compare, request, [trial.case], trial.before, trial.after)
        await _show_trial(self.clients, request, deaths, compare, trial.form, trial.message)


async def _show_trial(
    clients: Clients,
    request: Request,
    deaths: int,
    compare: Callable[[], Awaitable[Sequence[Comparison]]],
    form: Callable[..., Block],
    message: Callable[[str], str],
) -> None:
    """Run a trial, and show what it found above the `form`. If that was closed, write the `message`, which
    is given why the trial failed, or ""."""
    result, sentence = list[Block](), words.GAVE_UP() if deaths >= _MAX_DEATHS else ""
    try:
        if not sentence:
            result = [block for comparison in await compare() for block in compared(comparison)]
    except NotTried as error:
        sentence = str(error)
    view = form(*(result or [problem(sentence)]))
    await show_result(clients, request, view, message("" if result else sentence), result)


async def show_result(
    clients: Clients, request: Request, form: Block, text: str, blocks: Sequence[Block]
) -> None:
    """Show what a job found: in the `form` from which it was started, or, if that was closed, in a direct
    message with a `text` above the `blocks`. Logs what cannot be shown."""
    opened = request.job.view if request.job else ""
    try:
        await clients.writes.views_update(view_id=opened, view=form)
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.info("The form of a job was not updated: %s", type(error).__name__)
    else:
        return
    try:
        await clients.tell(request.user, text, [section(text), *blocks])
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.warning("Nobody was told what a job found: %s", type(error).__name__)
