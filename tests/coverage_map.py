"""Which tests hold up which requirement on the agent loop: `python -m tests.coverage_map` writes
docs/requirements.md.

A test names the requirements that it holds up at the start of its docstring: "B2 D5: …".
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "requirements.md"
ROWS = {
    "A1": "The loop is one short file; every policy sits at its edges.",
    "A2": "The loop yields typed events, and leaving it early stops the model, the tools and their tasks, with a valid chain.",
    "A3": "The model's calls decide whether the run goes on; limits only guard it.",
    "A4": "All state that must survive is in one frozen value, so that a resumed run ends as one that was never interrupted.",
    "A5": "A turn assembles a request, asks the model, runs its calls and observes their outputs, and the decision is read in the loop.",
    "A6": "Only tool calls that were seen count, so a response that merely claims some does not loop for ever.",
    "A7": "The loop is given its dependencies and knows neither Slack nor Redis.",
    "B1": "A chained request sends what is new; a stateless one sends the whole conversation, with reasoning as it came.",
    "B2": "Every function call has exactly one output before the next request, on any path.",
    "B3": "A response is kept before its tools run, and their outputs before the next request.",
    "B4": "The caller is handed exactly what the run added to the conversation, after a resume as well.",
    "B5": "The question is kept before the model hears it.",
    "B6": "Each response is kept with its usage, so a thread knows its context and its cost.",
    "B7": "A thread's state is saved with the outcome in one step and never names unanswered calls.",
    "B8": "A lost chain is asked for once more and then rebuilt from our record, without an error for the person.",
    "B9": "A checkpoint's summary stands in for what came before it, and the originals stay in the store.",
    "C1": "`complete_task` is offered in every turn, and a valid call of it ends the run with its result.",
    "C2": "A result that does not validate goes back to the model with what is wrong.",
    "C3": "Each entry point has its own type of result, and a caller may give a schema of their own.",
    "C4": "Text without a call is taken for the answer, nudged or forced into one, and never lost.",
    "C5": "The model is told when a limit comes near, and its last turn is for the result.",
    "C6": "A guard closes the run with one last call in which nothing but the result is accepted.",
    "C7": "A run that was cut short is marked partial, with the reason, wherever it is shown.",
    "C8": "Every way out has its reason, and `bot ask` an exit code for each kind.",
    "D1": "The model sees core tools and one line for each other tool, or their groups where there are too many, and few, clear hints.",
    "D2": "A tool's own context enters the conversation when the tool is acquired.",
    "D3": "The model's mistakes go back to it with what to do next, our mistakes leave a trace, and every call is seen, refused ones too.",
    "D4": "Every tool has a timeout, and what it raises becomes a short output.",
    "D5": "Reading calls run side by side, changing ones alone and in order.",
    "D6": "A sensitive call waits for a person's yes, and a dry run changes nothing and lists what it left out.",
    "D7": "Outputs of a turn fit into the free context together; a larger one becomes a preview and a handle.",
    "D8": "Tools pass handles on without the content going through the model.",
    "D9": "Tools see the request that they work for, with what operators configured for its channel.",
    "D10": "Operators have commands run before and after tools, which may veto a call or comment on it, and never undo what was done.",
    "E1": "After each response it is known how full the context is.",
    "E2": "In a filling context the model may put the conversation away in its own words and go on.",
    "E3": "One function decides whether to offer that, to compact, or to close, and a full thread goes on with its next question.",
    "E4": "An overflow is compacted and tried again once in a run.",
    "G1": "Cancel, turns, time, tokens, money and context are checked before each call, in that order.",
    "G2": "Each model call and the whole run have a deadline.",
    "G3": "Trouble in a row is bounded: malformed responses, failing turns, results sent back.",
    "G4": "An output that was cut is continued, with the whole calls in it kept.",
    "G5": "With an effort budget the run goes on until it is used or nothing new comes.",
    "G6": "Each call is priced, and budgets of run, thread, person, channel and day hold.",
    "H1": "Stop and deadlines reach whatever is awaited, hooks included, and the thread goes on afterwards.",
    "H2": "A model call that broke off is done again, at most twice, and what was shown of it is withdrawn.",
    "H3": "When a model fails for good, the next of the list goes on, and what it left half-said is kept and never sent.",
    "H4": "Stop hooks see valid results, and can let them pass, send them back or end the run.",
    "H5": "Hooks that are only notified can neither fail a run nor lose its answer.",
    "I1": "Sub-agents work on chains of their own within the budget of their parent.",
    "I2": "A result can be judged and, if it falls short, marked or sent back.",
    "I3": "A run that a crash interrupted goes on at its last save point, on any worker.",
    "I4": "Text, reasoning, tool calls and their ends are seen while they happen.",
    "I5": "Operators read one line for each event, and the same as JSON, both at once if they want.",
    "I6": "The first signal hands work back at a save point, the second ends at once, and nothing is lost.",
}
"""The requirements on the agent loop, each in one sentence."""

_NAMED = re.compile(r"\b([A-I]\d{1,2})[a-c]?\b")
_HEAD = """\
# What the agent loop does, and the tests that hold it to that

Written by `python -m tests.coverage_map` from the tests' docstrings; a test sees that it is up to date.
A **run** is one request and everything done until its one final message; a **turn** is one model call
and the tools that it asked for.
"""


@cache
def found() -> dict[str, list[str]]:
    """Requirement → the tests that name it, as "file::test"."""
    by_id: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for name, words in _documented(path):
            for each in dict.fromkeys(_NAMED.findall(words.split(":")[0])):
                by_id[each].append(f"{path.relative_to(TESTS).as_posix()}::{name}")
    return by_id


def page() -> str:
    """Return the page, as it should stand in docs/requirements.md."""
    tests = found()
    return _HEAD + "".join(f"\n{_row(each, tests.get(each, []))}" for each in ROWS)


def _row(name: str, tests: list[str]) -> str:
    """Return a requirement with links to its tests, file by file."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for each in tests:
        file, test = each.split("::")
        by_file[file].append(test)
    lines = (
        f"- [{file}](../tests/{file}): {', '.join(f'`{test}`' for test in names)}\n"
        for file, names in by_file.items()
    )
    return f"## {name}\n\n{ROWS[name]}\n\n{''.join(lines) or '**No test yet.**'}"


def _documented(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = node.name.startswith(("test_", "check_"))
            if named and (words := ast.get_docstring(node)):
                yield node.name, words


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
