"""The libraries' own READMEs run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / "bot" / "library"


@pytest.mark.parametrize("readme", sorted(LIBRARY.glob("*/README.md")), ids=lambda p: p.parent.name)
def test_the_example_of_a_library_runs(readme: Path) -> None:
    """Issue 34: a sealed library says what it promises, with an example that holds."""
    [example] = re.findall(r"```python\n(.*?)```", readme.read_text("utf-8"), re.DOTALL)
    subprocess.run([sys.executable, "-c", example], check=True, timeout=120)
