"""Questions as people type them, with figures written in full."""

from __future__ import annotations

import re

SHORT = re.compile(
    r"(?<![\w.,#-])(?P<figure>\d+(?:[.,]\d+)*)(?:(?P<letter>[kKmM])|\s?(?P<word>mio|mn|million|thousand))\b"
)
TIMES = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "mn": 1_000_000, "mio": 1_000_000} | {
    "million": 1_000_000
}
QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”)")


def plain(text: str) -> str:
    """The question with "10k" as 10,000 outside quotation marks, and "what %" as "what percent"."""
    text = re.sub(r"(?<!\d)(?<!\d )%(?!\w)", "percent", text)
    pieces = QUOTED.split(text)
    pieces[::2] = (SHORT.sub(_in_full, each) for each in pieces[::2])
    return "".join(pieces)


def _in_full(said: re.Match[str]) -> str:
    unit = TIMES[(said["letter"] or said["word"]).lower()]
    figure = re.sub(r",(?=\d{3}\b)", "", said["figure"]).replace(",", ".")
    value = float(figure) * unit if figure.count(".") < 2 else None
    return said[0] if value is None else f"{value:,.10g}" if value % 1 else f"{value:,.0f}"
