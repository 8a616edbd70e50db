"""A backup that cannot be restored as a whole touches nothing, whatever is wrong with it."""

from __future__ import annotations

import gzip
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from bot.app.features import families_of
from bot.core.errors import ConfigurationError
from bot.ops.backup.archive import Sealing, new_archive
from bot.ops.backup.making import make_backup
from bot.ops.backup.restoring import restore_backup
from bot.settings import Settings
from bot.store import Stores, data_format
from bot.store.connection import PREFIX
from bot.store.families import family_of
from tests.stored.test_recordings import RECORDINGS

FAMILIES = families_of(Settings(_env_file=None))
KEPT = f"{PREFIX}:memories:kept"


def item(**changes: Any) -> dict[str, Any]:
    until = time.time() + 1_000
    return {"key": f"{PREFIX}:x", "type": "string", "value": "new", "until": until, **changes}


def stream(*entries: Any, **changes: Any) -> dict[str, Any]:
    return item(type="stream", value=list(entries), **changes)


DAMAGED: dict[str, list[Any]] = {
    "no dict": ["x"],
    "no key": [{"type": "string", "value": "x", "until": None}],
    "another's key": [item(key="other:x")],
    "a key that is no text": [item(key=1)],
    "no value": [{"key": f"{PREFIX}:x", "type": "string", "until": None}],
    "no time": [{"key": f"{PREFIX}:x", "type": "string", "value": "x"}],
    "a time that is no number": [item(until="soon")],
    "a time without end": [item(until=float("inf"))],
    "a time that Redis cannot count": [item(until=1e300)],
    "an unknown type": [item(type="json")],
    "a value of another type": [item(value={"a": 1})],
    "bytes that are none": [item(value={"base64": "%"})],
    "a hash that is a list": [item(type="hash", value=["a"])],
    "a hash with a number": [item(type="hash", value={"a": 1})],
    "a list with null": [item(type="list", value=[None])],
    "a set with a list": [item(type="set", value=[[]])],
    "a score that is a text": [item(type="zset", value={"a": "1"})],
    "a score that is no number": [item(type="zset", value={"a": float("nan")})],
    "half a letter": [item(value="\ud800")],
    "half a letter in a name": [item(type="hash", value={"\ud800": "x"})],
    "a log with a bad id": [stream(["x", {"a": "b"}])],
    "a log with an empty entry": [stream(["1-0", {}])],
    "a log that is not in order": [stream(["2-0", {"a": "b"}], ["1-0", {"a": "b"}])],
    "a log that goes on before": [
        stream(["2-0", {"a": "b"}]),
        stream(["1-0", {"a": "b"}], more=True),
    ],
    "an end without a beginning": [stream(["1-0", {"a": "b"}], more=True)],
    "an end of another type": [item(), item(type="list", value=["a"], more=True)],
    "a format that is no number": [
        item(key=f"{PREFIX}:{data_format.FAMILY}", value={"base64": "AA=="})
    ],
    "more than an item has": [item(extra=1)],
    "a list of threads that is a text": [item(key=f"{PREFIX}:threads")],
    "schedules that are a log": [stream(["1-0", {"a": "b"}], key=f"{PREFIX}:schedules:T1")],
    "a run that is a list": [item(key=f"{PREFIX}:run:run_1", type="list", value=["a"])],
    "a list of ratings that is a text": [item(key=f"{PREFIX}:feedback")],
    "a rating that is a list": [item(key=f"{PREFIX}:feedback:run_1", type="list", value=["a"])],
}


async def refusal(stores: Stores, path: Path, sealing: Sealing, **options: Any) -> str:
    """Restore over what is there; return why that is refused. Nothing of it may be gone."""
    await stores.redis.call("SET", KEPT, "kept", "EX", 1_000)
    with pytest.raises(ConfigurationError) as refused:
        await restore_backup(stores, path, sealing, FAMILIES, replace=True, **options)
    assert await stores.redis.call("GET", KEPT) == b"kept"
    return str(refused.value)


def written(path: Path, sealing: Sealing, *items: Any) -> Path:
    path.unlink(missing_ok=True)
    with new_archive(path, sealing) as archive:
        for each in items:
            archive.add([each])
    return path


