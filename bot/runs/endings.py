"""Explanations of unusual endings of a run: one sentence for people, and what to do next."""

from __future__ import annotations

from bot.core.errors import ModelError, ModelErrorKind
from bot.core.outcome import StopReason

_NARROWER = "Ask a narrower question."
_CUT_SHORT = {
    StopReason.MAX_TURNS: ("I used up the steps I may take for one question", _NARROWER),
    StopReason.TOKEN_BUDGET: ("I used up the token budget for one question", _NARROWER),
    StopReason.COST_BUDGET: ("I used up the money budget for one question", _NARROWER),
    StopReason.RUN_TIMEOUT: ("I ran out of time", _NARROWER),
    StopReason.TURN_TIMEOUT: (
        "The model took too long to respond",
        "Retry, or ask a narrower question. Your bot's operator can allow more time: [limits] turn_seconds.",
    ),
    StopReason.PAUSED: ("I was paused", "Retry when I am back."),
    StopReason.CONTEXT_FULL: (
        "This thread has become too long for me",
        "Start a new one for the next question.",
    ),
    StopReason.TOOL_ERRORS: (
        "My tools kept failing",
        "Retry, or put the question another way.",
    ),
    StopReason.MALFORMED_OUTPUT: (
        "I could not put this into the usual format",
        "Retrying may help.",
    ),
}

_BY_REASON = {
    StopReason.COMPLETED: "",
    StopReason.DIMINISHING_RETURNS: "Further work added nothing new.",
    StopReason.PROMPT_TOO_LONG: "This is more than I can read at once. Start a new thread, or ask about a smaller part.",
    StopReason.STOP_HOOK: "A check found this answer incomplete, so take it with care.",
    StopReason.CANCELLED_STREAMING: "Stopped.",
    StopReason.CANCELLED_TOOLS: "Stopped.",
    StopReason.REFUSED: "The model declined to answer this. Put the question another way.",
    StopReason.CONTENT_FILTER: "The model's content filter stopped this answer. Put the question another way.",
    StopReason.INTERNAL_ERROR: "Something went wrong on my side and has been logged. Please retry; if it happens again, tell your bot's operator.",
}

_BY_KIND = {
    ModelErrorKind.OVERLOADED: "The model service is overloaded or cannot be reached. Please retry in a minute.",
    ModelErrorKind.INTERRUPTED: "The connection to the model service broke several times. Please retry in a minute.",
    ModelErrorKind.QUOTA: "The model service's quota is used up. Tell your bot's operator.",
    ModelErrorKind.AUTHENTICATION: "The model service does not accept my key. Tell your bot's operator.",
    ModelErrorKind.POLICY: "The model service refused this question. Put it another way.",
    ModelErrorKind.CONTEXT_OVERFLOW: _BY_REASON[StopReason.PROMPT_TOO_LONG],
    ModelErrorKind.MISSING_PARENT: "The model service no longer has this conversation. Ask in a new thread.",
    ModelErrorKind.NO_RESPONSES_API: "The configured model server has no Responses API. Tell your bot's operator to check OPENAI_BASE_URL. It usually ends in /v1. For a Chat Completions server, put LiteLLM in front. Run `bot doctor`.",
    ModelErrorKind.MISSING_MODEL: "The model service does not have the model I am set to use. Tell your bot's operator.",
    ModelErrorKind.BAD_REQUEST: _BY_REASON[StopReason.INTERNAL_ERROR],
}


CauseAndAdvice = tuple[str, str]
"""The cause that cut a run short, and advice about it, each as words for people."""


def explain(
    reason: StopReason,
    error: ModelError | None,
    done: tuple[str, ...],
    *,
    result: bool,
    cut_short: CauseAndAdvice | None = None,
) -> str:
    """Return the explanation of an ending for people; "" when there is nothing to explain.

    `result` says whether the run has a result to show; without one, the explanation lists `done`,
    the steps that succeeded. `cut_short` replaces the usual cause and advice for the reason.
    """
    cut_short = cut_short or _CUT_SHORT.get(reason)
    if error and not cut_short:  # a run that was cut short had ended before the service failed
        sentence = _BY_KIND[error.kind]
    else:
        sentence = _sentence(reason, cut_short, result=result)
    if result or not done:
        return sentence
    steps = "; ".join(dict.fromkeys(done))
    return f"{sentence} What I had done: {steps}."


def _sentence(reason: StopReason, cut_short: CauseAndAdvice | None, *, result: bool) -> str:
    if cut_short is None:
        return _BY_REASON.get(reason, "")
    cause, advice = cut_short
    if not result:
        return f"{cause}, so I have no answer yet. {advice}"
    whole = (
        reason is StopReason.MALFORMED_OUTPUT
    )  # the text is complete, only not in the usual form
    return f"{cause}, so {'take it with care' if whole else 'this is not everything'}. {advice}"
