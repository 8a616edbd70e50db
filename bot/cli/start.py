"""Start of a command: its settings and logging."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from bot.settings import Settings

DEV_PREFIX = "bot-dev-"
"""Begins the name of the temporary folder of a `bot dev`, which has its data and the two below."""

DEV_DATA = "data"
DEV_STARTED_IN = "started-in"  # a file with the folder in which it was started


T = TypeVar("T")

log = logging.getLogger(__name__)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine of a command."""
    import asyncio  # which help does not need

    return asyncio.run(work)


def configured(*, may_lack_variables: bool = False) -> Settings:
    """Load the settings and configure logging. Raises ConfigurationError, as `load_settings` does."""
    from bot.settings import load_settings, unread_lines
    from bot.telemetry import logs

    logging.getLogger("dotenv").setLevel(logging.ERROR)  # says in several lines what is said below
    settings = load_settings(may_lack_variables=may_lack_variables)
    logs.configure(
        settings.bot_log_format, words=settings.bot_log_words, file=settings.bot_log_file
    )
    for number in unread_lines():
        log.warning(".env, line %d is no NAME=value, and is ignored", number)
    return settings


def configured_beside_dev() -> Settings:
    """Load the settings of an operator command. Raises ConfigurationError.

    The data of a `bot dev` is elsewhere, and goes with it. If one runs in this folder, its data is
    used, unless something else is configured or a bot has stored data here.
    """
    from bot.cli.output import print_lines

    settings = configured()
    is_set = "bot_data_dir" in settings.model_fields_set or settings.redis_url
    if is_set or settings.bot_data_dir.exists():
        return settings
    here = [data_dir for data_dir, folder in running_devs() if folder == Path.cwd()]
    if len(here) != 1:
        return settings
    print_lines(["The data is that of the `bot dev` in this folder."], to_stderr=True)
    return settings.model_copy(update={"bot_data_dir": here[0]})


def running_devs() -> Iterator[tuple[Path, Path]]:
    """Yield the data of each `bot dev` of this user that runs, and the folder it was started in."""
    from bot.store.embedded import running_redis

    for folder in Path(tempfile.gettempdir()).glob(f"{DEV_PREFIX}*"):
        with suppress(OSError):
            is_ours = folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
            if is_ours and running_redis(folder / DEV_DATA / "redis"):
                yield folder / DEV_DATA, Path((folder / DEV_STARTED_IN).read_text())


def quiet_connections() -> None:
    """Log no failures to connect, for commands that print them themselves."""
    logging.getLogger("bot.mcp").setLevel(logging.ERROR)
    logging.getLogger("bot.toolkit.tool_clients").setLevel(logging.CRITICAL)
