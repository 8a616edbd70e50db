"""The example questions on the page."""

from pathlib import PurePath

from bot.dev.demo.examples import CASES

_ICONS = {"revenue-by-region": "chart", "a-percentage": "calculator", "a-time-elsewhere": "clock"}

EXAMPLES = tuple(
    {
        "question": case["question"],
        "icon": _ICONS[case["name"]],
        "sample": next((PurePath(file).name for file in case.get("files", ())), None),
    }
    for case in CASES
    if case["name"] in _ICONS
)
"""Examples of the demo; `sample` names the file that is attached to a question."""
