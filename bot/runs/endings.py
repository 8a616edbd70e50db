"""Explanations of unusual endings of a run: one sentence for people, and what to do next."""

from __future__ import annotations

from bot.core.errors import ModelError, ModelErrorKind
from bot.core.outcome import StopReason
from bot.text.translation import Text

_NARROWER = Text("Ask a narrower question.")
_CUT_SHORT = {
    StopReason.MAX_TURNS: (Text("I used up the steps I may take for one question"), _NARROWER),
    StopReason.TOKEN_BUDGET: (Text("I used up the token budget for one question"), _NARROWER),
    StopReason.COST_BUDGET: (Text("I used up the money budget for one question"), _NARROWER),
    StopReason.RUN_TIMEOUT: (Text("I ran out of time"), _NARROWER),
    StopReason.TURN_TIMEOUT: (
        Text("The model took too long to respond"),
        Text(
            "Retry, or ask a narrower question. Your bot's operator can allow more time: [limits] turn_seconds."
        ),
    ),
    StopReason.PAUSED: (Text("I was paused"), Text("Retry when I am back.")),
    StopReason.CONTEXT_FULL: (
        Text("This thread has become too long for me"),
        Text("Start a new one for the next question."),
    ),
    StopReason.TOOL_ERRORS: (
        Text("My tools kept failing"),
        Text("Retry, or put the question another way."),
    ),
    StopReason.MALFORMED_OUTPUT: (
        Text("I could not put this into the usual format"),
        Text("Retrying may help."),
    ),
}

_BY_REASON = {
    StopReason.DIMINISHING_RETURNS: Text("Further work added nothing new."),
    StopReason.PROMPT_TOO_LONG: Text(
        "This is more than I can read at once. Start a new thread, or ask about a smaller part."
    ),
    StopReason.STOP_HOOK: Text("A check found this answer incomplete, so take it with care."),
    StopReason.CANCELLED_STREAMING: Text("Stopped."),
    StopReason.CANCELLED_TOOLS: Text("Stopped."),
    StopReason.REFUSED: Text("The model declined to answer this. Put the question another way."),
    StopReason.CONTENT_FILTER: Text(
        "The model's content filter stopped this answer. Put the question another way."
    ),
    StopReason.INTERNAL_ERROR: Text(
        "Something went wrong on my side and has been logged. Please retry; if it happens again, tell your bot's operator."
    ),
}

_BY_KIND = {
    ModelErrorKind.OVERLOADED: Text(
        "The model service is overloaded or cannot be reached. Please retry in a minute."
    ),
    ModelErrorKind.INTERRUPTED: Text(
        "The connection to the model service broke several times. Please retry in a minute."
    ),
    ModelErrorKind.QUOTA: Text("The model service's quota is used up. Tell your bot's operator."),
    ModelErrorKind.AUTHENTICATION: Text(
        "The model service does not accept my key. Tell your bot's operator."
    ),
    ModelErrorKind.POLICY: Text("The model service refused this question. Put it another way."),
    ModelErrorKind.CONTEXT_OVERFLOW: _BY_REASON[StopReason.PROMPT_TOO_LONG],
    ModelErrorKind.MISSING_PARENT: Text(
        "The model service no longer has this conversation. Ask in a new thread."
    ),
    ModelErrorKind.NO_RESPONSES_API: Text(
        "The configured model server has no Responses API. Tell your bot's operator to check OPENAI_BASE_URL. It usually ends in /v1. For a Chat Completions server, put LiteLLM in front. Run `bot doctor`."
    ),
    ModelErrorKind.MISSING_MODEL: Text(
        "The model service does not have the model I am set to use. Tell your bot's operator."
    ),
    ModelErrorKind.UNREADABLE_CALLS: Text(
        "The model server does not understand its model's tool calls. Tell your bot's operator to run `bot doctor`."
    ),
    ModelErrorKind.BAD_REQUEST: Text(
        "The model server refused the request. Tell your bot's operator: the log and `bot doctor` say why."
    ),
}

_NO_ANSWER = Text("{cause}, so I have no answer yet.")
_WITH_CARE = Text("{cause}, so take it with care.")
_NOT_EVERYTHING = Text("{cause}, so this is not everything.")
_DONE = Text("What I had done: {steps}.")


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
    if cut_short is None and (known := _CUT_SHORT.get(reason)):
        cause, advice = known
        cut_short = cause(), advice()
    if error and not cut_short:  # a run that was cut short had ended before the service failed
        sentence = _BY_KIND[error.kind]()
    else:
        sentence = _sentence(reason, cut_short, result=result)
    if result or not done:
        return sentence
    return f"{sentence} {_DONE(steps='; '.join(dict.fromkeys(done)))}"


def _sentence(reason: StopReason, cut_short: CauseAndAdvice | None, *, result: bool) -> str:
    if cut_short is None:
        found = _BY_REASON.get(reason)
        return found() if found else ""
    cause, advice = cut_short
    if not result:
        return f"{_NO_ANSWER(cause=cause)} {advice}"
    # A malformed result is complete, only not in the usual form.
    text = _WITH_CARE if reason is StopReason.MALFORMED_OUTPUT else _NOT_EVERYTHING
    return f"{text(cause=cause)} {advice}"
