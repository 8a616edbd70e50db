"""Report of all checks in the terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.core.check import Check, Level
from bot.text.counting import counted
from bot.text.invisible_text import escaped
from bot.text.redaction import redacted

_PIPED = 160  # columns when stdout is not a terminal
_LOOKS = {
    Level.OK: ("✓", "green"),
    Level.WARNING: ("!", "yellow"),
    Level.PROBLEM: ("✗", "bold red"),
}


def print_report(checks: Sequence[Check]) -> None:
    """Print one line per check, its fix below it, and the verdict."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPED)
    lines = Table.grid(padding=(0, 1))
    lines.add_column()
    lines.add_column(no_wrap=True)
    lines.add_column()
    for check in checks:
        mark, style = _LOOKS[check.level]
        text = Text(escaped(redacted(check.text)))
        if check.fix:
            text.append(f"\n→ {escaped(check.fix)}", style="dim")
        lines.add_row(Text(mark, style), Text(escaped(check.subject), style), text)
    with console.capture() as capture:
        console.print(lines)
    # Rich fills the last column with spaces.
    console.file.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())
    console.print(_verdict(Counter(check.level for check in checks)))


def _verdict(counts: Counter[Level]) -> Text:
    problems, warnings = counts[Level.PROBLEM], counts[Level.WARNING]
    if problems:
        return Text(f"\nThe bot cannot work yet: {counted(problems, 'problem')}.", "bold red")
    if warnings:
        return Text(f"\nThe bot can work, with {counted(warnings, 'warning')}.", "yellow")
    return Text("\nEverything is fine.", "green")
