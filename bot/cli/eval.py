"""`bot eval`: evaluation of a model on questions with known answers."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.output import print_json, print_lines, say_left_out
from bot.cli.start import configured, run
from bot.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.evals.cases import Case
    from bot.evals.results import CaseResult, Evaluation
    from bot.settings import Settings

_PIPED = 160  # columns where there is no terminal
_SHIPPED = Path(__file__).parents[2] / "tests" / "evals"


def evaluate(
    cases: Annotated[
        list[Path] | None,
        typer.Argument(help="Files or folders of cases, or a saved evaluation (.json) to print."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="The model to use instead of the configured one. Two are free: walkthrough "
            "replays what each case describes, to check the cases; demo is the demo of `bot dev`."
        ),
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Run only cases whose name contains this.")
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Runs of each case.")] = 1,
    without: Annotated[
        str,
        typer.Option(
            help="Run the cases without this tool or skill as well, and show what it changes."
        ),
    ] = "",
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Runs at once.")] = 4,
    save: Annotated[Path | None, typer.Option(help="Save the evaluation to this file.")] = None,
    compare: Annotated[
        Path | None, typer.Option(help="A saved evaluation to compare with.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the evaluation as JSON.")] = False,
) -> None:
    """Try a model on questions with known answers.

    Without CASES, run the shipped cases. Tools change nothing: they only report what they would
    do.
    Exit code: 0 all passed, 1 a case failed (with --compare: a case got worse), 3 configuration.
    """
    from rich.console import Console

    from bot.evals.report import print_comparison, print_results
    from bot.evals.results import read_evaluation

    places = cases or [_SHIPPED]
    before = read_evaluation(compare) if compare else None
    others: list[Evaluation] = []
    if len(places) == 1 and places[0].suffix == ".json":
        now = read_evaluation(places[0])
    else:
        now, *others = _evaluated(places, model, only, repeat, parallel, without)
    if save:
        save.write_text(now.model_dump_json(indent=2) + "\n", "utf-8")
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPED)
    if as_json:
        print_json(now.model_dump_json(indent=2))
    else:
        print_results(now, console)
        for other in filter(None, (before, *others)):
            print_comparison(other, now, console)
    is_bad = bool(now.worse_than(before)) if before else not now.passed
    raise typer.Exit(int(is_bad))


def _evaluated(
    places: Sequence[Path],
    model: str | None,
    only: str | None,
    repeat: int,
    parallel: int,
    without: str,
) -> list[Evaluation]:
    from bot.app.features import is_name
    from bot.evals.cases import read_cases

    cases = [case for case in read_cases(places) if only is None or only in case.name]
    if not cases:
        raise ConfigurationError(f"--only {only}: no case name contains this.")
    settings = configured()
    if without and not is_name(settings, without):
        raise ConfigurationError(f"--without {without}: there is no such tool or skill.")
    say_left_out(settings)
    logging.getLogger("bot.run").setLevel(
        logging.WARNING
    )  # the steps of parallel runs would be mixed
    names = ("", without) if without else ("",)
    return [run(_run(settings, cases, model, repeat, parallel, name)) for name in names]


async def _run(
    settings: Settings,
    cases: Sequence[Case],
    model: str | None,
    repeat: int,
    parallel: int,
    without: str,
) -> Evaluation:
    from bot.evals.models import model_for_cases
    from bot.evals.running import evaluate

    async with model_for_cases(model, settings, cases) as with_model:
        return await evaluate(
            with_model,
            cases,
            parallel=parallel,
            repeat=repeat,
            on_result=_print_result,
            without=without,
        )


def _print_result(result: CaseResult) -> None:
    mark = "✓" if result.passed else "✗"
    print_lines([f"{mark} {result.case} {result.totals.seconds:.1f} s"], to_stderr=True)
