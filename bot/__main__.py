"""Entry point of `bot` and `python -m bot`."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import NoReturn

from bot.cli import WRONG_USAGE, cli
from bot.cli.output import discard
from bot.cli.process_signals import treat_signals_as_ctrl_c
from bot.core.errors import (
    ConfigurationError,
    SlackUnavailable,
    StoreUnavailable,
    ToolDefinitionError,
)

log = logging.getLogger(__name__)

UNAVAILABLE = 1
INTERRUPTED = 130


def main() -> None:
    """Run the command line; print configuration errors as one line instead of a traceback."""
    _open_closed_streams()
    treat_signals_as_ctrl_c()
    os.umask(0o077)  # files of the bot are readable only by its own user
    try:
        cli()
    except (ConfigurationError, ToolDefinitionError) as error:
        _fail(str(error), WRONG_USAGE)
    except SlackUnavailable as error:
        _fail(str(error), UNAVAILABLE)
    except StoreUnavailable as error:
        _fail(_of_redis(error.__cause__) or str(error), UNAVAILABLE)
    except SystemExit:
        raise
    except BrokenPipeError:  # of what reads stdout, as `head` does
        discard(sys.stdout)
        sys.exit(UNAVAILABLE)
    except BaseException as error:
        if _is_interruption(error):
            sys.exit(INTERRUPTED)
        if why := _of_redis(error):
            _fail(why, WRONG_USAGE)
        if not isinstance(error, Exception) or not logging.getLogger().handlers:
            raise  # before logs are set up nobody has said anything
        log.critical("The process ends by an error of its own", exc_info=True)
        sys.exit(UNAVAILABLE)


def _open_closed_streams() -> None:
    """Let a stream that was closed before the start lead nowhere, so that no file gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - for the whole process


def _of_redis(error: BaseException | None) -> str:
    """Return one line about an error of Redis, "" for another one."""
    if error is None or not type(error).__module__.startswith("redis."):
        return ""
    from bot.store.pools import why_unusable

    cause, fix = why_unusable(error)
    return f"Redis {cause}; {fix}."


def _fail(why: str, exit_code: int) -> NoReturn:
    """Print the line and end; BOT_LOG_WORDS=true logs the traceback before it."""
    logging.getLogger("bot.words").debug("The command fails", exc_info=sys.exception())
    # Help needs none of these.
    from bot.text.invisible_text import escaped
    from bot.text.redaction import redacted

    print(f"bot: {escaped(redacted(why))}", file=sys.stderr)
    sys.exit(exit_code)


def _is_interruption(error: BaseException) -> bool:
    import asyncio  # which help does not need

    return isinstance(error, KeyboardInterrupt | asyncio.CancelledError)


if __name__ == "__main__":
    main()
