"""Entry point of `bot` and `python -m bot`."""

from __future__ import annotations

import logging
import os
import sys
from typing import NoReturn

from bot.cli import WRONG_USAGE, cli
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
    treat_signals_as_ctrl_c()
    os.umask(0o077)  # files of the bot are readable only by its own user
    try:
        cli()
    except (ConfigurationError, ToolDefinitionError) as error:
        _fail(str(error), WRONG_USAGE)
    except SlackUnavailable as error:
        _fail(str(error), UNAVAILABLE)
    except StoreUnavailable as error:
        _fail(f"{error} {error.__cause__ or ''} See REDIS_URL, and `bot doctor`.", UNAVAILABLE)
    except SystemExit:
        raise
    except BaseException as error:
        if _is_interruption(error):
            sys.exit(INTERRUPTED)
        if not isinstance(error, Exception) or not logging.getLogger().handlers:
            raise  # before logs are set up nobody has said anything
        log.critical("The process ends by an error of its own", exc_info=True)
        sys.exit(UNAVAILABLE)


def _fail(why: str, exit_code: int) -> NoReturn:
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
