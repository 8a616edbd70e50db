"""The feature: people connect accounts of their own to MCP servers with `account = "person"`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bot.features import Feature, ServiceDeps
from bot.features.accounts.run_part import AccountsPart
from bot.features.accounts.service import AccountService
from bot.features.accounts.slack.listeners import AccountListeners
from bot.features.accounts.slack.people import PeopleAccounts
from bot.mcp import McpServer
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui.approval_kinds import ConnectLink, no_connect_link


def accounts(servers: Mapping[str, McpServer], keys: str | None, public_url: str | None) -> Feature:
    """Return the feature for these servers; without any it only ends what waits since before.

    `keys` are those of BOT_ENCRYPTION_KEYS, and browsers come back to `public_url`.
    """
    if not servers:
        return Feature("accounts", run_part=partial(AccountsPart, None))
    service = AccountService(servers, keys, public_url)

    def run_part(run: Run) -> RunPart:
        return AccountsPart(service.accounts(run.deps.stores), run)

    def slack_part(app: SlackApp) -> SlackPart:
        return AccountListeners.of(service.accounts(app.stores), service.store(app.stores), app)

    def connect_link(deps: ServiceDeps) -> ConnectLink:
        stores = deps.stores
        if deps.slack is None:
            return no_connect_link
        owners, record = service.store(stores).owners, stores.audit.append
        return PeopleAccounts(deps.slack, service.accounts(stores), owners, record).connect_link

    return Feature(
        "accounts",
        check=service.check,
        run_part=run_part,
        slack_part=slack_part,
        personal_servers=service.personal_servers,
        process=service.process,
        intake=service.intake,
        pages=service.pages.routes,
        ending=service,
        sealed=service,
        checks=service.checks,
        connect_link=connect_link,
    )
