"""What the shipped composition says of the unseen answers: `python -m tests.evidence.unseen [--part 2] [--list]`.

Each answer goes the way of a run: ledger entries, the reader of the ledger, references filled in, the
check of faults and tracing. `--list` names false warnings and what was not caught; `--part 2` takes the
third author's answers.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from bot.agent.prompts import request_message
from bot.app.tool_loading import catalogue
from bot.core.answers import Answer, Source
from bot.core.chain import CallRecord, Item, LedgerEntry, SavedArtifact
from bot.core.request import FileRef, Request
from bot.features.evidence.check import RunEvidence
from bot.features.evidence.filling import References
from bot.library.tracing.findings import Finding, Verdict
from bot.runs.context.ledger_reader import LedgerReader
from bot.toolkit import Tool
from tests.evidence.unseen.labelled import Entry, Labelled, right, wrong
from tests.support.redis import asked

_RUN = "run_1"
_LOCALES = {
    "en": "en-US",
    "de": "de-DE",
    "fr": "fr-FR",
    "es": "es-ES",
    "pt": "pt-BR",
    "ja": "ja-JP",
}
_TOOLS: dict[str, Tool] = {tool.name: tool for tool in catalogue().tools}


@dataclass(frozen=True)
class Checked:
    """What was found of an answer; `seconds` of CPU that filling and tracing took."""

    items: tuple[Finding, ...]
    texts: dict[str, str]
    seconds: float


def checked(labelled: Labelled) -> Checked:
    """Check an answer as a run does."""
    request = _request(labelled)
    evidence = RunEvidence(request, "mark", LedgerReader(_TOOLS.get), References.of(request))
    entries = [_question(request), *(_called(entry) for entry in labelled.entries[1:])]
    start = time.process_time()
    evidence.begin(entries, False, _RUN)
    fields = Answer.model_fields
    raw = {**labelled.answer, "confidence": labelled.answer.get("confidence", "high")}
    filled = evidence.references.fill({name: raw[name] for name in raw if name in fields})
    result = Answer.model_validate(filled.value)
    findings = evidence.findings(result, evidence.references.filled)
    seconds = time.process_time() - start
    assert findings is not None
    return Checked(findings.items, _texts(result.model_dump(mode="json")), seconds)


def _request(labelled: Labelled) -> Request:
    files = tuple(FileRef(id=f"F{n}", name=name) for n, name in enumerate(labelled.files))
    locale = _LOCALES[labelled.language]
    return asked(labelled.question).model_copy(update={"files": files, "locale": locale})


def _question(request: Request) -> LedgerEntry:
    return LedgerEntry(run_id=_RUN, items=(request_message(request),))


def _called(entry: Entry) -> LedgerEntry:
    """Return what the ledger keeps of a call."""
    call = {
        "type": "function_call",
        "call_id": entry.call_id,
        "name": entry.tool,
        "arguments": entry.arguments,
    }
    output: Item = {"type": "function_call_output", "call_id": entry.call_id, "output": entry.text}
    record = CallRecord(
        call_id=entry.call_id,
        counts_as=entry.kind,
        sources=tuple(Source.model_validate(source) for source in entry.sources),
        saved=tuple(SavedArtifact(handle=handle, sha256="") for handle in entry.handles),
    )
    return LedgerEntry(run_id=_RUN, items=(call, output), calls=(record,))


def _texts(value: Any, path: str = "") -> dict[str, str]:
    match value:
        case str():
            return {path: value}
        case list():
            parts = ((f"{path}.{number}", item) for number, item in enumerate(value))
        case dict():
            parts = ((f"{path}.{name}".lstrip("."), item) for name, item in value.items())
        case _:
            return {}
    return {at: text for name, item in parts for at, text in _texts(item, name).items()}


def _path(path: str) -> str:
    return path.replace("[", ".").replace("]", "")


def is_caught(labelled: Labelled, result: Checked) -> bool:
    """Return whether each wrong span is in a field with a warning that touches it."""
    warned = [item for item in result.items if item.warned]
    for span in labelled.wrong:
        text = result.texts.get(_path(span.path), "")
        start = text.find(span.text)
        touched = any(
            item.field == _path(span.path)
            and (
                start < 0
                or (item.start < start + len(span.text) and start < item.start + len(item.text))
            )
            for item in warned
        )
        if touched:
            return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.evidence.unseen", description=__doc__)
    parser.add_argument("--list", action="store_true", help="name false warnings and misses")
    parser.add_argument("--part", type=int, choices=(1, 2), default=1, help="whose answers")
    options = parser.parse_args()
    checked(right(options.part)[0])  # loads the words of numbers
    verdicts, alarms, marked, seconds = Counter[Verdict](), list[str](), 0, list[float]()
    answers = right(options.part)
    for labelled in answers:
        result = checked(labelled)
        seconds.append(result.seconds)
        verdicts.update(item.verdict for item in result.items)
        false = [item for item in result.items if item.warned]
        marked += bool(false)
        alarms += [
            f"{labelled.id} {item.field}: {item.kind} {item.text} ({item.reason})" for item in false
        ]
    claims = verdicts.total()
    print(f"{len(answers)} right answers, {claims} claims: {dict(verdicts)}")
    print(
        f"warned of: {len(alarms)} claims ({len(alarms) / claims:.2%}), {marked} answers ({marked / len(answers):.1%})"
    )
    print(
        f"CPU an answer: mean {sum(seconds) / len(seconds) * 1000:.1f} ms, most {max(seconds) * 1000:.1f} ms"
    )
    by_kind, misses = defaultdict[str, list[bool]](list), list[str]()
    for labelled in wrong(options.part):
        result = checked(labelled)
        caught = is_caught(labelled, result)
        by_kind[labelled.kind].append(caught)
        by_kind[f"{labelled.kind}: {labelled.pattern or '–'}"].append(caught)
        if not caught:
            span = labelled.wrong[0]
            misses.append(
                f"{labelled.kind} {labelled.id} [{labelled.pattern}] {span.path}: {span.text[:80]}"
            )
    for kind, caught_of in sorted(by_kind.items()):
        print(
            f"{kind:<44} {sum(caught_of):>4} of {len(caught_of):>4} {sum(caught_of) / len(caught_of):>6.1%}"
        )
    for line in (*alarms, *misses) if options.list else ():
        print("   ", line)


if __name__ == "__main__":
    main()
