"""Long-running commands, which run the bot until a signal stops them."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.output import print_lines
from bot.cli.process_signals import ending_signals
from bot.cli.start import configured, run
from bot.core.errors import BotError, ConfigurationError
from bot.core.garbage import look_seldom_for_garbage

if TYPE_CHECKING:
    from bot.cli.dev import Running
    from bot.runs.trials import CaseRun
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
    """Try the bot in your browser, without Slack and without keys."""
    from bot.cli.dev import dev as in_workspace
    from bot.evals.cases import read_cases
    from bot.evals.models import Walkthroughs

    played = Walkthroughs(read_cases([script])) if script else None

    def announce(running: Running) -> None:
        lines = [f"Open {running.url} and ask something. Ctrl-C stops."]
        if running.data_dir:
            lines.append(
                "Run `bot usage`, `bot audit` and others in this folder. Elsewhere set "
                f"BOT_DATA_DIR={running.data_dir}"
            )
        print_lines([*lines, *running.offers])

    run(_run_until_signal(in_workspace(configured(), port=port, script=played), announce))


def serve() -> None:
    """Run the bot in Slack, in one process."""
    _serve(configured, run_case=_run_trial_case)


def web() -> None:
    """Receive Slack's events for the workers. Needs REDIS_URL."""
    _serve(_with_shared_redis, work=False)


def worker() -> None:
    """Answer what `bot web` receives. Needs REDIS_URL."""
    _serve(_with_shared_redis, intake=False, run_case=_run_trial_case)


async def _run_trial_case(*case: Any, **how: Any) -> CaseRun:
    """See `run_trial_case`, which loads what evaluates answers."""
    from bot.evals.trials import run_trial_case

    return await run_trial_case(*case, **how)


def _serve(load: Callable[[], Settings], **parts: Any) -> None:
    """Run the bot until a signal ends it. SIGHUP makes it take up changed settings."""
    from bot.app.process import bot

    run(_run_with_settings(load, lambda settings: bot(settings, **parts)))


async def _run_with_settings(
    load: Callable[[], Settings],
    opened: Callable[[Settings], AbstractAsyncContextManager[dict[str, str]]],
) -> None:
    """Run the bot, and on SIGHUP again with the settings as they are then.

    It drains in between as at its end, so nothing is lost: runs go on from their save points.
    Settings with which it cannot run are logged, and the old ones stay.
    """
    # The SIGHUP of a terminal says that it is closed.
    signals, worked = _Signals(reloads=not sys.stdin.isatty()), None
    settings: Settings | None = load()
    while settings and not signals.is_ending:
        try:
            async with opened(settings) as parts:
                look_seldom_for_garbage()
                log.info("ready: %s", "; ".join(parts.values()), extra=parts)
                worked, settings = settings, await signals.next_settings(load, settings)
                log.info("stopping: runs are requeued")
            if settings:
                gc.unfreeze()  # what belonged to the old settings may be garbage now
        except BotError as error:
            if worked is None or settings is worked:
                raise
            log.warning("cannot start with the new settings, so the old ones stay: %s", error)
            settings = worked
    log.info("stopped")


class _Signals:
    """The signals to this process: to end, or to take up changed settings.

    A second signal to end ends it at once, after requeuing what it can in a few seconds. SIGHUP
    takes up settings if it `reloads`, and else ends it.
    """

    def __init__(self, *, reloads: bool = False) -> None:
        import asyncio  # which help does not need

        self._loop = asyncio.get_running_loop()
        self._main = asyncio.current_task()
        self._ending = False
        self._hung_up = False
        self._news = asyncio.Event()
        for signal_number in ending_signals():
            is_reload = reloads and signal_number is signal.SIGHUP
            self._loop.add_signal_handler(signal_number, self._hang_up if is_reload else self._end)

    def _end(self) -> None:
        if self._ending and self._main:
            self._main.cancel()
            # Threads that never end would otherwise keep the process alive.
            self._loop.call_later(_LAST_SECONDS, os._exit, _ENDED_BY_SIGNAL)
        self._ending = True
        self._news.set()

    def _hang_up(self) -> None:
        self._hung_up = True
        self._news.set()

    @property
    def is_ending(self) -> bool:
        """Whether the process is to end."""
        return self._ending

    async def end(self) -> None:
        """Wait for a signal to end."""
        while not self._ending:
            await self._news.wait()
            self._news.clear()

    async def next_settings(
        self, load: Callable[[], Settings], current: Settings
    ) -> Settings | None:
        """Wait for settings that differ from the `current` ones; None: the process is to end."""
        while not self._ending:
            await self._news.wait()
            self._news.clear()
            if self._hung_up and not self._ending:
                self._hung_up = False
                if changed := _changed(load, current):
                    return changed
        return None


def _changed(load: Callable[[], Settings], current: Settings) -> Settings | None:
    """Return the settings as they are now, if they differ and can be read; log what happens."""
    from bot.app.tool_loading import check_folders

    try:
        new = load()
        check_folders(new.tools.paths)
    except ConfigurationError as error:
        log.warning("the old settings stay: %s", error)
        return None
    names = current.differing(new)
    if not names:
        log.info("the settings are as they were; code and the environment need a restart")
        return None
    log.info("taking up the settings %s", ", ".join(names))
    return new


async def _run_until_signal(
    running: AbstractAsyncContextManager[Any], ready: Callable[[Any], None]
) -> None:
    """Run until the first signal to end, then shut down cleanly."""
    signals = _Signals()
    async with running as entered:
        ready(entered)
        await signals.end()
        log.info("stopping: runs are requeued")
    log.info("stopped")


def _with_shared_redis() -> Settings:
    """Load the settings.

    Raises ConfigurationError without the Redis that several processes share.
    """
    settings = configured()
    if settings.redis_url is None:
        raise ConfigurationError(
            "REDIS_URL is not set: web and worker processes share a Redis. "
            "`bot serve` runs everything in one process without one."
        )
    return settings
