"""Long-running commands, which run the bot until a signal stops them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.output import print_lines
from bot.cli.start import configured
from bot.core.errors import ConfigurationError
from bot.core.process_signals import ending_signals

if TYPE_CHECKING:
    from bot.cli.dev import Running
    from bot.settings import Settings

log = logging.getLogger(__name__)

_LAST_SECONDS = 3.0
_ENDED_BY_SIGNAL = 130


def dev(
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65_535, envvar="PORT", help="Port of the page; 0 picks a free one."
        ),
    ] = 3000,
    script: Annotated[
        Path | None,
        typer.Option(help="Evaluation cases to replay instead of using a model."),
    ] = None,
) -> None:
    """Try the bot in a local, Slack-like workspace in your browser. Needs no accounts or keys."""
    from bot.cli.dev import dev as in_workspace
    from bot.evals.reading import read_cases
    from bot.evals.walkthrough import Walkthroughs

    played = Walkthroughs(read_cases([script])) if script else None

    def announce(running: Running) -> None:
        lines = [f"Open {running.url} and ask something. Ctrl-C stops."]
        if running.data_dir:
            lines.append(
                f"For `bot usage`, `bot audit` and others, set BOT_DATA_DIR={running.data_dir}"
            )
        print_lines([*lines, *running.offers])

    asyncio.run(_run_until_signal(in_workspace(configured(), port=port, script=played), announce))


def serve() -> None:
    """Run everything in one process: receive Slack's events and answer them."""
    from bot.app.process import bot
    from bot.evals.lessons import try_case

    asyncio.run(_run_until_signal(bot(configured(), try_case=try_case), _ready))


def web() -> None:
    """Receive Slack's events; needs REDIS_URL and at least one worker."""
    from bot.app.process import bot

    asyncio.run(_run_until_signal(bot(_with_shared_redis(configured()), work=False), _ready))


def worker() -> None:
    """Answer requests; needs REDIS_URL. Start as many workers as you like."""
    from bot.app.process import bot
    from bot.evals.lessons import try_case

    settings = _with_shared_redis(configured())
    asyncio.run(_run_until_signal(bot(settings, intake=False, try_case=try_case), _ready))


async def _run_until_signal(
    running: AbstractAsyncContextManager[Any], ready: Callable[[Any], None]
) -> None:
    """Run until the first signal, then shut down cleanly.

    A second signal ends the process at once, after requeuing what it can in a few seconds.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()
    assert main is not None  # noqa: S101 - a coroutine runs in a task

    def on_signal() -> None:
        if stop.is_set():
            main.cancel()
            # Threads that never end would otherwise keep the process alive.
            loop.call_later(_LAST_SECONDS, os._exit, _ENDED_BY_SIGNAL)
        stop.set()

    for each in ending_signals():
        loop.add_signal_handler(each, on_signal)
    async with running as entered:
        ready(entered)
        await stop.wait()
        log.info("stopping: runs are requeued")
    log.info("stopped")


def _ready(_entered: None) -> None:
    log.info("ready")


def _with_shared_redis(settings: Settings) -> Settings:
    """Return `settings`. Raises ConfigurationError without the Redis that several processes share."""
    if settings.redis_url is None:
        raise ConfigurationError(
            "REDIS_URL is not set: web and worker processes share a Redis. "
            "`bot serve` runs everything in one process without one."
        )
    return settings
