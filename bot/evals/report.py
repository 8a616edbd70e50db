"""Results of an evaluation as `bot eval` prints them."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.evals.results import CaseSummary, Evaluation
from bot.library.tracing.findings import FigureCounts
from bot.text.counting import counted
from bot.text.invisible_text import escaped

_FIGURES = ("turns", "tools", "tokens", "cost", "seconds", "not found")


def print_results(evaluation: Evaluation, console: Console) -> None:
    """Print one line per case with verdict, effort and reasons; then the totals."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("case", no_wrap=True)
    table.add_column("result", no_wrap=True)
    for name in _FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    for name, case in evaluation.by_case().items():
        table.add_row(name, _verdict(case), *_figures(case), Text(escaped(case.why)))
    console.print(table)
    console.print(_sums(evaluation), soft_wrap=True)


def print_comparison(before: Evaluation, now: Evaluation, console: Console) -> None:
    """Print one line per case of both evaluations: its verdicts, and the change of each figure."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("case", no_wrap=True)
    heads = (f"without {before.without}", "with") if before.without else ("before", "now")
    table.add_column(" → ".join(heads), no_wrap=True)
    for name in _FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    was, cases = before.by_case(), now.by_case()
    for name in (case for case in cases if case in was):
        table.add_row(name, _change(was[name], cases[name]), *_changes(was[name], cases[name]))
    console.print(f"\n{before.model}, {before.at:%Y-%m-%d %H:%M} → {now.model}")
    console.print(table)
    for words, names in (
        ("only before", [case for case in was if case not in cases]),
        ("only now", [case for case in cases if case not in was]),
        ("worse", now.worse_than(before)),
        ("better", before.worse_than(now)),
    ):
        if names:
            console.print(
                Text(f"{words}: {', '.join(names)}", "bold red" * (words == "worse")),
                soft_wrap=True,
            )


def _verdict(case: CaseSummary) -> Text:
    if case.is_passed:
        is_whole = case.passed == len(case.runs)
        return Text("pass" if is_whole else f"pass {case.passed}/{len(case.runs)}", "green")
    if len(case.runs) == 1:
        return Text("FAIL", "bold red")
    return Text(f"FAIL {case.passed}/{len(case.runs)}", "bold red")


def _figures(case: CaseSummary) -> list[str]:
    cost = "?" if case.cost is None else f"${case.cost:.4f}"
    counts = (f"{case.turns:g}", f"{case.tool_calls:g}", f"{case.tokens:,.0f}")
    untraced = f"{case.untraced} of {case.claims}" if case.claims else "–"
    return [*counts, cost, f"{case.seconds:.1f}", untraced]


def _sums(evaluation: Evaluation) -> str:
    cases = evaluation.by_case().values()
    totals = [result.totals for result in evaluation.results]
    tokens = sum(total.input_tokens + total.output_tokens for total in totals)
    passed = sum(case.is_passed for case in cases)
    unknown = any(total.cost is None for total in totals)
    cost = "unknown cost" if unknown else f"${sum(total.cost or 0 for total in totals):.4f}"
    seconds = sum(total.seconds for total in totals)
    return (
        f"\n{passed} of {len(cases)} cases passed · {evaluation.model} · {counted(len(totals), 'run')} · "
        f"{tokens:,} tokens · {cost} · {seconds:.0f} s of work\n{figures_line(evaluation.figures)}"
    )


def figures_line(figures: FigureCounts) -> str:
    """Return where figures come from, with the share of each kind."""
    if not figures.total:
        return "figures: none"
    kinds = (
        ("filled in by reference", figures.filled_in),
        ("found", figures.found),
        ("worked out", figures.worked_out),
        ("not found", figures.not_found),
    )
    parts = ", ".join(f"{count:,} {kind} ({count / figures.total:.0%})" for kind, count in kinds)
    faults = counted(f"{figures.sent_back:,}", "fault")
    return f"{counted(f'{figures.total:,}', 'figure')}: {parts}; {faults} sent back"


def _change(was: CaseSummary, now: CaseSummary) -> Text:
    words = f"{_verdict(was).plain} → {_verdict(now).plain}"
    if now.share < was.share:
        return Text(words, "bold red")
    return Text(words, "green" if now.share > was.share else "")


def _changes(was: CaseSummary, now: CaseSummary) -> list[str]:
    unknown = was.cost is None or now.cost is None
    cost = "?" if unknown else f"{(now.cost or 0) - (was.cost or 0):+.4f}"
    return [
        f"{now.turns - was.turns:+g}",
        f"{now.tool_calls - was.tool_calls:+g}",
        f"{now.tokens - was.tokens:+,.0f}",
        cost,
        f"{now.seconds - was.seconds:+.1f}",
        f"{now.untraced - was.untraced:+}" if was.claims or now.claims else "–",
    ]
