"""`bot dev`: the bot in a local workspace; without a model key, the demo answers."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.app.features import all_features, operator_parts
from bot.app.process import bot
from bot.cli import local_models
from bot.cli.start import DEV_DATA, DEV_PREFIX, DEV_STARTED_IN
from bot.core.errors import ConfigurationError
from bot.dev.demo import demo
from bot.dev.model import ModelRequest, Reply
from bot.dev.page import mount
from bot.dev.sample_database import build
from bot.dev.workspace import Workspace
from bot.dev.workspace.store.seed import add_alerts
from bot.evals.models import local_model
from bot.evals.trials import run_trial_case
from bot.services.sql_databases import DatabaseConfig
from bot.settings import Settings
from bot.slack.intake.manifest import manifest

Brain = Callable[[ModelRequest], Reply]

_DEMO_NOTICE = (
    "This is a demo: answers follow fixed plans, because no model is set. Everything else is real. "
    "Set OPENAI_API_KEY, or OPENAI_BASE_URL for your own server, and start again."
)
_DEMO = "demo"
_LISTENER = "whisper-1"  # which the local model server plays
_SCRIPT_NOTICE = "Answers follow a script; everything else is real."
_NO_PORT = {
    errno.EADDRINUSE: "is in use. Stop the program that uses it",
    errno.EACCES: "needs permissions that you do not have. Ask the admin of this machine",
}
_PAUSE = 0.35  # seconds before each reply of the demo, so that people can follow it
_CHUNK_DELAY = 0.025  # seconds between the events of a reply


@dataclass(frozen=True, slots=True)
class Running:
    """A running `bot dev`: the address of its page, its data folder unless REDIS_URL is set, and a line
    for each local model server that could be used instead of the demo, and for what features lack."""

    url: str
    data_dir: Path | None
    offers: Sequence[str] = ()


@asynccontextmanager
async def dev(
    settings: Settings,
    *,
    port: int,
    script: Brain | None = None,
    model_ports: Mapping[int, str] = local_models.USUAL_PORTS,
) -> AsyncGenerator[Running]:
    """Run the bot in a local workspace, with `script` instead of a model if given.

    Without a model, look for servers on `model_ports` and list them; none is used automatically.
    Raises ConfigurationError when the port is taken.
    """
    notice, offers = "", list[str]()
    async with AsyncExitStack() as stack:
        if script:
            notice = _SCRIPT_NOTICE
            settings = await stack.enter_async_context(_with_brain(settings, script, "script"))
        elif not settings.has_model:
            notice, offers = _DEMO_NOTICE, await local_models.offers(model_ports)
            settings = await stack.enter_async_context(_with_brain(settings, demo, _DEMO))
        if notice:
            clips = type(settings.clips)(model=_LISTENER, price={})  # nothing is paid
            settings = settings.model_copy(update={"clips": clips})
        settings = stack.enter_context(_with_sample_data(settings))
        workspace = await stack.enter_async_context(_workspace(port, notice))
        connected = settings.model_copy(
            update={
                "slack_bot_token": SecretStr(workspace.bot_token),
                "slack_app_token": SecretStr(workspace.app_token),
                "slack_signing_secret": SecretStr(workspace.signing_secret),
                "slack_api_url": workspace.api_url,
                "port": None,  # PORT is the port of the page here
            }
        )
        await stack.enter_async_context(bot(connected, run_case=run_trial_case))
        data_dir = None if connected.redis_url else connected.bot_data_dir
        hints = [part.hint for part in operator_parts(all_features(settings)) if part.hint]
        yield Running(workspace.url, data_dir, [*offers, *hints])


def _with_brain(
    settings: Settings, brain: Brain, name: str
) -> AbstractAsyncContextManager[Settings]:
    def paced(request: ModelRequest) -> Reply:
        return replace(brain(request), pause=_PAUSE)

    return local_model(
        settings, paced, name=name, chunk_delay=_CHUNK_DELAY, counts_tokens=name != _DEMO
    )


@contextmanager
def _with_sample_data(settings: Settings) -> Generator[Settings]:
    """Yield `settings` with a sample database and a data folder that are deleted at the end."""
    with tempfile.TemporaryDirectory(prefix=DEV_PREFIX) as folder:
        (Path(folder) / DEV_STARTED_IN).write_text(str(Path.cwd()))
        sample = Path(folder) / "sample.sqlite"
        build(sample)
        url = SecretStr(f"sqlite:///{sample}")
        config = DatabaseConfig(url=url, description="Sample: customers, orders, support tickets.")
        databases = settings.databases or {"sample": config}
        yield settings.model_copy(
            update={"databases": databases, "bot_data_dir": Path(folder) / DEV_DATA}
        )


@asynccontextmanager
async def _workspace(port: int, notice: str) -> AsyncGenerator[Workspace]:
    app_manifest = manifest()
    features = app_manifest["features"]

    def add_page(app: Any, workspace: Workspace) -> None:
        mount(
            app,
            workspace,
            notice=notice,
            shortcuts=features["shortcuts"],
            commands=features["slash_commands"],
            functions=app_manifest["functions"],
        )

    try:
        name = features["bot_user"]["display_name"]
        async with Workspace.open(port=port, mount=add_page, app_name=name) as workspace:
            # Not in the manifest, so that Slack shows no Stop button of its own.
            workspace.state.not_subscribed.add("agent_session_stopped")
            await workspace.say(*add_alerts(workspace.state))
            yield workspace
    except OSError as error:
        if error.errno not in _NO_PORT:
            raise
        raise ConfigurationError(
            f"Port {port} {_NO_PORT[error.errno]}, or choose another: bot dev --port 3001"
        ) from None
