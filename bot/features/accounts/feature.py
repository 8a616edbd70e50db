"""The feature: MCP servers with accounts, of each person (`account = "person"`) or of the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bot.features import Feature, ServiceDeps
from bot.features.accounts.hook import ACCOUNT, SHARE, AccountsPart
from bot.features.accounts.service import AccountService
from bot.features.accounts.slack.cards import SHARE_WAIT, account_wait
from bot.features.accounts.slack.listeners import AccountListeners
from bot.mcp import McpServer
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui.approval_kinds import WaitKind
from bot.store.families import Family

STORED = (
    Family("account"),
    Family("account-asked"),
    Family("account-audiences"),
    Family("account-client"),
    Family("account-pending"),
    Family("account-tries"),
    Family("account-changes", "hash"),
    Family("account-tickets", "set"),
    Family("account-flow", is_brief=True),  # a connection under way in a browser, as the next two
    Family("account-proof", is_brief=True),
    Family("account-ticket", is_brief=True),
    Family("account-revocation", is_brief=True),  # tokens that are gone within a day
    Family("account-revocations", is_brief=True),
)


def accounts(servers: Mapping[str, McpServer], keys: str | None, public_url: str | None) -> Feature:
    """Return the feature for these servers; without any it only ends what waits since before.

    `keys` are those of BOT_ENCRYPTION_KEYS, and browsers come back to `public_url`.
    """
    if not servers:
        return Feature(
            "accounts",
            stored=STORED,
            run_part=partial(AccountsPart, None),
            waits={ACCOUNT: lambda _deps: account_wait(None), SHARE: lambda _deps: SHARE_WAIT},
        )
    service = AccountService(servers, keys, public_url)

    def run_part(run: Run) -> RunPart:
        return AccountsPart(service.accounts(run.deps.stores), run)

    def slack_part(app: SlackApp) -> SlackPart:
        return AccountListeners(service.people(app.stores, app.slack), app)

    def wait(deps: ServiceDeps) -> WaitKind:
        if deps.slack is None:
            return account_wait(None)
        return account_wait(service.people(deps.stores, deps.slack).connect_link)

    return Feature(
        "accounts",
        stored=STORED,
        operator_part=service,
        run_part=run_part,
        slack_part=slack_part,
        mcp_doors=service.mcp_doors,
        process=service.process,
        intake=service.intake,
        pages=service.pages.routes,
        waits={ACCOUNT: wait, SHARE: lambda _deps: SHARE_WAIT},
    )