async def test_a_malformed_item_touches_nothing(stores: Stores, tmp_path: Path) -> None:
    """Each is looked at before the first is written and before anything is deleted."""
    for name, items in DAMAGED.items():
        path = tmp_path / "backup"
        path.unlink(missing_ok=True)
        with new_archive(path, Sealing("")) as archive:
            archive.add([item()])
            archive._write([json.dumps(each) for each in items])
        assert await refusal(stores, path, Sealing("")), name


async def test_a_truncated_archive_touches_nothing(stores: Stores, tmp_path: Path) -> None:
    """Wherever it ends, and whatever stands in a line instead."""
    for sealing in (Sealing(""), Sealing(Fernet.generate_key().decode())):
        whole = written(tmp_path / "whole", sealing, item(), item(value="x" * 1_000)).read_bytes()
        lines = whole.splitlines(keepends=True)
        broken = [whole[: len(whole) * tenth // 10] for tenth in range(10)]
        broken += [b"".join(lines[:n] + lines[n + 1 :]) for n in range(len(lines))]
        broken += [b"".join([*lines[:n], b"AAAA\n", *lines[n + 1 :]]) for n in range(len(lines))]
        broken += [whole + b"x", lines[0] + b"".join(reversed(lines[1:])), b"[" * 5_000]
        for data in broken:
            (tmp_path / "broken").write_bytes(data)
            assert await refusal(stores, tmp_path / "broken", sealing)


def test_the_type_of_every_family_is_known() -> None:
    """A restore could not tell one that was made up; and what older versions stored has that type."""
    names = (Path(__file__).parents[1] / "stored" / "names.txt").read_text()
    [keys] = re.findall(r"## Redis keys\n(.*?)\n\n", names, re.DOTALL)
    known = FAMILIES.names | {"cancel"}
    stored = {family_of(key) for key in keys.split() if key.startswith(f"{PREFIX}:")}
    assert stored <= known, "list new families in bot/store/families.py, or in the feature"
    for recording in RECORDINGS:
        for part in json.loads(gzip.decompress(recording.read_bytes())).values():
            items = [{"key": key, **kept} for key, kept in part["redis"].items()]
            assert [
                each for each in items if not FAMILIES.is_readable(each["key"], each["type"])
            ] == []


async def test_what_nobody_can_read_is_in_no_backup(stores: Stores, tmp_path: Path) -> None:
    """One key that was damaged, or put there by others, would make the whole backup useless."""
    await stores.redis.call("SET", f"{PREFIX}:schedules:T1", "no hash", "EX", 1_000)
    await stores.redis.call("SET", f"{PREFIX}:mailbox:T1:C1:1.0", "no list", "EX", 1_000)
    await stores.redis.call("SET", f"{PREFIX}:audit-beside:T1", "no list", "EX", 1_000)
    await stores.redis.call("SET", f"{PREFIX}:preferences:T1:U1", "{}", "EX", 1_000)
    await make_backup(stores.redis, tmp_path / "backup", Sealing(""), FAMILIES, with_files=True)
    restored = await restore_backup(
        stores, tmp_path / "backup", Sealing(""), FAMILIES, replace=True
    )
    assert restored.keys == 1


async def test_an_unsealed_archive_is_restored_only_when_somebody_says_so(
    stores: Stores, tmp_path: Path
) -> None:
    """With keys, what is not sealed may be anybody's: it could bring admins and approvals of its own."""
    keys = Sealing(Fernet.generate_key().decode())
    path = written(tmp_path / "backup", Sealing(""), item())
    assert "--unsealed" in await refusal(stores, path, keys)
    sealed = written(tmp_path / "sealed", keys, item())
    relabelled = sealed.read_bytes().replace(b'"sealed": true', b'"sealed": false', 1)
    (tmp_path / "relabelled").write_bytes(relabelled)
    assert await refusal(stores, tmp_path / "relabelled", keys, unsealed=True)
    restored = await restore_backup(stores, path, keys, FAMILIES, replace=True, unsealed=True)
    assert restored.keys == 1
    assert await stores.redis.call("GET", f"{PREFIX}:x") == b"new"
