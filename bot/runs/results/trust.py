"""How far readers may trust a result: what they are told below it."""

from __future__ import annotations

from bot.core.answers import Answer, stored_name
from bot.core.outcome import Outcome, Trust
from bot.text.translation import Text

_UNSURE = Text("I am not sure of this: please check it before you rely on it.")
_FAIRLY_SURE = Text("I am fairly sure of this, but not certain.")
_QUESTION_UNSURE = Text(
    "I am not sure that I understood the question: please check that these are the figures you meant."
)


def trust_in(outcome: Outcome) -> Trust:
    """Return what readers are told about the result of an outcome, in the reader's language."""
    if outcome.result is None:
        return Trust()
    trust = outcome.trust
    line = " ".join(filter(None, (trust.line, _confidence(outcome))))
    return trust.model_copy(update={"line": line})


def _confidence(outcome: Outcome) -> str:
    """Return how sure the answer is, "" where that is high or said already.

    Figures that come from results or sources are not in doubt, but the reading of the question may
    be. Gaps and warnings say what is missing. Plain text, such as a translation, always has medium
    confidence, which nobody needs to read.
    """
    if outcome.response_type != stored_name(Answer) or outcome.result is None:
        return ""
    result, trust = outcome.result, outcome.trust
    match result.get("confidence"):
        case "low":
            return _QUESTION_UNSURE() if trust.has_figures else _UNSURE()
        case "medium":
            is_looked_up = bool(result.get("sources") or outcome.totals.tool_calls)
            is_said = trust.has_figures or trust.warnings or result.get("gaps")
            return _FAIRLY_SURE() if is_looked_up and not is_said else ""
        case _:
            return ""
