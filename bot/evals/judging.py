"""Verdicts on runs: does a run do what its case expects?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from bot.core.answers import GIVEN
from bot.core.outcome import Outcome, StopReason
from bot.evals.cases import Case
from bot.runs.results.result_markdown import result_text


def reasons(case: Case, outcome: Outcome, used: Sequence[str], begun: Sequence[str]) -> list[str]:
    """Return why the run fails its case; empty when it passes.

    `used` are the tools that succeeded, `begun` all tools that were called.
    """
    ended = list(_ending(case, outcome))
    if ended and outcome.result is None:  # everything else follows from that
        return ended
    return [*ended, *_tools(case, used, begun), *_words(case, outcome)]


def _ending(case: Case, outcome: Outcome) -> Iterator[str]:
    cut = case.bounded and outcome.stop_reason is StopReason.STOP_HOOK
    if outcome.status is not case.expect.status and not cut:
        note = f" ({outcome.note})" if outcome.note else ""
        yield f"ended {outcome.status}: {outcome.stop_reason}{note}"
    wanted = GIVEN if case.response_schema is not None else case.response
    if outcome.result is not None and outcome.response_type != wanted:
        yield f"returned {outcome.response_type}, not {wanted}"


def _tools(case: Case, used: Sequence[str], begun: Sequence[str]) -> Iterator[str]:
    for wanted in case.expect.used:
        names = (wanted,) if isinstance(wanted, str) else wanted
        if not any(fnmatchcase(tool, name) for name in names for tool in used):
            yield f"did not use {' or '.join(names)}"
    for name in case.expect.not_used:
        if wrong := sorted({tool for tool in begun if fnmatchcase(tool, name)}):
            yield f"used {', '.join(wrong)}"


def _words(case: Case, outcome: Outcome) -> Iterator[str]:
    text = result_text(outcome) if outcome.result is not None else outcome.note
    for fact in case.expect.facts:
        if not fact.is_in(text):
            yield f"does not say {fact}"
    for fact in case.expect.absent:
        if fact.is_in(text):
            yield f"says {fact}"
    sources = (outcome.result or {}).get("sources") or []
    cited = " ".join(f"{each['title']} {each['url']}" for each in sources).casefold()
    for title in case.expect.cites:
        if title.casefold() not in cited:
            yield f"does not cite {title}"
