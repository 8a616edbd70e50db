"""The example questions on the page, and the files that can be attached at any time."""

from pathlib import PurePath
from typing import Any

from bot.dev.demo.examples import CASES
from bot.dev.demo.words import LANGUAGES, example

_ICONS = {
    "revenue-by-region": "chart",
    "a-percentage": "calculator",
    "a-time-elsewhere": "clock",
    "a-message-to-approve": "check",
}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    language: [
        {
            "question": example(case["name"], language),
            "icon": _ICONS[case["name"]],
            "sample": next((PurePath(file).name for file in case.get("files", ())), None),
            "asks": case["name"] == "a-message-to-approve",
        }
        for case in CASES
        if case["name"] in _ICONS
    ]
    for language in LANGUAGES
}
"""Examples of the demo in each language; `sample` names the file that is attached to a question, and
`asks` says whether somebody is asked for an approval first."""

SAMPLES = {
    "sales.csv": "60 sales by month, region and product",
    "minutes.pdf": "Minutes of a meeting, one page",
    "receipt.png": "A receipt as an image, for models that see",
    "voice.wav": "A voice message: send it without words",
}
"""What each file in `static/samples` holds."""
