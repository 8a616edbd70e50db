"""What is said about how far to trust an answer: one place, so that nothing contradicts it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.answers import Answer, stored_name
from bot.core.outcome import Outcome
from bot.runs.results.evidence_line import evidence_line, warnings
from bot.text.translation import Text

_UNSURE = Text("I am not sure of this: please check it before you rely on it.")
_FAIRLY_SURE = Text("I am fairly sure of this, but not certain.")
_QUESTION_UNSURE = Text(
    "I am not sure that I understood the question: please check that these are the figures you meant."
)


@dataclass(frozen=True, slots=True)
class Trust:
    """`line` says where the figures come from, and how sure the answer is; "" for nothing.

    `warnings` are sentences about what code is sure is wrong.
    """

    line: str = ""
    warnings: tuple[str, ...] = ()


def trust_in(outcome: Outcome) -> Trust:
    """Return what readers are told about the result of an outcome, in the reader's language."""
    if outcome.result is None:
        return Trust()
    line, warned = "", list[str]()
    if outcome.traced and outcome.traced_shown:
        if not _is_confirmation(outcome):
            line = evidence_line(outcome.traced)
        # The row may be from a personal account, whose evidence is for its owner only.
        warned = warnings(outcome.traced, names_rows=not outcome.accounts)
    has_figures = bool(
        line and outcome.traced and (outcome.traced.read or outcome.traced.worked_out)
    )
    sentence = _confidence(outcome, has_figures=has_figures, is_warned=bool(warned))
    return Trust(" ".join(filter(None, (line, sentence))), tuple(warned))


def _is_confirmation(outcome: Outcome) -> bool:
    """Return whether the answer tells of a change that was made, and of nothing that was looked up."""
    items = outcome.traced.items if outcome.traced else ()
    has_sources = bool((outcome.result or {}).get("sources"))
    return outcome.changed and not has_sources and not any(item.reference for item in items)


def _confidence(outcome: Outcome, *, has_figures: bool, is_warned: bool) -> str:
    """Return how sure the answer is, "" where that is high or said already.

    Figures that come from results or sources are not in doubt, but the reading of the question may
    be. Gaps and warnings say what is missing. Plain text, such as a translation, always has medium
    confidence, which nobody needs to read.
    """
    if outcome.response_type != stored_name(Answer) or outcome.result is None:
        return ""
    result = outcome.result
    match result.get("confidence"):
        case "low":
            return _QUESTION_UNSURE() if has_figures else _UNSURE()
        case "medium":
            is_looked_up = bool(result.get("sources") or outcome.totals.tool_calls)
            is_said = has_figures or is_warned or result.get("gaps")
            return _FAIRLY_SURE() if is_looked_up and not is_said else ""
        case _:
            return ""
