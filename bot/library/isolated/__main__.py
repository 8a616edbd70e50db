"""The isolated process: `python -m bot.library.isolated OPTIONS` runs jobs until its input ends.

OPTIONS is a JSON object: jobs (a module whose functions are the jobs), memory and output (bytes),
network, parent (process id), data (a folder, or null), readable (paths). A request is {job, arguments,
cpu, seconds}; its reply is a value (`wire.pack_reply`), {"refused": reason}, {"exhausted": true} or
{"broken": where}. The request null asks whether the process accepts jobs; its reply is {}.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from bot.library.isolated import Refused, confinement, wire

_PACKAGE = __package__ or ""
_CODE = Path(__file__).parents[_PACKAGE.count(".") + 1]
_MAX_REASON = 2_000  # characters of the reason of a refusal; libraries quote the data


def main(options: dict[str, Any]) -> None:
    """Serve the jobs of one module on standard input and output."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    # Output that a library prints must not get into the replies.
    os.dup2(2, 1)
    name = options.pop("jobs")
    packages = sorted({str(_CODE / module.partition(".")[0]) for module in (_PACKAGE, name)})
    confinement.confine(**options, packages=packages)
    jobs = importlib.import_module(name)
    while True:
        try:
            request = wire.receive(requests)
        except EOFError:
            return
        if request is None:
            reply = [wire.pack({})]
        else:
            confinement.allow(cpu=request["cpu"], seconds=request["seconds"])
            reply = _run_job(jobs, request)
            confinement.allow(cpu=request["cpu"], seconds=0)
        replies.writelines(reply)
        replies.flush()


def _run_job(jobs: ModuleType, request: dict[str, Any]) -> list[bytes]:
    try:
        value = getattr(jobs, request["job"])(**request["arguments"])
        try:
            return list(wire.pack_reply(value))
        except ValueError:
            raise Refused("The result is too large. Ask for less, or for parts of it.") from None
    except Refused as error:
        return [wire.pack({"refused": str(error)[:_MAX_REASON]})]
    except (MemoryError, RecursionError):
        return [wire.pack({"exhausted": True})]
    except Exception as error:  # noqa: BLE001 - our own bug, raised again in the bot
        # The places only, because messages may quote the data.
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        places = [f"{frame.name}:{frame.lineno}" for frame in frames]
        return [wire.pack({"broken": f"{type(error).__name__} at {', '.join(places)}"})]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
