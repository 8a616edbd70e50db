"""What a model, its service and a person may do in a run: strategies for the stateful test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from bot.dev.model import Reply
from tests.unit.agent.harness import ANSWER

Draft = dict[str, Any]


def _call(name: str, arguments: str, call_id: str = "") -> Draft:
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}


_FINAL = ANSWER | {"key_points": []}
_VALID_FINAL = str(_FINAL).replace("'", '"').replace("None", "null")

GOALS = ("Look.", "Stumble.", "Break off.", "Fall back.", "Overflow.", "Be refused.", "Talk.")
"""What a helper can be asked; each makes it meet trouble of its own (see `thread.Helpers`)."""


def help_with(goal: str) -> Draft:
    return _call("dispatch_subagent", f'{{"goal":"{goal}","tools":[]}}')


_NOTES = '{"summary":"Read.","key_data":["3 (add)"],"remaining_goals":[]}'

READING = st.sampled_from(
    [
        _call("add", '{"a":1,"b":2}'),
        _call("add", '{"a":1,"b":null}'),
        _call("big", '{"lines":40}'),
        _call("fail", '{"how":"tool"}'),
        _call("fail", '{"how":"bug"}'),
        _call("slow", "{}"),
        _call("extra", '{"what":"x"}'),  # not offered until it is acquired
        _call("acquire_tools", '{"names":["extra"]}'),
        _call("acquire_tools", '{"names":["extra","exta","nothing"]}'),
        _call("acquire_tools", '{"names":"extra"}'),
        _call("meddle", "{}"),
        _call("launch", "{}"),
        _call("quit", "{}"),
        _call("stubborn", "{}"),
        _call("checkpoint_and_restart", _NOTES),  # seldom offered
    ]
)
CHANGING = st.sampled_from([_call("change", '{"name":"x"}'), _call("change", '{"name":null}')])
WRONG = st.one_of(
    st.sampled_from(["", "{", "null", "[]", '"x"', "{}", '{"a":"one"}', '{"a":1,"b":-1}']).map(
        lambda arguments: _call("add", arguments)
    ),
    st.sampled_from(["ad", "nothing_like_it", "", "add\u2028", "x" * 200]).map(
        lambda name: _call(name, "{}")
    ),
)
FINAL = st.sampled_from(
    [
        _call("complete_task", _VALID_FINAL),
        _call("complete_task", '{"summary":"No more than this."}'),
        _call("complete_task", "{"),
    ]
)


@st.composite
def _responses(draw: st.DrawFn) -> Reply:
    """Calls of all kinds, with words and thoughts before them, some under one id."""
    made = draw(st.lists(st.one_of(READING, READING, CHANGING, WRONG, FINAL), max_size=4))
    shared = draw(st.sampled_from(["", "", "", "call_same"]))
    if shared and all(each["name"] != "change" for each in made):
        made = [each | {"call_id": shared} for each in made]
    said = draw(st.sampled_from([(), (), ({"type": "message", "text": "Let me see."},)]))
    thought = draw(st.sampled_from([(), ({"type": "reasoning", "text": "Hm."},)]))
    return Reply((*thought, *said, *made), disobey=True)


def _twin(name: str, number: int) -> Draft:
    made = _call(name, '{"name":"x"}', "call_twin")
    return {**made, "id": f"fc_twin{number}", "status": "completed", "_raw": True}


ODD = st.sampled_from(
    [
        Reply((), disobey=True),
        Reply(({"type": "message", "text": ""},), disobey=True),
        Reply(({"type": "message", "refusal": "I can't."},), disobey=True),
        Reply(
            ({"type": "message", "text": "Well."}, {"type": "message", "refusal": "No."}),
            disobey=True,
        ),
        Reply((), status="incomplete", reason="max_output_tokens", disobey=True),
        Reply((), status="incomplete", reason="content_filter", disobey=True),
        Reply((), status="incomplete", reason=None, disobey=True),
        Reply(
            ({"type": "message", "text": "Half a"}, _call("change", '{"name":"ha')),
            status="incomplete",
            reason="max_output_tokens",
            disobey=True,
        ),
        Reply(
            ({"type": "reasoning", "text": "Long."}, _call("add", '{"a":1,"b":2}')),
            status="incomplete",
            reason="max_output_tokens",
            disobey=True,
        ),
        Reply(({"type": "reasoning", "text": "Only thinking."},), disobey=True),
        Reply((), status="failed", disobey=True),
        Reply(tuple(_twin("change", number) for number in (1, 2)), disobey=True),
    ]
)


def _cut(*items: Draft, reason: str = "max_output_tokens") -> Reply:
    return Reply(items, status="incomplete", reason=reason, disobey=True)


@st.composite
def _cut_off(draw: st.DrawFn) -> Reply:
    """A response that reached the output limit: whole calls that are kept, then perhaps half a one, a
    result behind which it was cut, or only words."""
    said = draw(st.sampled_from([(), ({"type": "message", "text": "Let me "},)]))
    thought = draw(st.sampled_from([(), ({"type": "reasoning", "text": "Hm."},)]))
    whole = draw(st.lists(st.one_of(READING, CHANGING, FINAL), max_size=3))
    half = draw(
        st.sampled_from([(), (_call("change", '{"name":"ha'),), (_call("add", '{"a":1,'),)])
    )
    reason = draw(st.sampled_from(["max_output_tokens", "max_output_tokens", "max_tokens"]))
    return _cut(*thought, *said, *whole, *half, reason=reason)


TEXT = st.just(Reply(({"type": "message", "text": "It is three."},), disobey=True))
REPLIES = st.one_of(_responses(), _responses(), _responses(), TEXT, ODD, _cut_off())


@dataclass(frozen=True, slots=True)
class Fault:
    """One order for the stand-in, as `Faults.fail` takes it."""

    kind: str
    times: int
    where: Literal["before", "after_created", "mid_stream"] | None = None
    skip: int = 0
    saying: Reply | None = None


_BROKEN = (
    "in_stream_error_flat", "in_stream_error_nested", "response_failed", "cut", "clean_eof",
    "half_event", "bad_json", "no_terminal", "content_filter",
)  # fmt: skip
_REFUSED = (
    "server_error", "overloaded", "rate_limit", "request_too_large", "quota", "context_length",
    "invalid_prompt", "model_not_found", "zero_data_retention", "missing_parent_once", "wrong_key",
)  # fmt: skip
_TIMES, _SKIP = st.integers(1, 3), st.integers(0, 2)
_HALF = st.sampled_from(
    [
        None,
        Reply(({"type": "message", "text": "So far it seems"},), disobey=True),
        Reply((_call("change", '{"name":"never whole"}'),), disobey=True),
    ]
)
"""What a stream says before it breaks: nothing of it is run, sent or shown."""

FAULTS = st.one_of(
    st.builds(Fault, st.sampled_from(_BROKEN), _TIMES, skip=_SKIP, saying=_HALF),
    st.builds(
        Fault,
        st.sampled_from(_REFUSED),
        _TIMES,
        st.sampled_from(["before", "before", "after_created", "mid_stream"]),
        _SKIP,
    ),
)
STUCK = st.builds(Fault, st.sampled_from(["hang", "trickle"]), _TIMES, skip=_SKIP)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A person presses Stop, or the worker dies: when the `n`th event came, before or after it was
    kept, while the `n`th reply is under way, or inside a tool."""

    kind: Literal["stop", "crash"]
    where: Literal["before_event", "after_event", "reply", "tool"]
    n: int = 1


