"""`bot feedback`: what people say of answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.output import print_json, print_lines
from bot.cli.start import configured_beside_dev, run
from bot.core.errors import ConfigurationError
from bot.text.counting import counted

if TYPE_CHECKING:
    from bot.settings import Settings


def feedback(
    limit: Annotated[int, typer.Option(min=1, help="How many to list, newest first.")] = 50,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
    evals: Annotated[
        Path | None,
        typer.Option(help="Write the evaluation cases made of feedback to this file (.yaml)."),
    ] = None,
) -> None:
    """List how people rated answers.

    With --evals, write a file for `bot eval`.
    """
    if evals and evals.suffix not in (".yaml", ".yml"):
        raise typer.BadParameter(f"--evals {evals}: name a .yaml file, as `bot eval` reads it")
    settings = configured_beside_dev()
    if evals:
        _write_cases(settings, evals)
        return
    lines = run(_listed(settings, limit, as_json=as_json))
    if as_json:
        print_json("\n".join(lines))
    else:
        print_lines(lines)


def _write_cases(settings: Settings, file: Path) -> None:
    text, count = run(_cases(settings))
    try:
        file.touch(0o600)  # a new file is for its owner: people wrote the questions
        file.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigurationError(f"--evals {file}: {error.strerror}.") from None
    print_lines(
        [
            f"Wrote {counted(count, 'case')}. Write under `expect` what the answers must say, then "
            f"run `bot eval {file}`."
        ]
    )


async def _cases(settings: Settings) -> tuple[str, int]:
    from bot.cli.operator import open_stored
    from bot.features.feedback.report import cases_file
    from bot.features.feedback.store import RatedQuestions

    async with open_stored(settings) as stores:
        return cases_file(await RatedQuestions.of(stores).all())


async def _listed(settings: Settings, limit: int, *, as_json: bool) -> list[str]:
    from bot.cli.operator import open_stored, where
    from bot.features.feedback.report import rating_lines
    from bot.features.feedback.store import Ratings

    async with open_stored(settings) as stores:
        ratings = await Ratings.of(stores).latest(limit)
    if as_json:
        return [rating.model_dump_json() for rating in ratings]
    nothing = [f"Nobody has rated an answer yet in {where(settings)}."]
    return rating_lines(ratings) if ratings else nothing
