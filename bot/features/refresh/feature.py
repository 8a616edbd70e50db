"""The feature: *Refresh* under answers whose figures can be read again."""

from __future__ import annotations

from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features import Feature
from bot.features.refresh import words
from bot.features.refresh.actions import RefreshResults, ResultPoster
from bot.features.refresh.jobs import REFRESH, RefreshJobs
from bot.features.refresh.listeners import RefreshListeners
from bot.features.refresh.message import START
from bot.features.refresh.run_part import RefreshPart
from bot.features.refresh.store import RefreshStore
from bot.runs.queue.engine import Handle
from bot.runs.run_deps import RunDeps
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.schedules import WorkspaceSchedules
from bot.slack.ui.buttons import AnswerButton
from bot.store.families import Family


def refresh() -> Feature:
    """Return the feature."""
    return Feature(
        "refresh",
        stored=tuple(map(Family, FAMILIES)),
        run_part=RefreshPart,
        jobs={REFRESH: _job},
        slack_part=RefreshListeners.of,
        buttons=(REFRESH_ANSWER,),
    )


def _job(deps: RunDeps, slack: Slack) -> Handle:
    stores = deps.stores
    schedules = WorkspaceSchedules(slack.identity.team, stores.schedules, slack.clients)
    poster = ResultPoster(slack.clients, slack.identity, RefreshStore.of(stores))
    results = RefreshResults(poster, stores.runs.answer, stores.leases, schedules)
    return RefreshJobs(deps, results.show).run


FAMILIES = ("refresh", "refresh-good", "refresh-posted", "refreshing")


def _refreshable_run(outcome: Outcome, request: Request) -> str | None:
    """Return the id of a run whose answer can be refreshed, and is not private: everybody would read
    what is posted of it."""
    return outcome.run_id if outcome.refreshable and not request.private else None


REFRESH_ANSWER = AnswerButton(
    words.REFRESH, START, _refreshable_run, asks_again=True, hint=words.REFRESH_HINT
)
