"""How far readers may trust a result: what they are told below it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from bot.core.answers import Answer, stored_name
from bot.core.outcome import Outcome, Trust
from bot.library.tracing.findings import Findings
from bot.text.translation import Text

log = logging.getLogger(__name__)

TrustOf = Callable[[Findings, Outcome], Trust]
"""Returns what readers are told about the traced result of an outcome, in the reader's language."""

_UNSURE = Text("I am not sure of this: please check it before you rely on it.")
_FAIRLY_SURE = Text("I am fairly sure of this, but not certain.")
_QUESTION_UNSURE = Text(
    "I am not sure that I understood the question: please check that these are the figures you meant."
)


_of_traced: list[TrustOf] = []


def fill_trust_by(trust_of: TrustOf) -> None:
    """Have `trust_of` fill `trust` of outcomes that earlier releases stored without it."""
    _of_traced[:] = [trust_of]


def with_trust(outcome: Outcome) -> Outcome:
    """Return a stored outcome with its `trust`, in the reader's language, as today's runs store it."""
    if outcome.traced is None or not outcome.traced_shown or outcome.trust != Trust():
        return outcome
    try:
        trusts = [trust_of(outcome.traced, outcome) for trust_of in _of_traced]
    except Exception:  # a bug of a feature keeps no answer from being posted
        log.exception("run %s is shown without its evidence", outcome.run_id)
        return outcome
    return outcome.model_copy(update={"trust": trusts[0]}) if trusts else outcome


def trust_in(outcome: Outcome) -> Trust:
    """Return what readers are told about the result of an outcome, in the reader's language.

    Beside warnings nothing says how well the rest is founded: that would contradict them at a glance.
    """
    if outcome.result is None:
        return Trust()
    trust = outcome.trust
    founded = "" if trust.warnings else trust.line
    line = " ".join(filter(None, (founded, _confidence(outcome))))
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
