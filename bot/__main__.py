"""The commands; `bot --help` lists them."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bot import app as building
from bot import logs, operating
from bot.console import ConsoleConversation, console_surface, exit_code
from bot.core.answers import GIVEN, Answer
from bot.core.errors import ConfigurationError, StoreUnavailable, ToolDefinitionError
from bot.core.ids import new_id
from bot.core.outcome import Outcome
from bot.core.request import Entry, Request
from bot.settings import Settings, load_settings
from bot.slack import manifest as manifests
from bot.slack.client import SlackUnavailable
from bot.toolkit.given_schema import given_model

log = logging.getLogger("bot")

cli = typer.Typer(
    no_args_is_help=True, add_completion=False, help="A Slack agent you run yourself."
)

UNAVAILABLE = 1
CONFIGURATION = 3
INTERRUPTED = 130


class Form(StrEnum):
    """How `bot manifest` prints."""

    YAML = "yaml"
    JSON = "json"
    LINK = "link"


@cli.command()
def dev(
    port: Annotated[int, typer.Option(help="Port of the page; 0 takes any.")] = 3000,
) -> None:
    """Try it: a local Slack-like workspace with its page, and the bot in it. Needs nothing."""
    from bot.dev import dev as in_workspace  # the stand-ins load only here

    def announce(url: str) -> None:
        print(f"Open {url} and ask something. Ctrl-C stops.", flush=True)

    asyncio.run(_stay(in_workspace(_settings(), port=port), announce))


@cli.command()
def serve() -> None:
    """Run everything in one process: Slack's events and the runs."""
    asyncio.run(_stay(building.bot(_settings()), _ready))


@cli.command()
def web() -> None:
    """Take requests in; needs REDIS_URL and a worker beside it."""
    asyncio.run(_stay(building.bot(_shared(_settings()), work=False), _ready))


@cli.command()
def worker() -> None:
    """Work on requests; needs REDIS_URL. Start as many as you like."""
    asyncio.run(_stay(building.bot(_shared(_settings()), intake=False), _ready))


