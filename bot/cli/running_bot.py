"""Commands about a running bot: usage, pause and resume, erasing, audit log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import typer

from bot.cli.output import print_json, print_lines
from bot.cli.start import configured_beside_dev, run
from bot.core.audit_kinds import AuditKind

_USER = re.compile(r"[UW][A-Z0-9]{2,20}")
_ON_RECORD = re.compile(
    rf"{_USER.pattern}|operator|local|person_\w+"
)  # the last: the pseudonym of an erased person
_THREAD = re.compile(r"[A-Za-z0-9]+:[A-Za-z0-9]+:[0-9.]+")


def usage() -> None:
    """Print what was spent today and this month.

    By workspace, channel and user; days and months are in UTC.
    """
    from bot.cli.operator import usage_lines

    print_lines(run(usage_lines(configured_beside_dev())))


def pause() -> None:
    """Stop all work until `bot resume`.

    Questions wait, and are answered afterwards.
    """
    from bot.cli import operator

    paused = run(operator.pause(configured_beside_dev()))
    print_lines([f"Paused: {paused}. Run `bot resume` to continue."])


def resume() -> None:
    """End the pause, whoever began it."""
    from bot.cli import operator

    settings = configured_beside_dev()
    was_paused = run(operator.resume(settings))
    print_lines(
        [f"{'Resumed' if was_paused else 'It was not paused'}: {operator.where(settings)}."]
    )


def erase(
    user: Annotated[str, typer.Option(help="A person's Slack id, such as U0123ABCD.")] = "",
    thread: Annotated[str, typer.Option(help="A thread: team:channel:ts of its root.")] = "",
    wait: Annotated[
        float,
        typer.Option(min=0, help="Seconds to wait for other people's runs in the same threads."),
    ] = 0,
) -> None:
    """Erase everything stored about a person or a thread.

    Including the responses that the model service stores.

    Exit 1 and print a message while something is still stored.
    """
    from bot.cli.operator import erase_lines

    is_user, is_thread = _USER.fullmatch(user), _THREAD.fullmatch(thread)
    if bool(is_user) == bool(is_thread):
        raise typer.BadParameter("give --user U0123ABCD or --thread T0123:C0123:1763712000.123456")
    lines = run(erase_lines(configured_beside_dev(), user=user, thread=thread, wait=wait))
    print_lines(lines)
    if any(line.startswith("!") for line in lines):
        raise typer.Exit(1)


def audit(
    user: Annotated[str, typer.Option(help="Only entries of this person (Slack id).")] = "",
    kind: Annotated[AuditKind | None, typer.Option(help="Only entries of this kind.")] = None,
    days: Annotated[int, typer.Option(min=1, help="How many days back.")] = 30,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            help="A head that an earlier run printed. It must still be in the log. Repeatable."
        ),
    ] = None,
    seal: Annotated[
        bool,
        typer.Option(
            help="Seal logs as they are now, if they have no seal or that of an unknown key. "
            "Read them first."
        ),
    ] = False,
) -> None:
    """Print and check the audit log, oldest first.

    It says who asked, and what was called, decided, spent and changed.

    Exit 1 and print to stderr if the log was tampered with, or cannot be checked with these keys.
    """
    from bot.cli.operator import audit_report, seal_logs

    if user and not _ON_RECORD.fullmatch(user):
        raise typer.BadParameter(f"--user {user}? Give their id, such as U0123ABCD")
    if seal:
        print_lines(run(seal_logs(configured_beside_dev())))
        return
    reading = audit_report(
        configured_beside_dev(),
        user=user,
        kind=kind,
        days=days,
        as_json=as_json,
        expected=expect or (),
    )
    report = run(reading)
    _print(report.lines, as_json=as_json)
    notes = (*(f"! {problem}" for problem in report.problems), *report.notes)
    print_lines(notes, to_stderr=True)
    if report.problems:
        raise typer.Exit(1)


def _print(lines: Sequence[str], *, as_json: bool) -> None:
    """Print lines of text, or lines that are each a JSON object."""
    if as_json:
        print_json("\n".join(lines))
    else:
        print_lines(lines)
