"""Entry point of `bot` and `python -m bot`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from bot.cli import WRONG_USAGE, cli
from bot.core.errors import (
    ConfigurationError,
    SlackUnavailable,
    StoreUnavailable,
    ToolDefinitionError,
)
from bot.core.process_signals import treat_signals_as_ctrl_c
from bot.text.invisible_text import escaped
from bot.text.redaction import redacted

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
        print(f"bot: {escaped(str(error))}", file=sys.stderr)
        sys.exit(WRONG_USAGE)
    except SlackUnavailable as error:
        print(f"bot: {escaped(str(error))}", file=sys.stderr)
        sys.exit(UNAVAILABLE)
    except StoreUnavailable as error:
        why = escaped(redacted(str(error.__cause__ or "")))
        print(f"bot: {error} {why} See REDIS_URL, and `bot doctor`.", file=sys.stderr)
        sys.exit(UNAVAILABLE)
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(INTERRUPTED)
    except Exception:
        if not logging.getLogger().handlers:  # before logs are set up nobody has said anything
            raise
        log.critical("The process ends by an error of its own", exc_info=True)
        sys.exit(UNAVAILABLE)


if __name__ == "__main__":
    main()