TROUBLES = st.builds(
    Trouble,
    st.sampled_from(["stop", "crash"]),
    st.sampled_from(["before_event", "after_event", "reply", "tool"]),
    st.integers(1, 30),
)
LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "turns": st.integers(1, 6),
        "tokens": st.sampled_from([1_000, 5_000, 20_000]),
        "compact_at": st.sampled_from([0.001, 0.01]),
        "calls_per_turn": st.just(2),
        "failed_turns": st.just(1),
        "parallel_calls": st.just(1),
    },
)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the hooks of a run do: send back so many results, end it with the next one, veto calls
    of these tools, add a note to these responses, end it after so many turns, and ask a person
    about calls of these tools, who says yes or no while the run is paused. `joins` are the turns in
    which the person writes more; `tries` and `effort` are those of the shipped hooks."""

    blocks: int = 0
    prevents: bool = False
    vetoes: frozenset[str] = frozenset()
    notes: frozenset[int] = frozenset()
    turns: int | None = None
    asks: frozenset[str] = frozenset()
    allows: bool = True
    joins: tuple[int, ...] = ()
    tries: int | None = None
    effort: int | None = None


_POLICY = (
    st.integers(0, 3),
    st.booleans(),
    st.frozensets(st.sampled_from(["add", "change", "meddle", "extra"]), max_size=2),
    st.frozensets(st.integers(1, 5)),
    st.one_of(st.none(), st.integers(1, 5)),
    st.frozensets(st.sampled_from(["launch", "launch", "change", "add"]), max_size=2),
    st.booleans(),
)
RICH_POLICIES = st.builds(
    Policy,
    *_POLICY,
    st.lists(st.integers(0, 4), max_size=2).map(tuple),
    st.one_of(st.none(), st.integers(0, 2)),
    st.one_of(st.none(), st.sampled_from([5_000, 1_000_000])),
)
POLICIES = st.builds(Policy, *_POLICY)


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens in one run: the model's replies, of which summaries are one kind, faults of its
    service, the trouble that a person or the machine makes, and what the hooks do."""

    replies: tuple[Reply, ...]
    faults: tuple[Fault, ...]
    trouble: Trouble | None
    limits: dict[str, Any]
    policy: Policy = Policy()
    seconds: float = 20.0


_TUPLES = st.lists(REPLIES, max_size=7).map(tuple)
PLANS = st.builds(
    Plan,
    _TUPLES,
    st.one_of(st.just(()), st.lists(FAULTS, max_size=2).map(tuple)),
    st.one_of(st.none(), TROUBLES),
    LIMITS,
    st.one_of(st.just(Policy()), POLICIES),
)
STUCK_PLANS = st.builds(Plan, _TUPLES, st.tuples(STUCK), st.none(), LIMITS, POLICIES, st.just(0.15))
_WITH_HELP = st.builds(
    lambda goals, others: Reply((*map(help_with, goals), *others), disobey=True),
    st.lists(st.sampled_from(GOALS), min_size=1, max_size=3, unique=True),
    st.one_of(st.just(()), st.tuples(st.one_of(READING, CHANGING))),
)
UNTROUBLED_PLANS = st.builds(
    Plan,
    st.lists(st.one_of(REPLIES, REPLIES, REPLIES, _WITH_HELP), max_size=5).map(tuple),
    st.one_of(st.just(()), st.just(()), st.lists(FAULTS, max_size=1).map(tuple)),
    st.none(),
    LIMITS,
    st.one_of(st.just(Policy()), RICH_POLICIES),
)
