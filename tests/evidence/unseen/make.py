"""The outputs that the unseen answers are about: `python -m tests.evidence.unseen.make FOLDER [WORLD…]`.

FOLDER holds the data files that README.md names; they are not part of the repository. The tools are
called as in `tests.evidence.make`. Handles are random there; here they are replaced with fixed ones.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import yaml

from bot.app.run_setup import redis_and_stores
from bot.features.schedules.own import OwnSchedules
from bot.settings import Settings
from bot.toolkit import Schedules
from tests.evidence import make

HERE = Path(__file__).parent
OUTPUTS = HERE / "outputs.json"
_DIGITS = "23456789abcdefghjkmnpqrstvwxyz"


def fixed(world: str, number: int, kind: str) -> str:
    """Return the handle that stands for the `number`-th one of a world."""
    value = int.from_bytes(hashlib.sha256(f"{world} {number}".encode()).digest()[:8])
    letters = ""
    for _ in range(6):
        value, index = divmod(value, len(_DIGITS))
        letters += _DIGITS[index]
    return f"{kind}_{letters}"


_open_world = make._opened


async def _opened(stack: AsyncExitStack, world: Mapping[str, Any]) -> Any:
    """Open what a world has, and a store of schedules."""
    services, tools, names = await _open_world(stack, world)
    settings = Settings(redis_url=None)
    _, stores = await stack.enter_async_context(redis_and_stores(settings, data_dir=None))
    return {**services, Schedules: OwnSchedules(stores.schedules)}, tools, names


def _with_fixed_handles(world: str, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    text = json.dumps(entries, ensure_ascii=False)
    handles = dict.fromkeys(handle for entry in entries for handle in entry.get("handles", ()))
    for number, handle in enumerate(handles):
        text = re.sub(rf"\b{handle}\b", fixed(world, number, handle[:3]), text)
    return json.loads(text)  # type: ignore[no-any-return]


async def _main(folder: str, names: list[str]) -> None:
    make._EVALS = Path(folder)
    make._opened = _opened
    worlds = yaml.safe_load((HERE / "worlds.yaml").read_text("utf-8"))
    outputs = json.loads(OUTPUTS.read_text("utf-8")) if OUTPUTS.exists() else {}
    for name in names or [name for name in worlds if name not in outputs]:
        entries = await make.made(name, worlds[name])
        outputs[name] = _with_fixed_handles(name, entries)
        print(name, len(entries), sum(len(entry["text"]) for entry in entries))
        OUTPUTS.write_text(json.dumps(outputs, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2:]))
