"""Frameworks of others, in environments of their own that are made once, in a cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONTENDERS = Path(__file__).parent / "contenders"

_PACKAGES = {
    "openai-agents": ("openai_agents.py", ("openai-agents",)),
    "pydantic-ai": ("pydantic_agent.py", ("pydantic-ai-slim[openai]",)),
    "langgraph": ("langgraph_agent.py", ("langgraph", "langchain-openai")),
}


def peers() -> tuple[dict[str, list[str]], list[str]]:
    """Return the command of each framework that can be had, and a sentence for each other one."""
    commands, missing = dict[str, list[str]](), list[str]()
    for name, (script, packages) in _PACKAGES.items():
        try:
            python = _environment(name, packages)
        except subprocess.CalledProcessError as error:
            why = (error.stderr or "").strip().splitlines()[-1:]
            missing.append(f"{name} is left out, as it does not install: {' '.join(why)}")
        else:
            commands[name] = [str(python), str(CONTENDERS / script)]
    return commands, missing


def _environment(name: str, packages: tuple[str, ...]) -> Path:
    """Return the Python of an environment with `packages`. Raises CalledProcessError."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache / "slack-answer-bot" / "bench" / f"{name}-{version}"
    python, is_complete = folder / "bin" / "python", folder / "complete"
    if not is_complete.exists():
        sys.stderr.write(f"Installing {name} into {folder} …\n")
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", *packages],
        ):
            subprocess.run(command, check=True, capture_output=True, text=True)
        is_complete.touch()
    return python
