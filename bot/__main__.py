"""Entry point of `bot` and `python -m bot`."""

from __future__ import annotations

import asyncio
import sys

from bot.commands import cli
from bot.core.ending import end_as_by_ctrl_c
from bot.core.errors import (
    ConfigurationError,
    SlackUnavailable,
    StoreUnavailable,
    ToolDefinitionError,
)
from bot.core.redaction import redacted

UNAVAILABLE = 1
CONFIGURATION = 3
INTERRUPTED = 130


def main() -> None:
    """Errors of configuration, and tools that cannot work, are one line, not a trace."""
    end_as_by_ctrl_c()
    try:
        cli()
    except (ConfigurationError, ToolDefinitionError) as error:
        print(f"bot: {error}", file=sys.stderr)
        sys.exit(CONFIGURATION)
    except SlackUnavailable as error:
        print(f"bot: {error}", file=sys.stderr)
        sys.exit(UNAVAILABLE)
    except StoreUnavailable as error:
        why = redacted(str(error.__cause__ or ""))
        print(f"bot: {error} {why} See REDIS_URL, and `bot doctor`.", file=sys.stderr)
        sys.exit(UNAVAILABLE)
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
