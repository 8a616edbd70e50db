"""What listens to people in the workspaces, and hands on what they ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from slack_bolt.async_app import AsyncApp

from bot.core.background import alongside
from bot.many_workspaces import ManyWorkspaces
from bot.runners import budget_policy, offered
from bot.runs.channels import Channels
from bot.runs.engine import Engine
from bot.runs.preferences import PreferenceBook
from bot.runs.requests import Requests
from bot.runs.watching import Submit
from bot.serving import Serving
from bot.settings import Settings, secret
from bot.slack.admin import Admin
from bot.slack.app import Listener, front_door, slack_app
from bot.slack.asking import Asking
from bot.slack.background import Background
from bot.slack.catching_up import CatchingUp
from bot.slack.client import DeadlineClient
from bot.slack.deciding import Deciding
from bot.slack.edits import Edits
from bot.slack.home_tab import HomeTab
from bot.slack.intake import Intake
from bot.slack.listeners import register
from bot.slack.schedules import WorkspaceSchedules
from bot.slack.scheduling import Scheduling
from bot.slack.socket_mode import socket_mode
from bot.slack.stopping import Stopping
from bot.slack.workspaces import PerWorkspace, Slack, Workspaces, in_each
from bot.store import Stores
from bot.toolkit.mcp import McpServers


@asynccontextmanager
async def listening(
    settings: Settings,
    stores: Stores,
    there: Workspaces,
    engine: Engine,
    told: Serving,
    many: ManyWorkspaces | None,
) -> AsyncGenerator[None]:
    """Events, commands and clicks are taken in for the length of the context, over Socket Mode or HTTP;
    what was missed is looked for, and what was scheduled is asked."""
    signing = settings.slack_signing_secret
    signing_secret = signing.get_secret_value() if signing else ""
    async with AsyncExitStack() as stack:
        background = await stack.enter_async_context(Background())
        requests = Requests(stores, engine)
        submit: Submit = requests.submit
        for each in told.watches:
            submit = each.submits(submit)

        def listener(slack: Slack) -> Listener:
            app = slack_app(slack.clients, slack.identity, signing_secret=signing_secret)
            intake, asking = _add_listeners(
                *(app, settings, stores, slack, requests, submit, background)
            )
            return Listener(slack, app, intake, asking)

        listeners = PerWorkspace(there, listener)
        taken_out = many.removals.taken_out if many else None
        app = front_door(listeners, signing_secret=signing_secret, taken_out=taken_out)
        if many:
            stack.enter_context(told.install_pages.served_by(many.flow))
        if settings.slack_app_token:
            token = settings.slack_app_token.get_secret_value()
            client = DeadlineClient(deadline=20, base_url=settings.slack_api_url)
            sockets = await stack.enter_async_context(socket_mode(app, token, web_client=client))
            told.health.needs("slack", sockets.is_connected)
        else:
            why = "without SLACK_APP_TOKEN events come over HTTP and must be signed"
            secret(signing, "SLACK_SIGNING_SECRET", why)
            await stack.enter_async_context(told.slack_requests.taken_by(app, signing_secret))
        if settings.catch_up.every_minutes:

            async def catch_up(team: str) -> None:
                if listener := await listeners.of(team):
                    await _catching_up(settings, stores, listener).run()

            watching = in_each(there.teams, catch_up)
            await stack.enter_async_context(alongside(watching, name="catching up"))

        async def ask_what_is_due(team: str) -> None:
            if listener := await listeners.of(team):
                clients, asking = listener.slack.clients, listener.asking
                await Scheduling(team, stores.schedules, asking, clients).run()

        due = in_each(there.teams, ask_what_is_due)
        await stack.enter_async_context(alongside(due, name="schedules"))
        yield


def _catching_up(settings: Settings, stores: Stores, listener: Listener) -> CatchingUp:
    return CatchingUp(
        settings.catch_up,
        client=listener.slack.clients.reads,
        identity=listener.slack.identity,
        intake=listener.intake,
        turns=stores.catch_ups,
        find=stores.mailbox.find,
    )


def _add_listeners(
    app: AsyncApp,
    settings: Settings,
    stores: Stores,
    slack: Slack,
    requests: Requests,
    submit: Submit,
    background: Background,
) -> tuple[Intake, Asking]:
    channels = Channels(settings.channels, stores.channels)
    stopping = Stopping(
        identity=slack.identity,
        clients=slack.clients,
        people=slack.people,
        policy=settings.access,
        channels=channels,
        running=requests,
    )
    intake = Intake(
        identity=slack.identity,
        clients=slack.clients,
        people=slack.people,
        policy=settings.access,
        channels=channels,
        access=slack.access,
        threads=stores.threads,
        submit=submit,
        stopping=stopping,
        status=slack.status,
        background=background,
    )
    edits = Edits(
        identity=slack.identity,
        people=slack.people,
        policy=settings.access,
        channels=channels,
        intake=intake,
        asked=requests,
    )
    asking = Asking(
        identity=slack.identity,
        clients=slack.clients,
        people=slack.people,
        policy=settings.access,
        channels=channels,
        access=slack.access,
        intake=intake,
        load=requests.whole,
    )
    budgets = budget_policy(settings, stores)
    schedules = WorkspaceSchedules(slack.identity.team, stores.schedules, slack.clients)
    admin = Admin(
        one_of_many=settings.slack_client_id is not None,
        identity=slack.identity,
        people=slack.people,
        policy=settings.access,
        budgets=budgets,
        channels=channels,
        servers=McpServers(settings.mcp_servers, stores.mcp),
        schedules=schedules,
        tools=Counter(each.group for each in offered(settings).tools),
        is_tool=lambda name: name in settings.mcp_servers or offered(settings).has(name),
        record=stores.audit.append,
    )
    home_tab = HomeTab(
        slack.identity,
        slack.clients,
        background,
        people=slack.people,
        usage_of=budgets.of_person,
        admin=admin,
        memories=stores.memories,
        schedules=schedules,
        preferences=PreferenceBook(stores.preferences),
    )
    register(
        app,
        identity=slack.identity,
        clients=slack.clients,
        intake=intake,
        edits=edits,
        asking=asking,
        submit=submit,
        access=slack.access,
        stopping=stopping,
        keep_feedback=stores.feedback,
        admin=admin,
        deciding=Deciding(slack.identity.team, slack.people, requests.asked, requests.decide),
        home_tab=home_tab,
        status=slack.status,
        background=background,
    )
    return intake, asking
