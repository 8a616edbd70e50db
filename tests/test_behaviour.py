"""The table of `python -m tests.behaviour`, row by row."""

from __future__ import annotations

from bot.core.outcome import StopReason
from tests.behaviour import outcomes, table

FORM = "I could not put this into the usual format, so check this answer before you rely on it. Retrying may help."
DOWN = "The model service is overloaded or cannot be reached. Please retry in a minute."
BROKE = "The connection to the model service broke several times. Please retry in a minute."
NO_FORM = "I could not put this into the usual format, so I have no answer yet. Retrying may help."
STEPS = "I used up the steps I may take for one question, so this answer is not complete. Ask a narrower question."
NO_STEPS = "I used up the steps I may take for one question, so I have no answer yet. Ask a narrower question."
TOKENS = "I used up the token budget for one question, so this answer is not complete. Ask a narrower question."
NO_TOKENS = (
    "I used up the token budget for one question, so I have no answer yet. Ask a narrower question."
)
TOOLS = (
    "My tools kept failing, so this answer is not complete. Retry, or put the question another way."
)
LONG = "This is more than I can read at once. Start a new thread, or ask about a smaller part."
_MORE = "Retry, or ask a narrower question. Your bot's operator can allow more time: [limits] turn_seconds."
SLOW = f"The model took too long to respond, so I have no answer yet. {_MORE}"

TRICKLE = f"The model took too long to respond, so this answer is not complete. {_MORE}"
FILTER = "The model's content filter stopped this answer. Put the question another way."

NO_MODEL = "The model service does not have the model I am set to use. Tell your bot's operator."
MONEY = "I used up the money budget for one question, so this answer is not complete. Ask a narrower question."
TIME = "I ran out of time, so this answer is not complete. Ask a narrower question."
FULL = "This thread has become too long for me, so this answer is not complete. Start a new one for the next question."
NOTHING_NEW = "I stopped because further steps found nothing new."
CHECKED = "A check found this answer incomplete, so check it before you rely on it."
PAUSED = "I was paused, so I have no answer yet. Retry when I am back."
BUG = "Something went wrong on my side. Please retry. If it happens again, tell your bot's operator: the log has the details."

EXPECTED = [
    ("malformed arguments", "success", "completed", 2, ""),
    ("unknown tool", "success", "completed", 2, ""),
    ("a tool that breaks", "success", "completed", 2, ""),
    ("a tool that hangs", "success", "completed", 2, ""),
    ("an output that is too large", "success", "completed", 2, ""),
    ("300 calls at once", "success", "completed", 2, ""),
    ("every call fails", "partial", "tool_errors", 5, TOOLS),
    ("bad final once", "success", "completed", 2, ""),
    ("bad final three times", "success", "completed", 4, ""),
    ("bad final four times", "failed", "malformed_output", 4, NO_FORM),
    ("nothing at all, once", "success", "completed", 2, ""),
    ("nothing at all, always", "failed", "malformed_output", 4, NO_FORM),
    ("text after a call", "success", "completed", 2, ""),
    ("an announcement, once", "success", "completed", 3, ""),
    ("an announcement, always", "partial", "malformed_output", 5, FORM),
    ("final beside a call", "success", "completed", 1, ""),
    ("final beside a call that fails", "success", "completed", 2, ""),
    ("cut off once", "success", "completed", 2, ""),
    ("cut off always", "partial", "malformed_output", 4, FORM),
    ("500 once", "success", "completed", 2, ""),
    ("500 always", "failed", "model_error", 3, DOWN),
    ("429 once", "success", "completed", 2, ""),
    ("429 always", "failed", "model_error", 3, DOWN),
    (
        "quota used up",
        "failed",
        "model_error",
        1,
        "The model service's quota is used up. Tell your bot's operator.",
    ),
    ("request larger than the rate", "failed", "prompt_too_long", 1, LONG),
    ("connection dropped once", "success", "completed", 2, ""),
    ("connection dropped always", "failed", "model_error", 3, BROKE),
    ("stream truncated once", "success", "completed", 2, ""),
    ("stream truncated always", "failed", "model_error", 3, BROKE),
    ("broken events once", "success", "completed", 2, ""),
    ("broken events always", "failed", "model_error", 3, BROKE),
    ("context overflow once", "success", "completed", 4, ""),
    ("context overflow at once", "failed", "prompt_too_long", 1, LONG),
    ("never finishes", "partial", "max_turns", 4, f"{NO_STEPS} What I did: 1 + 1."),
    ("repeats itself", "partial", "max_turns", 6, STEPS),
    ("over budget", "partial", "token_budget", 2, TOKENS),
    (
        "over budget, and the last call fails",
        "partial",
        "token_budget",
        4,
        f"{NO_TOKENS} What I did: 1 + 1.",
    ),
    ("finishes on the last turn", "partial", "max_turns", 4, STEPS),
    ("slow trickle", "partial", "turn_timeout", 2, TRICKLE),
    ("model hangs", "failed", "turn_timeout", 2, SLOW),
    (
        "refusal",
        "failed",
        "refused",
        1,
        "The model declined to answer this. Put the question another way.",
    ),
    ("content filter", "failed", "content_filter", 1, FILTER),
    ("content filter in mid-answer", "failed", "content_filter", 1, FILTER),
    (
        "prompt refused",
        "failed",
        "model_error",
        1,
        "The model service refused this question. Put it another way.",
    ),
    ("missing parent", "success", "completed", 3, ""),
    ("missing parent, found a moment later", "success", "completed", 3, ""),
    ("overloaded, with a fallback", "success", "completed", 4, ""),
    ("model not there", "failed", "model_error", 1, NO_MODEL),
    ("model not there, with a fallback", "success", "completed", 2, ""),
    ("over the money", "partial", "cost_budget", 2, MONEY),
    ("out of time", "partial", "run_timeout", 2, TIME),
    ("thread full after it was shortened", "partial", "context_full", 1, FULL),
    ("digs deeper until nothing new comes", "success", "diminishing_returns", 4, NOTHING_NEW),
    ("a check ends the run", "partial", "stop_hook", 1, CHECKED),
    ("stopped while the model writes", "cancelled", "cancelled_streaming", 0, "Stopped."),
    ("stopped while tools run", "cancelled", "cancelled_tools", 1, "Stopped."),
    ("paused by an admin", "failed", "paused", 1, PAUSED),
    ("a bug of ours", "failed", "internal_error", 0, BUG),
]


async def test_the_table_is_as_documented() -> None:
    """C7 C8 G3 G4 H2 H3 B8 E4: every way out, how each trouble ends, what it costs, and what the person reads."""
    rows = await outcomes()
    # A requeued run has not ended: another worker goes on with it.
    assert {r.reason for r in rows} == {*StopReason} - {StopReason.REQUEUED}
    assert [(r.name, r.status, r.reason, r.requests, r.told) for r in rows] == EXPECTED
    assert table(rows).count("\n") == len(EXPECTED) + 1
