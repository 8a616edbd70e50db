"""The example questions on the page, and the files that can be attached at any time."""

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

SAMPLES = {
    "sales.csv": "60 sales by month, region and product",
    "minutes.pdf": "Minutes of a meeting, one page",
    "receipt.png": "A receipt as an image, for models that see",
}
"""What each file in `static/samples` holds."""
