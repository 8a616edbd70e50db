"""The example questions: cases that `bot eval` judges, `bot dev` suggests and scripts play."""

from pathlib import Path
from typing import Any

import yaml

CASES: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("cases.yaml").read_text("utf-8")
)
