"""`bot ask`: the same agent without Slack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.start import configured, run
from bot.core.errors import ConfigurationError


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    file: Annotated[
        list[Path] | None, typer.Option(help="A file to work with; repeatable.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(help="JSON schema of the result, printed to stdout.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the full outcome as JSON.")
    ] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Show progress on stderr.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Report changes instead of making them.")
    ] = False,
) -> None:
    """Ask once, without Slack.

    Exit code: 0 answered, 1 failed, 2 partial, 3 configuration,
    4 key refused, 5 timed out, with or without a result, 130 interrupted.
    """
    from bot.cli.console import exit_code
    from bot.cli.terminal_run import ask_once, read_schema
    from bot.telemetry import logs

    if not question.strip():
        raise ConfigurationError("the question is empty.")
    files = file or []
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise ConfigurationError(f"--file: there is no file {', '.join(missing)}.")
    response_schema = read_schema(schema) if schema else None
    settings = configured()
    logs.quiet()  # `--stream` shows progress instead
    answering = ask_once(
        settings, question, files, response_schema, as_json=as_json, stream=stream, dry_run=dry_run
    )
    raise typer.Exit(exit_code(run(answering)))
