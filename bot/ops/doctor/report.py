"""The findings on the terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.core.text.invisible_text import escaped
from bot.ops.doctor.findings import Finding, Level

_PIPED = 160  # columns where there is no terminal
_LOOKS = {
    Level.OK: ("✓", "green"),
    Level.WARNING: ("!", "yellow"),
    Level.PROBLEM: ("✗", "bold red"),
}


def print_report(findings: Sequence[Finding]) -> None:
    """A line each, and under it how to mend it; then what that comes to."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPED)
    lines = Table.grid(padding=(0, 1))
    lines.add_column()
    lines.add_column(no_wrap=True)
    lines.add_column()
    for finding in findings:
        mark, style = _LOOKS[finding.level]
        text = Text(escaped(finding.text))
        if finding.mend:
            text.append(f"\n→ {escaped(finding.mend)}", style="dim")
        lines.add_row(Text(mark, style), Text(escaped(finding.subject), style), text)
    console.print(lines)
    console.print(_verdict(Counter(each.level for each in findings)))


def _verdict(counts: Counter[Level]) -> Text:
    problems, warnings = counts[Level.PROBLEM], counts[Level.WARNING]
    if problems:
        return Text(f"\nThe bot cannot work yet: {_some(problems, 'problem')}.", "bold red")
    if warnings:
        return Text(f"\nThe bot can work, with {_some(warnings, 'warning')}.", "yellow")
    return Text("\nAll is well.", "green")


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
