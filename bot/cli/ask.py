"""`bot ask`: the same agent without Slack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.output import print_json
from bot.cli.start import configured, run
from bot.core.errors import BotError, ConfigurationError

if TYPE_CHECKING:
    from bot.core.outcome import Outcome


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    file: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file to work with, - for stdin; repeatable. What is piped in is one, too."
        ),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(help="JSON schema of the result, printed to stdout.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the full outcome as JSON: docs/scripts.md.")
    ] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Show progress on stderr.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Report changes instead of making them.")
    ] = False,
) -> None:
    """Ask a question in the terminal, with files if you like.

    Exit code: 0 answered, 1 failed, 2 partial, 3 wrong usage or configuration,
    4 key refused, 5 timed out, with or without a result, 130 interrupted.
    """
    from bot.cli.console import exit_code

    try:
        outcome = _answered(
            question, file or [], schema, as_json=as_json, stream=stream, dry_run=dry_run
        )
    except BotError as error:
        if as_json:
            from bot.text.redaction import redacted

            print_json(json.dumps({"version": 1, "status": "failed", "note": redacted(str(error))}))
        raise
    raise typer.Exit(exit_code(outcome))


def _answered(
    question: str,
    files: list[Path],
    schema: Path | None,
    *,
    as_json: bool,
    stream: bool,
    dry_run: bool,
) -> Outcome:
    """Check what was given, and answer. Raises BotError where nothing can be asked."""
    from bot.cli.stdin import DASH, read_stdin
    from bot.cli.terminal_run import ask_once, read_schema
    from bot.telemetry import logs

    if not question.strip():
        raise ConfigurationError("the question is empty.")
    is_asked_for, paths = Path(DASH) in files, [path for path in files if path != Path(DASH)]
    missing = [str(path) for path in paths if not path.is_file()]
    if missing:
        raise ConfigurationError(f"--file: there is no file {', '.join(missing)}.")
    response_schema = read_schema(schema) if schema else None
    settings = configured()
    failures = logs.quiet()  # `--stream` shows progress instead
    piped = read_stdin(is_asked_for=is_asked_for)
    outcome = run(
        ask_once(
            settings,
            question,
            paths,
            response_schema,
            piped=piped,
            as_json=as_json,
            stream=stream,
            dry_run=dry_run,
        )
    )
    for failure in failures[-1:]:  # below the answer, which says it to people
        typer.echo(f"bot: {failure}", err=True)
    return outcome
