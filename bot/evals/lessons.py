"""Evaluation cases made of feedback: run for an admin, and exported as a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import yaml
from pydantic import ValidationError

from bot.app.run_setup import redis_and_stores
from bot.core.errors import ConfigurationError
from bot.core.lessons import CaseRun, Lesson, LessonCase, LessonState
from bot.evals.cases import Case
from bot.evals.running import CHANNEL, run_case, separated
from bot.model import Model
from bot.runs.policy.channels import ChannelSettings
from bot.settings import Settings
from bot.store import Decisions

_NUMBER = re.compile(r"[-−]?[$€£]?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?")
_HEADING = """\
# Cases from feedback, for `bot eval`. People wrote the questions; keep this file as private as they are.
"""


async def try_case(
    settings: Settings,
    pins: Decisions,
    case: LessonCase,
    channel: ChannelSettings,
    metered: Callable[[Model], Model],
) -> CaseRun:
    """Run a case once in a channel with these settings, on a temporary Redis, changing nothing.
    Its run calls what `metered` makes of the model.

    `pins` are the tools of MCP servers that the operator accepted. Raises ConfigurationError when
    no case can be run.
    """
    separate = separated(settings).model_copy(update={"channels": {CHANNEL: channel}})
    try:
        made = Case.model_validate(_written("trial", case, ""))
    except ValidationError as error:
        raise ConfigurationError(f"the case is not valid: {error.errors()[0]['msg']}") from None
    async with (
        redis_and_stores(separate, data_dir=None) as (_, stores),
        stores.signals.listening(),
    ):
        result = await run_case(separate, replace(stores, mcp=pins), made, metered=metered)
    return CaseRun(reasons=result.reasons, said=result.said, cost=result.totals.cost)


def cases_file(lessons: Iterable[Lesson]) -> tuple[str, int]:
    """Return a YAML file with the cases of lessons, the accepted ones first, and how many it has.

    Left out are lessons whose case cannot run, and all but the first of those that ask the same.
    """
    found: dict[str, dict[str, Any]] = {}
    for lesson in sorted(lessons, key=lambda each: each.state is not LessonState.ACCEPTED):
        case = lesson.case
        if case.can_run and case.question not in found:
            accepted = lesson.instruction if lesson.state is LessonState.ACCEPTED else ""
            found[case.question] = _written(f"feedback-{_plain(lesson.id)}", case, accepted)
    text = yaml.safe_dump([*found.values()], sort_keys=False, allow_unicode=True, width=100)
    return _HEADING + text, len(found)


def _written(name: str, case: LessonCase, instructions: str) -> dict[str, Any]:
    """Return a case as a file has it."""
    expected = {"facts": case.must_say, "absent": case.must_not_say}
    return {
        "name": name,
        "question": case.question,
        **({"instructions": instructions} if instructions else {}),
        "live": True,
        "expect": {key: [*map(_fact, lines)] for key, lines in expected.items() if lines},
    }


def _fact(line: str) -> dict[str, Any]:
    """Return a fact: a line that is a figure may be in any notation in the answer."""
    if not _NUMBER.fullmatch(line):
        return {"text": line}
    value = float(re.sub(r"[^\d.]", "", line))
    return {"number": -value if line[0] in "-−" else value}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.casefold())
