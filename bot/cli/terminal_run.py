"""Run of `bot ask` in the terminal."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from bot.app.features import all_features, wait_kinds
from bot.app.run_setup import open_runner, redis_and_stores
from bot.cli.console import ConsoleConversation, anybody, console_surface, is_interactive
from bot.cli.output import say_left_out
from bot.cli.process_signals import end_soon, ending_signals
from bot.cli.stdin import file_name
from bot.core.answers import GIVEN, Answer, stored_name
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.core.ids import new_id
from bot.core.outcome import Outcome
from bot.core.request import Entry, Request
from bot.features import ServiceDeps
from bot.runs.runner import Runner
from bot.services.given_schema import given_model
from bot.settings import Settings
from bot.store import Stores
from bot.telemetry.tracing import telemetry


async def ask_once(
    settings: Settings,
    question: str,
    files: list[Path],
    schema: dict[str, Any] | None,
    *,
    piped: bytes = b"",
    as_json: bool,
    stream: bool,
    dry_run: bool,
) -> Outcome:
    """Answer on stdout, using a temporary Redis. A signal to end stops the run cleanly.

    `piped` is what came from stdin, a file as `files` are unless it is empty.
    Servers with personal accounts are left out: an account would be gone with the Redis.
    """
    say_left_out(settings)
    settings = settings.without_personal_servers
    features = all_features(settings)
    conversation = ConsoleConversation.with_files(files, Path.cwd())
    if piped:
        conversation.attach(file_name(piped), piped)
    async with (
        telemetry(settings.otel_exporter_otlp_endpoint) as observers,
        redis_and_stores(settings, data_dir=None) as (_, stores),
        open_runner(
            settings,
            stores,
            conversation,
            console_surface(
                as_json=as_json, stream=stream, waits=wait_kinds(features, ServiceDeps(stores))
            ),
            stream=stream,
            dry_run=dry_run,
            observers=observers,
            features=features,
            reaches_asker=not as_json and is_interactive(),
            may_decide=anybody,
            may_administer=anybody,
        ) as runner,
        stores.signals.listening(),
    ):
        return await _answered(_request(question, conversation, schema), runner, stores)


def _request(
    question: str, conversation: ConsoleConversation, schema: dict[str, Any] | None
) -> Request:
    name = new_id("ask")
    return Request(
        entry=Entry.HEADLESS,
        team="local",
        channel="terminal",
        thread=name,
        ts=name,
        user="local",
        place="a terminal",
        text=question,
        files=tuple(ref for ref, _ in conversation.files.values()),
        response_type=GIVEN if schema is not None else stored_name(Answer),
        response_schema=schema,
    )


async def _answered(request: Request, runner: Runner, stores: Stores) -> Outcome:
    loop, own = asyncio.get_running_loop(), asyncio.current_task()
    stopping: list[asyncio.Task[Any]] = []

    def interrupted() -> None:
        if stopping and own:  # second signal: end now, with all processes that tools started
            own.cancel()
            end_soon()
            return
        cancel = stores.signals.request_cancel(request.thread_key, request.id, "local")
        stopping.append(loop.create_task(cancel))

    await stores.mailbox.submit(
        request, event_id=request.id
    )  # only a queued request can be stopped
    for signal_number in ending_signals():
        loop.add_signal_handler(signal_number, interrupted)
    outcome = await runner.answer(request)
    await asyncio.gather(*stopping)
    return outcome


def read_schema(file: Path) -> dict[str, Any]:
    """Return the schema in `file`. Raises ConfigurationError if the model service does not support it."""
    owner = f"--schema {file}"
    try:
        schema = json.loads(file.read_bytes())
        asyncio.run(given_model(schema, owner=owner))
    except OSError as error:
        raise ConfigurationError(f"{owner}: {error.strerror}.") from None
    except ValueError as error:
        raise ConfigurationError(f"{owner}: not valid JSON: {error}.") from None
    except RecursionError:
        raise ConfigurationError(f"{owner}: nested too deeply.") from None
    except ToolDefinitionError as error:
        raise ConfigurationError(str(error)) from None
    return dict(schema)