@cli.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    file: Annotated[
        list[Path] | None, typer.Option(help="A file to work with; repeatable.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(help="A JSON schema; the result is data of it, on stdout.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole outcome as JSON.")] = False,
    stream: Annotated[bool, typer.Option(help="Show progress on stderr.")] = False,
    dry_run: Annotated[bool, typer.Option(help="Do nothing that changes anything.")] = False,
) -> None:
    """Ask once, without Slack. Exit code: 0 answered, 1 failed, 2 partial, 3 configuration,
    4 authentication, 5 out of time, 130 interrupted."""
    files = file or []
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise ConfigurationError(f"--file: there is no file {', '.join(missing)}.")
    given = _schema(schema) if schema else None
    outcome = asyncio.run(_ask(_settings(), question, files, given, as_json, stream, dry_run))
    raise typer.Exit(exit_code(outcome))


@cli.command()
def doctor() -> None:
    """Check tokens, scopes, Redis, the model, databases and clocks; says how to mend each. Exit
    code: 0 the bot can work, 1 it cannot."""
    from bot.doctor import Level, examine, print_report  # only this command needs them

    findings = asyncio.run(examine(_settings()))
    print_report(findings)
    raise typer.Exit(any(each.level is Level.PROBLEM for each in findings))


@cli.command()
def tools() -> None:
    """List the tools, and what a first request carries of them."""
    for line in _tool_lines():
        print(line)


@cli.command()
def feedback(
    limit: Annotated[int, typer.Option(min=1, help="How many, the newest first.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
) -> None:
    """List what people said of answers: thumbs and comments."""
    for line in asyncio.run(operating.feedback_lines(_settings(), limit, as_json=as_json)):
        print(line)


@cli.command()
def usage() -> None:
    """What was spent in this day and month (UTC), by workspace, channel and user."""
    for line in asyncio.run(operating.usage_lines(_settings())):
        print(line)


@cli.command()
def pause() -> None:
    """Stop all work: whatever is asked is told so, and no model is called until `bot resume`."""
    asyncio.run(operating.pause(_settings()))
    print("Paused. `bot resume` lets it work again.")


@cli.command()
def resume() -> None:
    """Take a pause back, whoever began it."""
    asyncio.run(operating.resume(_settings()))
    print("At work again.")


@cli.command()
def mcp(
    accept: Annotated[
        str | None, typer.Option(help="Accept what this server offers now, after reading it here.")
    ] = None,
) -> None:
    """List the MCP servers with their tools, and what changed since it was accepted."""
    for line in asyncio.run(operating.mcp_lines(_settings(), accept=accept)):
        print(line)


@cli.command()
def manifest(
    form: Annotated[Form, typer.Option(help="How to print it.")] = Form.YAML,
    name: Annotated[str | None, typer.Option(help="The app's name.")] = None,
    request_url: Annotated[
        str | None, typer.Option(help="Public address for HTTP events; without it Socket Mode.")
    ] = None,
) -> None:
    """Print the Slack app's manifest, or a link that creates the app."""
    content = manifests.manifest(
        name=name, socket_mode=request_url is None, request_url=request_url
    )
    forms: dict[Form, Callable[[dict[str, Any]], str]] = {
        Form.YAML: manifests.as_yaml,
        Form.JSON: lambda each: json.dumps(each, indent=2, ensure_ascii=False),
        Form.LINK: manifests.create_app_link,
    }
    print(forms[form](content))


def _settings() -> Settings:
    """The settings, with logging set up as they say."""
    settings = load_settings()
    logs.configure(settings.bot_log_format)
    return settings


async def _stay(running: AbstractAsyncContextManager[Any], ready: Callable[[Any], None]) -> None:
    """Run until the first SIGINT or SIGTERM, then leave in good order; a second one ends at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()
    assert main is not None  # noqa: S101 - we are in one

    def asked() -> None:
        if stop.is_set():
            main.cancel()
        stop.set()

    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, asked)
    async with running as entered:
        ready(entered)
        await stop.wait()
        log.info("stopping: runs may end, or are handed back")
    log.info("stopped")


def _ready(_entered: None) -> None:
    log.info("ready")


async def _ask(
    settings: Settings,
    question: str,
    files: list[Path],
    schema: dict[str, Any] | None,
    as_json: bool,
    stream: bool,
    dry_run: bool,
) -> Outcome:
    """One run in the terminal, on a Redis that is gone afterwards."""
    conversation = ConsoleConversation.with_files(files, Path.cwd())
    name = new_id("ask")
    request = Request(
        entry=Entry.HEADLESS,
        team="local",
        channel="terminal",
        thread=name,
        ts=name,
        user="local",
        place="a terminal",
        text=question,
        files=conversation.refs(),
        response_type=GIVEN if schema is not None else Answer.__name__,
        response_schema=schema,
    )
    surface = console_surface(as_json=as_json, stream=stream)
    async with (
        building.redis_and_stores(settings, data_dir=None) as (_, stores),
        building.runner(
            settings, stores, conversation, surface, stream=stream, dry_run=dry_run
        ) as runner,
        stores.signals.listening(),
    ):
        loop = asyncio.get_running_loop()
        stopping: list[asyncio.Task[Any]] = []

        def interrupted() -> None:
            cancel = stores.signals.request_cancel(request.thread_key, request.id, "local")
            stopping.append(loop.create_task(cancel))

        await stores.mailbox.submit(request, event_id=request.id)  # only what waits can be stopped
        loop.add_signal_handler(signal.SIGINT, interrupted)
        outcome = await runner.answer(request, attempt=1)
        await asyncio.gather(*stopping)
        return outcome


def _schema(file: Path) -> dict[str, Any]:
    """The schema in a file, if the model service can keep to it."""
    owner = f"--schema {file}"
    try:
        schema = json.loads(file.read_bytes())
        given_model(schema, owner=owner)
    except OSError as error:
        raise ConfigurationError(f"{owner}: {error.strerror}.") from None
    except ValueError as error:
        raise ConfigurationError(f"{owner}: this is not JSON: {error}.") from None
    except RecursionError:
        raise ConfigurationError(f"{owner}: this is nested too deeply.") from None
    except ToolDefinitionError as error:
        raise ConfigurationError(str(error)) from None
    return dict(schema)


def _shared(settings: Settings) -> Settings:
    """Several processes need one Redis."""
    if settings.redis_url is None:
        raise ConfigurationError(
            "REDIS_URL is not set: web and worker processes share a Redis. "
            "`bot serve` runs everything in one process without one."
        )
    return settings


def _tool_lines() -> list[str]:
    catalogue = building.catalogue()
    sizes = {each.name: len(json.dumps(each.definition())) for each in catalogue.tools}
    lines = [f"{'name':<18} {'group':<12} {'kind':<9} {'bytes':>6}  summary"]
    for each in catalogue.tools:
        kind = "core" if each.core else "on demand"
        change = "; changes something" if each.mutates else ""
        lines.append(
            f"{each.name:<18} {each.group:<12} {kind:<9} {sizes[each.name]:>6}  "
            f"{each.summary}{change}"
        )
    first = sum(len(json.dumps(each)) for each in catalogue.always)
    total = sum(sizes.values())
    lines.append(
        f"\nA first request carries {first:,} bytes of definitions; all of them: {total:,}."
    )
    return lines


def main() -> None:
    """Entry point: errors of configuration, and tools that cannot work, are one line, not a trace."""
    try:
        cli()
    except (ConfigurationError, ToolDefinitionError) as error:
        print(f"bot: {error}", file=sys.stderr)
        sys.exit(CONFIGURATION)
    except (SlackUnavailable, StoreUnavailable) as error:
        print(f"bot: {error}", file=sys.stderr)
        sys.exit(UNAVAILABLE)
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
