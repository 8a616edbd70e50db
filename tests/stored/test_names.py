"""Every name that is stored or read by others, and every value that an earlier release stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from pydantic import TypeAdapter

from bot.settings import ChannelTable
from bot.store.values import decode
from tests.stored.names import STORED, changed
from tests.stored.redis_copy import raw_of
from tests.stored.stage import KEY
from tests.stored.test_recordings import RECORDINGS, read

OTHERS = {
    *("artifact-bytes", "artifacts", "attempts", "audit-person", "audit-refusals", "begun"),
    *(
        "cancelled",
        "catch-up",
        "claim",
        "earlier-threads",
        "figures",
        "held",
        "install-lock",
        "install-org",
        "installed",
        "lease",
    ),
    *(
        "line-renewed",
        "mailbox",
        "oauth-states-used",
        "parked",
        "participants",
        "probe",
        "recent-runs",
        "responses",
    ),
    *("run-of", "schedule-claim", "schedule-failures", "schedules-due", "sharing", "spent"),
    *(
        "format",
        "keyrings",
        "receivers",
        "stale-statuses",
        "submitted",
        "threads",
        "to-delete",
        "undelivered",
        "written",
    ),
}
"""Families of keys whose values are ids and numbers."""


def test_stored_names_are_as_they_were() -> None:
    """(architecture: stored names are an interface) Whoever renames one sees it here and in the review.
    Where it must be, read the old form too, and run `python -m tests.stored.names`."""
    diff = asyncio.run(asyncio.to_thread(changed))
    assert not diff, "\n".join(diff)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name.split(".")[0])
def test_no_field_of_a_recording_is_lost(recording: Path) -> None:
    """Each recorded value is read by today's model of it, which knows every one of its fields: a field
    that was renamed, or left out without reading it, would be dropped without a word."""
    lost = [
        f"{key}: {path}"
        for part in ("chained", "stateless")
        for key, where, raw in values(read(recording, part)["redis"])
        for path in missing(json.loads(raw), again(where, raw))
    ]
    assert lost == [], "recorded, and not read today"


def test_an_operator_can_go_back_to_this_version() -> None:
    """Fields that a newer version has added are ignored: nothing that people set or asked is set aside."""
    recording = RECORDINGS[-1]
    for _, where, raw in values(read(recording, "chained")["redis"]):
        kept = json.loads(raw)
        if isinstance(kept, dict) and where != "run state":
            newer = json.dumps({**kept, "of_a_newer_version": {"a": 1}}).encode()
            assert decode(STORED[where], newer) == decode(STORED[where], raw)
    newer = (
        b'{"instructions": "In Latin.", "tone": "dry", "budgets": {"day": {"tokens": 5, "x": 1}}}'
    )
    older = b'{"instructions": "In Latin.", "budgets": {"day": {"tokens": 5}}}'
    assert decode(ChannelTable, newer) == decode(ChannelTable, older)


def again(where: str, raw: bytes) -> Any:
    """The value as today's model writes it."""
    adapter = TypeAdapter(STORED[where])
    return json.loads(adapter.dump_json(adapter.validate_json(raw), by_alias=True))


def values(copied: dict[str, Any]) -> Iterator[tuple[str, str, bytes]]:
    """Every JSON value with its key and the name of its place in `STORED`."""
    for key, kept in copied.items():
        if not key.startswith("bot:v1:"):
            continue
        family, value = key.split(":")[2], kept["value"]
        match family:
            case "run":
                for field in ("state", "outcome"):
                    if field in value:
                        yield key, f"run {field}", raw_of(value[field])
            case "approvals":
                for field, raw in value.items():
                    kind = field.partition(":")[0]
                    if kind == "used":
                        continue  # a hash
                    quoted = json.dumps(raw).encode() if kind == "made" else raw_of(raw)
                    yield f"{key} {field}", f"approvals {kind}", quoted
            case "ledger":
                yield from ((key, family, raw_of(each)) for each in value)
            case "memories" | "schedules" | "scheduled-messages":
                yield from ((f"{key} {id}", family, raw_of(raw)) for id, raw in value.items())
            case "artifact":
                if key.endswith(":about"):
                    yield key, "artifact about", raw_of(value)
            case "audit":
                yield from ((key, "audit entry", raw_of(f["entry"])) for _, f in value["entries"])
            case "audit-beside":
                yield from ((key, "audit entry", raw_of(each)) for each in value)
            case "standing":
                yield key, "approvals said", raw_of(value)
            case "install":
                yield key, family, Fernet(KEY).decrypt(raw_of(value))
            case "feedback" | "channel-edits" if kept["type"] != "string":
                pass  # the index
            case _ if family not in OTHERS:
                yield key, family, raw_of(value)
            case _:
                pass


def missing(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Paths of what is in `old` and not, with the same value, in `new`."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            yield from missing(value, new.get(name), f"{path}.{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        if all(isinstance(each, str) for each in old):
            if sorted(old) != sorted(new):
                yield path
            return
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from missing(one, other, f"{path}[{number}]")
    elif old != new:
        yield path
